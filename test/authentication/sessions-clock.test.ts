import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { NewSession } from '../../src/contract/session.js';
import { sql } from '../../src/database/database.js';
import { newId } from '../../src/lib/ids.js';
import { newToken } from '../../src/lib/token-strings.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser, signIn } from '../support/people.js';
import { queriesOf } from '../support/queries.js';

/** The same service by three ways: two instances that remember sessions, and one that does not. */
let one: TestApp;
let other: TestApp;
let plain: TestApp;
beforeAll(async () => {
  one = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  other = await one.another();
  plain = await one.another({ VERIFY_BATCHING: 'false' });
});
afterEach(() => step('0'));
afterAll(async () => {
  for (const app of [plain, other, one]) await app.close();
});

const step = (interval: string) =>
  one.database.query(
    sql(`create or replace function db_now() returns timestamptz language sql volatile
         as $$ select clock_timestamp() + interval '${interval}' $$`),
  );
const signedIn = async () => signIn(one, await createUser(one));
const newSession = async (on: TestApp, token: string) =>
  (await on.api<NewSession>('POST', '/v1/sessions', { basic: token })).body;

/** Every way to check a session, twice: in front of the routes, by the route, and by GET. */
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

describe('a session that was made while the clock was ahead', () => {
  test.each(['400 days', '2 hours', '2 minutes'])(
    'by %s is refused once the clock is set back, whoever remembers it, and its token makes another',
    async (ahead) => {
      await step(ahead);
      const { token, session } = await signedIn();
      expect(await statuses(session.token, [one])).toEqual([200]);
      await step('0');
      expect(await statuses(session.token)).toEqual([401]);
      const next = await newSession(one, token);
      expect(await statuses(next.token)).toEqual([200]);
      expect(Date.parse(next.expires_at) - Date.now()).toBeLessThan(16 * 60_000);
    },
  );

  test('by half a minute holds: clocks are set by as much', async () => {
    await step('30 seconds');
    const { session } = await signedIn();
    expect(await statuses(session.token, [one])).toEqual([200]);
    await step('0');
    expect(await statuses(session.token)).toEqual([200]);
  });

  test('is not listed as one that its user has', async () => {
    await step('2 hours');
    const user = await createUser(one);
    const { session } = await signIn(one, user);
    const listed = async () => {
      const path = `/admin/v1/users/${user.id}/sessions`;
      const { body } = await one.api<{ id: string }[]>('GET', path, { bearer: one.adminKey });
      return body.map(({ id }) => id);
    };
    expect(await listed()).toEqual([session.id]);
    await step('0');
    expect(await listed()).toEqual([]);
  });

  test('gives its lookups back: refused once, it costs what an unknown one costs', async () => {
    await step('2 hours');
    const { session } = await signedIn();
    await statuses(session.token, [one]);
    await step('0');
    expect(await namesOf(session.token)).toEqual(['session_changes']);
    expect(await namesOf(session.token)).toEqual(['session_verify_many']);
  });
});

describe('a session whose row says that it lasts for 400 days', () => {
  test.each([
    ['from now', `update sessions set expires_at = db_now() + interval '400 days' where id = $1`],
    [
      'of which all but an hour have passed',
      `update sessions set created_at = created_at - interval '400 days', expires_at = expires_at + interval '1 hour'
       where id = $1`,
    ],
  ])('%s is refused, whoever remembers it', async (_, change) => {
    const { session } = await signedIn();
    expect(await statuses(session.token)).toEqual([200]);
    await one.database.query(sql(change), [session.id]);
    expect(await statuses(session.token)).toEqual([401]);
  });
});

test('a session that was made under a longer SESSION_TTL holds where it is shorter now', async () => {
  const long = await one.another({ SESSION_TTL: '30d' });
  try {
    const { token } = await signedIn();
    const session = await newSession(long, token);
    expect(Date.parse(session.expires_at) - Date.parse(session.created_at)).toBe(30 * 86_400_000);
    expect(await statuses(session.token)).toEqual([200]);
  } finally {
    await long.close();
  }
});

const namesOf = async (token: string) =>
  (await queriesOf(() => one.api('POST', '/v1/sessions/verify', { bearer: token })))
    .map(({ name }) => name)
    // The service's own tasks run meanwhile.
    .filter((name) => name?.startsWith('session_'));

test('an expired session is forgotten: a check of it costs one query at most, as that of an unknown one', async () => {
  const { session } = await signedIn();
  await statuses(session.token, [one]);
  expect(await namesOf(session.token)).toEqual(['session_changes']);
  await step('16 minutes');
  expect(await namesOf(session.token)).toEqual(['session_changes']);
  const unknown = newToken('session', [session.user_id, newId()]).token;
  for (let count = 0; count < 3; count += 1) {
    expect(await namesOf(session.token)).toEqual(await namesOf(unknown));
  }
  expect(await statuses(session.token)).toEqual([401]);
});

test('of many expired sessions that are checked at once each is forgotten, and the others stay known', async () => {
  const { token, session } = await signedIn();
  const expired = [session, ...(await Promise.all([1, 2, 3].map(() => newSession(one, token))))];
  for (const { token: known } of expired) await statuses(known, [one]);
  await step('14 minutes');
  const live = await newSession(one, token);
  await statuses(live.token, [one]);
  await step('16 minutes');
  const verify = (text: string) =>
    one.services.verifiers.verifySession(text).then(
      () => true,
      () => false,
    );
  const all = [...expired, live].map((made) => made.token);
  expect(await Promise.all(all.map(verify))).toEqual([false, false, false, false, true]);
  expect(await namesOf(live.token)).toEqual(['session_changes']);
  const queries = await queriesOf(() => Promise.all(all.map(verify)));
  expect(queries.map(({ name }) => name)).toEqual(['session_verify_many']);
  expect(JSON.stringify(queries[0]?.values)).not.toContain(live.id);
});
