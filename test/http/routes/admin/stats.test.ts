import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IssuedApiKey } from '../../../../src/contract/administration.js';
import type { Metric, Statistics } from '../../../../src/contract/operation/statistics.js';
import type { User } from '../../../../src/contract/user.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { signInWithRole } from '../../../support/operators.js';
import { type FcmFake, fcmUnregistered, startFcm } from '../../../support/push-fakes/fcm.js';
import { createUser, login, messageOf, newPhone, passwordLogin, signIn, smsLogin } from '../../../support/users.js';

let fcm: FcmFake;
let one: TestApp;
let other: TestApp;
const shortInterval = { statisticsInterval: 25 };

beforeAll(async () => {
  fcm = await startFcm();
  one = await startTestApp(
    { ...fcm.env, LOGIN_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '3', SECOND_FACTOR: 'off', NOTICES: 'none' },
    shortInterval,
  );
  other = await one.another();
});
afterAll(async () => {
  await other.close();
  await one.close();
  await fcm.close();
});

/** For each of these metrics, the total of each label, and under `all` the total of the metric. */
async function totals(...names: Metric[]): Promise<Record<string, Record<string, number>>> {
  const { body } = await one.api<Statistics>('GET', `/admin/v1/stats?metric=${names.join(',')}`, {
    bearer: one.adminKey,
  });
  return Object.fromEntries(
    body.metrics.map(({ metric, total, labels }) => [
      metric,
      { all: total, ...Object.fromEntries(labels.map((label) => [label.label, label.total])) },
    ]),
  );
}

const answerUnknown = (postern: TestApp) =>
  postern.api('POST', '/v1/tokens/3f0b4a52-8f0c-4a27-9f4e-5f8a3b1f0d77/secret', {
    body: { secret: '123456', pin: '2468' },
  });

/** Waits until both instances have written all counts so far: each write contains all earlier counts. */
async function allWritten() {
  const count = async () => (await totals('logins.failed'))['logins.failed']?.not_open ?? 0;
  const before = await count();
  await Promise.all([one, other].map(answerUnknown));
  await eventually('the counts of both instances', async () => ((await count()) >= before + 2 ? true : undefined));
}

/** Runs `work`, and returns what it adds to the totals, as soon as that is at least `expected`. */
async function added(work: () => Promise<unknown>, expected: Record<string, Record<string, number>>) {
  await allWritten();
  const names = Object.keys(expected) as Metric[];
  const before = await totals(...names);
  await work();
  const increase = async () => {
    const after = await totals(...names);
    return Object.fromEntries(
      names.map((name) => [
        name,
        Object.fromEntries(
          Object.keys(expected[name] ?? {}).map((label) => [
            label,
            (after[name]?.[label] ?? 0) - (before[name]?.[label] ?? 0),
          ]),
        ),
      ]),
    );
  };
  return eventually(`the counts ${JSON.stringify(expected)}`, async () => {
    const now = await increase();
    const isThere = names.every((name) =>
      Object.entries(expected[name] ?? {}).every(([label, value]) => (now[name]?.[label] ?? 0) >= value),
    );
    return isThere ? now : undefined;
  });
}

async function expectAdded(work: () => Promise<unknown>, expected: Record<string, Record<string, number>>) {
  expect(await added(work, expected)).toEqual(expected);
}

const loginWithWrongPassword = (postern: TestApp, user: User) =>
  postern.api('POST', '/v1/tokens', { body: passwordLogin(user.username, 'wrong') });

