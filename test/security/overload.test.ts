import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser, passwordLogin, signIn } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', LOG_LEVEL: 'silent' });
});
afterAll(() => postern.close());

const quantile = (values: readonly number[], part: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;

test('of 800 parallel logins the excess is refused quickly with Retry-After, and sessions are still verified', {
  timeout: 120_000,
}, async () => {
  const user = await createUser(postern);
  const { session } = await signIn(postern, user);
  let isFlooded = true;
  const start = performance.now();
  const flood = Promise.all(
    Array.from({ length: 800 }, async (_, index) => {
      // Each login uses another account, so only hashing is limited.
      const answer = await postern.api<Authentication>('POST', '/v1/tokens', {
        body: passwordLogin(`stranger${index}`),
      });
      return { ...answer, after: performance.now() - start };
    }),
  ).finally(() => {
    isFlooded = false;
  });
  const verified: number[] = [];
  while (isFlooded) {
    const asked = performance.now();
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
    verified.push(performance.now() - asked);
  }
  const answers = await flood;
  const evaluated = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status === 503);
  expect(evaluated.length + refused.length).toBe(800);
  expect(evaluated.length).toBeGreaterThanOrEqual(128);
  expect(refused.length).toBeGreaterThan(100);
  for (const { headers } of refused) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
  // Refusals do not wait for other hashes: half of them arrive before the last evaluated login.
  expect(
    quantile(
      refused.map(({ after }) => after),
      0.5,
    ),
  ).toBeLessThan(
    quantile(
      evaluated.map(({ after }) => after),
      0.9,
    ),
  );
  // Sessions are verified between hashes, not after all of them.
  const perHash =
    quantile(
      evaluated.map(({ after }) => after),
      0.99,
    ) / evaluated.length;
  expect(quantile(verified, 0.5)).toBeLessThan(perHash * 10);
  expect(verified.length).toBeGreaterThan(20);
  expect(
    (await postern.api<Authentication>('POST', '/v1/tokens', { body: passwordLogin(user.username) })).body.status,
  ).toBe('approved');
});
