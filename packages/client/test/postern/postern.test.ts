import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { createUser, password } from '../../../../test/support/users.js';
import {
  createAccount,
  createLogin,
  createPostern,
  isPosternError,
  isProblem,
  memoryStorage,
  type Postern,
  type PosternStorage,
} from '../../src/index.js';
import { clientOf, createNetwork, lost, problem, signedIn } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

const devices = (postern: Postern) => postern.fetch(new URL('v1/devices', postern.url));
const kindOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => (isPosternError(error) ? error.kind : error),
  );

describe('sessions', () => {
  test('1,000 calls without a session cause one POST /v1/sessions', async () => {
    const network = createNetwork();
    const { postern, user } = await signedIn(app, { fetch: network.fetch });
    const sessions = await Promise.all(Array.from({ length: 1000 }, () => postern.getSession()));
    expect(network.count('POST /v1/sessions')).toBe(1);
    expect(new Set(sessions.map((session) => session?.id)).size).toBe(1);
    expect(sessions[0]).toMatchObject({ user_id: user.id, token: expect.stringMatching(/^pss_/) });
  });

  test('1,000 calls with a session that was revoked cause one more, and all succeed', async () => {
    const network = createNetwork();
    const { postern } = await signedIn(app, { fetch: network.fetch });
    const first = await postern.getSession();
    let asked = 0;
    // The test answers the calls, because a busy machine may refuse some of 1,000 at once.
    network.answer = (request) => {
      if (request !== 'GET /v1/devices') return undefined;
      asked += 1;
      return asked <= 1000 ? problem(401, 'invalid_session_token') : Response.json([]);
    };
    const answers = await Promise.all(Array.from({ length: 1000 }, () => devices(postern)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(network.count('POST /v1/sessions')).toBe(2);
    expect((await postern.getSession())?.id).not.toBe(first?.id);
  });

  test('a call is repeated once: a second 401 reaches the caller', async () => {
    const network = createNetwork();
    const { postern } = await signedIn(app, { fetch: network.fetch });
    network.answer = (request) => (request === 'GET /v1/devices' ? problem(401, 'invalid_session_token') : undefined);
    expect((await devices(postern)).status).toBe(401);
    expect(network.count('GET /v1/devices')).toBe(2);
    expect(postern.current.status).toBe('signed_in');
  });

  test.each<[string, () => Response, (postern: Postern) => Promise<unknown>]>([
    [
      'a request of the app, after a 401',
      () => problem(401, 'invalid_session_token'),
      (postern) => postern.fetch(`${app.url}/v1/account`),
    ],
    ['a call, after a 401', () => problem(401, 'invalid_session_token'), (postern) => createAccount(postern).get()],
    [
      'a call, after a pause',
      () => problem(503, 'overloaded', { 'retry-after': '0' }),
      (postern) => createAccount(postern).get(),
    ],
  ])('of another user, who has logged in meanwhile, repeat nothing: %s', async (_, refusal, send) => {
    const network = createNetwork();
    const { postern } = await signedIn(app, { fetch: network.fetch });
    const { user: other } = await signedIn(app);
    network.answer = async (request, number) => {
      if (request !== 'GET /v1/account' || number > 1) return undefined;
      await createLogin(postern)
        .start()
        .password({ identity: other.username ?? '', password });
      return refusal();
    };
    await expect(send(postern)).rejects.toMatchObject({ kind: 'signed_out' });
    expect(network.count('GET /v1/account')).toBe(1);
    expect(await postern.getSession()).toMatchObject({ user_id: other.id });
  });

  test('are renewed before they expire, whatever the clock of the device shows', async () => {
    const network = createNetwork();
    const { postern } = await signedIn(app, { fetch: network.fetch });
    const first = await postern.getSession();
    const [wallNow, steadyNow] = [Date.now.bind(Date), performance.now.bind(performance)];
    const clock = { wall: 0, steady: 0 };
    const spies = [
      vi.spyOn(Date, 'now').mockImplementation(() => wallNow() + clock.wall),
      vi.spyOn(performance, 'now').mockImplementation(() => steadyNow() + clock.steady),
    ];
    try {
      // The clock is set back by a day: only elapsed time counts.
      clock.wall = -86_400_000;
      expect((await postern.getSession())?.id).toBe(first?.id);
      clock.steady = 10 * 60_000;
      expect((await postern.getSession())?.id).toBe(first?.id);
      clock.steady += 280_000;
      expect((await postern.getSession())?.id).not.toBe(first?.id);
      // The device slept: its steady clock stood still, its wall clock did not.
      clock.wall += 15 * 60_000;
      expect(network.count('POST /v1/sessions')).toBe(2);
      await postern.getSession();
      expect(network.count('POST /v1/sessions')).toBe(3);
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
  });

  test('the abort of one caller does not abort the others', async () => {
    const { postern } = await signedIn(app);
    const controller = new AbortController();
    const reason = new Error('no longer needed');
    const aborted = postern.getSession({ signal: controller.signal });
    const other = postern.getSession();
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    expect(await other).not.toBeNull();
    await expect(postern.getSession({ signal: controller.signal })).rejects.toBe(reason);
  });
});

describe('a login ends only by a 401 on the authentication token', () => {
  test.each<[string, () => Response, string]>([
    ['a lost network', lost, 'network'],
    [
      'the page of a captive portal',
      () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      'foreign_answer',
    ],
    ['a 401 of a proxy', () => new Response('no', { status: 401 }), 'foreign_answer'],
    ['a 502 of a proxy', () => new Response('bad gateway', { status: 502 }), 'foreign_answer'],
    ['a 503 with a long pause', () => problem(503, 'storage_unavailable', { 'retry-after': '3600' }), 'problem'],
    ['a 429 with a long pause', () => problem(429, 'too_many_requests', { 'retry-after': '3600' }), 'problem'],
  ])('not by %s', async (_name, answer, kind) => {
    const network = createNetwork();
    const { postern } = await signedIn(app, { fetch: network.fetch });
    network.answer = answer;
    expect(await kindOf(postern.getSession())).toBe(kind);
    expect(postern.current.status).toBe('signed_in');
    network.answer = undefined;
    expect(await postern.getSession()).not.toBeNull();
  });

  test.each<[string, () => Response]>([
    ['a lost network', lost],
    ['a 503 with a short pause', () => problem(503, 'overloaded', { 'retry-after': '0' })],
    ['a 429 with a short pause', () => problem(429, 'too_many_requests', { 'retry-after': '0' })],
  ])('after %s the client waits and repeats the request', async (_name, answer) => {
    const network = createNetwork();
    const { postern } = await signedIn(app, { fetch: network.fetch });
    network.answer = (_request, number) => (number === 1 ? answer() : undefined);
    expect(await postern.getSession()).not.toBeNull();
    expect(network.count('POST /v1/sessions')).toBe(2);
  });

  test('by a logout everywhere: the next session is null, and the state says why', async () => {
    const { postern, user } = await signedIn(app);
    await app.api('POST', `/admin/v1/users/${user.id}/logout`, { bearer: app.adminKey });
    expect(await postern.getSession({ fresh: true })).toBeNull();
    expect(postern.current).toEqual({ status: 'signed_out', reason: 'ended' });
    expect(await kindOf(devices(postern))).toBe('signed_out');
  });

  test('a lock suspends the login, and an unlock lets it continue', async () => {
    const { postern, user } = await signedIn(app);
    const lock = { permanent: true, reason: 'fraud' };
    await app.api('POST', `/admin/v1/users/${user.id}/lock`, { bearer: app.adminKey, body: lock });
    const refused = await postern.getSession({ fresh: true }).catch((error: unknown) => error);
    expect(isProblem(refused, 'account_locked')).toBe(true);
    expect(postern.current).toMatchObject({ status: 'suspended', user_id: user.id });
    await app.api('POST', `/admin/v1/users/${user.id}/unlock`, { bearer: app.adminKey });
    expect(await postern.getSession()).not.toBeNull();
    expect(postern.current.status).toBe('signed_in');
  });
});

describe('the storage', () => {
  test('keeps the login, so that the next start needs no network to know the user', async () => {
    const storage = memoryStorage();
    const { user } = await signedIn(app, { storage });
    const network = createNetwork();
    network.answer = lost;
    const next = clientOf(app, { storage, fetch: network.fetch });
    expect(next.current).toEqual({ status: 'starting' });
    expect(await next.ready()).toMatchObject({ status: 'signed_in', user_id: user.id });
    expect(network.sent).toEqual([]);
  });

  test('a logout without a network takes effect at once, and is sent to Postern at the next start', async () => {
    const storage = memoryStorage();
    const network = createNetwork();
    const { postern } = await signedIn(app, { storage, fetch: network.fetch });
    const session = await postern.getSession();
    const check = () => app.api('GET', '/v1/sessions/verify', { bearer: session?.token ?? '' });
    network.answer = lost;
    expect(await postern.logOut()).toEqual({ revoked: false });
    expect(postern.current).toEqual({ status: 'signed_out', reason: 'logged_out' });
    expect((await check()).status).toBe(200);
    const next = clientOf(app, { storage });
    expect(await next.ready()).toEqual({ status: 'signed_out', reason: 'never_signed_in' });
    await eventually('the session to end', async () => ((await check()).status === 401 ? true : undefined));
    await eventually('the token to be forgotten', async () =>
      (await storage.get('postern.revoke')) === null ? true : undefined,
    );
  });

  test('a logout without a network is sent at the next start, also if somebody else has signed in meanwhile', async () => {
    const storage = memoryStorage();
    const network = createNetwork();
    const { postern } = await signedIn(app, { storage, fetch: network.fetch });
    const session = await postern.getSession();
    const answer = network.answer;
    network.answer = lost;
    expect(await postern.logOut()).toEqual({ revoked: false });
    network.answer = answer;
    const other = await createUser(app);
    const state = await createLogin(postern)
      .start()
      .password({ identity: other.username ?? '', password });
    expect(state).toMatchObject({ step: 'done' });
    const next = clientOf(app, { storage });
    expect(await next.ready()).toMatchObject({ status: 'signed_in', user_id: other.id });
    await eventually('the session of the former user to end', async () => {
      const { status } = await app.api('GET', '/v1/sessions/verify', { bearer: session?.token ?? '' });
      return status === 401 ? true : undefined;
    });
    expect(await next.getSession()).toMatchObject({ user_id: other.id });
  });

  test('a logout with a network revokes the token', async () => {
    const { postern } = await signedIn(app);
    const session = await postern.getSession();
    expect(await postern.logOut()).toEqual({ revoked: true });
    expect((await app.api('GET', '/v1/sessions/verify', { bearer: session?.token ?? '' })).status).toBe(401);
    expect(await postern.getSession()).toBeNull();
  });

  test('the next login is on the same device', async () => {
    const storage = memoryStorage();
    const { postern, user } = await signedIn(app, { storage });
    const before = (await postern.getSession())?.device_id;
    await postern.logOut();
    const state = await createLogin(postern)
      .start()
      .password({ identity: user.username ?? '', password });
    expect(state).toMatchObject({ step: 'done', device_id: before });
  });

  test('that throws does not end the login, and its error is reported', async () => {
    const full: PosternStorage = { get: lost, set: lost, delete: lost };
    const errors: unknown[] = [];
    const { postern } = await signedIn(app, { storage: full, onError: (error) => errors.push(error) });
    expect(await postern.getSession()).not.toBeNull();
    expect(errors.length).toBeGreaterThan(0);
  });

  test.each(['', 'null', '{}', '{"token":5}', 'rubbish', '[]'])(
    'that contains %j means that nobody is signed in',
    async (text) => {
      const storage = memoryStorage();
      await storage.set('postern.login', text);
      expect(await clientOf(app, { storage }).ready()).toEqual({ status: 'signed_out', reason: 'never_signed_in' });
    },
  );
});

describe('tabs', () => {
  test('follow a login and a logout in another tab', async () => {
    const storage = memoryStorage();
    const other = clientOf(app, { storage });
    await other.ready();
    const { postern, user } = await signedIn(app, { storage });
    await eventually('the other tab to follow', async () => (other.current.status === 'signed_in' ? true : undefined));
    expect(other.current).toMatchObject({ user_id: user.id });
    await postern.logOut();
    await eventually('the other tab to follow', async () => (other.current.status === 'signed_out' ? true : undefined));
    for (const client of [postern, other]) client.close();
  });

  test('a token that another tab replaced does not sign this tab out', async () => {
    const storage = memoryStorage();
    const { postern, user } = await signedIn(app, { storage, tabs: false });
    await postern.getSession();
    const device = { id: (await postern.getSession())?.device_id };
    const identity = { type: 'username', value: user.username };
    const again = await app.api<{ token: string; device_id: string }>('POST', '/v1/tokens', {
      body: { identity, authenticator: 'password', secret: password, device },
    });
    await app.api('POST', '/v1/sessions', { basic: again.body.token });
    const { token, device_id } = again.body;
    await storage.set('postern.login', JSON.stringify({ token, device_id, user_id: user.id }));
    expect(await postern.getSession({ fresh: true })).toMatchObject({ user_id: user.id });
    expect(postern.current.status).toBe('signed_in');
  });
});

describe('misuse fails at once with a sentence that says what to do', () => {
  const url = 'https://auth.example.com';
  test.each<[string, () => unknown, RegExp]>([
    ['no options', () => createPostern(undefined as never), /needs `url`/],
    ['no URL', () => createPostern({ storage: memoryStorage() } as never), /needs `url`/],
    ['a path outside of a page', () => createPostern({ url: '/auth', storage: memoryStorage() }), /in pages only/],
    ['another protocol', () => createPostern({ url: 'ftp://x', storage: memoryStorage() }), /http or https/],
    ['a URL with a query', () => createPostern({ url: `${url}?a`, storage: memoryStorage() }), /without user, query/],
    ['no storage', () => createPostern({ url } as never), /`storage` must be/],
    [
      "the browser's own storage",
      () => createPostern({ url, storage: { getItem: () => null } as never }),
      /`storage` must be/,
    ],
    ['a time limit of 0', () => createPostern({ url, storage: memoryStorage(), timeout: 0 }), /milliseconds/],
    ['a login without a client', () => createLogin({} as Postern), /createPostern made/],
  ])('%s', (_name, misuse, message) => {
    expect(misuse).toThrow(message);
  });

  test('a client for the path of a backend can be created while a server renders the page', () => {
    expect(createPostern({ url: '/auth', storage: 'backend' }).current).toEqual({ status: 'starting' });
  });

  test('a call after close', async () => {
    const postern = clientOf(app);
    postern.close();
    await expect(postern.getSession()).rejects.toThrow(/closed. Create another/);
    expect(() => createLogin(postern)).toThrow(/closed/);
  });

  test('a session for an origin that is not trusted, before anything is sent', async () => {
    const network = createNetwork();
    const { postern } = await signedIn(app, { fetch: network.fetch });
    await expect(postern.fetch('https://other.example.com/x')).rejects.toThrow(/trustedOrigins/);
    expect(network.sent.at(-1)).toBe('POST /v1/tokens');
  });
});

test('unknown members of answers are ignored', async () => {
  const network = createNetwork();
  const { postern } = await signedIn(app, { fetch: network.fetch });
  network.answer = async () => {
    const now = Date.now();
    const times = { created_at: new Date(now).toISOString(), expires_at: new Date(now + 900_000).toISOString() };
    const ids = { id: 'a', user_id: 'b', device_id: 'c' };
    return Response.json(
      { ...ids, ...times, updated_at: times.created_at, token: 'pss_x', later: { than: 'this' } },
      { status: 201 },
    );
  };
  expect(await postern.getSession()).toMatchObject({ token: 'pss_x' });
});

test('importing the package and creating a client sends nothing, sets no timer and changes no global', async () => {
  const before = Object.getOwnPropertyNames(globalThis);
  const network = createNetwork();
  vi.useFakeTimers();
  try {
    createPostern({ url: app.url, storage: memoryStorage(), fetch: network.fetch });
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
  expect(network.sent).toEqual([]);
  expect(Object.getOwnPropertyNames(globalThis)).toEqual(before);
  expect(await createUser(app)).toBeDefined();
});
