import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';

const origin = 'https://app.example.com';

let postern: TestApp;
/** An app without CORS_ORIGINS. */
let withoutCors: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ CORS_ORIGINS: `${origin},https://admin.example.com:8443` });
  withoutCors = await startTestApp();
});
afterAll(async () => {
  await postern.close();
  await withoutCors.close();
});

const preflight = (url: string, origin: string) =>
  fetch(`${url}/v1/sessions`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, idempotency-key',
    },
  });

describe('a page of another origin', () => {
  test('can call the API if its origin is configured, and can read the headers that it needs', async () => {
    const preflightAnswer = await preflight(postern.url, origin);
    expect(preflightAnswer.status).toBe(204);
    expect(preflightAnswer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(preflightAnswer.headers.get('access-control-allow-headers')).toBe('authorization, idempotency-key');
    expect(preflightAnswer.headers.get('access-control-allow-methods')).toContain('DELETE');
    const { headers } = await fetch(`${postern.url}/livez`, { headers: { origin } });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    for (const name of ['Link', 'X-Total-Count', 'Request-ID', 'ETag', 'Retry-After', 'Idempotency-Key']) {
      expect(headers.get('access-control-expose-headers')).toContain(name);
    }
  });

  test('cannot call from any other origin, and from no origin by default', async () => {
    const other = await preflight(postern.url, 'https://evil.example');
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    const preflightAnswer = await preflight(withoutCors.url, origin);
    expect(preflightAnswer.headers.get('access-control-allow-origin')).toBeNull();
    const { headers } = await fetch(`${withoutCors.url}/livez`, { headers: { origin } });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  test('can call every path from each configured origin, and responses do not name the other origins', async () => {
    for (const [path, from] of [
      ['/v1/sessions/verify', origin],
      ['/v1/notifications?limit=5', 'https://admin.example.com:8443'],
      ['/nothing', origin],
    ] as const) {
      const headers = { origin: from, 'access-control-request-method': 'GET' };
      const preflightAnswer = await fetch(postern.url + path, { method: 'OPTIONS', headers });
      expect([preflightAnswer.status, preflightAnswer.headers.get('access-control-allow-origin')]).toEqual([204, from]);
      expect(preflightAnswer.headers.get('access-control-max-age')).toBe('600');
      const answer = await fetch(postern.url + path, { headers: { origin: from } });
      expect(answer.headers.get('access-control-allow-origin')).toBe(from);
    }
  });

  test('gets no CORS headers for an unknown or missing origin, but every response has Vary', async () => {
    for (const from of [
      'https://evil.example',
      'null',
      'https://app.example.com.evil.example',
      `${origin}/`,
      undefined,
    ]) {
      for (const [method, requestedMethod] of [
        ['GET', undefined],
        ['OPTIONS', undefined],
        ['OPTIONS', 'POST'],
      ] as const) {
        const { headers } = await fetch(`${postern.url}/v1/sessions/verify`, {
          method,
          headers: {
            ...(from && { origin: from }),
            ...(requestedMethod && { 'access-control-request-method': requestedMethod }),
          },
        });
        expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
        expect(headers.get('vary')).toMatch(/^Origin\b/);
      }
    }
  });
});

describe('an OPTIONS request that is not a preflight', () => {
  const paths = [
    '/v1/sessions',
    '/v1/sessions/verify',
    '/v1/tokens/x',
    '/livez',
    '/openapi.json',
    '/docs',
    '/',
    '/nothing',
  ];
  const kinds: Record<string, Record<string, string>> = {
    'without an origin': {},
    'without an origin, with a method': { 'access-control-request-method': 'POST' },
    'from an allowed origin': { origin },
    'from another origin': { origin: 'https://evil.example' },
    'from another origin, with a method': { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    'with an Authorization': { authorization: 'Bearer x' },
  };

  test.each(Object.entries(kinds))('%s gets the same response as without CORS_ORIGINS', async (_, headers) => {
    const answerOf = async (on: TestApp, path: string) => {
      const answer = await fetch(on.url + path, { method: 'OPTIONS', headers });
      const [allow, type] = ['allow', 'content-type'].map((name) => answer.headers.get(name));
      const text = await answer.text();
      return { path, status: answer.status, allow, type, code: text === '' ? '' : JSON.parse(text).errors[0].code };
    };
    for (const path of paths) expect(await answerOf(postern, path)).toEqual(await answerOf(withoutCors, path));
    expect(await answerOf(postern, '/v1/sessions')).toMatchObject({ status: 204, allow: 'OPTIONS, POST', type: null });
    expect(await answerOf(postern, '/nothing')).toMatchObject({
      ...{ status: 404, allow: null, type: 'application/problem+json; charset=utf-8', code: 'not_found' },
    });
  });

  test('can be read by a page of an allowed origin', async () => {
    const { status, headers } = await fetch(`${postern.url}/nothing`, { method: 'OPTIONS', headers: { origin } });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([404, origin]);
  });
});