describe('the statistics sum what both instances count:', () => {
  test('logins by authenticator, and new devices', async () => {
    const user = await createUser(one);
    const device = { id: '3f0b4a52-8f0c-4a27-9f4e-5f8a3b1f0d77' };
    await expectAdded(
      async () => {
        await login(one, user, device);
        await login(other, user, device);
        await login(other, user, { id: '3f0b4a52-8f0c-4a27-9f4e-5f8a3b1f0d78' });
      },
      { 'logins.approved': { all: 3, password: 3 }, 'devices.new': { all: 2 } },
    );
  });

  test('refused logins by cause, and locks', async () => {
    const [user, locked] = [await createUser(one), await createUser(one)];
    await expectAdded(
      async () => {
        for (const postern of [one, other, one]) await loginWithWrongPassword(postern, user);
        await loginWithWrongPassword(other, user);
        await one.api('POST', `/admin/v1/users/${locked.id}/lock`, {
          bearer: one.adminKey,
          body: { permanent: true },
        });
        await login(other, locked);
        await one.api('POST', '/v1/tokens', { body: passwordLogin('nobody-has-this') });
        await answerUnknown(one);
      },
      {
        'logins.failed': { all: 7, wrong_secret: 4, locked_by_guesses: 1, locked_by_operator: 1, not_open: 1 },
        locks: { all: 2, guesses: 1, operator: 1 },
      },
    );
  });

  test('wrong codes, and requests over a limit', async () => {
    const user = await createUser(one, { phone: newPhone() });
    const start = () => one.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
    await expectAdded(
      async () => {
        const { body } = await start();
        await messageOf(one, body.id);
        expect((await start()).status).toBe(429);
        await other.api('POST', `/v1/tokens/${body.id}/secret`, { body: { secret: '00000000', pin: '2468' } });
      },
      { 'logins.failed': { all: 2, wrong_secret: 1, too_many_requests: 1 }, 'messages.sent': { all: 1, sms: 1 } },
    );
  });

  test('sessions, checked by the fast path and by the routes', async () => {
    const user = await createUser(one);
    const { session } = await signIn(one, user);
    const bearer = session.token;
    await expectAdded(
      async () => {
        for (const method of ['POST', 'GET']) {
          await one.api(method, '/v1/sessions/verify', { bearer });
          // A request with an origin takes the routes.
          await other.api(method, '/v1/sessions/verify', { bearer, headers: { origin: 'https://app.example' } });
        }
        await one.api('POST', '/v1/sessions/verify', { bearer: 'pss_invalid' });
        await one.api('GET', '/v1/notifications', { bearer });
        await signIn(other, user);
      },
      { 'sessions.verified': { all: 4 }, 'sessions.created': { all: 1 } },
    );
  });

  test('notifications and pushes by outcome', async () => {
    const users = await Promise.all([1, 2, 3].map(() => createUser(one)));
    const [reached, gone] = users;
    for (const [index, user] of [reached, gone].entries()) {
      if (user === undefined) throw new Error('no user');
      const { session } = await signIn(one, user);
      const body = { type: 'android', token: `token-${index}` };
      await one.api('POST', '/v1/devices/tokens', { bearer: session.token, body });
    }
    fcm.behave(fcmUnregistered, 'token-1');
    const body = { user_ids: users.map(({ id }) => id), notification_type: 'payment', description: 'A payment' };
    const key = { bearer: one.adminKey };
    await expectAdded(
      async () => {
        await other.api('POST', '/admin/v1/notifications', { ...key, body });
        await one.api('POST', '/admin/v1/notifications', {
          ...key,
          body: { ...body, user_ids: undefined, user_id: users[2]?.id },
        });
      },
      {
        'notifications.published': { all: 4 },
        'notifications.pushed': { all: 2 },
        'pushes.sent': { all: 1, fcm: 1 },
        'pushes.gone': { all: 1, fcm: 1 },
        'queue.jobs': { 'push.send.fcm': 2 },
      },
    );
  });
});

test('counts survive a restart: a stop writes the last ones', async () => {
  const before = await totals('logins.approved');
  const user = await createUser(one);
  const third = await one.another();
  await login(third, user);
  await third.close();
  const after = await totals('logins.approved');
  expect(after['logins.approved']?.all).toBe((before['logins.approved']?.all ?? 0) + 1);
});

describe('the route', () => {
  const read = (query: string, bearer = one.adminKey) =>
    one.api<Statistics & ProblemAnswer>('GET', `/admin/v1/stats?${query}`, { bearer });

  test('needs users:read, so support may see statistics, and a publisher may not', async () => {
    const support = await signInWithRole(one, 'support');
    expect((await read('metric=locks', support.bearer)).status).toBe(200);
    const { body: key } = await one.api<IssuedApiKey>('POST', '/admin/v1/keys', {
      bearer: one.adminKey,
      body: { name: 'publisher', scopes: ['notifications:write'] },
    });
    expect((await read('metric=locks', key.token)).status).toBe(403);
  });

  test('answers in buckets of UTC', async () => {
    const { body } = await read(
      'metric=locks,queue.latency&from=2020-01-01T23:30:00-05:00&to=2020-01-04 00:00:00&step=1d',
    );
    expect(body).toMatchObject({
      from: '2020-01-02T00:00:00.000000Z',
      to: '2020-01-04T00:00:00.000000Z',
      step: '1d',
      buckets: ['2020-01-02T00:00:00.000000Z', '2020-01-03T00:00:00.000000Z'],
      metrics: [
        { metric: 'locks', kind: 'counter', total: 0, values: [0, 0], labels: [] },
        { metric: 'queue.latency', kind: 'mean', total: 0, values: [0, 0], labels: [] },
      ],
    });
  });

  test.each([
    ['', [['metric', 'required']]],
    ['metric=', [['metric', 'invalid_choice']]],
    ['metric=logins', [['metric', 'invalid_choice']]],
    ['metric=locks,locks', [['metric', 'duplicate_items']]],
    ['metric=locks&metric=locks', [['metric', 'repeated_parameter']]],
    ['metric=locks&step=2m', [['step', 'invalid_choice']]],
    [
      'metric=locks&from=yesterday&to=2020-02-30T00:00:00Z&limit=3',
      [
        ['limit', 'unknown_parameter'],
        ['from', 'invalid_since'],
        ['to', 'invalid_since'],
      ],
    ],
    ['metric=locks&from=2020-01-02T00:00:00Z&to=2020-01-01T00:00:00Z', [['to', 'not_later']]],
    ['metric=locks&from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z&step=1h', [['step', 'step_too_short']]],
  ])('refuses %j', async (query, errors) => {
    const { status, body } = await read(query);
    expect(status).toBe(422);
    expect(body.errors.map(({ field, code }) => [field, code])).toEqual(errors);
  });
});
