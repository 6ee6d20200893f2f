// The cost of operations with users on three PostgreSQL servers, relative to three installations with one server each:
// `npm run build && node bench/shards.mjs [rounds] [seconds] [former]`. former: the folder of a built former version, which
// is compared with one installation. All share this machine, and its caches serve three servers worse than one. So three
// servers are compared with three others, and the CPU time of a request shows what a server could carry.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { connectionFields } from '../dist/database/connections/target.js';
import { startEmbeddedPostgres } from '../dist/database/embedded.js';
import { closedLoop, request } from './load.mjs';
import { shown, table, takeTurns } from './measure.mjs';
import { content, oneAfterAnother } from './operations.mjs';
import { record } from './results.mjs';
import { startProcess } from './service.mjs';

const [rounds = 5, seconds = 2] = process.argv.slice(2, 4).map(Number);
const former = process.argv[4];
const own = fileURLToPath(new URL('..', import.meta.url));
const users = 150;
const password = 'a battery of horses';
const adminKey = 'admin-key-of-the-benchmark-of-servers';
const silent = { info() {}, warn: console.error, error: console.error };

/** Each operation with the number of connections for one server. */
const loads = {
  ...{ verify: 64, session: 64, publish: 64 },
  ...{ login: 6, 'publish to 50 users': 2, 'create a user': 6 },
};

const folder = await mkdtemp(join(tmpdir(), 'postern-bench-'));
const stops = [() => rm(folder, { recursive: true, force: true })];
try {
  await main();
} finally {
  for (const stop of stops) await stop();
}

async function main() {
  const installations = [];
  for (const name of ['one', 'two', 'three']) installations.push(await startOn(own, [name]));
  const pairs = [
    [
      { name: 'three installations', parts: installations },
      { name: 'three servers', parts: [await startOn(own, ['main', 'east', 'west'])] },
    ],
    [
      { name: 'one installation', parts: installations.slice(0, 1) },
      ...(former === undefined ? [] : [{ name: 'former version', parts: [await startOn(former, ['former'])] }]),
    ],
  ];
  const lines = [];
  for (const [operation, connections] of Object.entries(loads)) {
    for (const pair of pairs) {
      const results = await takeTurns(
        pair.map((contender) => contenderOf(contender, operation, connections)),
        rounds,
      );
      lines.push(...results.map((result, index) => lineOf(index === 0 ? operation : '', result, results[0])));
    }
  }
  const heads = ['Operation', 'With', 'a second', 'rate', 'by CPU', 'of PostgreSQL', 'CPU µs', 'PostgreSQL µs'];
  const text = `${users} users in each installation. Medians of ${rounds} rounds of ${seconds} s, after one round to warm up. The services of a pair alternate, and all share this machine. Each server has the same load: three servers have three times as many connections as one, and so have three installations. "rate" is the rate divided by that in the first row of the pair. "by CPU" is the CPU time of a request in that row, of the service and of PostgreSQL, divided by that in this row, and "of PostgreSQL" is the same for PostgreSQL only: how much of its throughput a server keeps when it is one of three.

${table([heads, ...lines])}`;
  console.log(text);
  await record('shards', text);
}

/** One service, or several that run at the same time. */
function contenderOf({ name, parts }, operation, connections) {
  return {
    name,
    pid: parts.map(({ pid }) => pid),
    dataDir: parts.flatMap(({ dataDir }) => dataDir),
    async run() {
      const results = await Promise.all(
        parts.map(({ url, operations, dataDir }) =>
          closedLoop({ url, next: operations[operation], connections: connections * dataDir.length, seconds }),
        ),
      );
      const sum = (key) => results.reduce((total, result) => total + result[key], 0);
      return { count: sum('count'), rate: sum('rate') };
    },
  };
}

