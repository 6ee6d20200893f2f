import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeTo } from '../../../test/support/account.js';
import { startTestApp, type TestApp } from '../../../test/support/app.js';
import { originOf } from '../../../test/support/factors.js';
import { type CreationOptions, makePasskey } from '../../../test/support/software-authenticator.js';
import { testSql } from '../../../test/support/sql.js';
import { createUser, newEmail, password, wrongCode } from '../../../test/support/users.js';
import {
  createAccount,
  createLogin,
  createPostern,
  memoryStorage,
  mergeGuest,
  type Postern,
  resumeRecovery,
  resumeRegistration,
  signInAsGuest,
  startRecovery,
  startRegistration,
} from '../src/index.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({
    REGISTRATION: 'on',
    GUESTS: 'on',
    LOGIN_LIMIT_PER_ADDRESS: '0',
    CODE_LIMIT_PER_ADDRESS: '0',
  });
});
afterAll(() => app.close());

/** A page. A reload keeps nothing of it but what it has stored. */
const page = (storage = memoryStorage()): Postern =>
  createPostern({
    ...{ url: app.url, storage },
    passkeys: {
      get: async () => ({}),
      create: async (options) => makePasskey(options as CreationOptions, originOf(app)).response,
    },
  });
const reloaded = <T>(stored: T): T => JSON.parse(JSON.stringify(stored));
const allowNextCode = () => app.database.query(testSql('delete from message_limits'));

test('a registration with a passkey signs in after one code, also after a reload', async () => {
  const email = newEmail();
  const first = page();
  const { stored, destination, resendAt, expiresAt } = await startRegistration(first, { identity: email });
  expect(destination).toBe(`${email.slice(0, 1)}…@example.com`);
  expect(expiresAt.getTime() - resendAt.getTime()).toBeGreaterThan(200_000);
  const code = await codeTo(app, email);
  const second = page();
  const pending = resumeRegistration(second, reloaded(stored));
  await expect(pending.check(wrongCode(code))).rejects.toMatchObject({ code: 'code_rejected' });
  await pending.check(code);
  const account = await pending.complete({ code, passkey: true, signIn: true });
  expect(account).toMatchObject({ email, has_password: false, second_factors: [{ type: 'passkey' }] });
  expect(account).not.toHaveProperty('authentication');
  expect(second.current).toMatchObject({ status: 'signed_in', user_id: account.id });
});

test('a registration can send its code again after a reload', async () => {
  const email = newEmail();
  const { stored } = await startRegistration(page(), { identity: email });
  const seen = await codeTo(app, email);
  const after = page();
  await expect(resumeRegistration(after, reloaded(stored)).sendAgain()).rejects.toMatchObject({
    code: 'too_many_requests',
  });
  await allowNextCode();
  const again = await resumeRegistration(after, reloaded(stored)).sendAgain();
  expect(again.id).not.toBe(stored.id);
  const code = await codeTo(app, email, [seen]);
  expect(await again.complete({ code, name: 'Ada' })).toMatchObject({ email, name: 'Ada' });
  expect(after.current).not.toMatchObject({ status: 'signed_in' });
});

test('a recovery goes on after a reload, and can send its code again', async () => {
  const { email } = await createUser(app, { email: newEmail() });
  const { stored } = await startRecovery(page(), { identity: email ?? '', purpose: 'password' });
  const seen = await codeTo(app, email ?? '');
  await allowNextCode();
  const again = await resumeRecovery<'password'>(page(), reloaded(stored)).sendAgain();
  const code = await codeTo(app, email ?? '', [seen]);
  const pending = resumeRecovery<'password'>(page(), reloaded(again.stored));
  await pending.check(code);
  expect(await pending.complete({ code, password: 'nine dull horses' })).toMatchObject({ recovered: 'password' });
});

test('a guest is signed in, and becomes a user without a proof', async () => {
  const postern = page();
  const guest = await signInAsGuest(postern);
  expect(postern.current).toMatchObject({ status: 'signed_in', user_id: guest.user_id });
  expect((await createAccount(postern).get()).is_guest).toBe(true);
  const asked: unknown[] = [];
  const account = createAccount(postern, {
    prove: async (request) => {
      asked.push(request);
      return null;
    },
  });
  expect((await account.addPasskey('Phone')).name).toBe('Phone');
  expect((await account.get()).is_guest).toBe(false);
  expect(asked).toEqual([]);
  await expect(account.setEmail(newEmail())).rejects.toMatchObject({ kind: 'cancelled' });
  expect(asked).toHaveLength(1);
});

test('a guest can be merged into an account', async () => {
  const postern = page();
  const guest = await signInAsGuest(postern);
  const user = await createUser(app);
  const done = await createLogin(postern)
    .start()
    .password({ identity: user.username ?? '', password });
  expect(done.step).toBe('done');
  expect(await mergeGuest(postern, guest.token ?? '')).toEqual({ id: guest.user_id, moved: 0 });
  await expect(mergeGuest(postern, guest.token ?? '')).rejects.toMatchObject({ code: 'guest_rejected' });
});
