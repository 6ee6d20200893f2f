import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedSetUpLink, SetUpLink } from '../../../../src/contract/console/set-up.js';
import { createAdministration } from '../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { createConsole } from '../../../support/console.js';
import { signInWithRole } from '../../../support/operators.js';

let postern: TestApp;
let withoutConsole: TestApp;
beforeAll(async () => {
  [postern, withoutConsole] = await Promise.all([startTestApp(), startTestApp({ CONSOLE: 'off' })]);
});
afterAll(async () => {
  await postern.close();
  await withoutConsole.close();
});

const { admin, refused } = createAdministration(() => postern);
const { browser } = createConsole(() => postern);

test('an invitation is a link with which a new person gets the role', async () => {
  const { status, body } = await admin<IssuedSetUpLink>('POST', '/set-up-links', { role: 'support' });
  expect([status, body.role]).toEqual([201, 'support']);
  const [page, secret] = body.url.split('#');
  expect(page).toMatch(/\/console\/setup$/);
  const described = await browser().send<SetUpLink>('POST', '/console/setup/link', { body: { secret } });
  expect(described).toMatchObject({ status: 200, body: { role: 'support', expires_at: body.expires_at } });
});

test('only an operator invites, to a role, and only if there is a console', async () => {
  expect(await refused('POST', '/set-up-links', { role: 'user' })).toMatchObject({ status: 422 });
  const support = await signInWithRole(postern, 'support');
  expect((await support.call('POST', '/admin/v1/set-up-links', { role: 'support' })).status).toBe(403);
  const call = { bearer: withoutConsole.adminKey, body: { role: 'support' } };
  expect((await withoutConsole.api('POST', '/admin/v1/set-up-links', call)).status).toBe(404);
});