function lineOf(title, result, first) {
  const totalCpu = ({ cpu, databaseCpu }) => cpu + databaseCpu;
  const ratios = [1 / result.ratio, totalCpu(first) / totalCpu(result), first.databaseCpu / result.databaseCpu];
  const shownRatios = result === first ? ['', '', ''] : ratios.map(shown);
  return [title, result.name, shown(result.rate), ...shownRatios, shown(result.cpu), shown(result.databaseCpu)];
}

/** A service of the version in a folder, with a PostgreSQL server for each name. */
async function startOn(version, names) {
  const servers = [];
  for (const name of names) servers.push(await startServer(join(folder, name)));
  const [main, ...others] = servers.map(({ url }) => url);
  const service = await startProcess([join(version, 'dist/cli/bin.js'), 'serve'], {
    ...{ PORT: '0', DATABASE_URL: main, SECRET_KEY: 'ab'.repeat(32), ADMIN_API_KEY: adminKey },
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', LOG_LEVEL: 'warn' },
    ...(others.length > 0 && { SHARDS: others.map((url, index) => `${names[index + 1]}=${url}`).join(';') }),
  });
  stops.unshift(() => service.stop());
  return { ...service, operations: await prepare(service), dataDir: servers.map(({ dataDir }) => dataDir) };
}

/** A server with fsync and prepared transactions, which it allows after a restart. */
async function startServer(dataDir) {
  const first = await startEmbeddedPostgres({ dataDir, log: silent });
  const client = new pg.Client({ ...first.address, database: 'postgres' });
  await client.connect();
  await client.query('alter system set max_prepared_transactions = 100');
  await client.end();
  await first.stop();
  const server = await startEmbeddedPostgres({ dataDir, log: silent });
  stops.unshift(() => server.stop());
  const { host, port, user, database } = connectionFields(server.address);
  // Another process finds the socket's folder through a descriptor of this one.
  const socket = encodeURIComponent(host.replace('/proc/self/', `/proc/${process.pid}/`));
  return { dataDir, url: `postgres://${user}@localhost:${port}/${database}?host=${socket}` };
}

/** Creates users, who are signed in. @returns for each operation, a function that returns its next request */
async function prepare({ url }) {
  const admin = { authorization: `Bearer ${adminKey}` };
  const ask = async (path, body, headers) => {
    const sent = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    const answer = await fetch(url + path, { ...sent, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const loginOf = (value) => ({
    identity: { type: 'username', value },
    authenticator: 'password',
    secret: password,
    device: {},
  });
  const all = [];
  const create = async () => {
    while (all.length < users) {
      const person = {};
      all.push(person);
      const { id, username } = await ask('/admin/v1/users', { username: `user${all.length}`, password }, admin);
      const { token, device_id: device } = await ask('/v1/tokens', loginOf(username));
      const basic = `Basic ${Buffer.from(token).toString('base64')}`;
      const { token: session } = await ask('/v1/sessions', {}, { authorization: basic });
      Object.assign(person, { id, username, device, basic, session });
    }
  };
  await Promise.all(Array.from({ length: 4 }, create));

  const post = (path, body, headers) => request('POST', url + path, { ...headers, body });
  const perPerson = (make) => oneAfterAnother(all.map(make));
  let created = 0;
  const publishTo = (to) => post('/admin/v1/notifications', { ...to, ...content }, admin);
  return {
    verify: perPerson(({ session }) => post('/v1/sessions/verify', undefined, { authorization: `Bearer ${session}` })),
    session: perPerson(({ basic }) => post('/v1/sessions', undefined, { authorization: basic })),
    login: perPerson(({ username, device }) => post('/v1/tokens', { ...loginOf(username), device: { id: device } })),
    publish: perPerson(({ id }) => publishTo({ user_id: id })),
    'publish to 50 users': perPerson((_, index) =>
      publishTo({ user_ids: Array.from({ length: 50 }, (_, nth) => all[(index + nth) % users].id) }),
    ),
    'create a user': () => post('/admin/v1/users', { username: `new${++created}` }, admin),
  };
}
