import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { IssuedApiKey } from '../../src/contract/administration.js';
import type { Authentication } from '../../src/contract/authentication.js';
import type { Notification } from '../../src/contract/notification.js';
import type { NewSession } from '../../src/contract/session.js';
import type { Database } from '../../src/database/database.js';
import { codeTo } from '../support/account.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createInstallation, type FaultyService, type Installation } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { testSql } from '../support/sql.js';
import {
  codeOf,
  createUser,
  login,
  messageOf,
  newPhone,
  passwordLogin,
  signIn,
  smsLogin,
  wrongCode,
} from '../support/users.js';

const day = 86_400_000;
const minute = 60_000;

const answer = ({ api }: Pick<TestApp, 'api'>, id: string, secret: string) =>
  api('POST', `/v1/tokens/${id}/secret`, { body: { secret, pin: '1234' } });
const verify = ({ api }: Pick<TestApp, 'api'>, { token }: Pick<NewSession, 'token'>) =>
  api('POST', '/v1/sessions/verify', { bearer: token });
const newSession = ({ api }: Pick<TestApp, 'api'>, token: string) =>
  api<NewSession>('POST', '/v1/sessions', { basic: token });
const lock = ({ api, adminKey }: Pick<TestApp, 'api' | 'adminKey'>, userId: string, body: object) =>
  api('POST', `/admin/v1/users/${userId}/lock`, { bearer: adminKey, body });
const publish = ({ api, adminKey }: Pick<TestApp, 'api' | 'adminKey'>, userId: string, headers = {}) =>
  api<Notification>('POST', '/admin/v1/notifications', {
    bearer: adminKey,
    body: { user_id: userId, notification_type: 'payment', description: 'Lunch' },
    headers,
  });
/** The first time that is not later than the one before it, if there is one. */
const outOfOrder = (times: readonly string[]) =>
  times.find((time, index) => index > 0 && time <= (times[index - 1] ?? ''));

