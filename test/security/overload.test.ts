import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { realHashes } from '../support/fast-hashes.js';
import { createUser, passwordLogin, signIn } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', LOG_LEVEL: 'silent' }, realHashes);
});
afterAll(() => postern.close());

const logins = 400;

test(`of ${logins} parallel logins the excess is refused quickly with Retry-After, and sessions are still verified`, async () => {
  const user = await createUser(postern);
  const { session } = await signIn(postern, user);
  /** The kinds of the answers, in the order of their arrival. */
  const order: ('evaluated' | 'refused' | 'verified')[] = [];
  let isFlooded = true;
  const flood = Promise.all(
    Array.from({ length: logins }, async (_, index) => {
      // Each login uses another account, whose limits it does not reach.
      const answer = await postern.api<Authentication>('POST', '/v1/tokens', {
        body: passwordLogin(`stranger${index}`),
      });
      order.push(answer.status === 201 ? 'evaluated' : 'refused');
      return answer;
    }),
  ).finally(() => {
    isFlooded = false;
  });
  while (isFlooded) {
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
    order.push('verified');
  }
  const answers = await flood;
  const refused = answers.filter(({ status }) => status === 503);
  expect(answers.filter(({ status }) => status === 201).length + refused.length).toBe(logins);
  // How many are evaluated depends on the machine: a login that has waited for ten seconds is refused too.
  expect(refused.length).toBeLessThan(logins);
  expect(refused.length).toBeGreaterThan(100);
  for (const { headers } of refused) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
  // Refusals do not wait for other hashes: half of them arrive before the last evaluated logins.
  const positionAt = (kind: (typeof order)[number], share: number) => {
    const places = order.flatMap((each, place) => (each === kind ? [place] : []));
    return places[Math.floor(places.length * share)] ?? Number.NaN;
  };
  expect(positionAt('refused', 0.5)).toBeLessThan(positionAt('evaluated', 0.9));
  // Sessions are verified between hashes, not after all of them.
  const between = order.slice(positionAt('evaluated', 0.1), positionAt('evaluated', 0.9));
  expect(between.filter((kind) => kind === 'verified').length).toBeGreaterThan(5);
  expect(
    (await postern.api<Authentication>('POST', '/v1/tokens', { body: passwordLogin(user.username) })).body.status,
  ).toBe('approved');
});
