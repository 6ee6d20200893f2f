import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecoveryCodes } from '../../src/contract/account/factors.js';
import { codeTo, type Person } from '../support/account.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type AuthenticatorApp, createFactors } from '../support/factors.js';
import { raceRounds } from '../support/rounds.js';
import { passwordLogin, wrongCode } from '../support/users.js';

let postern: TestApp;
let who: Person;
let app: AuthenticatorApp;
beforeAll(async () => {
  postern = await startTestApp({ GUESS_LOCK: '1h', LOGIN_LIMIT_PER_ADDRESS: '0' });
  who = await person();
  ({ app } = await enrolTotp(who));
});
afterAll(() => postern.close());

const { person, ask, enrolTotp, startWithPassword, answer } = createFactors(() => postern);
const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const unlock = () => postern.api('POST', `/admin/v1/users/${who.user.id}/unlock`, { bearer: postern.adminKey });

/**
 * Resets the failures and the used codes of the account, and starts logins.
 * @returns the ids of the logins, which wait for the second factor
 */
async function startLogins(count: number): Promise<string[]> {
  await unlock();
  await app.rewind();
  const started = await times(count, () => startWithPassword(who));
  expect(started.map(({ body }) => body.status)).toEqual(started.map(() => 'pending'));
  return started.map(({ body }) => body.id);
}

describe('an attacker with the password', () => {
  test('gets no more guesses at codes than the account’s budget, even in many parallel logins', async () => {
    for (let round = 1; round <= raceRounds; round += 1) {
      const ids = await startLogins(3);
      const guess = wrongCode(await app.code());
      const answers = await times(21, (index) => answer(ids[index % ids.length] ?? '', guess));
      expect(answers.filter(({ status }) => status === 400).length).toBeLessThanOrEqual(5);
      expect((await answer(ids[0] ?? '', await app.code())).status).toBe(423);
    }
    expect((await startWithPassword(who)).status).toBe(423);
  });

  test('gets no new guesses by entering the correct password between them', async () => {
    await startLogins(0);
    const guess = wrongCode(await app.code());
    const statuses = [];
    for (let login = 1; login <= 8; login += 1) {
      const { status, body } = await startWithPassword(who);
      statuses.push(status === 201 ? (await answer(body.id, guess)).status : status);
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 423, 423, 423]);
  });
});

test('an attacker who recovers the password by intercepted messages gets no new guesses at codes', async () => {
  const owner = await person();
  const own = await enrolTotp(owner);
  const wrong = wrongCode(await own.app.code());
  for (let guess = 1; guess <= 5; guess += 1) await answer((await startWithPassword(owner)).body.id, wrong);
  expect((await startWithPassword(owner)).status).toBe(423);

  const phone = owner.user.phone ?? '';
  const { body } = await postern.api<{ id: string }>('POST', '/v1/recoveries', {
    body: { identity: { type: 'phone', value: phone }, purpose: 'password' },
  });
  const recovery = { secret: await codeTo(postern, phone), password: 'nine dull horses' };
  expect((await postern.api('POST', `/v1/recoveries/${body.id}`, { body: recovery })).status).toBe(200);
  const login = passwordLogin(owner.user.username, recovery.password);
  expect((await postern.api('POST', '/v1/tokens', { body: login })).status).toBe(423);
});

describe('of fifty parallel requests', () => {
  test('one can use a code of the app, even in different logins', async () => {
    for (let round = 1; round <= raceRounds; round += 1) {
      const ids = await startLogins(3);
      const code = await app.code();
      const answers = await times(50, (index) => answer(ids[index % ids.length] ?? '', code));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    }
  });

  test('one can use a recovery code, even in different logins and proofs', async () => {
    for (let round = 1; round <= raceRounds; round += 1) {
      const ids = await startLogins(2);
      const { body } = await renew(await app.code());
      const [code = ''] = body.recovery_codes;
      const answers = await times(50, async (index) =>
        index % 5 === 0 ? (await renew(code)).status : (await answer(ids[index % ids.length] ?? '', code)).status,
      );
      expect(answers.filter((status) => status === 201)).toHaveLength(1);
    }
  });

  const renew = (secret: string) =>
    ask<RecoveryCodes>(who, 'POST', '/recovery-codes', { proof: { type: 'totp', secret } });
});
