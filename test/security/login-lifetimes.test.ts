import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { UserToken } from '../../src/contract/administration.js';
import type { Authentication } from '../../src/contract/authentication.js';
import type { NewSession } from '../../src/contract/session.js';
import type { User } from '../../src/contract/user.js';
import { createAdministration } from '../support/administration.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { stepClock } from '../support/clock.js';
import { testSql } from '../support/sql.js';
import { createUser, login, signIn } from '../support/users.js';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

/** A service with its own clock. */
function serviceWith(env: Readonly<Record<string, string>>) {
  let postern: TestApp;
  beforeAll(async () => {
    postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', ...env });
  });
  afterAll(() => postern.close());
  afterEach(() => stepClock(postern.database, '0'));
  const { admin } = createAdministration(() => postern);
  return {
    app: () => postern,
    admin,
    at: (interval: string) => stepClock(postern.database, interval),
    newSession: (token: string | undefined, app = postern) =>
      app.api<NewSession>('POST', '/v1/sessions', { basic: token ?? '' }),
    /** The status of a check of a session. */
    check: async ({ token }: Pick<NewSession, 'token'>) =>
      (await postern.api('POST', '/v1/sessions/verify', { bearer: token })).status,
    /** The newest login of a user, as operators see it. */
    async tokenOf({ id }: User): Promise<UserToken> {
      const [token] = (await admin<UserToken[]>('GET', `/users/${id}/tokens`)).body;
      if (token === undefined) throw new Error('the user has no login');
      return token;
    },
  };
}

test('a policy that a restart shortens is what operators see of older logins', async () => {
  const before = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', AUTHENTICATION_TTL_BY_ROLE: 'operator:12h' });
  onTestFinished(() => before.close());
  const user = await createUser(before, { role: 'operator' });
  const { body } = await login(before, user);
  const after = await before.another({ AUTHENTICATION_TTL_BY_ROLE: 'operator:20m' });
  onTestFinished(() => after.close());
  const shown = async () => {
    const path = `/admin/v1/users/${user.id}/tokens`;
    const answer = await after.api<UserToken[]>('GET', path, { bearer: after.adminKey });
    return answer.body.map((token) => [token.active, Math.round(lifetimeOf(token) / minute)]);
  };
  expect(await shown()).toEqual([[true, 20]]);
  await stepClock(before.database, '21 minutes');
  onTestFinished(() => stepClock(before.database, '0'));
  expect(await shown()).toEqual([[false, 20]]);
  expect((await after.api('POST', '/v1/sessions', { basic: body.token ?? '' })).status).toBe(401);
});

const lifetimeOf = ({ created_at, expires_at }: Pick<Authentication, 'created_at' | 'expires_at'>) =>
  Date.parse(expires_at) - Date.parse(created_at);

