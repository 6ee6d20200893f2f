// What the steps, states and extras of notifications cost: `npm run build && node bench/steps.mjs [rounds] [seconds]`. The results
// are written to bench/RESULTS.md.
import { randomUUID } from 'node:crypto';
import {
  allCategories,
  completeCategory,
  createCounters,
  createDatabase,
  createDueSteps,
  fanOutPushes,
  findReachableDevices,
  lockHolds,
} from '../dist/tools.js';
import { ownersOf } from './generate.mjs';
import { askOnce, closedLoop, request } from './load.mjs';
import { median, shown, table, takeTurns } from './measure.mjs';
import { content, oneAfterAnother } from './operations.mjs';
import { record } from './results.mjs';
import { openPostgres, withFilledPostern } from './service.mjs';

const [rounds = 5, seconds = 2] = process.argv.slice(2).map(Number);
const sizes = { users: 60_000, notifications: 240_000, inbox: 10_000, inboxes: 4 };
const owners = ownersOf(sizes);
const recipients = 10_000;
const types = ['payment', 'pool', 'request'];
const steps = [{ channel: 'push' }, { channel: 'email', after: '1h', if: 'unread' }];
const settings = {
  MAIL_PROVIDER: 'console',
  MAIL_FROM: 'a@example.org',
  PUBLIC_URL: 'http://localhost',
  OUTBOUND: 'off',
};

let decisions;
const before = async ({ pool, dataDir }) => {
  decisions = await measureDecisions(pool, dataDir);
};
await withFilledPostern(
  { sizes, settings, folder: process.env.BENCH_DIR, before },
  async ({ postern, pool, dataDir }) => {
    const requests = await measureRequests(postern, pool, dataDir);
    const lag = await measureLag(postern, pool);
    const text = `${decisions}\n\n${requests}\n\n${lag}`;
    console.log(text);
    await record('steps', text);
  },
);

