import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';
import { createUser, emailLogin, passwordLogin } from '../support/users.js';

/** Floods of strangers add only as many rows as SECURITY.md says under "All stored data". */

/** LOGIN_LIMIT_PER_ADDRESS (a minute) and CODE_LIMIT_PER_ADDRESS (an hour). Small, so that small floods exceed them. */
const limits = { logins: 30, codes: 10 };
const requests = 60;

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ TRUST_PROXY: '127.0.0.1', REGISTRATION: 'on', LOG_LEVEL: 'silent' },
    ...{ LOGIN_LIMIT_PER_ADDRESS: String(limits.logins), CODE_LIMIT_PER_ADDRESS: String(limits.codes) },
  });
});
afterAll(() => postern.close());

const stranger = () => `nobody${randomUUID()}@example.com`;
const floods = {
  'login starts': {
    path: '/v1/tokens',
    bodyOf: () => passwordLogin(`nobody${randomUUID().slice(0, 8)}`, 'wrong'),
    limit: limits.logins,
  },
  codes: { path: '/v1/tokens', bodyOf: () => emailLogin(stranger()), limit: limits.codes },
  recoveries: {
    path: '/v1/recoveries',
    bodyOf: () => ({ identity: { type: 'email', value: stranger() }, purpose: 'password' }),
    limit: limits.codes,
  },
  registrations: {
    path: '/v1/registrations',
    bodyOf: () => ({ identity: { type: 'email', value: stranger() } }),
    limit: limits.codes,
  },
};

/** The rows of each table. */
async function rowsOf(): Promise<Record<string, number>> {
  const [row] = await postern.database.query<{ rows: Record<string, number> }>(
    testSql(`select json_object_agg(tablename, (xpath('/row/c/text()',
               query_to_xml(format('select count(*) as c from %I', tablename), false, true, '')))[1]::text::int) as rows
             from pg_tables where schemaname = 'public'`),
  );
  return row?.rows ?? {};
}

/** The tables that a request which was not refused may add a row to, and how many rows. */
const perRequest = {
  ...{ authentications: 1, challenges: 1, outbox: 1, guess_budgets: 1, undispatched_messages: 1, notices: 1 },
  ...{ message_limits: 2, events: 2, event_feed: 2 },
};

/** Tables that no request of a stranger may add a row to. */
const others = ['users', 'identities', 'devices', 'sessions', 'notifications', 'inboxes', 'images', 'former_names'];

/** Sends the requests, many at a time. @returns the statuses and a function for the rows that a table has gained */
async function send(flood: (typeof floods)[keyof typeof floods], addressOf: (nth: number) => string) {
  // The codes of an earlier flood are sent, and recorded, after its last answer.
  await eventually('an empty queue', async () => {
    const left = await postern.database.query(
      testSql('select 1 from undispatched_messages union all select 1 from graphile_worker._private_jobs limit 1'),
    );
    return left.length === 0 ? true : undefined;
  });
  const before = await rowsOf();
  const statuses: number[] = [];
  await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      for (let nth = at; nth < requests; nth += 20) {
        const headers = { 'x-forwarded-for': addressOf(nth) };
        const answer = await postern.api('POST', flood.path, { body: flood.bodyOf(), headers });
        statuses.push(answer.status);
      }
    }),
  );
  const after = await rowsOf();
  return {
    statuses,
    accepted: statuses.filter((status) => status < 300).length,
    added: (table: string) => (after[table] ?? 0) - (before[table] ?? 0),
  };
}

const numberOf = (flood: object) => Object.values<object>(floods).indexOf(flood);

test.each(Object.entries(floods))(
  'a flood of %s from one address adds no more rows than its limit',
  async (_, flood) => {
    const { statuses, accepted, added } = await send(flood, () => `11.0.${numberOf(flood)}.1`);
    expect(accepted).toBeGreaterThan(0);
    expect(statuses).toContain(429);
    // The limit fills up again during the flood.
    expect(accepted).toBeLessThan(requests);
    for (const [table, rows] of Object.entries(perRequest))
      expect(added(table), table).toBeLessThanOrEqual(rows * accepted);
    // The limits of an account are counted before those of codes, one row each.
    expect(added('request_limits')).toBeLessThanOrEqual(requests + 3);
    for (const table of others) expect(added(table), table).toBe(0);
  },
);

test.each(Object.entries(floods))(
  'a flood of %s from many addresses adds the rows of its requests, and no user, device, session or notification',
  async (_, flood) => {
    const { accepted, added } = await send(flood, (nth) => `11.${100 + numberOf(flood)}.${nth >> 8}.${nth & 255}`);
    expect(accepted).toBe(requests);
    for (const [table, rows] of Object.entries(perRequest))
      expect(added(table), table).toBeLessThanOrEqual(rows * accepted);
    // One for each limit of the address, the account and the codes.
    expect(added('request_limits')).toBeLessThanOrEqual(4 * accepted + 3);
    for (const table of others) expect(added(table), table).toBe(0);
  },
);

test('a flood of logins to one account from many addresses is limited by the account', async () => {
  const body = passwordLogin((await createUser(postern)).username, 'wrong');
  const { statuses, accepted, added } = await send({ ...floods['login starts'], bodyOf: () => body }, (nth) => {
    return `11.200.${nth >> 8}.${nth & 255}`;
  });
  expect(statuses).toContain(429);
  expect(accepted).toBeLessThan(requests);
  // A slow run may last for more than one period of the limit.
  const evaluated = statuses.filter((status) => status !== 429).length;
  for (const table of ['authentications', 'events']) expect(added(table), table).toBeLessThanOrEqual(evaluated);
  expect(added('guess_budgets')).toBeLessThanOrEqual(1);
  expect(added('devices')).toBe(0);
});
