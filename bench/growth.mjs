// The cost of each operation with 100,000 users and with 10 million, and the lists at full size: `npm run bench:growth`. Two
// Posterns, each on its own database, take turns. It needs 40 GB of disk, and a quarter of an hour to an hour.
// `node bench/growth.mjs FOLDER` keeps the databases in FOLDER, for a further run; `… FOLDER verify list` measures these
// operations alone, and records nothing.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { generate, ownersOf } from './generate.mjs';
import { lists } from './lists.mjs';
import { closedLoop } from './load.mjs';
import { shown, table, takeTurns } from './measure.mjs';
import { operations, sample } from './operations.mjs';
import { record } from './results.mjs';
import { openPostgres, startBare, startPostern } from './service.mjs';

const rounds = 5;
const seconds = 1.5;
const connections = 16;
const small = { users: 100_000, notifications: 100_000, inbox: 10_000, inboxes: 5 };
const large = { users: 10_000_000, notifications: 10_000_000, inbox: 1_000_000, inboxes: 5 };
const gigabytes = 40;
/** The maximum cost of an operation at the large size, relative to the small size. */
const wanted = 1.5;

const titles = {
  verify: 'Check a session',
  session: 'Make a session',
  login: 'Log in with a password',
  status: 'Ask for the status of a login',
  list: 'List, page 1',
  filtered: 'List, page 1, by type',
  publish: 'Publish one',
  publishItems: 'Publish 1,000 items to 1,000 users',
  bare: 'For comparison: 1,000 rows to 1,000 users by one bare INSERT … SELECT',
  user: 'Look a user up by id',
  search: 'Look a user up by name',
  users: 'List users, page 1',
};

const [keptFolder, ...only] = process.argv.slice(2);
const folder = keptFolder === undefined ? await mkdtemp(join(tmpdir(), 'postern-growth-')) : resolve(keptFolder);
const stops = [];
let cleaning;
const say = (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => cleanUp().finally(() => process.exit(1)));
try {
  await main();
} finally {
  await cleanUp();
}

async function cleanUp() {
  // A second call waits for the first one.
  cleaning ??= stopAll();
  await cleaning;
}

async function stopAll() {
  for (const stop of stops) await stop();
  if (keptFolder === undefined) await rm(folder, { recursive: true, force: true });
}

async function main() {
  await mkdir(folder, { recursive: true });
  const before = await open('small', small);
  const after = await open('large', large);
  const rows = [];
  for (const [name, title] of Object.entries(titles)) {
    if (only.length > 0 && !only.includes(name)) continue;
    say(title);
    const contenders = [before, after].map(({ dataDir, postern, bare, ops }) => ({
      ...{ name, pid: (name in ops ? postern : bare).pid, dataDir },
      run: (round) => {
        if (!(name in ops)) return bare.run({ kind: 'insert select', rows: 1000, seconds });
        return closedLoop({
          url: postern.url,
          next: ops[name],
          connections: name === 'publishItems' ? 2 : connections,
          seconds,
          // Each page is read once before, so that the large database is not measured with cold pages.
          atLeast: round === 0 ? ops[name].once : 0,
        });
      },
    }));
    rows.push(rowOf(title, await takeTurns(contenders, rounds)));
    say(rows.at(-1).slice(1).join(' | '));
  }
  if (only.length > 0) return;
  say('pages');
  const pages = await lists({ ...after, users: large.inboxes, rows: large.inbox, rounds });
  const text = `${shownSizes(small)}; and ${shownSizes(large)}. Medians of ${rounds} rounds of ${seconds} s each with ${connections} connections, after one round to warm up. The rounds of the two databases alternate.
${after.filled}
"Cost" is the rate on the small database divided by the rate on the large one: the median of the ratios of all rounds. 1 means equal cost. CPU is the time of the service and PostgreSQL together for each request.

${table([['Operation', 'a second, small', 'large', 'cost', `< ${wanted}`, 'p50 ms, small', 'large', 'CPU µs, small', 'large', 'cost in CPU'], ...rows])}

### Pages of ${large.inboxes} inboxes with ${large.inbox.toLocaleString('en')} of the ${large.notifications.toLocaleString('en')} notifications each

${pages.text}`;
  console.log(text);
  await record('growth', text);
}

/** A Postern on a database of this size. Fills the database unless an earlier run has left it. */
async function open(name, sizes) {
  const dataDir = join(folder, name);
  const isNew = !existsSync(dataDir);
  if (isNew) await refuseSmallDisk();
  const postgres = await openPostgres(dataDir);
  stops.unshift(() => postgres.close());
  const pool = postgres.pool();
  if (isNew) {
    say(`filling ${shownSizes(sizes)}`);
    await postgres.migrate();
    await generate(pool, sizes, say);
  }
  const { rows } = await pool.query("select obj_description('bench'::regnamespace) as filled_in");
  const filled = `Filling the large database took ${rows[0].filled_in}.\n`;
  const postern = await startPostern(dataDir);
  stops.unshift(() => postern.stop());
  const bare = await startBare(dataDir);
  stops.unshift(() => bare.stop());
  const owners = ownersOf(sizes);
  return { dataDir, pool, postern, bare, filled, ops: operations(postern, await sample(pool, { ...sizes, owners })) };
}

async function refuseSmallDisk() {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < gigabytes * 1e9) throw new Error(`${folder} needs ${gigabytes} GB of free disk`);
}

function rowOf(title, [before, after]) {
  const costs = [before.cpu + before.databaseCpu, after.cpu + after.databaseCpu];
  const isMet = after.ratio < wanted;
  return [
    ...[title, shown(before.rate), shown(after.rate), shown(after.ratio), isMet ? 'met' : 'MISSED'],
    ...[shown(before.p50), shown(after.p50), shown(costs[0]), shown(costs[1]), shown(costs[1] / costs[0])],
  ];
}

function shownSizes({ users, notifications, inbox }) {
  const [a, b, c] = [users, notifications, inbox].map((value) => value.toLocaleString('en'));
  return `${a} users, each with a device, a token and a session, and ${b} notifications, ${c} of them in one inbox`;
}
