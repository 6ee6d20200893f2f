import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.js';
import { createBrowserSession, createPosternServer, createWebhookVerifier, expressSession } from '../src/index.js';
import { backendOf, lost, problem } from './support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const url = 'https://auth.example.com';

test.each<[string, () => unknown, string]>([
  ['no URL', () => createPosternServer({ url: '' }), 'createPosternServer needs `url`'],
  ['a path', () => createPosternServer({ url: '/auth' }), 'createPosternServer needs `url`'],
  ['another protocol', () => createPosternServer({ url: 'ftp://auth.example.com' }), 'http or https'],
  ['a time limit of 0', () => createPosternServer({ url, timeout: 0 }), '`timeout`'],
  ['a fraction as the number of retries', () => createPosternServer({ url, retries: 0.5 }), '`retries`'],
])('%s is a usage error', (_, make, message) => {
  expect(make).toThrow(message);
});

test('without an address, as in a build, only a use fails', async () => {
  const postern = createPosternServer({ url: undefined, apiKey: 'psk_x' });
  const browser = createBrowserSession(postern, { basePath: '/auth', clientAddress: 'none' });
  createWebhookVerifier({ jwks: postern });
  expressSession(postern);
  expect(() => postern.url).toThrow('createPosternServer needs `url`');
  const cookie = 'postern=psa_x';
  const request = new Request('http://app/auth/v1/sessions', {
    ...{ method: 'POST', headers: { cookie, 'sec-fetch-site': 'same-origin' } },
  });
  const news = { user_id: 'x', notification_type: 'payment', description: 'x' } as const;
  const uses: (() => Promise<unknown>)[] = [
    () => postern.verify('pss_x'),
    () => postern.users.get('x'),
    () => postern.events().page(),
    () => postern.publish(news, { idempotencyKey: 'x' }),
    () => postern.publishAll([news], { idempotencyKey: 'x' })[Symbol.asyncIterator]().next(),
    () => browser.session({ headers: { cookie } }),
    () => browser.snapshot({ headers: { cookie } }, { account: true }),
    () => browser.handler(request),
  ];
  for (const use of uses)
    await expect(use(), `${use}`).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('needs `url`'),
    });
  // Nobody is asked about a request without a token.
  expect(await postern.verify({ headers: {} })).toBeNull();
});

test('a call without an API key says what is missing, and sends nothing', async () => {
  const { server, network } = backendOf(app, { apiKey: undefined });
  await expect(server.users.get('x')).rejects.toThrow('createPosternServer({ url, apiKey })');
  expect(network.sent).toEqual([]);
});

test('creating a client sends nothing', () => {
  expect(backendOf(app).network.sent).toEqual([]);
});

test('after a 401, the client asks the app for the API key again, and uses a new one', async () => {
  const keys = ['psk_former', app.adminKey];
  const { server, network } = backendOf(app, { apiKey: async () => keys.shift() ?? app.adminKey });
  expect((await server.keys.list().page()).data).toEqual(expect.any(Array));
  expect(network.sent.length).toBe(2);
});

test('a wrong key is not tried twice', async () => {
  const { server, network } = backendOf(app, { apiKey: 'psk_wrong' });
  await expect(server.keys.list().page()).rejects.toMatchObject({ code: 'invalid_api_key' });
  expect(network.sent.length).toBe(1);
});

test('reads are repeated after a lost connection and a 503, as often as `retries` says', async () => {
  const { server, network } = backendOf(app);
  network.answer = (_, number) => (number === 1 ? lost() : number === 2 ? problem(503, 'overloaded') : undefined);
  expect((await server.events().page()).data).toEqual(expect.any(Array));
  network.answer = lost;
  await expect(server.events().page()).rejects.toMatchObject({ kind: 'network' });
  expect(network.sent.length).toBe(6);
  const once = backendOf(app, { retries: 0 });
  once.network.answer = lost;
  await expect(once.server.events().page()).rejects.toMatchObject({ kind: 'network' });
  expect(once.network.sent.length).toBe(1);
});

test('a change that is not safe to repeat is sent once', async () => {
  const { server, network } = backendOf(app);
  network.answer = lost;
  await expect(server.users.unlock('5b0f3c51-b0d4-4c42-8b2e-39ef2b1b2d2c')).rejects.toMatchObject({ kind: 'network' });
  expect(network.sent.length).toBe(1);
});

test('an answer that asks for a long wait goes to the caller', async () => {
  const { server, network } = backendOf(app);
  network.answer = () => problem(429, 'too_many_requests', { 'retry-after': '3600' });
  await expect(server.events().page()).rejects.toMatchObject({ code: 'too_many_requests' });
  expect(network.sent.length).toBe(1);
});

test('an aborted call rejects with the reason of its signal', async () => {
  const { server, network } = backendOf(app);
  const controller = new AbortController();
  network.answer = () => {
    controller.abort(new Error('gone'));
    return lost();
  };
  await expect(server.users.get('x', { signal: controller.signal })).rejects.toThrow('gone');
  expect(network.sent.length).toBe(1);
});
