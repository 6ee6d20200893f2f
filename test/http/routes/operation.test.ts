import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

test('the probes answer', async () => {
  expect((await postern.api('GET', '/livez')).body).toEqual({ status: 'ok' });
  expect((await postern.api('GET', '/readyz')).body).toEqual({ status: 'ok' });
});

test('an unknown path gets 404, and another method on a known path gets 405 with Allow', async () => {
  expect((await postern.api('GET', '/v1/nothing')).status).toBe(404);
  const wrong = await postern.api('PUT', '/v1/sessions');
  expect(wrong.status).toBe(405);
  expect(wrong.headers.allow).toBe('OPTIONS, POST');
  const options = await postern.api('OPTIONS', '/v1/tokens/x');
  expect(options.status).toBe(204);
  expect(options.headers.allow).toBe('DELETE, GET, HEAD, OPTIONS');
});

test('every response has the security headers and a request id', async () => {
  for (const path of ['/livez', '/v1/nothing', '/v1/notifications']) {
    const { headers } = await postern.api('GET', path);
    expect(headers).toMatchObject({
      'request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
      'cache-control': 'no-store',
    });
  }
});

test('a page shows the API, also without TLS', async () => {
  const page = await fetch(`${postern.url}/docs/`);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('<code>/v1/tokens</code>');
  const policy = page.headers.get('content-security-policy');
  expect(policy).toMatch(/default-src 'none'.*script-src 'self'/);
  expect(policy).not.toContain('upgrade-insecure-requests');
});

test('problems are in the language of Accept-Language', async () => {
  const spanish = await postern.api('GET', '/v1/nothing', {
    headers: { 'accept-language': 'fr, es-MX;q=0.8, en;q=0.5' },
  });
  expect(spanish.headers['content-language']).toBe('es');
  expect(spanish.body).toMatchObject({ title: 'El recurso no existe.' });
});
