import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, IssuedApiKey, Scope } from '../../../src/contract/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../support/app.js';
import { createUser, passwordLogin, signIn } from '../../support/users.js';

const limits = { REQUEST_LIMIT_PER_ADDRESS: '5/1d', REQUEST_LIMIT_PER_SESSION: '3/1d' };
/** An app without request limits. */
let open: TestApp;
let limited: TestApp;
/** An app that also limits requests with an API key. */
let strict: TestApp;
beforeAll(async () => {
  open = await startTestApp({ TRUST_PROXY: '127.0.0.1' });
  limited = await open.another(limits);
  strict = await open.another({ ...limits, REQUEST_LIMIT_FOR_API_KEYS: 'true' });
});
afterAll(async () => {
  for (const app of [strict, limited, open]) await app.close();
});

let lastAddress = 0;
/** An address that no other test uses: the limits of addresses last a day. */
const newAddress = () => {
  lastAddress += 1;
  return `203.0.113.${lastAddress}`;
};
const newNetwork = () => `2001:db8:${randomInt(65_536).toString(16)}:${randomInt(65_536).toString(16)}`;
/** Sends a request without credentials, by default to `limited`. */
const ask = (address: string, headers: Record<string, string> = {}, on = limited) =>
  on.api<ProblemAnswer>('GET', '/v1/login-options', { headers: { 'x-forwarded-for': address, ...headers } });
const statusesOf = async (addresses: readonly string[], headers?: Record<string, string>, on?: TestApp) => {
  const statuses: number[] = [];
  for (const address of addresses) statuses.push((await ask(address, headers, on)).status);
  return statuses;
};
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);
const keyWith = async (...scopes: Scope[]) => {
  const body = { name: 'test', scopes };
  return (await open.api<IssuedApiKey>('POST', '/admin/v1/keys', { bearer: open.adminKey, body })).body.token;
};

describe('REQUEST_LIMIT_PER_ADDRESS', () => {
  test('refuses further requests with 429, and every response says how many are left', async () => {
    const address = newAddress();
    const first = await ask(address);
    expect([first.status, first.headers['ratelimit-policy'], first.headers.ratelimit]).toEqual([
      200,
      '"address";q=5;w=86400, "session";q=3;w=86400',
      expect.stringMatching(/^"address";r=4;t=\d+$/),
    ]);
    expect(await statusesOf(times(4, address))).toEqual(times(4, 200));
    const refusal = await ask(address);
    expect([refusal.status, refusal.body.errors[0]?.code]).toEqual([429, 'too_many_requests']);
    expect(Number(refusal.headers['retry-after'])).toBeGreaterThan(1);
    expect(refusal.headers.ratelimit).toMatch(/^"address";r=0;t=\d+$/);
    expect((await ask(newAddress())).status).toBe(200);
  });

  test('is off by default: no headers', async () => {
    const { headers } = await ask(newAddress(), {}, open);
    expect([headers.ratelimit, headers['ratelimit-policy']]).toEqual([undefined, undefined]);
  });

  test('counts all addresses of an IPv6 network /64 as one, and IPv4-mapped addresses as IPv4', async () => {
    const network = newNetwork();
    const hosts = [1, 2, 3, 4, 5, 6].map((host) => `${network}::${host}`);
    expect(await statusesOf(hosts)).toEqual([...times(5, 200), 429]);
    const address = newAddress();
    const forms = [address, `::ffff:${address}`, address, `::ffff:${address}`, `${address}:80`, `::ffff:${address}`];
    expect(await statusesOf(forms)).toEqual([...times(5, 200), 429]);
  });

  test('cannot be evaded with forwarded headers that no trusted proxy has written', async () => {
    const address = newAddress();
    const spoofed = times(6, '').map(() => `${newAddress()}, ${address}`);
    expect(await statusesOf(spoofed)).toEqual([...times(5, 200), 429]);
    const untrusting = await open.another({ ...limits, TRUST_PROXY: '198.51.100.1' });
    const statuses: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      const headers = { forwarded: `for=${newAddress()}`, 'postern-client-address': newAddress() };
      statuses.push((await ask(newAddress(), headers, untrusting)).status);
    }
    await untrusting.close();
    expect(statuses).toEqual([...times(5, 200), 429]);
  });

  test('counts session checks on the fast path once', async () => {
    const { session } = await signIn(open, await createUser(open));
    const headers = { 'x-forwarded-for': newAddress() };
    const check = () => limited.api('POST', '/v1/sessions/verify', { bearer: session.token, headers });
    const first = await check();
    expect(first.headers.ratelimit).toMatch(/^"address";r=4;t=\d+, "session";r=2;t=\d+$/);
    const wrong = () => limited.api('POST', '/v1/sessions/verify', { bearer: `pss_${'a'.repeat(60)}`, headers });
    expect([(await wrong()).headers.ratelimit, (await wrong()).headers.ratelimit]).toEqual([
      expect.stringMatching(/^"address";r=3;/),
      expect.stringMatching(/^"address";r=2;/),
    ]);
  });

  test('counts requests with a valid API key only with REQUEST_LIMIT_FOR_API_KEYS, and always those with a wrong key', async () => {
    const key = await keyWith('users:read');
    const list = (on: TestApp, bearer: string, address: string) =>
      on
        .api('GET', '/admin/v1/users', { bearer, headers: { 'x-forwarded-for': address } })
        .then(({ status }) => status);
    const statusesOfSeven = async (on: TestApp, bearer: string) => {
      const [address, statuses] = [newAddress(), [] as number[]];
      for (let index = 0; index < 7; index += 1) statuses.push(await list(on, bearer, address));
      return statuses;
    };
    expect(await statusesOfSeven(limited, key)).toEqual(times(7, 200));
    expect(await statusesOfSeven(limited, 'psk_wrong')).toEqual([...times(5, 401), 429, 429]);
    expect(await statusesOfSeven(strict, key)).toEqual([...times(5, 200), 429, 429]);
  });

  test('does not count probes', async () => {
    const headers = { 'x-forwarded-for': newAddress() };
    const answers = await Promise.all(times(10, '/livez').map((path) => fetch(limited.url + path, { headers })));
    expect(answers.map(({ status }) => status)).toEqual(times(10, 200));
  });
});

