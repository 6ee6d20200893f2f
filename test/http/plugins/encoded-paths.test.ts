import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { createUser } from '../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
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
