import { get } from 'node:http';
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
