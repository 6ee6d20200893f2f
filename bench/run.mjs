// The benchmarks: `npm run bench`. One table compares Postern, the minimum work of each operation, and other products on the
// same PostgreSQL. They run in alternating rounds. Only the ratios matter. The results are written to bench/RESULTS.md.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { generate, ownersOf } from './generate.mjs';
import { lists } from './lists.mjs';
import { closedLoop, openLoop, request } from './load.mjs';
import { residentMegabytes, shown, table, takeTurns } from './measure.mjs';
import { content, oneAfterAnother, operations, sample } from './operations.mjs';
import { record } from './results.mjs';
import { openPostgres, startBare, startPostern, startProcess } from './service.mjs';

const quick = process.argv.includes('--quick');
const rounds = quick ? 1 : 5;
const seconds = quick ? 0.5 : 2;
const sizes = quick
  ? { users: 60_000, notifications: 160_000, inbox: 10_000, inboxes: 8 }
  : { users: 200_000, notifications: 2_000_000, inbox: 125_000, inboxes: 8 };
const owners = ownersOf(sizes);

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const say = (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
const stops = [];
let cleaning;
const kept = (started) => {
  stops.unshift(() => started.stop());
  return started;
};

const dataDir = await mkdtemp(join(tmpdir(), 'postern-bench-'));
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
  await rm(dataDir, { recursive: true, force: true });
}

async function main() {
  const since = performance.now();
  const footprint = await measureStarts();
  const postgres = await openPostgres(dataDir);
  stops.unshift(() => postgres.close());
  const pool = postgres.pool();
  say(`filling ${sizes.users} users and ${sizes.notifications} notifications`);
  await generate(pool, sizes, say);
  const postern = kept(await startPostern(dataDir));
  footprint.push(['Memory of the service, before any request', `${shown(residentMegabytes(postern.pid))} MB`]);
  const parts = {
    postern,
    pool,
    ops: operations(postern, await sample(pool, { ...sizes, owners })),
    ...(await peers()),
  };

  const rows = [];
  const sections = {};
  const write = async () => {
    const text = pageOf({ notes: parts.notes, rows, sections, footprint, since });
    if (!quick) await record('bench', text);
    return text;
  };
  for (const comparison of comparisons(parts)) {
    say(comparison.title);
    rows.push(...rowsOf(comparison, await takeTurns(comparison.contenders, rounds)));
    await write();
  }
  say('under load that comes at random');
  sections['Requests at random times'] =
    `The load generator sends requests at this rate, even if the server is slower. The time of a request starts when the request is due, and includes up to 1 ms of delay in the generator.\n\n${await openLoops(parts)}`;
  await write();
  say('pages');
  const { inbox, inboxes: users } = sizes;
  const pages = await lists({ ...{ postern, pool, dataDir, rounds, users }, naive: parts.naive, rows: inbox });
  sections[`Pages of ${users} inboxes with ${inbox.toLocaleString('en')} notifications each`] = pages.text;
  await write();
  say('streams');
  sections.Streams = `\`\`\`text\n${await runStreams()}\n\`\`\``;
  footprint.push(['Memory of the service, after all this', `${shown(residentMegabytes(postern.pid))} MB`]);
  console.log(await write());
}

