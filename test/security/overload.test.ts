import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { HashThreads } from '../../src/credentials/hash-threads.js';
import { availableCores } from '../../src/lib/machine.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { fastHashes, realHashes } from '../support/fast-hashes.js';
import { createUser, passwordLogin, signIn } from '../support/users.js';

/** Each hash waits until this resolves. So the test decides how many logins are refused, and not the speed of the machine. */
let hold: Promise<void> | undefined;
const heldHashes: HashThreads = {
  ...fastHashes,
  async verify(stored, secret) {
    await hold;
    return fastHashes.verify(stored, secret);
  },
};
const env = { LOGIN_LIMIT_PER_ADDRESS: '0', LOG_LEVEL: 'silent' };

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp(env, { hashThreads: heldHashes, queryTimeout: 120_000 });
});
afterAll(() => postern.close());

/** One hash for each core runs, and 128 more wait. */
const accepted = availableCores() + 128;
/** Few, because all that are accepted must be held for less than the time limit of a request. */
const excess = 20;

test(`of ${accepted + excess} parallel logins exactly ${accepted} are evaluated, and the others are refused at once with Retry-After`, async () => {
  const user = await createUser(postern);
  const { session } = await signIn(postern, user);
  let release: () => void = () => undefined;
  hold = new Promise((resolve) => {
    release = resolve;
  });
  onTestFinished(release);
  const answered: number[] = [];
  const flood = Array.from({ length: accepted + excess }, async (_, index) => {
    // Each login uses another account, whose limits it does not reach.
    const body = passwordLogin(`stranger${index}`);
    const answer = await postern.api<ProblemAnswer>('POST', '/v1/tokens', { body });
    answered.push(answer.status);
    return answer;
  });
  // Refusals do not wait for hashes: none of those has ended yet.
  await eventually('the refusals', async () => (answered.length >= excess ? true : undefined));
  expect(answered).toEqual(answered.map(() => 503));
  expect((await postern.api('POST', '/v1/tokens', { body: passwordLogin('latecomer') })).status).toBe(503);
  expect((await postern.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
  release();
  const answers = await Promise.all(flood);
  const refused = answers.filter(({ status }) => status === 503);
  expect(refused).toHaveLength(excess);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(accepted);
  for (const { headers, body } of refused) {
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(body.errors[0]?.code).toBe('overloaded');
  }
  const { body } = await postern.api<Authentication>('POST', '/v1/tokens', { body: passwordLogin(user.username) });
  expect(body.status).toBe('approved');
});

test('sessions are verified between real hashes, not after all of them', async () => {
  const real = await postern.another({}, realHashes);
  onTestFinished(() => real.close());
  const { session } = await signIn(real, await createUser(real));
  const logins = 30;
  /** The kinds of the answers, in the order of their arrival. */
  const order: ('evaluated' | 'verified')[] = [];
  const flood = Array.from({ length: logins }, async (_, index) => {
    const { status } = await real.api('POST', '/v1/tokens', { body: passwordLogin(`nobody${index}`) });
    expect(status).toBe(201);
    order.push('evaluated');
  });
  const evaluated = () => order.filter((kind) => kind === 'evaluated').length;
  while (evaluated() < logins) {
    expect((await real.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
    order.push('verified');
  }
  await Promise.all(flood);
  const between = order.slice(order.indexOf('evaluated'), order.lastIndexOf('evaluated'));
  expect(between.filter((kind) => kind === 'verified').length).toBeGreaterThan(5);
});
