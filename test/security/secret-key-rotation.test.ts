import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyId } from '../../src/lib/crypto/secret-keys.js';
import type { ProblemAnswer } from '../support/app.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createFactors } from '../support/factors.js';
import { passwordLogin } from '../support/users.js';

const oldKey = randomBytes(32).toString('hex');
const newKey = randomBytes(32).toString('hex');

let postern: TestApp;
/** An instance on the same database, with only the new key. */
let rotated: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ SECRET_KEY: oldKey });
  rotated = await postern.another({ SECRET_KEY: newKey });
});
afterAll(async () => {
  await rotated.close();
  await postern.close();
});

/** Runs only while it is used, because an instance with both keys encrypts all stored secrets with the new key. */
async function withBothKeys(use: (rotating: TestApp) => Promise<void>): Promise<void> {
  const rotating = await postern.another({ SECRET_KEY: `${newKey},${oldKey}` });
  try {
    await use(rotating);
  } finally {
    await rotating.close();
  }
}

const withOldKey = createFactors(() => postern);
const withNewKey = createFactors(() => rotated);

/** The log names keys by fingerprints, which do not reveal the keys. */
const logOf = ({ logged }: TestApp) => logged.join('');

describe('an authenticator app whose secret no key can decrypt', () => {
  test('causes 503 in a login, the log names the missing key, and the login continues when the key is back', async () => {
    const who = await withOldKey.person();
    const { app } = await withOldKey.enrolTotp(who);
    const { body: begun } = await withNewKey.startWithPassword(who);
    expect([begun.status, begun.challenge?.type]).toEqual(['pending', 'totp']);
    const answer = await withNewKey.answer(begun.id, await app.code());
    expect([answer.status, answer.body.errors[0]?.code]).toEqual([503, 'secret_unreadable']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(logOf(rotated)).toContain(createKeyId(oldKey));
    for (const key of [oldKey, newKey]) expect(logOf(rotated)).not.toContain(key);
    // A wrong code and a correct one get the same response, and neither used a guess.
    expect((await withNewKey.answer(begun.id, '000000')).status).toBe(503);
    await withBothKeys(async (rotating) => {
      expect((await createFactors(() => rotating).answer(begun.id, await app.code())).status).toBe(201);
    });
  });

  test('does not change the response to a wrong password', async () => {
    const who = await withOldKey.person();
    await withOldKey.enrolTotp(who);
    const { body, status } = await withNewKey.start(passwordLogin(who.user.username, 'a wrong password'));
    expect([status, body.status, body.error_code]).toEqual([201, 'rejected', 'invalid_credentials']);
  });

  test('causes 503 in a proof, and does not lock the account', async () => {
    const who = await withOldKey.person();
    const { app } = await withOldKey.enrolTotp(who);
    for (let times = 0; times < 12; times += 1) {
      const proof = { type: 'totp', secret: await app.code() };
      const { status, body } = await rotated.api<ProblemAnswer>('DELETE', '/v1/account/totp', {
        bearer: who.bearer,
        body: { proof },
      });
      expect([status, body.errors[0]?.code]).toEqual([503, 'secret_unreadable']);
    }
    expect((await withOldKey.startWithPassword(who)).body.status).toBe('pending');
  });

  test('is encrypted with the new key in a login with both keys', async () => {
    const who = await withOldKey.person();
    const { app } = await withOldKey.enrolTotp(who);
    await withBothKeys(async (rotating) => {
      const factors = createFactors(() => rotating);
      const { body: begun } = await factors.startWithPassword(who);
      expect((await factors.answer(begun.id, await app.code())).status).toBe(201);
    });
    await app.rewind();
    const { body: again } = await withNewKey.startWithPassword(who);
    expect((await withNewKey.answer(again.id, await app.code())).status).toBe(201);
  });

  test('cannot be confirmed during enrolment', async () => {
    const who = await withOldKey.person();
    const proof = { type: 'password', secret: 'a battery of horses' };
    const { body } = await withOldKey.ask<{ id: string }>(who, 'POST', '/totp', { proof });
    const answer = await rotated.api<ProblemAnswer>('POST', `/v1/account/totp/${body.id}`, {
      bearer: who.bearer,
      body: { secret: '123456' },
    });
    expect([answer.status, answer.body.errors[0]?.code]).toEqual([503, 'secret_unreadable']);
  });
});

test('a stored response that no key can decrypt causes 503, and the request does not run twice', async () => {
  const create = (app: TestApp, username: string) =>
    app.api<ProblemAnswer>('POST', '/admin/v1/users', {
      bearer: postern.adminKey,
      body: { username },
      headers: { 'idempotency-key': `"${username}"` },
    });
  const username = `user${randomBytes(6).toString('hex')}`;
  expect((await create(postern, username)).status).toBe(201);
  const repeat = await create(rotated, username);
  expect([repeat.status, repeat.body.errors[0]?.code]).toEqual([503, 'secret_unreadable']);
  await withBothKeys(async (rotating) => expect((await create(rotating, username)).status).toBe(201));
});

test('a start without the old key reports how many secrets it cannot decrypt, and which key is missing', async () => {
  await withOldKey.enrolTotp(await withOldKey.person());
  const fresh = await postern.another({ SECRET_KEY: newKey });
  await fresh.close();
  expect(logOf(fresh)).toMatch(
    new RegExp(`\\d+ secrets of authenticator apps.+cannot be decrypted.+id ${createKeyId(oldKey)}`),
  );
});
