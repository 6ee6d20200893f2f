import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeTo } from '../../../test/support/account.js';
import { startTestApp, type TestApp } from '../../../test/support/app.js';
import { originOf } from '../../../test/support/factors.js';
import { type CreationOptions, makePasskey } from '../../../test/support/software-authenticator.js';
import { createUser, newEmail, password, wrongCode } from '../../../test/support/users.js';
import {
  createAccount,
  createLogin,
  createPostern,
  memoryStorage,
  mergeGuest,
  type Postern,
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

test('a registration with a passkey signs in after one code', async () => {
  const email = newEmail();
  const postern = page();
  const pending = await startRegistration(postern, { identity: email });
  const { destination, resendAt, expiresAt } = pending;
  expect(destination).toBe(`${email.slice(0, 1)}…@example.com`);
  expect(expiresAt.getTime() - resendAt.getTime()).toBeGreaterThan(200_000);
  const code = await codeTo(app, email);
  await expect(pending.check(wrongCode(code))).rejects.toMatchObject({ code: 'code_rejected' });
  await pending.check(code);
  const account = await pending.complete({ code, passkey: true, signIn: true });
  expect(account).toMatchObject({ email, has_password: false, second_factors: [{ type: 'passkey' }] });
  expect(account).not.toHaveProperty('authentication');
  expect(postern.current).toMatchObject({ status: 'signed_in', user_id: account.id });
});

test('a registration that does not sign in leaves nobody signed in', async () => {
  const email = newEmail();
  const postern = page();
  const pending = await startRegistration(postern, { identity: email });
  const code = await codeTo(app, email);
  expect(await pending.complete({ code, name: 'Ada' })).toMatchObject({ email, name: 'Ada' });
  expect(postern.current).not.toMatchObject({ status: 'signed_in' });
});

test('a recovery sets a password with its code', async () => {
  const { email } = await createUser(app, { email: newEmail() });
  const pending = await startRecovery(page(), { identity: email ?? '', purpose: 'password' });
  const code = await codeTo(app, email ?? '');
  await pending.check(code);
  expect(await pending.complete({ code, password: 'nine dull horses' })).toMatchObject({ recovered: 'password' });
});

/** A guest who is signed in. */
async function enter(postern: Postern): Promise<string> {
  const state = await createLogin(postern).start().guest();
  if (state.step !== 'done') throw new Error(state.issue?.message);
  return state.user_id;
}
const logIn = async (postern: Postern, username: string | null) =>
  createLogin(postern)
    .start()
    .password({ identity: username ?? '', password });

test('a guest is signed in, and becomes a user without a proof', async () => {
  const postern = page();
  const guest = await enter(postern);
  expect(postern.current).toMatchObject({ status: 'signed_in', user_id: guest });
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

test('a guest is merged into the account that signs in, once, also after a reload', async () => {
  const storage = memoryStorage();
  const guest = await enter(page(storage));
  const postern = page(storage);
  expect(await mergeGuest(postern)).toBeNull();
  const user = await createUser(app);
  expect((await logIn(postern, user.username)).step).toBe('done');
  expect(await mergeGuest(postern)).toEqual({ id: guest, moved: 0 });
  expect(await mergeGuest(postern)).toBeNull();
});

test('a guest who has signed out, and one who has become a user, are not merged', async () => {
  const out = page();
  await enter(out);
  await out.logOut();
  const grown = page();
  await enter(grown);
  await createAccount(grown, { prove: async () => null }).addPasskey('Phone');
  for (const postern of [out, grown]) {
    const user = await createUser(app);
    expect((await logIn(postern, user.username)).step).toBe('done');
    expect(await mergeGuest(postern)).toBeNull();
    expect(await createAccount(postern).get()).toMatchObject({ id: user.id });
  }
});
