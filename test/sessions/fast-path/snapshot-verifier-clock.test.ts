import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { NewSession } from '../../../src/contract/session.js';
import { newToken } from '../../../src/lib/crypto/token-strings.js';
import { newId } from '../../../src/lib/ids.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { queriesOf } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';
import { createUser, signIn } from '../../support/users.js';

/** Three instances: two with the snapshot verifier, one with the plain verifier. */
let one: TestApp;
let other: TestApp;
let plain: TestApp;
beforeAll(async () => {
  one = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  other = await one.another();
  plain = await one.another({ DATABASE_BATCHING: 'false' });
});
afterEach(() => setClockAhead('0'));
afterAll(async () => {
  for (const app of [plain, other, one]) await app.close();
});

const setClockAhead = (interval: string) =>
  one.database.query(
    testSql(`create or replace function db_now() returns timestamptz language sql volatile
         as $$ select clock_timestamp() + interval '${interval}' $$`),
  );
const signInNewUser = async () => signIn(one, await createUser(one));
const newSession = async (on: TestApp, token: string) =>
  (await on.api<NewSession>('POST', '/v1/sessions', { basic: token })).body;

/** The statuses of every way to verify a session, each used twice: verify handler, route, GET, and another route. */
async function statuses(token: string, apps: readonly TestApp[] = [one, other, plain]): Promise<number[]> {
  const answers: number[] = [];
  for (const on of [...apps, ...apps]) {
    for (const [method, path] of [
      ['POST', '/v1/sessions/verify'],
      ['POST', '/v1/sessions/verify?'],
      ['GET', '/v1/sessions/verify'],
      ['GET', '/v1/devices'],
    ] as const) {
      answers.push((await on.api(method, path, { bearer: token })).status);
    }
  }
  return [...new Set(answers)];
}

describe('a session that was created while the clock was ahead', () => {
  test.each(['400 days', '2 hours', '2 minutes'])(
    'by %s is refused after the clock is set back, cached or not, and its token creates another',
    async (ahead) => {
      await setClockAhead(ahead);
      const { token, session } = await signInNewUser();
      expect(await statuses(session.token, [one])).toEqual([200]);
      await setClockAhead('0');
      expect(await statuses(session.token)).toEqual([401]);
      const next = await newSession(one, token);
      expect(await statuses(next.token)).toEqual([200]);
      expect(Date.parse(next.expires_at) - Date.now()).toBeLessThan(16 * 60_000);
    },
  );

  test('by half a minute stays valid, because NTP may set a clock back by as much', async () => {
    await setClockAhead('30 seconds');
    const { session } = await signInNewUser();
    expect(await statuses(session.token, [one])).toEqual([200]);
    await setClockAhead('0');
    expect(await statuses(session.token)).toEqual([200]);
  });

  test('is not in the list of the user’s sessions', async () => {
    await setClockAhead('2 hours');
    const user = await createUser(one);
    const { session } = await signIn(one, user);
    const listed = async () => {
      const path = `/admin/v1/users/${user.id}/sessions`;
      const { body } = await one.api<{ id: string }[]>('GET', path, { bearer: one.adminKey });
      return body.map(({ id }) => id);
    };
    expect(await listed()).toEqual([session.id]);
    await setClockAhead('0');
    expect(await listed()).toEqual([]);
  });

  test('is deleted from the cache: a second check costs as much as that of an unknown session', async () => {
    await setClockAhead('2 hours');
    const { session } = await signInNewUser();
    await statuses(session.token, [one]);
    await setClockAhead('0');
    expect(await namesOf(session.token)).toEqual(['session_changes']);
    expect(await namesOf(session.token)).toEqual(['session_verify_many']);
  });
});

describe('a session with a lifetime of 400 days in its row', () => {
  test.each([
    ['that starts now', `update sessions set expires_at = db_now() + interval '400 days' where id = $1`],
    [
      'that ends in an hour',
      `update sessions set created_at = created_at - interval '400 days', expires_at = expires_at + interval '1 hour'
       where id = $1`,
    ],
  ])('%s is refused, cached or not', async (_, change) => {
    const { session } = await signInNewUser();
    expect(await statuses(session.token)).toEqual([200]);
    await one.database.query(testSql(change, [session.id]));
    expect(await statuses(session.token)).toEqual([401]);
  });
});

test('a session that was created under a longer SESSION_TTL stays valid under a shorter one', async () => {
  const long = await one.another({ SESSION_TTL: '30d' });
  try {
    const { token } = await signInNewUser();
    const session = await newSession(long, token);
    expect(Date.parse(session.expires_at) - Date.parse(session.created_at)).toBe(30 * 86_400_000);
    expect(await statuses(session.token)).toEqual([200]);
  } finally {
    await long.close();
  }
});

const namesOf = async (token: string) =>
  (await queriesOf(() => one.api('POST', '/v1/sessions/verify', { bearer: token }))).map(({ name }) => name);

test('an expired session is deleted from the cache: a check of it costs one query, as that of an unknown session', async () => {
  const { session } = await signInNewUser();
  await statuses(session.token, [one]);
  expect(await namesOf(session.token)).toEqual(['session_changes']);
  await setClockAhead('16 minutes');
  expect(await namesOf(session.token)).toEqual(['session_changes']);
  const unknown = newToken('session', [session.user_id, newId()]).token;
  for (let count = 0; count < 3; count += 1) {
    expect(await namesOf(session.token)).toEqual(await namesOf(unknown));
  }
  expect(await statuses(session.token)).toEqual([401]);
});

test('all expired sessions of a batch are deleted from the cache, and the others stay', async () => {
  const { token, session } = await signInNewUser();
  const expired = [session, ...(await Promise.all([1, 2, 3].map(() => newSession(one, token))))];
  for (const { token: known } of expired) await statuses(known, [one]);
  await setClockAhead('14 minutes');
  const live = await newSession(one, token);
  await statuses(live.token, [one]);
  await setClockAhead('16 minutes');
  const verify = (text: string) =>
    one.services.verifiers.verifySession(text).then(
      () => true,
      () => false,
    );
  const all = [...expired, live].map((each) => each.token);
  expect(await Promise.all(all.map(verify))).toEqual([false, false, false, false, true]);
  expect(await namesOf(live.token)).toEqual(['session_changes']);
  const queries = await queriesOf(() => Promise.all(all.map(verify)));
  expect(queries.map(({ name }) => name)).toEqual(['session_verify_many']);
  expect(JSON.stringify(queries[0]?.values)).not.toContain(live.id);
});
