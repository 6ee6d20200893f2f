import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stepClock } from '../support/clock.js';
import { BUILD_TIMEOUT, buildService, startTestService, type TestService } from '../support/process.js';
import {
  type Answer,
  type Client,
  createClient,
  expectProblem,
  nobody,
  passwordLogin,
  shapeOf,
  smsLogin,
  type User,
  wrongCode,
} from './client.js';

let service: TestService;
let client: Client;
beforeAll(async () => {
  await buildService();
  // Five is the default of Postern. The other services of this suite allow more wrong secrets.
  service = await startTestService({ GUESS_LIMIT: '5', GUESS_LIMIT_PERMANENT: '10' });
  client = createClient(service);
}, BUILD_TIMEOUT);
afterAll(() => service.stop());

const pin = '2468';
const guessWrongly = (user: Pick<User, 'username'>, fields: object = {}) =>
  client.start(passwordLogin(user, { secret: 'wrong', ...fields }));
async function lockByGuesses(user: Pick<User, 'username'>): Promise<void> {
  for (let guess = 1; guess <= 5; guess += 1) expect((await guessWrongly(user)).body.status).toBe('rejected');
}

/** Checks that the account has its first lock, which lasts 30 seconds. */
function expectLocked(answer: Answer<unknown>): void {
  expectProblem(answer, 423, 'account_temporarily_locked');
  expect(Number(answer.headers.get('Retry-After'))).toBeLessThanOrEqual(30);
}

/** Runs `work` when the first lock of an account has ended. */
async function afterALock(work: () => Promise<void>): Promise<void> {
  await stepClock(service.database, '31 seconds');
  try {
    await work();
  } finally {
    await stepClock(service.database, '0');
  }
}

describe('4.1 and 4.2: five wrong secrets in a row lock an account for a time', () => {
  test('POST /v1/tokens is 423 for every identity, also with the right secret', async () => {
    const user = await client.createUser();
    await lockByGuesses(user);
    expectLocked(await guessWrongly(user));
    expectLocked(await client.start(passwordLogin(user)));
    expectLocked(await client.start(passwordLogin(user, { identity: { type: 'email', value: user.email } })));
  });

  test('POST /v1/tokens is 423 in the same way for an unknown identity', async () => {
    const [user, unknown] = [await client.createUser(), nobody()];
    await lockByGuesses(user);
    await lockByGuesses(unknown);
    const ofUnknown = await client.start(passwordLogin(unknown));
    expectLocked(ofUnknown);
    const ofUser = await client.start(passwordLogin(user));
    const withoutSeconds = (answer: Answer<unknown>) => JSON.stringify(shapeOf(answer)).replace(/retry-after: \d+/, '');
    expect(withoutSeconds(ofUnknown)).toBe(withoutSeconds(ofUser));
  });

  test('POST /v1/tokens/{id}/secret is 423, after wrong codes and after wrong passwords', async () => {
    const [one, other] = [
      await client.startSms(await client.createUser()),
      await client.startSms(await client.createUser()),
    ];
    for (let guess = 1; guess <= 5; guess += 1) {
      const answer = await client.sendSecret(one.id, { secret: wrongCode(one.code), pin });
      expectProblem(answer, 400, 'authorization_rejected');
    }
    await lockByGuesses(other.user);
    for (const { id, code } of [one, other]) expectLocked(await client.sendSecret(id, { secret: code, pin }));
    expectLocked(await client.start(passwordLogin(one.user)));
  });

  test('POST /v1/tokens/{id}/secret is 423 for an unknown number too', async () => {
    const { id } = (await client.start(smsLogin(nobody()))).body;
    for (let guess = 1; guess <= 5; guess += 1) await client.sendSecret(id, { secret: '123456', pin });
    expectLocked(await client.sendSecret(id, { secret: '123456', pin }));
  });

  test('a right secret resets the count', async () => {
    const user = await client.createUser();
    for (const secret of ['wrong', undefined, 'wrong', 'wrong', undefined, 'wrong', 'wrong', undefined]) {
      const { body } = await client.start(passwordLogin(user, secret === undefined ? {} : { secret }));
      expect(body.status).toBe(secret === undefined ? 'approved' : 'rejected');
    }
  });

  test('wrong secrets from unknown devices lock neither a known device nor existing sessions', async () => {
    const { user, token, session, authentication } = await client.signIn(await client.createUser());
    await lockByGuesses(user);
    expectLocked(await client.start(passwordLogin(user)));
    const device = { id: authentication.device_id };
    expect((await client.start(passwordLogin(user, { device }))).body.status).toBe('approved');
    expect((await client.verify(session.token)).status).toBe(200);
    expect((await client.newSession(token)).status).toBe(201);
  });

  test('an unlock by an operator ends the lock', async () => {
    const user = await client.createUser();
    await lockByGuesses(user);
    expect((await client.admin('POST', `/users/${user.id}/unlock`)).status).toBe(200);
    expect((await client.start(passwordLogin(user))).body.status).toBe('approved');
  });

  test('the account is usable again after the lock', async () => {
    const user = await client.createUser();
    await lockByGuesses(user);
    expectLocked(await client.start(passwordLogin(user)));
    await afterALock(async () => expect((await client.start(passwordLogin(user))).body.status).toBe('approved'));
  });

  test('too many wrong secrets lock the account permanently: 403, until an operator unlocks it', async () => {
    const user = await client.createUser();
    await lockByGuesses(user);
    await afterALock(() => lockByGuesses(user));
    expectProblem(await guessWrongly(user), 403, 'account_locked');
    expectProblem(await client.start(passwordLogin(user)), 403, 'account_locked');
    await client.admin('POST', `/users/${user.id}/unlock`);
    expect((await client.start(passwordLogin(user))).body.status).toBe('approved');
  });
});
