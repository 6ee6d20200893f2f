import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type BadRequests, createBadRequests, expectRefusal, noLimits } from '../support/bad-requests.js';

let postern: TestApp;
let bad: BadRequests;
let session: string;
beforeAll(async () => {
  postern = await startTestApp(noLimits);
  bad = createBadRequests(postern);
  session = (await bad.createKnown()).session;
});
afterAll(() => postern.close());

/** A complete request. Joins the lines by CRLF, and adds `Connection: close` unless a line sets it. */
const request = (...lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n`;
const get = (target: string, ...headers: readonly string[]) =>
  request(`GET ${target} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers);
const post = (headers: readonly string[], body: string) =>
  request('POST /v1/tokens HTTP/1.1', 'Host: x', 'Connection: close', 'Content-Type: application/json', ...headers) +
  body;

describe('input that is not HTTP gets 400, and the connection is closed', () => {
  test.each([
    ['Content-Length with Transfer-Encoding', post(['Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n')],
    ['Transfer-Encoding with Content-Length', post(['Transfer-Encoding: chunked', 'Content-Length: 2'], '0\r\n\r\n')],
    ['two different lengths', post(['Content-Length: 2', 'Content-Length: 3'], '{} ')],
    ['two equal lengths', post(['Content-Length: 2', 'Content-Length: 2'], '{}')],
    ['a negative length', post(['Content-Length: -2'], '{}')],
    ['a length with a sign', post(['Content-Length: +2'], '{}')],
    ['a length in hexadecimal', post(['Content-Length: 0x2'], '{}')],
    ['a length that is too large for a number', post(['Content-Length: 99999999999999999999999'], '{}')],
    ['an unknown transfer encoding', post(['Transfer-Encoding: xchunked'], '0\r\n\r\n')],
    ['chunked not as the last encoding', post(['Transfer-Encoding: chunked, gzip'], '0\r\n\r\n')],
    ['an invalid chunk size', post(['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n')],
    ['a chunk longer than its size', post(['Transfer-Encoding: chunked'], '1\r\n{}\r\n0\r\n\r\n')],
    ['bare line feeds', 'GET /livez HTTP/1.1\nHost: x\n\n'],
    ['a bare line feed within a header', get('/livez', 'A: b\nX-Injected: 1')],
    ['a bare carriage return within a header', get('/livez', 'A: b\rX-Injected: 1')],
    ['a folded header', get('/livez', 'A: b', ' c')],
    ['a blank before the colon', get('/livez', 'A : b')],
    ['a header without a colon', get('/livez', 'A')],
    ['a header without a name', get('/livez', ': b')],
    ['a header name that is no token', get('/livez', 'A(b): c')],
    ['NUL in a header', get('/livez', 'A: b\0c')],
    ['a control character in a header', get('/livez', 'A: b\x01c')],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown version', request('GET /livez HTTP/3.7', 'Host: x')],
    ['an unknown method', request('FROBNICATE /livez HTTP/1.1', 'Host: x')],
    ['a method in lower case', request('get /livez HTTP/1.1', 'Host: x')],
    ['a blank in the target', request('GET /live z HTTP/1.1', 'Host: x')],
    ['a control character in the target', request('GET /live\x01z HTTP/1.1', 'Host: x')],
    ['a target that is no path', request('GET livez HTTP/1.1', 'Host: x')],
    ['the hello of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['rubbish', '\0\xff\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    const answer = await bad.expectNoChange(() => bad.sendRaw(bytes));
    expectRefusal(answer, 400, 'malformed_request');
    expect(answer?.headers.connection).toBe('close');
    expect(answer?.headers).not.toHaveProperty('x-injected');
  });

  test('a request without a Host or with two gets 400', async () => {
    expectRefusal(
      await bad.expectNoChange(() => bad.sendRaw(request('GET /livez HTTP/1.1', 'Connection: close'))),
      400,
    );
    expectRefusal(await bad.expectNoChange(() => bad.sendRaw(get('/livez', 'Host: y'))), 400);
  });

  test('an Expect other than 100-continue gets 417', async () => {
    const answer = await bad.expectNoChange(() => bad.sendRaw(get('/livez', 'Expect: a miracle')));
    expect(answer).toMatchObject({ status: 417, headers: { 'request-id': expect.any(String) } });
  });
});

describe('a request that is too large', () => {
  test.each([
    ['a target of more than 16 KiB', get(`/v1/notifications?filter=${'x'.repeat(17_000)}`)],
    ['a path of more than 16 KiB', get(`/v1/tokens/${'x'.repeat(17_000)}`)],
    ['a header of more than 16 KiB', get('/livez', `A: ${'x'.repeat(17_000)}`)],
    [
      'headers of more than 16 KiB together',
      get('/livez', ...Array.from({ length: 200 }, (_, n) => `A${n}: ${'x'.repeat(100)}`)),
    ],
  ])('%s gets 431', async (_, bytes) => {
    expectRefusal(await bad.expectNoChange(() => bad.sendRaw(bytes)), 431, 'headers_too_large');
  });

  test('headers of 15 KiB are accepted', async () => {
    expect(await bad.sendRaw(get('/livez', `A: ${'x'.repeat(15_000)}`))).toMatchObject({ status: 200 });
  });
});

describe('a path', () => {
  const paths: readonly (readonly [string, number])[] = [
    ['/v1/tokens/%zz', 400],
    ['/v1/tokens/%', 400],
    ['/v1/tokens/%ff', 400],
    ['/v1/tokens/%c0%af', 400],
    ['/%zz', 400],
    ['/v1/tokens/%00', 404],
    ['/v1/tokens/..%2f..%2fetc', 404],
    ['/v1/../admin/v1/users', 404],
    ['/v1//notifications', 404],
    ['//evil.example/livez', 404],
    ['/livez/', 404],
    ['/livez;a=b', 404],
    ['/LIVEZ', 404],
    ["/v1/tokens/'%20or%201=1--", 404],
    [`/v1/tokens/${'x'.repeat(101)}`, 404],
    [`/v1/tokens/${'x'.repeat(10_000)}`, 404],
    [`/v1/tokens/${'%25'.repeat(1000)}`, 404],
    ['/v1/tokens/582a5abb-1335-4794-4855-11e067b8c55e%00', 404],
    ['/v1/tokens/582a5abb-1335-4794-4855-11e067b8c55e%0d%0aX-Injected:%201', 404],
    ['/v1/tokens/\xff\xfe', 400],
  ];
  const named = paths.map(([path, status]) => [path.slice(0, 60), status, path] as const);
  test.each(named)('%s gets %i', async (_, status, path) => {
    const answer = await bad.expectNoChange(() => bad.sendRaw(get(path)));
    expectRefusal(answer, status);
    expect(answer?.headers).not.toHaveProperty('x-injected');
  });

  test.each(['x', 'x'.repeat(101), 'x'.repeat(10_000), '%00', "'--"].map((id) => [id.slice(0, 60), id] as const))(
    'with the id %s gets the same response as an unknown id',
    async (_, id) => {
      const body = JSON.stringify({ secret: '123456', pin: '2468' });
      const headers = { 'Content-Type': 'application/json' };
      const step2 = await bad.expectNoChange(() => bad.send('POST', `/v1/tokens/${id}/secret`, { headers, body }));
      expectRefusal(step2, 400, 'authorization_rejected');
      const logout = await bad.expectNoChange(() =>
        bad.send('DELETE', `/v1/tokens/${id}`, { headers: { Authorization: session } }),
      );
      expectRefusal(logout, 401, 'no_active_token');
      const admin = { Authorization: `Bearer ${postern.adminKey}` };
      expectRefusal(
        await bad.expectNoChange(() => bad.send('GET', `/admin/v1/users/${id}`, { headers: admin })),
        404,
        'not_found',
      );
      expectRefusal(
        await bad.expectNoChange(() => bad.send('GET', `/admin/v1/users/${id}`)),
        401,
        'missing_credentials',
      );
    },
  );

  test('can have the absolute form (RFC 9112, 3.2.2)', async () => {
    expect(await bad.sendRaw(get('http://evil.example/livez'))).toMatchObject({ status: 200 });
    expectRefusal(await bad.sendRaw(get('http://evil.example/nothing')), 404, 'not_found');
  });
});

describe('a query', () => {
  test.each(['page=%zz', 'page=%ff', 'filter=%c0%af', 'since=%00', 'sort=%0d%0a', 'limit=%', 'cursor=%ff'])(
    '%s gets 422',
    async (query) => {
      const path = `/v1/notifications?${query}`;
      expectRefusal(
        await bad.expectNoChange(() => bad.sendRaw(get(path, `Authorization: ${session}`))),
        422,
        undefined,
      );
    },
  );

  test('cannot add a line to the Link header', async () => {
    const filter = 'description:like:a%0d%0aSet-Cookie:%20a=b%0d%0a%0d%0a<script>';
    const answer = await bad.sendRaw(get(`/v1/notifications?filter=${filter}`, `Authorization: ${session}`));
    expect(answer).toMatchObject({ status: 200, text: '[]' });
    expect(answer?.headers).not.toHaveProperty('set-cookie');
    expect(answer?.headers.link).toMatch(/^<\/v1\/notifications\?[\w.~%=&-]+>; rel="first",/);
  });

  test('can contain unknown parameters', async () => {
    const query = `a[__proto__]=1&__proto__=2&constructor=3&${'&'.repeat(500)}${'b=1&'.repeat(2000)}`;
    expect(await bad.sendRaw(get(`/v1/notifications?${query}`, `Authorization: ${session}`))).toMatchObject({
      status: 200,
    });
  });
});

describe('a method', () => {
  test.each(['TRACE', 'PROPFIND', 'PURGE', 'LINK', 'M-SEARCH', 'QUERY', 'PUT', 'PATCH'])(
    '%s on a path without it gets 405',
    async (method) => {
      const answer = await bad.expectNoChange(() =>
        bad.sendRaw(request(`${method} /v1/sessions HTTP/1.1`, 'Host: x', 'Connection: close')),
      );
      expectRefusal(answer, 405, 'method_not_allowed');
      expect(answer?.headers.allow).toBe('OPTIONS, POST');
    },
  );

  test('CONNECT opens no tunnel', async () => {
    const answer = await bad.expectNoChange(() =>
      bad.sendRaw(request('CONNECT 127.0.0.1:22 HTTP/1.1', 'Host: 127.0.0.1:22')),
    );
    expect(answer?.status ?? 400).toBeGreaterThanOrEqual(400);
  });

  test('OPTIONS * causes no internal error', async () => {
    const answer = await bad.expectNoChange(() =>
      bad.sendRaw(request('OPTIONS * HTTP/1.1', 'Host: x', 'Connection: close')),
    );
    expect(answer?.status).toBeLessThan(500);
  });
});

describe('a request that is unusual but valid', () => {
  test.each([
    ['HTTP/1.0 without Host', request('GET /livez HTTP/1.0')],
    ['blank lines before the request', `\r\n\r\n${get('/livez')}`],
    [
      'an offer to upgrade',
      request('GET /livez HTTP/1.1', 'Host: x', 'Connection: Upgrade, close', 'Upgrade: websocket'),
    ],
    ['an invalid Host', request('GET /livez HTTP/1.1', 'Host: <script>%0d%0a', 'Connection: close')],
    [
      'invalid forwarded headers',
      get('/livez', 'X-Forwarded-For: ::ffff, 127.0.0.1, <x>', 'Forwarded: for=";', 'X-Real-IP: 0'),
    ],
    ['invalid languages', get('/livez', `Accept-Language: ${'*;q=1.00000,'.repeat(1000)}`)],
    ['an Accept that no response matches', get('/livez', 'Accept: image/x-nothing')],
    ['a body on GET', `${get('/livez', 'Content-Type: application/json', 'Content-Length: 1')}{`],
  ])('%s is answered', async (_, bytes) => {
    expect(await bad.expectNoChange(() => bad.sendRaw(bytes))).toMatchObject({ status: 200, text: '{"status":"ok"}' });
  });

  test('a body in chunks with extensions and trailers is accepted', async () => {
    const answer = await bad.sendRaw(post(['Transfer-Encoding: chunked'], '1;a=b\r\n{\r\n1\r\n}\r\n0\r\nA: b\r\n\r\n'));
    expectRefusal(answer, 422, 'required');
  });
});

test('the service logs no internal error for these requests', () => {
  expect(bad.internalErrors()).toEqual([]);
});
