import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { createUser, signIn } from '../../support/users.js';

const PUBLIC_URL = 'https://auth.example.com/in';
const proxied = { PUBLIC_URL, TRUST_PROXY: '127.0.0.1', CONSOLE_PORT: '0' };
let postern: TestApp;
let onePort: TestApp;
beforeAll(async () => {
  postern = await startTestApp(proxied);
  onePort = await postern.another({ PUBLIC_URL: 'https://auth.example.com', CONSOLE_PORT: '' });
});
afterAll(async () => {
  await onePort.close();
  await postern.close();
});

const plain = { 'x-forwarded-proto': 'http' };
const get = (url: string, headers: Record<string, string> = plain, method = 'GET') =>
  fetch(url, { method, headers, redirect: 'manual' });

/** The head of the answer to bytes that are no request. */
function inboxRowOf(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (part) => (received += part.toString('latin1')));
    socket.on('close', () => resolve(received.split('\r\n\r\n')[0] ?? '')).on('error', reject);
  });
}

describe('where PUBLIC_URL is https, a request that came to the proxy by plain http', () => {
  test('for a page is redirected', async () => {
    for (const path of ['/console', '/console/users?q=a', '/docs/', '/']) {
      const answer = await get(onePort.url + path);
      expect([path, answer.status, answer.headers.get('location')]).toEqual([
        path,
        308,
        `https://auth.example.com${path}`,
      ]);
    }
    expect((await get(`${onePort.url}/console`, plain, 'HEAD')).status).toBe(308);
    const docs = await get(`${postern.url}/docs/`);
    expect(docs.headers.get('location')).toBe(`${PUBLIC_URL}/docs/`);
    const { host } = new URL(postern.administrationUrl);
    const console = await get(`${postern.administrationUrl}/console`);
    expect([console.status, console.headers.get('location')]).toEqual([308, `https://${host}/console`]);
  });

  test('for the API is refused, whatever it asks for', async () => {
    const user = await createUser(onePort);
    const { session } = await signIn(onePort, user);
    const bearer = { authorization: `Bearer ${session.token}` };
    for (const [method, path] of [
      ['GET', '/v1/notifications'],
      ['POST', '/v1/sessions/verify'],
      ['GET', '/v1/sessions/verify'],
      ['POST', '/v1/tokens'],
      ['GET', '/nothing'],
      ['POST', '/console/session'],
    ] as const) {
      const answer = await get(postern.url + path, { ...plain, ...bearer }, method);
      const problem = (await answer.json()) as { errors: { code: string }[] };
      expect([path, answer.status, problem.errors[0]?.code]).toEqual([path, 400, 'https_required']);
    }
    const secure = await get(`${postern.url}/v1/sessions/verify`, { 'x-forwarded-proto': 'https', ...bearer });
    expect(secure.status).toBe(200);
    // The entry of the own proxy is the last one.
    const spoofed = await get(`${postern.url}/v1/sessions/verify`, { 'x-forwarded-proto': 'https, http', ...bearer });
    expect(spoofed.status).toBe(400);
  });

  test('for a probe is answered', async () => {
    for (const path of ['/livez', '/readyz']) expect((await get(postern.url + path)).status).toBe(200);
  });
});

test('without such a word of a trusted proxy nothing is refused', async () => {
  expect((await get(`${postern.url}/v1/login-options`, {})).status).toBe(200);
  const untrusting = await postern.another({ TRUST_PROXY: '10.0.0.1' });
  const onHttp = await postern.another({ PUBLIC_URL: 'http://auth.example.com' });
  for (const { url } of [untrusting, onHttp]) expect((await get(`${url}/v1/login-options`)).status).toBe(200);
  await untrusting.close();
  await onHttp.close();
});

describe('Strict-Transport-Security', () => {
  const hsts = 'max-age=31536000; includeSubDomains';

  test('is on the answers of both ports, and on those of the parser', async () => {
    for (const url of [postern.url, postern.administrationUrl, onePort.url]) {
      expect((await get(`${url}/livez`, {})).headers.get('strict-transport-security')).toBe(hsts);
      for (const [bytes, status] of [
        ['rubbish\r\n\r\n', 400],
        [`GET /livez HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
        ['GET /livez HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n', 417],
      ] as const) {
        const head = await inboxRowOf(url, bytes);
        expect(head).toContain(`HTTP/1.1 ${status}`);
        expect(head).toContain(`strict-transport-security: ${hsts}`);
        expect(head).toContain("content-security-policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none'");
        expect(head).toContain('referrer-policy: no-referrer');
      }
    }
  });

  test('is absent without https', async () => {
    const other = await postern.another({ PUBLIC_URL: 'http://auth.example.com' });
    for (const url of [other.url, other.administrationUrl]) {
      expect((await get(`${url}/livez`, {})).headers.get('strict-transport-security')).toBeNull();
    }
    await other.close();
  });
});
