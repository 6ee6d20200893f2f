import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { testSql } from '../support/sql.js';
import { emailLogin, passwordLogin } from '../support/users.js';

/** Floods of strangers add only as many rows as SECURITY.md says under "How large each table can become". */

/** The defaults of LOGIN_LIMIT_PER_ADDRESS (a minute) and CODE_LIMIT_PER_ADDRESS (an hour). */
const limits = { logins: 300, codes: 30 };
const requests = 400;

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ TRUST_PROXY: '127.0.0.1', REGISTRATION: 'on', LOG_LEVEL: 'silent' },
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

test.each(Object.entries(floods))(
  'a flood of %s from one address adds no more rows than its limit',
  async (_, flood) => {
    const before = await rowsOf();
    const address = `11.0.${Object.values(floods).indexOf(flood)}.1`;
    const statuses: number[] = [];
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let at = 0; at < requests / 20; at += 1) {
          const answer = await postern.api('POST', flood.path, {
            body: flood.bodyOf(),
            headers: { 'x-forwarded-for': address },
          });
          statuses.push(answer.status);
        }
      }),
    );
    expect(statuses.filter((status) => status < 300).length).toBeGreaterThan(0);
    expect(statuses).toContain(429);
    const after = await rowsOf();
    const added = (table: string) => (after[table] ?? 0) - (before[table] ?? 0);
    const accepted = statuses.filter((status) => status < 300).length;
    // The limit fills up again during the flood.
    expect(accepted).toBeLessThan(requests);
    for (const table of [
      'authentications',
      'challenges',
      'outbox',
      'guess_budgets',
      'undispatched_messages',
      'notices',
    ]) {
      expect(added(table), table).toBeLessThanOrEqual(accepted);
    }
    // The limits of an account are counted before those of codes, one row each.
    expect(added('request_limits')).toBeLessThanOrEqual(requests + 3);
    expect(added('message_limits')).toBeLessThanOrEqual(2 * accepted);
    expect(added('events')).toBeLessThanOrEqual(2 * accepted);
    for (const table of ['users', 'identities', 'devices', 'sessions', 'notifications', 'inboxes']) {
      expect(added(table), table).toBe(0);
    }
  },
);
