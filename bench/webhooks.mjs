// The cost of webhooks: `npm run build && node bench/webhooks.mjs [events] [rounds] [seconds] [costs|deliveries]`. It
// measures logins and publications with and without webhooks, deliveries with this number of stored events (10,000,000),
// and the effect of a receiver that fails. It writes bench/RESULTS.md, unless it measures one part only. With a folder in
// BENCH_DIR, the database in it is filled once and used again.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { fill, inBulk, ownersOf } from './generate.mjs';
import { closedLoop } from './load.mjs';
import { shown, table, takeTurns } from './measure.mjs';
import { operations, sample } from './operations.mjs';
import { record } from './results.mjs';
import { withFilledPostern } from './service.mjs';

const [events = 10_000_000, rounds = 5, seconds = 3] = process.argv.slice(2, 5).map(Number);
const only = process.argv[5];
const sizes = { users: 200_000, notifications: 1_000_000, inbox: 250_000 };
const owners = ownersOf(sizes);
/** The number of events of one round of deliveries. */
const burst = 10_000;
/** The key of the advisory lock of the process that numbers events (src/webhooks). */
const numberingLock = 7203415045;
const settings = { ALLOW_PRIVATE_NETWORK_TARGETS: 'true' };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const say = (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);

await withFilledPostern(
  { sizes, settings, folder: process.env.BENCH_DIR },
  async ({ postern, pool, dataDir, keep }) => {
    const receiver = keep(await startReceiver());
    const api = apiOf(postern);
    const endpoint = await onlyEndpoint(api, receiver.url);
    await fillEvents(pool, endpoint);
    const ops = operations(postern, await sample(pool, { ...sizes, owners }));
    const costs = only !== 'deliveries' && (await measureCosts({ postern, pool, dataDir, api, endpoint, ops }));
    const deliveries =
      only !== 'costs' && (await measureDeliveries({ postern, pool, dataDir, api, endpoint, receiver }));
    if (only !== undefined) return console.log(costs || deliveries);
    const { rows } = await pool.query('select count(*)::int as count from webhook_events');
    const text = `${shown(rows[0].count)} events and as many deliveries are stored. \`written\`: a webhook exists, so that each request also writes its events.
\`numbered\`: another process of the same service also numbers these events at the same time, and stores them for 30 days. Each ratio is the median of ${rounds} rounds, compared with the same round without a webhook.

${costs}

${shown(burst)} events of as many users are written at once. The receiver of a webhook (\`answers\`) answers at once. The rate counts the deliveries to this receiver, from the first write to the last request. A row names the receiver of a second webhook, if there is one.

${deliveries}`;
    console.log(text);
    await record('webhooks', text);
  },
);

async function measureCosts({ postern, pool, dataDir, api, endpoint, ops }) {
  const kinds = [
    ['Login', 'login', 16, 1],
    ['Publish one', 'publish', 64, 1],
    ['Publish 1,000 items to 1,000 users', 'publishItems', 1, 1000],
    ['Publish one item to 10,000 users', 'publishUsers', 1, 10_000],
  ];
  const lines = [];
  for (const [title, operation, connections, each] of kinds) {
    const load = async () => {
      const result = await closedLoop({ url: postern.url, next: ops[operation], connections, seconds });
      return { ...result, count: result.count * each, rate: result.rate * each };
    };
    const setting = (values) => api('PATCH', `/webhooks/${endpoint}`, { enabled: false, ...values });
    const results = await takeTurns(
      [
        { name: 'without', run: () => withoutWebhooks(pool, load) },
        {
          name: 'written',
          async run() {
            await setting({ events: ['*'] });
            return withoutNumbering(pool, load);
          },
        },
        {
          name: 'numbered',
          async run() {
            const result = await load();
            await waitUntilDrained(pool);
            return result;
          },
        },
      ].map((each) => ({ ...each, pid: postern.pid, dataDir })),
      rounds,
    );
    for (const { name, rate, ratio, cpu, databaseCpu } of results)
      lines.push([`${title}, ${name}`, shown(rate), shown(1 / ratio), shown(cpu), shown(databaseCpu)]);
    say(title);
  }
  return table([['Events', 'a second', 'ratio', 'CPU µs', 'of PostgreSQL'], ...lines]);
}

/** Hides the only endpoint from Postern while `work` runs. Its deliveries stay stored. */
async function withoutWebhooks(pool, work) {
  await pool.query('create table bench.hidden as select * from webhook_endpoints');
  await pool.query('delete from webhook_endpoints');
  try {
    return await work();
  } finally {
    await pool.query('insert into webhook_endpoints select * from bench.hidden');
    await pool.query('drop table bench.hidden');
  }
}

/** Runs `work` while nothing reads the outbox. It is empty afterwards. */
async function withoutNumbering(pool, work) {
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [numberingLock]);
    const result = await work();
    await client.query('truncate webhook_outbox');
    return result;
  } finally {
    await client.query('select pg_advisory_unlock($1)', [numberingLock]);
    client.release();
  }
}