/** Code that runs before the service and shifts the clock of its process: `offset` returns milliseconds at each call. */
function setClock(offset: string): Readonly<Record<string, string>> {
  const code = `
    const Real = Date;
    const offset = () => ${offset};
    globalThis.Date = class Date extends Real {
      constructor(...values) { super(...(values.length === 0 ? [Real.now() + offset()] : values)); }
      static now() { return Real.now() + offset(); }
    };`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}`, LOG_LEVEL: 'info' };
}

describe('hosts whose clocks are 400 days ahead, 400 days behind, and jump between both', () => {
  let db: TestDatabase;
  let shared: Database;
  let installation: Installation;
  let hosts: readonly FaultyService[] = [];
  beforeAll(async () => {
    await buildService();
    db = await createTestDatabase();
    installation = await createInstallation({ DATABASE_URL: db.url, GUESS_LIMIT: '5' });
    const started = await Promise.allSettled(
      [`${400 * day}`, `${-400 * day}`, `(Math.floor(performance.now() / 20) % 2 ? 1 : -1) * ${400 * day}`].map(
        (offset) => installation.start(setClock(offset)),
      ),
    );
    // All of them, so that those that have started are stopped if another one has failed.
    hosts = started.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    for (const start of started) if (start.status === 'rejected') throw start.reason;
    shared = db.database;
  }, BUILD_TIMEOUT);
  afterAll(async () => {
    await Promise.all(hosts.map((host) => host.stop()));
    await installation?.remove();
    await db?.drop();
  });

  /** Milliseconds between a time of the service and the database's clock. */
  async function offClock(time: string): Promise<number> {
    const now = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now';
    const [clock] = await shared.query<{ now: number }>(testSql(now));
    return Math.abs(Date.parse(time) - (clock?.now ?? 0));
  }
  /** Pairs of hosts: one creates, and the other one checks. */
  const pairs = () => hosts.map((host, index) => [host, hosts[(index + 1) % hosts.length] ?? host] as const);

  test('have these clocks', () => {
    const years = hosts.map((host) => /"time":"(\d{4})-[^"]*","version"/.exec(host.stdout())?.[1]);
    const here = new Date().getUTCFullYear();
    expect(years.map((year) => Math.abs(Number(year) - here))).toEqual([1, 1, 1].map(() => expect.toBeOneOf([1, 2])));
  });

  test('agree on logins and sessions, which use the database’s clock', async () => {
    for (const [one, other] of pairs()) {
      const { body: authentication } = await login(one, await createUser(one));
      expect(authentication.status).toBe('approved');
      expect(await offClock(authentication.created_at)).toBeLessThan(minute);
      expect(Date.parse(authentication.expires_at) - Date.parse(authentication.created_at)).toBe(365 * day);
      const { body: session } = await newSession(other, authentication.token ?? '');
      expect(await offClock(session.created_at)).toBeLessThan(minute);
      expect(Date.parse(session.expires_at) - Date.parse(session.created_at)).toBe(15 * minute);
      expect((await verify(one, session)).status).toBe(200);
      await shared.query(testSql('update sessions set expires_at = db_now() where id = $1', [session.id]));
      expect([(await verify(one, session)).status, (await verify(other, session)).status]).toEqual([401, 401]);
    }
  });

  test('agree on codes: each host accepts them, and they expire by the database’s clock', async () => {
    for (const [one, other] of pairs()) {
      const { phone } = await createUser(one, { phone: newPhone() });
      const { body: started } = await one.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(phone) });
      expect((await answer(other, started.id, await codeOf(other, started.id))).status).toBe(201);

      const { phone: late } = await createUser(one, { phone: newPhone() });
      const { body: lapsed } = await one.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(late) });
      const code = await codeOf(one, lapsed.id);
      await shared.query(testSql('update authentications set challenge_ends_at = db_now() where id = $1', [lapsed.id]));
      expect((await answer(other, lapsed.id, code)).status).toBe(400);
    }
  });

  test('agree on locks by operators and by guesses, to the second', async () => {
    for (const [one, other] of pairs()) {
      const locked = await createUser(one);
      const [hour] = await shared.query<{ later: string; before: string }>(
        testSql(`select db_now() + interval '1 hour' as later, db_now() - interval '1 minute' as before`),
      );
      expect((await lock(one, locked.id, { until: hour?.before })).status).toBe(422);
      expect((await lock(one, locked.id, { until: hour?.later })).status).toBe(200);
      const refused = await login(other, locked);
      expect(refused.status).toBe(423);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3500);
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(3600);

      const guessed = await createUser(one);
      for (let guess = 0; guess < 5; guess += 1) {
        await one.api('POST', '/v1/tokens', { body: passwordLogin(guessed.username, 'wrong') });
      }
      const lockedByGuesses = await login(other, guessed);
      expect(lockedByGuesses.status).toBe(423);
      expect(Number(lockedByGuesses.headers['retry-after'])).toBeLessThanOrEqual(30);
    }
  });

  test('number an inbox in one order with increasing times, and share Idempotency-Keys', async () => {
    const [host] = hosts;
    const user = await createUser(host ?? expect.unreachable('no host'));
    const times: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      for (const [one, other] of pairs()) {
        const key = { 'idempotency-key': `lunch ${times.length}` };
        const { body: notification } = await publish(one, user.id, key);
        const repeated = await publish(other, user.id, key);
        expect(repeated.headers['idempotent-replayed']).toBe('true');
        expect(repeated.body.id).toBe(notification.id);
        expect(notification.sequence).toBe(times.push(notification.created_at));
        expect(await offClock(notification.created_at)).toBeLessThan(minute);
      }
    }
    expect(outOfOrder(times)).toBeUndefined();
  });

  test('agree on API keys', async () => {
    for (const [one, other] of pairs()) {
      const [hour] = await shared.query<{ later: string }>(testSql(`select db_now() + interval '1 hour' as later`));
      const { body: key } = await one.api<IssuedApiKey>('POST', '/admin/v1/keys', {
        bearer: one.adminKey,
        body: { name: 'support', scopes: ['users:read'], expires_at: hour?.later },
      });
      const list = () => other.api('GET', '/admin/v1/users', { bearer: key.token });
      expect((await list()).status).toBe(200);
      await shared.query(testSql('update api_keys set expires_at = db_now() where id = $1', [key.id]));
      expect((await list()).status).toBe(401);
    }
  });
});

describe('a step of the database’s clock', () => {
  let postern: TestApp;
  beforeAll(async () => {
    postern = await startTestApp({
      LOGIN_LIMIT_PER_ADDRESS: '0',
      CODE_LIMIT_PER_ADDRESS: '0',
      GUESS_LIMIT_PERMANENT: '8',
    });
  });
  afterEach(() => setClockAhead('0'));
  afterAll(() => postern.close());

  const setClockAhead = (interval: string) =>
    postern.database.query(
      testSql(`create or replace function db_now() returns timestamptz language sql volatile
           as $$ select clock_timestamp() + interval '${interval}' $$`),
    );
  /** Back by a little, by a lot, and by more than the lifetime of codes, sessions and locks; then forward again. */
  const steps = ['-10 seconds', '-1 day', '-400 days', '0'];
  const afterEachStep = async (check: () => Promise<void>) => {
    for (const interval of steps) {
      await setClockAhead(interval);
      await check();
    }
  };
  async function startSms() {
    const user = await createUser(postern, { phone: newPhone() });
    const { body } = await postern.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
    return { user, id: body.id, code: await codeOf(postern, body.id) };
  }

  test('back does not revive a used code', async () => {
    const { id, code } = await startSms();
    expect((await answer(postern, id, code)).status).toBe(201);
    await afterEachStep(async () => expect((await answer(postern, id, code)).status).toBe(400));
  });

  test('back does not revive an authentication without guesses', async () => {
    const { id, code, user } = await startSms();
    for (let guess = 0; guess < 5; guess += 1) await answer(postern, id, wrongCode(code));
    await postern.api('POST', `/admin/v1/users/${user.id}/unlock`, { bearer: postern.adminKey });
    await afterEachStep(async () => {
      expect((await answer(postern, id, code)).status).toBe(400);
      expect((await postern.api('GET', `/v1/tokens/${id}`)).body).toEqual({ id, status: 'rejected' });
    });
  });

  test('back does not revive a superseded or deleted token, or its sessions', async () => {
    const user = await createUser(postern);
    const device = { id: crypto.randomUUID() };
    const superseded = await signIn(postern, user, device);
    const deleted = await signIn(postern, user);
    const newest = await signIn(postern, user, device);
    await postern.api('DELETE', `/v1/tokens/${deleted.authentication.id}`, { bearer: newest.session.token });
    await afterEachStep(async () => {
      for (const { token, session, authentication } of [superseded, deleted]) {
        expect((await newSession(postern, token)).status).toBe(401);
        expect((await verify(postern, session)).status).toBe(401);
        expect((await postern.api('GET', `/v1/tokens/${authentication.id}`)).status).toBe(404);
      }
      const { status, body: session } = await newSession(postern, newest.token);
      expect(status).toBe(201);
      expect((await verify(postern, session)).status).toBe(200);
    });
  });

  test('back by more than a minute refuses earlier sessions until the clock has reached their time', async () => {
    const { session } = await signIn(postern, await createUser(postern));
    for (const [interval, status] of [
      ['-10 seconds', 200],
      ['-50 seconds', 200],
      ['-2 minutes', 401],
      ['-1 day', 401],
      ['-400 days', 401],
      ['0', 200],
    ] as const) {
      await setClockAhead(interval);
      expect([interval, (await verify(postern, session)).status]).toEqual([interval, status]);
    }
  });

  describe('back by more than a minute', () => {
    const recovery = async () => {
      const user = await createUser(postern, { phone: newPhone() });
      const identity = { type: 'phone', value: user.phone };
      const { body } = await postern.api<{ id: string }>('POST', '/v1/recoveries', {
        body: { identity, purpose: 'password' },
      });
      const secret = await codeTo(postern, user.phone ?? '');
      const complete = { secret, password: 'a stable of batteries' };
      return () => postern.api('POST', `/v1/recoveries/${body.id}`, { body: complete });
    };
    const login = async () => {
      const { id, code } = await startSms();
      return () => answer(postern, id, code);
    };
    const repetition = async () => {
      const { id, code } = await startSms();
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const body = { secret: code, pin: '1234' };
      const repeat = () => postern.api('POST', `/v1/tokens/${id}/secret`, { headers, body });
      expect((await repeat()).status).toBe(201);
      return repeat;
    };

    test.each([
      ['the code of a login', login],
      ['the code of a recovery', recovery],
      ['a repeated approving request', repetition],
    ])('refuses %s that was started before the step', async (_, begin) => {
      await setClockAhead('30 seconds');
      const [halfAMinuteAhead, aDayAhead] = [await begin(), await setClockAhead('1 day').then(begin)];
      await setClockAhead('0');
      expect((await aDayAhead()).status).toBe(400);
      expect((await halfAMinuteAhead()).status).toBeLessThan(300);
    });
  });

  test.each([
    ['was logged out', 'POST', '/logout', undefined, 401],
    ['was locked permanently', 'POST', '/lock', { permanent: true }, 403],
    ['got another password', 'PATCH', '', { password: 'a stable of batteries' }, 401],
    ['was deactivated', 'PATCH', '', { status: 'deactivated' }, 400],
    ['was deleted', 'DELETE', '', undefined, 401],
  ])('back does not revive a login of a user who %s', async (_what, method, path, body, refusal) => {
    const user = await createUser(postern);
    const { token, session } = await signIn(postern, user);
    const { api, adminKey } = postern;
    const done = await api(method, `/admin/v1/users/${user.id}${path}`, {
      bearer: adminKey,
      ...(body === undefined ? {} : { body }),
    });
    expect(done.status).toBeLessThan(300);
    await afterEachStep(async () => {
      expect((await newSession(postern, token)).status).toBe(refusal);
      expect((await verify(postern, session)).status).toBe(401);
    });
  });

  test('back revives neither a revoked API key nor a permanently locked account', async () => {
    const { api, adminKey } = postern;
    const { body: key } = await api<IssuedApiKey>('POST', '/admin/v1/keys', {
      bearer: adminKey,
      body: { name: 'support', scopes: ['users:read'] },
    });
    await api('DELETE', `/admin/v1/keys/${key.id}`, { bearer: adminKey });
    const user = await createUser(postern);
    for (let guess = 0; guess < 8; guess += 1) {
      await api('POST', '/v1/tokens', { body: passwordLogin(user.username, 'wrong') });
      await postern.database.query(testSql('update guess_budgets set locked_until = null where not permanent'));
    }
    // Forward by less than 90 days: after that time without a wrong secret, a permanent lock ends.
    for (const interval of ['-10 seconds', '-1 day', '-400 days', '-320 days']) {
      await setClockAhead(interval);
      expect((await api('GET', '/admin/v1/users', { bearer: key.token })).status).toBe(401);
      expect((await login(postern, user)).status).toBe(403);
    }
    await setClockAhead('0');
    expect((await api('GET', '/admin/v1/users', { bearer: key.token })).status).toBe(401);
  });

  test('back lets the newer of two logins on a device end the older one, although its time is earlier', async () => {
    const user = await createUser(postern);
    const device = { id: crypto.randomUUID() };
    const older = await signIn(postern, user, device);
    await setClockAhead('-1 day');
    const newer = await signIn(postern, user, device);
    expect((await verify(postern, newer.session)).status).toBe(200);
    expect((await newSession(postern, older.token)).status).toBe(401);
  });

  test('in any direction keeps the times of notifications in the order of their numbers', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    const published: Notification[] = [];
    for (const interval of ['0', '-1 day', '-1 second', '-400 days', '1 day', '-3 days', '0']) {
      await setClockAhead(interval);
      for (let count = 0; count < 3; count += 1) published.push((await publish(postern, user.id)).body);
    }
    await setClockAhead('0');
    const { body: listed } = await postern.api<Notification[]>('GET', '/v1/notifications?limit=100', {
      bearer: session.token,
    });
    expect(listed.map(({ id }) => id)).toEqual(published.map(({ id }) => id).reverse());
    expect(published.map(({ sequence }) => sequence)).toEqual(published.map((_, index) => index + 1));
    expect(outOfOrder(published.map(({ created_at }) => created_at))).toBeUndefined();
  });

  test('back sends no message twice', async () => {
    const { id } = await startSms();
    const { updated_at, attempts } = await messageOf(postern, id);
    await setClockAhead('-1 day');
    const { id: other } = await startSms();
    await messageOf(postern, other);
    expect(await messageOf(postern, id)).toMatchObject({ updated_at, attempts });
  });
});