/** The decisions about the steps of one publication, in this process: nothing is sent. */
async function measureDecisions(pool, dataDir) {
  const postgres = await openPostgres(dataDir);
  const database = createDatabase({ target: postgres.target, size: 4, onConnectionError: console.error });
  const all = allCategories([completeCategory('bills', { steps })], types);
  const categories = { get: (name) => all.get(name), names: () => [...all.keys()], refreshFor: async () => undefined };
  const counters = createCounters();
  const devices = {
    reachable: (handle, userIds, channels) => findReachableDevices(handle, { userIds, channels, perUser: 20 }),
  };
  const due = createDueSteps({
    ...{ database, categories, lockHolds, counters, channels: ['push', 'email'], onPushes() {}, isPaused: () => false },
    ttl: { push: 864e5, email: 864e5, sms: 864e5 },
    readAddresses: async (_handle, _channel, addresses) =>
      new Map(addresses.map((each) => [each, { isSuppressed: false, isAllowedOut: true }])),
  });
  const timed = async (work) => {
    const since = performance.now();
    await work();
    return performance.now() - since;
  };
  const times = { insert: [], timer: [], push: [], mail: [], mailed: [] };
  try {
    for (let round = 0; round <= rounds; round += 1) {
      // The users differ from round to round, so that each is read from the same mixture of caches.
      const first = 5 + round * recipients;
      // In the order of the users, as a publication writes them.
      const insert = `insert into notifications (user_id, id, sequence, change_sequence, notification_type, category, object_data_string,
                                   description, created_at, updated_at)
        select user_id, uuidv7(), 1000000 + n, 1000000 + n, 'payment', 'bills', '', 'Grace Hopper paid you', now(), now()
        from (select n, bench.id('user', n) as user_id from generate_series($1::int, $2) n order by user_id offset 0) recipient
        returning user_id, id`;
      let rows;
      const inserted = await timed(async () => {
        ({ rows } = await pool.query(insert, [first, first + recipients - 1]));
      });
      const userIds = rows.map(({ user_id: id }) => id);
      const ids = rows.map(({ id }) => id);
      await pool.query(
        `update devices set gcm_device_token = case when id < '55555555-0000-0000-0000-000000000000' then 'a token' end
         where user_id = any ($1::uuid[])`,
        [userIds],
      );
      // 70 % have read it.
      await pool.query(
        `insert into markers (user_id, last_read_sequence, state_version)
         select id, 100000000, 1 from unnest($1::uuid[]) with ordinality read (id, nth) where nth % 10 < 7
         on conflict (user_id) do update set last_read_sequence = excluded.last_read_sequence`,
        [userIds],
      );
      const step = (channel, condition) =>
        pool.query(
          `insert into pending_steps (id, user_ids, notification_ids, size, channel, condition, published_at, due_at)
           values ($1, $2::uuid[], $3::uuid[], $4, $5, $6, now(), now())`,
          // Ids need no quotes, as in the service.
          [randomUUID(), `{${userIds}}`, `{${ids}}`, recipients, channel, condition],
        );
      const result = {
        insert: inserted,
        timer: await timed(() => step('email', 'unread')),
        mail: await timed(due),
      };
      await pool.query(
        `insert into push_fan_outs (id, user_ids, notification_ids, size, created_at) values ($1, $2::uuid[], $3::uuid[], $4, now())`,
        [randomUUID(), userIds, ids, recipients],
      );
      result.push = await timed(async () => {
        while (await fanOutPushes(database, { devices, channels: ['fcm'], categories, fields: {}, counters }));
      });
      // The same with a proven address for everybody: the mails of the 30 % are inserted too, with their jobs.
      await pool.query(
        `update users set email = username || '@example.org', email_verified = true where id = any ($1::uuid[])`,
        [userIds],
      );
      await step('email', 'unread');
      result.mailed = await timed(due);
      await pool.query('delete from graphile_worker._private_jobs');
      if (round > 0) for (const [name, value] of Object.entries(result)) times[name].push(value);
    }
  } finally {
    await database.close();
    await postgres.close();
  }
  const medians = Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]));
  const line = (title, ms, wanted = '') => [
    title,
    shown(ms),
    shown(ms / medians.insert),
    shown((recipients / ms) * 1000),
    wanted,
  ];
  const both = medians.push + medians.timer + medians.mail;
  return `"Push, then mail if it is not read in an hour", to ${recipients.toLocaleString('en')} users, a third of them with a phone. 70 % have read it when the mail is due. Medians of ${rounds} rounds.

${table([
  ['Work', 'ms', '÷ inserting', 'users a second', 'wanted'],
  line('Insert the notifications', medians.insert),
  line('Store the step for later', medians.timer),
  line('Push: decide, and insert pushes and jobs', medians.push),
  line('Mail: decide, nobody has an address', medians.mail, '100,000 users/s'),
  line('Mail: decide, and insert mails and jobs for 30 %', medians.mailed),
  line('Both decisions', both, 'at most 2.0'),
])}`;
}

/** Requests about states and extras, in turns with what they are compared with. */
async function measureRequests(postern, pool, dataDir) {
  const { url, adminKey } = postern;
  const admin = { authorization: `Bearer ${adminKey}` };
  const put = await askOnce(url, request('PUT', `${url}/admin/v1/categories/bills`, { ...admin, body: { steps } }));
  if (!/^HTTP\/1.1 20[01]/.test(put.toString('latin1'))) throw new Error(put.toString());
  const { rows } = await pool.query(
    `select bench.id('user', n) as id, 'Bearer ' || bench.session_token(n) as authorization
     from generate_series(5, $1::int) n where n % 5 = 0`,
    [5 + Math.min(owners, 20_000)],
  );
  const of = (make) => oneAfterAnother(rows.map(make));
  const publish = (body) =>
    of(({ id }) =>
      request('POST', `${url}/admin/v1/notifications`, { ...admin, body: { user_id: id, ...content, ...body } }),
    );
  const get = (path) => of(({ authorization }) => request('GET', `${url}${path}`, { authorization }));
  const contender = (name, next, connections = 64) => ({
    ...{ name, pid: postern.pid, dataDir },
    run: () => closedLoop({ url, next, connections, seconds }),
  });
  const groups = [
    [contender('Publish one', publish({})), contender('Publish one with a later mail', publish({ category: 'bills' }))],
    [
      contender('List, page 1', get('/v1/notifications')),
      contender('List, page 1, with extra', get('/v1/notifications?include=extra')),
      contender('Counts', get('/v1/notifications/counts')),
    ],
  ];
  const lines = [];
  for (const group of groups) {
    const [base, ...others] = await takeTurns(group, rounds);
    lines.push([base.name, shown(base.rate), '', shown(base.p50), shown(base.cpu), shown(base.databaseCpu)]);
    for (const { name, rate, ratio, p50, cpu, databaseCpu } of others) {
      lines.push([`${name} ÷ ${base.name}`, shown(rate), shown(1 / ratio), shown(p50), shown(cpu), shown(databaseCpu)]);
    }
  }
  lines.push(...(await measureMarks(postern, pool)));
  return table([['Requests', 'a second', 'ratio', 'p50 ms', 'CPU µs', 'of PostgreSQL'], ...lines]);
}