async function measureDeliveries({ postern, pool, dataDir, api, endpoint, receiver }) {
  const closed = 'http://127.0.0.1:9/';
  await api('PATCH', `/webhooks/${endpoint}`, { enabled: true, events: ['user.updated'] });
  const second = (url) => async () => {
    const { id } = await api('POST', '/webhooks', { url, events: ['user.updated'] });
    return () => remove(api, pool, id);
  };
  const contenders = [
    ['alone', async () => async () => undefined],
    ['with another one that answers', second(`${receiver.url}/other`)],
    ['with one that refuses connections', second(closed)],
    ['with one that hangs', second(`${receiver.url}/hangs`)],
  ].map(([name, add]) => ({
    name,
    pid: postern.pid,
    dataDir,
    async run() {
      const takeAway = await add();
      const result = await deliver(pool, receiver);
      await takeAway();
      return result;
    },
  }));
  const results = await takeTurns(contenders, rounds);
  const lines = results.map(({ name, rate, ratio, cpu, databaseCpu }) => [
    name,
    shown(rate),
    shown(1 / ratio),
    shown(cpu),
    shown(databaseCpu),
  ]);
  return table([['`answers`', 'deliveries a second', 'ratio', 'CPU µs', 'of PostgreSQL'], ...lines]);
}

/** Writes events of random users, and waits until the receiver has all of them. */
async function deliver(pool, receiver) {
  const before = await receiver.count('answers');
  const since = performance.now();
  await pool.query(
    `insert into webhook_outbox (created_at, type, actor, user_ids, data)
     select now(), 'user.changed', 'key:bench', array[bench.id('user', n)], '{"fields": ["name"]}'
     from (select distinct 1 + floor(random() * $1)::bigint as n from generate_series(1, 2 * $2)) users limit $2`,
    [sizes.users, burst],
  );
  for (;;) {
    const count = (await receiver.count('answers')) - before;
    if (count >= burst) break;
    await pause(2);
  }
  const elapsed = (performance.now() - since) / 1000;
  await waitUntilDrained(pool);
  return { count: burst, rate: burst / elapsed };
}

async function waitUntilDrained(pool) {
  for (;;) {
    const { rows } = await pool.query('select exists (select from webhook_outbox) as more');
    if (!rows[0].more) return;
    await pause(20);
  }
}

/** Deletes an endpoint. What waits for it would be removed by the maintenance tasks later. */
async function remove(api, pool, id) {
  await api('DELETE', `/webhooks/${id}`);
  await pool.query('delete from webhook_queues where endpoint_id = $1', [id]);
}

/** The endpoint of the database: the one of an earlier run, or a new one. @returns its id */
async function onlyEndpoint(api, url) {
  const [known] = await api('GET', '/webhooks');
  const values = { url: `${url}/answers`, events: ['*'] };
  const { id } = known ?? (await api('POST', '/webhooks', values));
  await api('PATCH', `/webhooks/${id}`, { ...values, enabled: false });
  return id;
}

/** Fills the tables with delivered events of the last 29 days. */
async function fillEvents(pool, endpoint) {
  const { rows } = await pool.query('select exists (select from webhook_events offset $1) as filled', [events - 1]);
  if (rows[0].filled) return;
  const numbers = `generate_series(1, ${events}) n,
    lateral (select bench.id('user', 1 + n % ${sizes.users}) as owner, 1 + n / ${sizes.users} as place,
      now() - interval '29 days' + n * (interval '29 days' / ${events}) as at) e`;
  const fills = {
    webhook_users: `select bench.id('user', n), ${Math.ceil(events / sizes.users)} + 1 from generate_series(1, ${sizes.users}) n`,
    webhook_events: `select owner, place, bench.id('event', n), 'notification.created',
        jsonb_build_object('actor', null, 'changed_fields', '[]'::jsonb, 'notification_id', bench.id('notification', n), 'notification_sequence', place),
        at, null from ${numbers}`,
    webhook_deliveries: `select owner, bench.id('delivery', n), '${endpoint}', place, bench.id('event', n), 'notification.created',
        'delivered', false, 1, at, at, null, 204, '', null, 3, at from ${numbers}`,
  };
  await pool.query('truncate webhook_users, webhook_events, webhook_deliveries, webhook_queues, webhook_outbox');
  await inBulk(pool, async () => {
    for (const [name, select] of Object.entries(fills)) await fill(pool, name, select, say);
  });
}

function apiOf({ url, adminKey }) {
  return async (method, path, body) => {
    const response = await fetch(`${url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  };
}

async function startReceiver() {
  const child = fork(fileURLToPath(new URL('webhook-receiver.mjs', import.meta.url)));
  const [url] = await once(child, 'message');
  return {
    url,
    async count(name) {
      child.send(name);
      const [count] = await once(child, 'message');
      return count;
    },
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