describe('without settings', () => {
  const { app, admin, at, newSession, check, tokenOf } = serviceWith({});

  test('a login of a user lasts a year, used or not', async () => {
    const user = await createUser(app());
    const { body } = await login(app(), user);
    expect(lifetimeOf(body)).toBe(365 * day);
    await at('364 days');
    expect((await newSession(body.token)).status).toBe(201);
  });

  test.each(['support', 'operator'])(
    'a login of the role %s lasts 12 hours, and 30 minutes without use',
    async (role) => {
      const user = await createUser(app(), { role });
      const { body } = await login(app(), user);
      expect(lifetimeOf(body)).toBe(30 * minute);
      expect((await tokenOf(user)).expires_at).toBe(body.expires_at);
      // Used every 20 minutes, for 11 hours and 40 minutes.
      for (let minutes = 0; minutes < 12 * 60; minutes += 20) {
        await at(`${minutes} minutes`);
        expect([minutes, (await newSession(body.token)).status]).toEqual([minutes, 201]);
      }
      const last = await newSession(body.token);
      expect(Date.parse((await tokenOf(user)).expires_at) - Date.parse(body.created_at)).toBe(12 * hour);
      expect(Date.parse(last.body.expires_at)).toBeLessThanOrEqual(Date.parse(body.created_at) + 12 * hour);
      await at('12 hours');
      expect((await newSession(body.token)).status).toBe(401);
      expect(await check(last.body)).toBe(401);
      expect((await tokenOf(user)).active).toBe(false);
    },
  );

  test('an unused login of an operator ends, also before its first use', async () => {
    const user = await createUser(app(), { role: 'operator' });
    const [unused, used] = [(await login(app(), user)).body, await signIn(app(), user)];
    await at('29 minutes');
    expect((await newSession(used.token)).status).toBe(201);
    await at('31 minutes');
    expect((await newSession(unused.token)).status).toBe(401);
    expect((await newSession(used.token)).status).toBe(201);
    await at('62 minutes');
    expect((await newSession(used.token)).status).toBe(401);
  });

  test('a role that is given later shortens the open logins and their sessions, and none gets longer', async () => {
    const user = await createUser(app());
    const old = await signIn(app(), user);
    await at('13 hours');
    const recent = await signIn(app(), user);
    const { session } = await newSession(old.token).then(({ body }) => ({ session: body }));
    expect([await check(session), await check(recent.session)]).toEqual([200, 200]);
    await admin('PATCH', `/users/${user.id}`, { role: 'operator' });
    expect([await check(session), await check(recent.session)]).toEqual([401, 200]);
    expect((await newSession(old.token)).status).toBe(401);
    const shown = await tokenOf(user);
    expect(Date.parse(shown.expires_at) - Date.parse(shown.created_at)).toBeLessThanOrEqual(31 * minute);
    await admin('PATCH', `/users/${user.id}`, { role: 'user' });
    expect((await tokenOf(user)).expires_at).toBe(shown.expires_at);
  });

  test('a login that a former release has approved ends by the policy when it is used', async () => {
    const user = await createUser(app(), { role: 'operator' });
    const [fresh, old] = [await signIn(app(), user), await signIn(app(), user)];
    const asFormerRelease = (id: string, age: string) =>
      app().database.query(
        testSql(
          `update authentications set expires_at = db_now() + interval '365 days', idle_expires_at = null,
                                      approved_at = approved_at - $3::interval where user_id = $1 and id = $2`,
          [user.id, id, age],
        ),
      );
    await asFormerRelease(fresh.authentication.id, '1 hour');
    await asFormerRelease(old.authentication.id, '12 hours');
    expect([(await newSession(fresh.token)).status, (await newSession(old.token)).status]).toEqual([201, 401]);
    const [row] = await app().database.query<{ rest: number; idle: number }>(
      testSql(
        `select extract(epoch from expires_at - db_now())::float8 as rest,
                extract(epoch from idle_expires_at - db_now())::float8 as idle
         from authentications where user_id = $1 and id = $2`,
        [user.id, fresh.authentication.id],
      ),
    );
    expect(row?.rest).toBeLessThan(11 * 3600);
    expect(row?.idle).toBeLessThan(1801);
  });

  test('uses at the same moment, on two instances, keep the login, also while a role is given', async () => {
    const other = await app().another();
    for (const role of ['operator', 'user', 'support']) {
      const user = await createUser(app());
      const { token } = await signIn(app(), user);
      const [changed, ...uses] = await Promise.all([
        admin('PATCH', `/users/${user.id}`, { role }),
        ...Array.from({ length: 12 }, (_, index) => newSession(token, index % 2 === 0 ? app() : other)),
      ]);
      expect([changed.status, ...uses.map(({ status }) => status)]).toEqual(
        Array.from({ length: 13 }, (_, n) => (n === 0 ? 200 : 201)),
      );
      await newSession(token);
      const shown = await tokenOf(user);
      expect(lifetimeOf(shown)).toBeLessThanOrEqual(role === 'user' ? 365 * day : 31 * minute);
    }
    await other.close();
  });
});

describe('with IDLE_TTL and limits by role', () => {
  const env = {
    ...{ SESSION_TTL: '5m', AUTHENTICATION_TTL: '30d', IDLE_TTL: '2d' },
    AUTHENTICATION_TTL_BY_ROLE: 'operator:1h,support:60d',
    IDLE_TTL_BY_ROLE: 'operator:10m,support:5d,user:3d',
  };
  const { app, at, newSession, tokenOf } = serviceWith(env);

  test.each([
    ['user', 2 * day, 30 * day],
    ['support', 2 * day, 30 * day],
    ['operator', 10 * minute, hour],
  ])('the smallest value holds for the role %s', async (role, idle, ttl) => {
    const user = await createUser(app(), { role });
    const { body } = await login(app(), user);
    expect(lifetimeOf(body)).toBe(idle);
    let time = 0;
    while (time + 0.9 * idle < ttl) {
      time += 0.9 * idle;
      await at(`${time} milliseconds`);
      expect((await newSession(body.token)).status).toBe(201);
    }
    expect(Date.parse((await tokenOf(user)).expires_at) - Date.parse(body.created_at)).toBe(ttl);
    await at(`${ttl + 1} milliseconds`);
    expect((await newSession(body.token)).status).toBe(401);
  });

  test('many uses in a short time write the end once', async () => {
    const user = await createUser(app());
    const { token } = await signIn(app(), user);
    const versionOf = async () => {
      const [row] = await app().database.query<{ version: string }>(
        testSql('select xmin::text || ctid::text as version from authentications where user_id = $1', [user.id]),
      );
      return row?.version;
    };
    await newSession(token);
    const before = await versionOf();
    for (let count = 0; count < 20; count += 1) await newSession(token);
    await Promise.all(Array.from({ length: 20 }, () => newSession(token)));
    expect(await versionOf()).toBe(before);
    await at('10 minutes');
    const shown = await tokenOf(user);
    await newSession(token);
    expect(Date.parse((await tokenOf(user)).expires_at) - Date.parse(shown.expires_at)).toBeGreaterThan(9 * minute);
  });
});
