// The rate of publishing relative to a bare INSERT of the same rows:
// `npm run build && node bench/publish.mjs [rounds] [seconds]`. With a folder in BENCH_DIR, the database in it is
// filled once and used again.
import { ownersOf } from './generate.mjs';
import { closedLoop } from './load.mjs';
import { shown, table, takeTurns } from './measure.mjs';
import { operations, sample } from './operations.mjs';
import { startBare, withFilledPostern } from './service.mjs';

const [rounds = 5, seconds = 2] = process.argv.slice(2).map(Number);
const sizes = { users: 200_000, notifications: 1_000_000, inbox: 250_000 };
const owners = ownersOf(sizes);
const kinds = [
  { operation: 'publish', title: 'One', connections: 64, rows: 1, kind: 'notification insert' },
  { operation: 'publishToOne', title: 'One, to one inbox', connections: 64, rows: 1, kind: 'notification insert' },
  { operation: 'publishItems', title: '1,000 items to 1,000 users', connections: 1, rows: 1000, kind: 'insert select' },
  { operation: 'publishUsers', title: 'One item to 10,000 users', connections: 1, rows: 10_000, kind: 'insert select' },
];

await withFilledPostern({ sizes, folder: process.env.BENCH_DIR }, async ({ postern, pool, dataDir, keep }) => {
  const bare = keep(await startBare(dataDir));
  const ops = operations(postern, await sample(pool, { ...sizes, owners }));
  const lines = [];
  for (const each of kinds)
    lines.push(lineOf(each, await takeTurns(contenders(each, { ops, postern, bare, dataDir }), rounds)));
  const heads = ['Publish', 'a second', 'bare', 'ratio', 'by CPU', 'CPU µs', 'of PostgreSQL', 'bare', 'of PostgreSQL'];
  console.log(table([heads, ...lines]));
});

/** Counts notifications, not requests. */
function contenders({ operation, connections, rows, kind }, { ops, postern, bare, dataDir }) {
  const counted = async (run) => {
    const result = await run;
    return { ...result, count: result.count * rows, rate: result.rate * rows };
  };
  const load = { url: postern.url, next: ops[operation], connections, seconds };
  return [
    { name: operation, pid: postern.pid, dataDir, run: () => counted(closedLoop(load)) },
    { name: kind, pid: bare.pid, dataDir, run: () => counted(bare.run({ kind, seconds, rows })) },
  ];
}

function lineOf({ title }, [own, bare]) {
  const ratios = [bare.ratio, (bare.cpu + bare.databaseCpu) / (own.cpu + own.databaseCpu)];
  const cpu = [own, bare].flatMap((each) => [each.cpu, each.databaseCpu]);
  return [title, ...[own.rate, bare.rate, ...ratios, ...cpu].map(shown)];
}
