import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { cacheableOperations, cacheControlError } from '../support/cache-control.js';
import type { OpenApi } from '../support/conformance.js';
import { createUser, passwordLogin } from '../support/users.js';

let postern: TestApp;
let user: Awaited<ReturnType<typeof createUser>>;
let session: string;
beforeAll(async () => {
  postern = await startTestApp();
  user = await createUser(postern);
  const { body } = await postern.api<{ token: string }>('POST', '/v1/tokens', { body: passwordLogin(user.username) });
  session = (await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: body.token })).body.token;
});
afterAll(() => postern.close());

const absentId = '01920000-0000-7000-8000-000000000000';

/** Every operation of the document, those that read first, except streams, which have no end. */
function operations(): { method: string; path: string }[] {
  const { paths } = JSON.parse(JSON.stringify(postern.app.swagger())) as OpenApi;
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
  return all
    .filter(({ path }) => !path.endsWith('/stream'))
    .toSorted((one, other) => Number(other.method === 'GET') - Number(one.method === 'GET'));
}

it('no answer that belongs to one user may be stored, except the list, its page and images', async () => {
  const answers: { operation: string; status: number; error: string | undefined }[] = [];
  for (const { method, path } of operations()) {
    const url = path
      .replace('/admin/v1/users/{id}', `/admin/v1/users/${user.id}`)
      .replace('{file}', 'small.jpg')
      .replace(/\{\w+\}/g, absentId);
    const bearer = path.startsWith('/admin/') ? postern.adminKey : session;
    // The client of the tests checks the header of every answer of all tests in the same way.
    const { status, headers } = await postern.api(method, url, {
      bearer,
      ...(method !== 'GET' && method !== 'DELETE' && { body: {} }),
    });
    const operation = `${method} ${path}`;
    answers.push({ operation, status, error: cacheControlError(operation, status, headers) });
  }
  expect(answers.flatMap(({ error }) => error ?? [])).toEqual([]);
  expect(answers.length).toBeGreaterThan(140);
  const read = answers.filter(({ operation, status }) => operation.startsWith('GET') && status === 200);
  expect(read.length).toBeGreaterThan(45);
  const known = answers.map(({ operation }) => operation);
  expect(
    cacheableOperations.filter((operation) => !known.includes(operation) && operation !== 'GET /openapi.json'),
  ).toEqual([]);
});

it.each([
  ['GET /v1/account', 200, 'private, max-age=60'],
  ['GET /v1/account', 200, ''],
  ['GET /v1/notifications', 200, 'public, no-cache'],
  ['GET /v1/notifications', 401, 'private, no-cache'],
])('the check finds a wrong header: %s -> %d with "%s"', (operation, status, value) => {
  expect(cacheControlError(operation, status, { 'cache-control': value })).toContain(operation);
});