describe('REQUEST_LIMIT_PER_SESSION', () => {
  test('counts the requests of a session from any address, on the fast path and on routes', async () => {
    const user = await createUser(open);
    const [{ session }, another] = [await signIn(open, user), await signIn(open, user)];
    const call = (path: string, bearer: string) =>
      limited.api<ProblemAnswer>(path === '/v1/sessions/verify' ? 'POST' : 'GET', path, {
        bearer,
        headers: { 'x-forwarded-for': newAddress() },
      });
    expect((await call('/v1/sessions/verify', session.token)).status).toBe(200);
    expect((await call('/v1/devices', session.token)).headers.ratelimit).toMatch(/"session";r=1;/);
    expect((await call('/v1/sessions/verify', session.token)).status).toBe(200);
    for (const path of ['/v1/sessions/verify', '/v1/devices']) {
      const { status, body, headers } = await call(path, session.token);
      expect([path, status, body.errors[0]?.code]).toEqual([path, 429, 'too_many_requests']);
      expect(headers.ratelimit).toMatch(/"session";r=0;/);
    }
    expect((await call('/v1/devices', another.session.token)).status).toBe(200);
  });
});

describe('a backend that passes the address of its client', () => {
  const forwarding = (address: string, key: string) => ({ 'postern-client-address': address, 'postern-api-key': key });

  test('has a limit for each of its clients, and events contain the address of the client', async () => {
    const key = await keyWith('clients:forward');
    const [backend, client] = [newAddress(), newAddress()];
    const clients = times(8, '').map(() => newAddress());
    for (const one of clients) expect((await ask(backend, forwarding(one, key))).status).toBe(200);
    expect(await statusesOf(times(6, backend), forwarding(client, key))).toEqual([...times(5, 200), 429]);
    expect(await statusesOf(times(6, backend))).toEqual([...times(5, 200), 429]);
    const user = await createUser(open);
    const login = { body: passwordLogin(user.username), headers: forwarding(clients[0] ?? '', key) };
    expect((await open.api('POST', '/v1/tokens', login)).status).toBe(201);
    const path = `/admin/v1/events?filter=user_id:${user.id},type:login.approved`;
    const [event] = (await open.api<Event[]>('GET', path, { bearer: open.adminKey })).body;
    expect(event?.address).toBe(clients[0]);
  });

  test('is refused without a valid key with the scope clients:forward', async () => {
    const address = newAddress();
    // Sent without the client of the tests: the OpenAPI document does not list the refusals of this key at every
    // operation.
    const statusOf = async (from: string, client: string, key: string) => {
      const headers = { 'x-forwarded-for': from, ...forwarding(client, key) };
      return (await fetch(`${limited.url}/v1/login-options`, { headers })).status;
    };
    const wrong = await keyWith('users:read');
    expect(await statusOf(newAddress(), address, wrong)).toBe(403);
    const [from, statuses] = [newAddress(), [] as number[]];
    for (let index = 0; index < 7; index += 1) statuses.push(await statusOf(from, address, 'psk_wrong'));
    expect(statuses).toEqual([...times(5, 401), 429, 429]);
    const key = await keyWith('clients:forward');
    for (const text of ['unknown', '1.2.3.4, 5.6.7.8', 'fe80::1%eth0', '010.0.0.1']) {
      expect([text, await statusOf(newAddress(), text, key)]).toEqual([text, 400]);
    }
  });

  test('is refused while the address of its client or its own address is blocked', async () => {
    const key = await keyWith('clients:forward');
    const [blocked, backend] = [newAddress(), newAddress()];
    await open.api('POST', '/admin/v1/blocks', { bearer: open.adminKey, body: { address: blocked } });
    const status = async (from: string, client: string) => (await ask(from, forwarding(client, key), open)).status;
    expect(await status(backend, newAddress())).toBe(200);
    expect(await status(backend, blocked)).toBe(403);
    expect(await status(backend, `::ffff:${blocked}`)).toBe(403);
    expect(await status(blocked, newAddress())).toBe(403);
  });
});
