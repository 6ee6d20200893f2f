import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecoveryCodes } from '../../src/contract/factors.js';
import { codeTo, type Person } from '../support/account.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type AuthenticatorApp, createFactors } from '../support/factors.js';
import { passwordLogin, wrongCode } from '../support/people.js';

const rounds = 20;
/** Every round begins with logins by password, which cost what they cost. */
const timeout = 120_000;

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

/** An account without failures or used codes, and the ids of logins that wait for the second factor. */
async function afresh(count: number): Promise<string[]> {
  await unlock();
  await app.rewind();
  const begun = await times(count, () => startWithPassword(who));
  expect(begun.map(({ body }) => body.status)).toEqual(begun.map(() => 'pending'));
  return begun.map(({ body }) => body.id);
}

describe('who knows the password', { timeout }, () => {
  test('gets no more guesses at codes than the account has, in however many logins and at once', async () => {
    for (let round = 1; round <= rounds; round += 1) {
      const ids = await afresh(3);
      const guess = wrongCode(await app.code());
      const answers = await times(21, (index) => answer(ids[index % ids.length] ?? '', guess));
      expect(answers.filter(({ status }) => status === 400).length).toBeLessThanOrEqual(5);
      expect((await answer(ids[0] ?? '', await app.code())).status).toBe(423);
    }
    expect((await startWithPassword(who)).status).toBe(423);
  });

  test('does not get new guesses by giving the right password between them', async () => {
    await afresh(0);
    const guess = wrongCode(await app.code());
    const statuses = [];
    for (let login = 1; login <= 8; login += 1) {
      const { status, body } = await startWithPassword(who);
      statuses.push(status === 201 ? (await answer(body.id, guess)).status : status);
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 423, 423, 423]);
  });
});

test('who reads the messages and recovers the password gets no new guesses at codes by it', async () => {
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

describe('of fifty at once', { timeout }, () => {
  test('one uses a code of the app, in however many logins', async () => {
    for (let round = 1; round <= rounds; round += 1) {
      const ids = await afresh(3);
      const code = await app.code();
      const answers = await times(50, (index) => answer(ids[index % ids.length] ?? '', code));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    }
  });

  test('one uses a recovery code, in however many logins and proofs', async () => {
    for (let round = 1; round <= rounds; round += 1) {
      const ids = await afresh(2);
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