/** Everything marked as read: in an inbox of 10,000 unread notifications, and in one with a single unread one. */
async function measureMarks({ url }, pool) {
  const { rows } = await pool.query(
    `select bench.id('user', n) as id, 'Bearer ' || bench.session_token(n) as authorization from generate_series(1, 2) n`,
  );
  const times = [[], []];
  for (let round = 0; round <= rounds * 6; round += 1) {
    for (const [place, { id, authorization }] of rows.entries()) {
      const unread = place === 0 ? 10_000 : 1;
      await pool.query(
        `insert into markers (user_id, last_read_sequence, state_version) select user_id, last_change_sequence - $2, 1 from inboxes where user_id = $1
         on conflict (user_id) do update set last_read_sequence = excluded.last_read_sequence`,
        [id, unread],
      );
      const body = { filter: '', through: 1_000_000, read: true };
      const since = performance.now();
      const answer = await askOnce(url, request('PATCH', `${url}/v1/notifications/states`, { authorization, body }));
      if (round > 0) times[place].push(performance.now() - since);
      if (!answer.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(answer.toString());
    }
  }
  const [many, one] = times.map(median);
  return [
    ['Mark all of 1 as read', '', '', shown(one), '', ''],
    ['Mark all of 10,000 as read ÷ all of 1', '', shown(many / one), shown(many), '', ''],
  ];
}

/** How late steps are decided that are due two seconds after their publication, while others are published. */
async function measureLag({ url, adminKey }, pool) {
  const admin = { authorization: `Bearer ${adminKey}` };
  const category = { steps: [{ channel: 'email', after: '2s', if: 'unread' }] };
  await askOnce(url, request('PUT', `${url}/admin/v1/categories/soon`, { ...admin, body: category }));
  const { rows } = await pool.query(`select bench.id('user', n) as id from generate_series(5000, 9000) n`);
  const next = oneAfterAnother(
    rows.map(({ id }) =>
      request('POST', `${url}/admin/v1/notifications`, {
        ...admin,
        body: { user_id: id, ...content, category: 'soon' },
      }),
    ),
  );
  await pool.query('truncate step_refusals, step_deliveries');
  const { rate } = await closedLoop({ url, next, connections: 4, seconds: seconds * 2 });
  await new Promise((resolve) => setTimeout(resolve, 4000));
  const lag = await pool.query(
    `select count(*)::int as count,
            percentile_cont(array[0.5, 0.99]) within group (order by extract(epoch from created_at - published_at) - 2) as seconds
     from step_refusals`,
  );
  const [{ count, seconds: percentiles }] = lag.rows;
  const [p50, p99] = percentiles.map((value) => shown(Number(value) * 1000));
  return `Of ${count.toLocaleString('en')} steps that were due two seconds after their publication, half were decided within ${p50} ms and 99 % within ${p99} ms (wanted: a second), while ${shown(rate)} notifications a second were published.`;
}
