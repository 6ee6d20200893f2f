import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Person } from '../support/account.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createFactors } from '../support/factors.js';
import { wrongCode } from '../support/people.js';

const rounds = 20;
let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ GUESS_LOCK: '1h', LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { person, ask, enrolTotp, startWithPassword, answer } = createFactors(() => postern);
const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const started = async (who: Person, count: number) =>
  (await times(count, () => startWithPassword(who))).flatMap(({ status, body }) => (status === 201 ? [body.id] : []));

describe('who knows the password', () => {
  test('gets no more guesses at codes than the account has, in however many logins and at once', async () => {
    for (let round = 1; round <= rounds; round += 1) {
      const who = await person();
      const { app } = await enrolTotp(who);
      const code = await app.code();
      const ids = await started(who, 4);
      expect(ids.length).toBeGreaterThan(1);
      const wrong = Array.from({ length: 20 }, (_, index) => [ids[index % ids.length] ?? '', wrongCode(code)] as const);
      const evaluated = (await Promise.all(wrong.map(([id, guess]) => answer(id, guess)))).filter(
        ({ status }) => status === 400,
      );
      expect(evaluated.length).toBeLessThanOrEqual(5);
      const after = await startWithPassword(who);
      expect(after.status).toBe(423);
      expect((await answer(ids[0] ?? '', await app.code())).status).toBe(423);
    }
  });

  test('does not get new guesses by giving the right password between them', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const code = await app.code();
    const statuses = [];
    for (let guess = 1; guess <= 8; guess += 1) {
      const { status, body } = await startWithPassword(who);
      statuses.push(status === 201 ? (await answer(body.id, wrongCode(code))).status : status);
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 423, 423, 423]);
  });
});

describe('of fifty at once', () => {
  test('one uses a code of the app, in however many logins', async () => {
    for (let round = 1; round <= rounds; round += 1) {
      const who = await person();
      const { app } = await enrolTotp(who);
      const ids = await started(who, 4);
      const code = await app.code();
      const answers = await times(50, (index) => answer(ids[index % ids.length] ?? '', code));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    }
  });

  test('one uses a recovery code, in however many logins and proofs', async () => {
    for (let round = 1; round <= rounds; round += 1) {
      const who = await person();
      const { recoveryCodes } = await enrolTotp(who);
      const [code = ''] = recoveryCodes;
      const ids = await started(who, 4);
      const proof = { type: 'totp', secret: code };
      const answers = await times(50, (index) =>
        index % 5 === 0 ? ask(who, 'POST', '/recovery-codes', { proof }) : answer(ids[index % ids.length] ?? '', code),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    }
  });
});