/** The page so far. It is written after each part, so that an error does not lose the parts before it. */
function pageOf({ notes, rows, sections, footprint, since }) {
  const minutes = ((performance.now() - since) / 60_000).toFixed(1);
  const parts = { ...sections, Footprint: table([['What', 'Measured'], ...footprint]) };
  return `${sizes.users.toLocaleString('en')} users, ${sizes.notifications.toLocaleString('en')} notifications, ${sizes.inbox.toLocaleString('en')} of them in each of ${sizes.inboxes} inboxes. \
Medians of ${rounds} rounds of ${seconds} s each, after one round to warm up. The measured services alternate. The run took ${minutes} minutes.

"Postern ÷ it" is the rate of Postern divided by the rate in this row: the median of the ratios of all rounds. "wanted" is the lowest acceptable ratio. CPU time is the time of the serving process and of PostgreSQL for each request, or for each notification if the row counts notifications. It does not include the load generator, which runs on the same cores. "by CPU" is the CPU time in this row divided by the CPU time of Postern. "MB" is the memory of the serving process.

The rows below Postern are for comparison. "empty route" is a Fastify route that does nothing. The rows with "bare" and "INSERT … SELECT" do only the part that the operation cannot avoid (the statement or the password hash), without HTTP. "OFFSET and count" and "INSERT behind a route" are Fastify routes that run the usual statements.
${notes}
${comparisonTable(rows)}

${Object.entries(parts)
  .map(([title, text]) => `### ${title}\n\n${text}`)
  .join('\n\n')}`;
}

/** Each stream needs two open files here, so the number of open files limits the number of streams. */
async function runStreams() {
  const command = 'ulimit -n "$(ulimit -H -n)"; exec "$0" "$@"';
  const args = ['-c', command, process.execPath, path('streams.mjs'), ...(quick ? ['500'] : [])];
  try {
    return (await promisify(execFile)('sh', args)).stdout.trim();
  } catch (error) {
    return `Not measured: ${error.stderr || error}`;
  }
}

/** The first start creates a database, the second finds it. */
async function measureStarts() {
  const measured = [];
  for (const title of ['First start, with an empty data directory', 'Start with an existing data directory']) {
    const since = performance.now();
    const started = await startPostern(dataDir);
    measured.push([title, `${((performance.now() - since) / 1000).toFixed(2)} s`]);
    await started.stop();
  }
  return measured;
}

/** The other products. Reports and skips those that npm cannot install. */
async function peers() {
  const empty = kept(await startProcess([path('empty-route.mjs')]));
  const bare = kept(await startBare(dataDir));
  const naive = kept(await startProcess([path('peers/naive-inbox.mjs'), dataDir]));
  const { rows: readers } = await readersOf();
  const isThere = existsSync(path('peers/node_modules/better-auth')) || (await installPeers());
  if (!isThere)
    return { empty, bare, naive, readers, notes: '\nbetter-auth is missing: the registry could not be reached.\n' };
  const betterAuth = kept(await startProcess([path('peers/better-auth.mjs'), dataDir, String(sizes.users)]));
  const cookies = await (await fetch(`${betterAuth.url}/cookies`)).json();
  return { empty, bare, naive, readers, betterAuth: { ...betterAuth, cookies }, notes: '' };
}

async function readersOf() {
  const postgres = await openPostgres(dataDir);
  try {
    const readers = "select bench.id('user', $1 + n) as id from generate_series(1, 1000) n";
    return await postgres.pool().query(readers, [sizes.inboxes]);
  } finally {
    await postgres.close();
  }
}

async function installPeers() {
  say('installing what Postern is compared with, in bench/peers');
  try {
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: path('peers') });
    return true;
  } catch (error) {
    say(`going on without: ${error.stderr ?? error}`);
    return false;
  }
}

/** The comparisons. The first contender is Postern. */
function comparisons({ postern, ops, empty, bare, naive, betterAuth, readers }) {
  const over = (name, target, next, connections, each = 1) => ({
    ...{ name, pid: target.pid, dataDir: target === empty ? undefined : dataDir },
    run: async () => times(await closedLoop({ url: target.url, next, connections, seconds }), each),
  });
  const limit = (name, kind, extra) => ({
    ...{ name, pid: bare.pid, dataDir: kind === 'argon2id' ? undefined : dataDir },
    run: async () =>
      times(await bare.run({ kind, seconds, users: sizes.users, readers: owners, ...extra }), extra?.rows ?? 1),
  });
  const own = (operation, connections, each) => over('Postern', postern, ops[operation], connections, each);
  const peer = (name, connections, make) =>
    betterAuth === undefined ? [] : [over(name, betterAuth, make(betterAuth), connections)];
  const emptyRoute = (connections) => over('empty route', empty, () => post, connections);
  const post = request('POST', `${empty.url}/`);
  const inbox = oneAfterAnother(readers.map(({ id }) => request('GET', `${naive.url}/notifications?user=${id}`)));
  const insert = oneAfterAnother(
    readers.map(({ id }) => request('POST', `${naive.url}/notifications`, { body: { user_id: id, ...content } })),
  );
  const check = ({ url, cookies }) =>
    oneAfterAnother(cookies.map((cookie) => request('GET', `${url}/api/auth/get-session`, { cookie })));
  const create = ({ url }) =>
    oneAfterAnother(numbers.map((n) => request('POST', `${url}/create-session?user=user${n}`)));
  const signIn = ({ url }) =>
    oneAfterAnother(
      numbers.map((n) =>
        request('POST', `${url}/api/auth/sign-in/email`, {
          origin: 'http://127.0.0.1',
          body: { email: `user${n}@example.com`, password: 'a battery of horses' },
        }),
      ),
    );
  const numbers = Array.from({ length: 2000 }, (_, n) => n + 1);
  return [
    ...[64, 256].map((connections) => ({
      title: `Check a session, ${connections} connections`,
      target: connections === 64 ? 0.6 : 0.65,
      contenders: [
        own('verify', connections),
        emptyRoute(connections),
        ...(connections === 64 ? [limit('bare query', 'session query')] : []),
        ...peer('better-auth', connections, check),
      ],
    })),
    {
      title: 'Log in with a password',
      target: 0.8,
      contenders: [own('login', 16), limit('bare argon2id', 'argon2id'), ...peer('better-auth', 16, signIn)],
    },
    {
      title: 'Make a session',
      target: 0.5,
      contenders: [own('session', 64), limit('bare INSERT', 'session insert'), ...peer('better-auth', 64, create)],
    },
    {
      title: 'List, page 1 of an inbox not asked for lately',
      contenders: [own('list', 64), limit('bare query', 'page query'), over('OFFSET and count', naive, inbox, 64)],
    },
    {
      title: 'List, page 1 again, unchanged',
      target: 0.6,
      // The warm-up round asks for each page once.
      contenders: [
        own('listAgain', 64),
        limit('bare query', 'page query'),
        over('the same as a 304', postern, ops.listKnown, 64),
      ],
    },
    {
      title: 'Publish one',
      target: 0.5,
      contenders: [
        own('publish', 64),
        limit('bare INSERT', 'notification insert'),
        over('INSERT behind a route', naive, insert, 64),
      ],
    },
    {
      title: 'Publish one, all to one inbox',
      target: 0.6,
      contenders: [own('publishToOne', 64), over('to many inboxes', postern, ops.publish, 64)],
    },
    {
      title: 'Publish 1,000 items to 1,000 users',
      target: 0.6,
      contenders: [own('publishItems', 1, 1000), limit('INSERT … SELECT', 'insert select', { rows: 1000 })],
    },
    {
      title: 'Publish one item to 10,000 users',
      target: 0.6,
      contenders: [own('publishUsers', 1, 10_000), limit('INSERT … SELECT', 'insert select', { rows: 10_000 })],
    },
  ];
}

/** Counts the items of each request instead of the requests. */
function times(result, each) {
  return { ...result, count: result.count * each, rate: result.rate * each };
}

/** The CPU time of a request, in all processes that serve it. */
function costOf({ cpu, databaseCpu }) {
  return (cpu || 0) + (databaseCpu || 0);
}

function rowsOf({ title, target }, results) {
  return results.map(({ name, rate, ratio, p50, p99, cpu, databaseCpu, rss }, index) => [
    index === 0 ? title : '',
    name,
    shown(rate),
    index === 0 ? '' : shown(ratio),
    index === 0 ? '' : shown(costOf(results[index]) / costOf(results[0])),
    index === 1 && target !== undefined ? `${target} ${ratio >= target ? 'met' : 'MISSED'}` : '',
    ...[shown(p50), shown(p99), shown(cpu), shown(databaseCpu), shown(rss)],
  ]);
}

function comparisonTable(rows) {
  const heads = [
    'Operation',
    'Who',
    'a second',
    'Postern ÷ it',
    'by CPU',
    'wanted',
    'p50 ms',
    'p99 ms',
    'CPU µs',
    'of PostgreSQL',
    'MB',
  ];
  return table([heads, ...rows]);
}

/** Session checks that arrive at random, alone and while logins use all of the CPU. */
async function openLoops({ postern, ops, betterAuth }) {
  const rate = quick ? 200 : 1000;
  const check = (name, target, next) => ({
    name,
    run: () => openLoop({ url: target.url, next, connections: 64, seconds: seconds * 2, rate }),
  });
  const cookies = betterAuth?.cookies.map((cookie) =>
    request('GET', `${betterAuth.url}/api/auth/get-session`, { cookie }),
  );
  const busy = {
    name: 'Postern, while 16 clients log in as fast as they can',
    async run() {
      const logins = closedLoop({ url: postern.url, next: ops.login, connections: 16, seconds: seconds * 2 + 0.5 });
      const load = { url: postern.url, next: ops.verify, connections: 64, seconds: seconds * 2, rate: rate / 5 };
      const [checks] = await Promise.all([openLoop(load), logins]);
      return checks;
    },
  };
  const results = await takeTurns(
    [
      check('Postern', postern, ops.verify),
      ...(cookies === undefined ? [] : [check('better-auth', betterAuth, oneAfterAnother(cookies))]),
      busy,
    ],
    rounds,
  );
  return table([
    ['Check a session', 'a second', 'p50 ms', 'p99 ms', 'p99.9 ms'],
    ...results.map(({ name, rate: came, p50, p99, p999 }) => [name, shown(came), shown(p50), shown(p99), shown(p999)]),
  ]);
}
