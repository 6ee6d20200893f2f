import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type BadRequests, createBadRequests } from '../../support/bad-requests.js';
import { createUser, signIn } from '../../support/users.js';

let postern: TestApp;
let bad: BadRequests;
beforeAll(async () => {
  postern = await startTestApp();
  bad = createBadRequests(postern);
});
afterAll(() => postern.close());

const get = (path: string) =>
  fetch(`${postern.url}${path}`, { headers: { authorization: `Bearer ${postern.adminKey}` }, redirect: 'manual' });

test.each([
  ...['/%61dmin/v1/users', '/%41dmin/v1/users', '/admi%6E/v1/users', '/admin/v%31/users', '/%64ocs/', '/%63onsole/'],
  ...['/console/assets/%61.js', '/%76%31/account', '/%6cives', '/%7A', '/%5a', '/%30', '/%39'],
])('%s with an encoded letter or digit gets 400', async (path) => {
  const response = await get(path);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ type: 'urn:postern:problem:malformed_request' });
});

test('other encoded characters, and letters in the query, are allowed', async () => {
  const { id } = await createUser(postern);
  expect((await get(`/admin/v1/users/${id.replaceAll('-', '%2D')}`)).status).toBe(200);
  expect((await get('/admin/v1/users?search=%61da&sort=created_at%3Adesc')).status).toBe(200);
  for (const path of ['/admin/v1/users/%40', '/admin/v1/users/%60', '/%2F', '/%3A', '/%5B', '/%7B', '/%C3%A9'])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
});

test('a parameter with NUL names nothing, in any route', async () => {
  const document = (await (await get('/openapi.json')).json()) as { paths: Record<string, object> };
  const templates = Object.entries(document.paths).filter(([path]) => path.includes('{'));
  expect(templates.length).toBeGreaterThan(40);
  const session = (await signIn(postern, await createUser(postern))).session.token;
  for (const [template, operations] of templates) {
    for (const name of template.match(/\{\w+\}/g) ?? []) {
      const path = template.replace(name, 'a%00').replace(/\{\w+\}/g, randomUUID());
      for (const method of Object.keys(operations).map((one) => one.toUpperCase())) {
        const bearer = path.startsWith('/admin/') ? postern.adminKey : session;
        const body = ['GET', 'DELETE'].includes(method) ? {} : { body: '{}' };
        const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
        const { status } = await fetch(postern.url + path, { method, headers, ...body });
        expect([method, path, status < 500]).toEqual([method, path, true]);
      }
    }
  }
});

/** Sends a target as it is: `fetch` would shorten it. */
async function statusOf(target: string, { host = 'Host: x\r\n', method = 'GET', version = '1.1' } = {}) {
  const authorization = `Authorization: Bearer ${postern.adminKey}`;
  const answer = await bad.sendRaw(
    `${method} ${target} HTTP/${version}\r\n${host}${authorization}\r\nConnection: close\r\n\r\n`,
  );
  return answer?.status ?? 0;
}

test('a path with bytes that no URI has gets 400, and the same bytes encoded do not', async () => {
  expect(await statusOf('/admin/v1/users?search=x')).toBe(200);
  for (const text of ['\u{ff0f}', '\u{ff0e}\u{ff0e}', '\u{2215}', 'é', '\u{80}', '\u{a0}', '\u{2028}', '\u{1f600}']) {
    const raw = Buffer.from(text).toString('latin1');
    for (const target of [`/images/${raw}`, `/${raw}admin/v1/users`, `http://x/images/${raw}?a=b`, `/images/x${raw}#`])
      expect([target, await statusOf(target)]).toEqual([target, 400]);
    expect([text, await statusOf(`/images/${encodeURIComponent(text)}`)]).toEqual([text, 404]);
  }
});

test.each([
  ...['//admin/v1/users', '/admin//v1/users', '/admin/v1//users', '/admin/v1/users/', '/admin;x/v1/users'],
  ...['/admin/v1/users;x=y', '/;/admin/v1/users', '/ADMIN/v1/users', '/admin/V1/users', '/./admin/v1/users'],
  ...['/x/../admin/v1/users', '/admin/./v1/users', '/admin/v1/x/../users', '/admin%2fv1/users', '/admin%2Fv1%2Fusers'],
  ...['/%2fadmin/v1/users', '/admin%2f../v1/users', '/%2e/admin/v1/users', '/x/%2e%2e/admin/v1/users'],
  ...[
    '/admin%5cv1/users',
    '/admin\\v1\\users',
    '\\admin/v1/users',
    '/admin/v1/users%20',
    '/admin/v1/users%00',
    '/admin/v1/users%09',
  ],
  ...[
    '/admin/v1/users%0a',
    '/admin/v1/users%3f',
    '/admin/v1/users%23',
    '/%c0%afadmin/v1/users',
    '/%e0%80%afadmin/v1/users',
  ],
  ...['/%c1%a1dmin/v1/users', '/\xefadmin/v1/users', '/admin/v1/users%', '/admin/v1/users%zz', '/%u0061dmin/v1/users'],
  ...[
    '/%2561dmin/v1/users',
    '/admin/v1/users#',
    '/admin/v1/users#/../x',
    '/public#/../admin/v1/users',
    '/#/admin/v1/users',
  ],
  ...['http:/admin/v1/users', 'http:///admin/v1/users', 'ftp://x/admin/v1/users', 'javascript://x/admin/v1/users'],
  ...[
    'http://x?y/%61dmin/v1/users',
    'http://x#y/%61dmin/v1/users',
    'http://x//admin/v1/users',
    'http://x/%61dmin/v1/users',
  ],
  ...[
    'http://x/admin/v1/users#y',
    'http://x\\y/admin/v1/users',
    'x:80/admin/v1/users',
    'http://xhttp://x/admin/v1/users',
  ],
])('%j is not another spelling of a protected path', async (target) => {
  expect([0, 400, 404]).toContain(await statusOf(target));
});

test.each(['http://x/admin/v1/users', 'HTTPS://x:443/admin/v1/users?limit=1', 'http://user:pass@x/admin/v1/users'])(
  'the whole URL %s is the path that it contains, also without a Host in HTTP/1.0',
  async (target) => {
    expect(await statusOf(target)).toBe(200);
    expect(await statusOf(target, { host: '', version: '1.0' })).toBe(200);
    expect(await statusOf(target, { host: '' })).toBe(400);
    expect(await statusOf(target, { host: 'Host: x\r\nHost: y\r\n' })).toBe(400);
    expect(await statusOf('/admin/v1/users', { host: 'Host: x\r\nHOST: x\r\n' })).toBe(400);
  },
);

test.each([
  ['OPTIONS', '*'],
  ['GET', '*'],
  ['OPTIONS', 'http://x'],
  ['GET', 'http://x?a=/admin/v1/users'],
  ['CONNECT', 'x:443'],
])('%s %s reaches no protected route', async (method, target) => {
  expect([0, 204, 303, 400, 404, 405]).toContain(await statusOf(target, { method }));
});
