import { get } from 'node:http';
import { connect } from 'node:net';
import { posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '../../src/contract/session.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type EchoBackend, proxies, type RunningProxy, startEchoBackend, startProxy } from '../support/proxies.js';
import { createUser, login } from '../support/users.js';

const forged = {
  'Postern-User-Id': '00000000-0000-4000-8000-00000000dead',
  'Postern-Device-Id': '00000000-0000-4000-8000-00000000dead',
  'Postern-Session-Id': '00000000-0000-4000-8000-00000000dead',
  'Postern-Session-Expires-At': '2999-01-01T00:00:00.000000Z',
  'Postern-Roles': 'chief',
  Postern_User_Id: '00000000-0000-4000-8000-00000000dead',
};

/** Sends a path as it is: `fetch` would shorten it. */
function statusOf(url: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = get({ hostname, port, path, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    request.on('error', reject);
  });
}

/**
 * Sends a request byte by byte as given.
 * @returns the status of the answer; 400 if the connection was closed without one
 * @throws Error that names the target, if nothing came within 5 s
 */
function sendRaw(url: string, target: string, headers = ''): Promise<number> {
  const { host, port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(Buffer.from(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${headers}Connection: close\r\n\r\n`, 'latin1'));
  let answer = '';
  return new Promise((resolve, reject) => {
    const finish = (end: () => void) => {
      end();
      socket.destroy();
    };
    socket.setTimeout(5000, () => finish(() => reject(new Error(`No answer for ${JSON.stringify(target)}`))));
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1');
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1];
      if (status !== undefined) finish(() => resolve(Number(status)));
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(400));
  });
}

/** The paths that careless apps could make of a target. */
function readingsOf(target: string): string[] {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').split('?')[0] ?? '';
  const decode = (text: string) =>
    text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const decoded = [path, decode(path), decode(decode(path))];
  const overlong = decoded.map((text) =>
    text.replace(/\xc0(.)|[\xe0]\x80(.)|\xf0\x80\x80(.)/gs, (_, a, b, c) =>
      String.fromCharCode((a ?? b ?? c).charCodeAt(0) & 0x7f),
    ),
  );
  const normal = decoded.map((text) => Buffer.from(text, 'latin1').toString('utf8').normalize('NFKC'));
  const codes = decoded.map((text) =>
    text.replace(/%u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
  );
  return [...decoded, ...overlong, ...normal, ...codes].flatMap((text) => {
    const parameters = text.replace(/;[^/]*/g, '');
    const cut = text.replace(/[\0#].*$/s, '');
    const trimmed = text.replace(/[\t\r\n\x7f]/g, '');
    return [text, parameters, cut, trimmed].map((each) => posix.normalize(each.replaceAll('\\', '/')));
  });
}

const utf8 = (text: string) => Buffer.from(text).toString('latin1');
const ups = (up: string, slash: string) => [
  `/public/${up}${slash}orders`,
  `/public${slash}${up}${slash}orders`,
  `/public/a${slash}b${slash}${up}${slash}${up}${slash}${up}/orders`,
  `/orders${slash}${up}${slash}public/page`,
];
const rawTargets: readonly (readonly [string, readonly string[]])[] = [
  [
    'full-width and other forms of dots and slashes',
    [
      ...ups('..', utf8('\u{ff0f}')),
      ...ups(utf8('\u{ff0e}\u{ff0e}'), '/'),
      ...ups(utf8('\u{2025}'), '/'),
      ...ups('..', utf8('\u{ff3c}')),
      ...['%ef%bc%8e%ef%bc%8e', '%E2%80%A4%E2%80%A4', '%e2%80%a5', '%ef%b9%92%ef%b9%92'].flatMap((up) => ups(up, '/')),
      ...['%EF%BC%8F', '%ef%bc%bc', '%ef%b9%a8'].flatMap((slash) => ups('..', slash)),
    ],
  ],
  [
    'overlong UTF-8',
    [
      ...ups('..', '\xc0\xaf'),
      ...ups('\xc0\xae\xc0\xae', '/'),
      ...ups('..', '\xe0\x80\xaf'),
      ...ups('%f0%80%80%ae%f0%80%80%ae', '/'),
      ...ups('..', '%F0%80%80%AF'),
      ...ups('..', '%f8%80%80%80%af'),
      ...ups('..', '%c1%9c'),
    ],
  ],
  [
    'parameters',
    [
      ...ups('..;', '/'),
      ...ups('..;a=b', '/'),
      ...ups('..%3b', '/'),
      '/public;/../orders',
      '/public/.;/.;/..;/orders',
      '/orders;/public/',
    ],
  ],
  [
    'backslashes',
    [...ups('..', '\\'), ...ups('..', '%5C'), ...ups('..', '%255c'), '/public/..\\orders', '\\orders', '/\\/orders'],
  ],
  [
    'encoded dots and slashes',
    [
      ...ups('%2e%2e', '/'),
      ...ups('.%2E', '%2f'),
      ...ups('..', '%2F'),
      ...ups('%252e%252e', '/'),
      ...ups('%u002e%u002e', '/'),
      ...ups('..', '%u2215'),
      '/public/%',
      '/public/%2',
      '/public/%zz/../orders',
      '/%70ublic/../orders',
    ],
  ],
  [
    'control bytes',
    [
      '\x00',
      '\x01',
      '\x08',
      '\t',
      '\x0b',
      '\x0c',
      '\x1f',
      '\x7f',
      '\x80',
      '\x85',
      '\xa0',
      '\xff',
      '%00',
      '%09',
      '%0A',
      '%0d',
      '%1f',
      '%7F',
    ].flatMap((byte) => [
      `/public/.${byte}./orders`,
      `/public/..${byte}/orders`,
      `/public${byte}/../orders`,
      `/orders${byte}/../public/page`,
    ]),
  ],
  [
    'empty segments and dots',
    [
      '//orders',
      '///public/../orders',
      '/public//orders/..//../orders',
      '/public/./../orders',
      '/public/..',
      '/public/.',
      '//public/page',
      '/.//orders',
      '//app.example.com/orders',
    ],
  ],
  [
    'other forms of targets',
    [
      'http://app.example.com/orders',
      'http://other.example.com/public/../orders',
      'http://app.example.com/public/%2e%2e/orders',
      'http://app.example.com/public/..\\orders',
      `http://app.example.com/public/..${utf8('\u{ff0f}')}orders`,
      'HTTP://app.example.com//orders',
      'http:/orders',
      'http:///orders',
      'http://app.example.com',
      'http://app.example.com?/public/',
      'https://app.example.com@/public/../orders',
      'public/page',
      'orders',
      '?/public/page',
      '*',
      '/orders?/public/page',
      '/orders#/public/page',
      '/public#/../orders',
      '/orders?x=/../public/',
    ],
  ],
];

describe.each(Object.keys(proxies) as (keyof typeof proxies)[])('%s with the configuration of the page', (name) => {
  let app: TestApp;
  let backend: EchoBackend;
  let proxy: RunningProxy;
  let session: Session & { token: string };
  let userId: string;

  beforeAll(async () => {
    [app, backend] = await Promise.all([startTestApp(), startEchoBackend()]);
    proxy = await startProxy(name, { posternPort: Number(new URL(app.url).port), backendPort: backend.port });
    const user = await createUser(app);
    userId = user.id;
    const { body } = await login(app, user);
    const basic = (body as { readonly token?: string }).token ?? '';
    session = (await app.api<typeof session>('POST', '/v1/sessions', { basic })).body;
  });
  afterAll(async () => {
    await proxy?.stop();
    await backend?.close();
    await app?.close();
  });

  const send = (path: string, headers: Readonly<Record<string, string>> = {}, init: RequestInit = {}) =>
    fetch(proxy.url + path, { ...init, headers });
  const bearer = () => ({ authorization: `Bearer ${session.token}` });
  const seen = () => backend.requests.filter(({ url }) => url !== '/public/ready');

  test('a valid session reaches the app with the headers of Postern', async () => {
    const answer = await send('/orders?page=2', bearer());
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      'postern-user-id': userId,
      'postern-device-id': session.device_id,
      'postern-session-id': session.id,
      'postern-session-expires-at': session.expires_at,
    });
    expect(seen().at(-1)).toMatchObject({ url: '/orders?page=2', method: 'GET' });
  });

  test('a request with a body is checked too, and reaches the app with its method', async () => {
    const answer = await send('/orders', bearer(), { method: 'POST', body: 'x'.repeat(10_000) });
    expect(await answer.json()).toMatchObject({ 'postern-user-id': userId, 'content-length': '10000' });
    expect(seen().at(-1)).toMatchObject({ url: '/orders', method: 'POST' });
  });

  test('a request without a valid session is refused and does not reach the app', async () => {
    const before = seen().length;
    for (const headers of [{}, { authorization: 'Bearer pss_unknown' }, { authorization: `Bearer ${app.adminKey}` }]) {
      for (const path of ['/', '/orders']) expect((await send(path, headers)).status).toBe(401);
      expect((await send('/orders', { ...headers, ...forged })).status).toBe(401);
    }
    expect(seen().length).toBe(before);
  });

  test('a path that the proxy and the app could read in different ways never reaches the app as a public one', async () => {
    const before = seen().length;
    const ups = [
      '..',
      '%2e%2e',
      '%2E.',
      '.%2e',
      '..;',
      '..;x=1',
      '%252e%252e',
      '.',
      '',
      '..\\',
      '%5c..',
      '%c0%ae%c0%ae',
      '..%00',
    ];
    const slashes = ['/', '%2f', '%2F', '%252f', '\\', '%5c', '//', '%c0%af', '%e0%80%af', '%ef%bc%8f'];
    const paths = ups.flatMap((up) =>
      slashes.flatMap((slash) => [
        `/public${slash}${up}${slash}orders`,
        `/public/x${slash}${up}${slash}${up}${slash}orders`,
        `/orders${slash}${up}${slash}public/`,
        `/orders/${up}${slash}public/page?x=1`,
        `/a/b/${up}${slash}${up}${slash}public/page`,
      ]),
    );
    for (const path of [
      ...paths,
      '//orders',
      '/public/..',
      '/orders/..',
      '/PUBLIC/page',
      '/public#/../orders',
      '/public%00/../orders',
      '/public/;/orders',
    ]) {
      const status = await statusOf(proxy.url, path);
      // The proxy may have made one path of it, which the app gets as it was decided about.
      const reached = seen()
        .slice(before)
        .map(({ url }) => url);
      expect(
        reached.filter((url) => !/^\/public\/(?:[a-z]+\/?)*(?:\?x=1)?$/i.test(url ?? '')),
        path,
      ).toEqual([]);
      expect(reached.length === 0 ? [400, 401, 404] : [200, 400, 401, 404], path).toContain(status);
    }
  });

  test.each(rawTargets)(
    'raw targets with %s reach the app only as public paths in every reading',
    async (_what, targets) => {
      for (const target of targets) {
        const before = seen().length;
        const status = await sendRaw(proxy.url, target);
        const arrived = seen().slice(before);
        for (const reading of arrived.flatMap(({ url }) => readingsOf(url)))
          expect([target, reading]).toEqual([target, expect.stringMatching(/^\/public\//)]);
        expect(arrived.length === 0 ? [400, 401, 404] : [200], target).toContain(status);
      }
      // Good paths arrive.
      const reached = seen().length;
      expect(await sendRaw(proxy.url, '/public/page')).toBe(200);
      expect(await sendRaw(proxy.url, '/orders/7', `Authorization: Bearer ${session.token}\r\n`)).toBe(200);
      const urls = seen()
        .slice(reached)
        .map(({ url }) => url);
      expect(urls).toEqual(['/public/page', '/orders/7']);
    },
  );

  test('a query may contain what a path may not', async () => {
    expect(await statusOf(proxy.url, '/public/page?next=/../a//b%2f..%5c;c%25')).toBe(200);
    expect((await send('/orders/7?next=..%2f%2e', bearer())).status).toBe(200);
  });

  test('forged headers never reach the app', async () => {
    const withSession = (await (await send('/orders', { ...bearer(), ...forged })).json()) as Record<string, string>;
    expect(withSession['postern-user-id']).toBe(userId);
    expect(withSession['postern-session-id']).toBe(session.id);
    const isPublic = (await (await send('/public/page', forged)).json()) as Record<string, string>;
    expect(Object.keys(isPublic).filter((header) => /^postern/i.test(header))).toEqual([]);
    for (const { headers } of seen()) expect(JSON.stringify(headers)).not.toContain('dead');
  });

  test('an error of the app reaches the client unchanged', async () => {
    const answer = await send('/broken', bearer());
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({ 'postern-user-id': userId });
  });

  test('a session that has ended is refused with the next request', async () => {
    expect((await send('/orders', bearer())).status).toBe(200);
    await app.api('DELETE', '/v1/devices/current', { bearer: session.token });
    expect((await send('/orders', bearer())).status).toBe(401);
  });

  test('if Postern does not answer, the request is refused, and not with 401', async () => {
    await app.close();
    const before = seen().length;
    expect((await send('/orders', bearer())).status).toBe(proxies[name].whenUnavailable);
    expect(seen().length).toBe(before);
    expect((await send('/public/page')).status).toBe(200);
    app = await startTestApp();
  });
});
