import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StartedProof } from '../../../../../src/contract/account.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../../support/app.js';
import { createUser, newPhone, signIn } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

test('a proof by code starts, and the code goes to the account’s phone', async () => {
  const user = await createUser(postern, { phone: newPhone() });
  const { session } = await signIn(postern, user);
  const started = await postern.api<StartedProof>('POST', '/v1/account/proofs', {
    bearer: session.token,
    body: { type: 'sms' },
  });
  expect(started.status).toBe(201);
  expect(started.body).toEqual({ id: expect.any(String), type: 'code', expires_at: expect.any(String) });
});

test.each(['sms', 'email', 'passkey'])('a proof by %s is 422 for a user without it', async (type) => {
  const user = await createUser(postern);
  const { session } = await signIn(postern, user);
  const answer = await postern.api<ProblemAnswer>('POST', '/v1/account/proofs', {
    bearer: session.token,
    body: { type },
  });
  expect(answer.status).toBe(422);
  expect(answer.body.errors).toMatchObject([{ field: 'type', code: 'not_supported' }]);
});

test('codes are limited: a second one within a minute is 429', async () => {
  const user = await createUser(postern, { phone: newPhone() });
  const { session } = await signIn(postern, user);
  const start = () => postern.api('POST', '/v1/account/proofs', { bearer: session.token, body: { type: 'sms' } });
  expect((await start()).status).toBe(201);
  const second = await start();
  expect(second.status).toBe(429);
  expect(Number(second.headers['retry-after'])).toBeGreaterThan(30);
});
