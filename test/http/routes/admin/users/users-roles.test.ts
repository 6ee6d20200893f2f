import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { createUser } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

test('only the scope admin creates or changes operators', async () => {
  const { body: key } = await postern.api<{ token: string }>('POST', '/admin/v1/keys', {
    bearer: postern.adminKey,
    body: { name: 'users', scopes: ['users:write'] },
  });
  const operator = await createUser(postern, { role: 'operator' });
  const user = await createUser(postern);
  const statusOf = (bearer: string, method: string, path: string, body: object) =>
    postern.api(method, `/admin/v1/users${path}`, { bearer, body }).then(({ status }) => status);
  expect(await statusOf(key.token, 'POST', '', { username: `x${randomUUID().slice(0, 8)}`, role: 'operator' })).toBe(
    403,
  );
  expect(await statusOf(key.token, 'PATCH', `/${user.id}`, { role: 'support' })).toBe(403);
  expect(await statusOf(key.token, 'PATCH', `/${operator.id}`, { password: 'taken over by a key' })).toBe(403);
  expect(await statusOf(key.token, 'PATCH', `/${user.id}`, { name: 'Ada' })).toBe(200);
  expect(await statusOf(postern.adminKey, 'PATCH', `/${operator.id}`, { role: 'user' })).toBe(200);
});
