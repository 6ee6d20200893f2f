import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { codesTo, codeTo } from '../../../test/support/account.js';
import { startTestApp, type TestApp } from '../../../test/support/app.js';
import { originOf } from '../../../test/support/factors.js';
import { type CreationOptions, makePasskey } from '../../../test/support/software-authenticator.js';
import { testSql } from '../../../test/support/sql.js';
import { createUser, newEmail, wrongCode } from '../../../test/support/users.js';
import {
  createLogin,
  createRecovery,
  createRegistration,
  memoryStorage,
  type PosternOptions,
  type RecoveryState,
  type RegistrationState,
} from '../src/index.js';
import { clientOf, createNetwork, lost } from './support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ REGISTRATION: 'on', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => app.close());

type AnyState = RegistrationState | RecoveryState;
function demand<T extends AnyState, S extends T['step']>(state: T, step: S): Extract<T, { readonly step: S }> {
  expect(state).toMatchObject({ step });
  return state as Extract<T, { readonly step: S }>;
}
const newPassword = 'the moon and back again';
const allowNextCode = () => app.database.query(testSql('delete from message_limits'));

/** A page. A reload keeps only its storage. */
const kinds: [string, () => Partial<PosternOptions>][] = [
  [
    'the storage of the client',
    () => {
      const storage = memoryStorage();
      return { storage };
    },
  ],
  [
    'a backend',
    () => {
      const values = new Map<string, string>();
      vi.stubGlobal('localStorage', {
        getItem: (key: string) => values.get(key) ?? null,
        setItem: (key: string, value: string) => values.set(key, value),
        removeItem: (key: string) => values.delete(key),
      });
      onTestFinished(() => void vi.unstubAllGlobals());
      return { storage: 'backend' };
    },
  ],
];

describe('a registration', () => {
  async function begun(options: Partial<PosternOptions> = {}, resume = false) {
    const email = newEmail();
    const postern = clientOf(app, options);
    const registration = createRegistration(postern, { resume });
    const state = demand(await registration.start().begin({ identity: email }), 'code');
    return { email, postern, registration, state, code: await codeTo(app, email) };
  }

  test('checks the code first, and then creates the account and signs in', async () => {
    const { email, postern, registration, state, code } = await begun();
    await postern.ready();
    expect(state).toMatchObject({ channel: 'email', identity: { type: 'email', value: email }, issue: null });
    expect(state.destination).toBe(`${email.slice(0, 1)}…@example.com`);
    expect(state.expiresAt.getTime()).toBeGreaterThan(state.resendAt.getTime());
    const wrong = demand(await state.submit({ code: wrongCode(code) }), 'code');
    expect(wrong.issue).toMatchObject({ kind: 'wrong' });
    const details = demand(await wrong.submit({ code }), 'details');
    expect(details.identity).toEqual({ type: 'email', value: email });
    const refused = demand(await details.submit({ password: 'password' }), 'details');
    expect(refused.issue).toMatchObject({ kind: 'invalid', errors: [{ field: 'password' }] });
    const order: string[] = [];
    registration.onChange(({ step }) => order.push(step));
    postern.onChange(({ status }) => order.push(status));
    const done = demand(await refused.submit({ name: 'Ada', password: newPassword }), 'done');
    expect(done.account).toMatchObject({ email, name: 'Ada', has_password: true });
    expect(postern.current).toEqual({ status: 'signed_in', user_id: done.user_id, device_id: done.device_id });
    // The page may remove what listens to the registration when somebody is signed in.
    expect(order).toEqual(['details', 'done', 'signed_in']);
  });

  test('with a passkey needs no password', async () => {
    const { postern, state, code } = await begun({
      passkeys: {
        get: async () => ({}),
        create: async (options) => makePasskey(options as CreationOptions, originOf(app)).response,
      },
    });
    const details = demand(await state.submit({ code }), 'details');
    const done = demand(await details.passkey({ name: 'Ada' }), 'done');
    expect(done.account).toMatchObject({ has_password: false, second_factors: [{ type: 'passkey' }] });
    expect(postern.current.status).toBe('signed_in');
  });

  test('sends another code, goes back, and asks again for a code that is no longer valid', async () => {
    const { email, registration, state, code } = await begun();
    const early = demand(await state.resend(), 'code');
    expect(early.issue).toMatchObject({ kind: 'wait', until: expect.any(Date) });
    const details = demand(await early.submit({ code }), 'details');
    expect(demand(details.back(), 'code')).toMatchObject({ issue: null, identity: { value: email } });
    const again = demand(await demand(registration.current, 'code').submit({ code }), 'details');
    await app.database.query(testSql(`update challenges set expires_at = now() where purpose = 'registration'`));
    const expired = demand(await again.submit({ password: newPassword }), 'code');
    expect(expired.issue).toMatchObject({ kind: 'wrong' });
    await allowNextCode();
    const seen = await codesTo(app, email);
    const resent = demand(await expired.resend(), 'code');
    expect(resent.issue).toBeNull();
    const next = await codeTo(app, email, seen);
    demand(await demand(await resent.submit({ code: next }), 'details').submit({ password: newPassword }), 'done');
  });

  test('without a network keeps its step, and the same input works later', async () => {
    const network = createNetwork();
    const { state, code } = await begun({ fetch: network.fetch });
    network.answer = lost;
    const offline = demand(await state.submit({ code }), 'code');
    expect(offline.issue).toMatchObject({ kind: 'offline' });
    network.answer = undefined;
    demand(await offline.submit({ code }), 'details');
  });

  test.each(kinds)('survives a reload with %s, until it is given up', async (_kind, optionsOf) => {
    const email = newEmail();
    const options = optionsOf();
    const service = { url: app.url };
    const open = () => createRegistration(clientOf(service, options), { resume: true });
    demand(await open().start().begin({ identity: email }), 'code');
    const reloaded = open();
    const resumed = await new Promise<RegistrationState>((resolve) => reloaded.onChange(resolve));
    const code = demand(resumed, 'code');
    expect(code.identity).toEqual({ type: 'email', value: email });
    demand(await code.submit({ code: await codeTo(app, email) }), 'details');
    // The code is a secret, so a reload asks for it again.
    const again = open();
    const asked = demand(await new Promise<RegistrationState>((resolve) => again.onChange(resolve)), 'code');
    demand(asked.cancel(), 'start');
    const later = open();
    await clientOf(service, options).ready();
    expect(later.current.step).toBe('start');
  });
});

describe('a recovery', () => {
  test('checks the code, sets the new password, and leads to a login', async () => {
    const { email } = await createUser(app, { email: newEmail() });
    const identity = email ?? '';
    const postern = clientOf(app);
    const recovery = createRecovery(postern);
    const state = demand(await recovery.start().begin({ identity, purpose: 'password' }), 'code');
    const code = await codeTo(app, identity);
    const wrong = demand(await state.submit({ code: wrongCode(code) }), 'code');
    expect(wrong.issue).toMatchObject({ kind: 'wrong' });
    const next = demand(await wrong.submit({ code }), 'new_password');
    demand(next.back(), 'code');
    const again = demand(await demand(recovery.current, 'code').submit({ code }), 'new_password');
    expect(demand(await again.submit({ password: newPassword }), 'done')).toMatchObject({ recovered: 'password' });
    expect((await createLogin(postern).start().password({ identity, password: newPassword })).step).toBe('done');
  });

  test('of a PIN has a step of its own', async () => {
    const { email } = await createUser(app, { email: newEmail(), pin: '2468' });
    const recovery = createRecovery(clientOf(app));
    const state = demand(await recovery.start().begin({ identity: email ?? '', purpose: 'pin' }), 'code');
    const next = demand(await state.submit({ code: await codeTo(app, email ?? '') }), 'new_pin');
    expect(demand(await next.submit({ pin: '135790' }), 'done').recovered).toBe('pin');
  });

  test.each(kinds)('survives a reload with %s, and can send its code again', async (_kind, optionsOf) => {
    const { email } = await createUser(app, { email: newEmail() });
    const identity = email ?? '';
    const options = optionsOf();
    const open = () => createRecovery(clientOf(app, options), { resume: true });
    demand(await open().start().begin({ identity, purpose: 'password' }), 'code');
    const seen = await codeTo(app, identity);
    await allowNextCode();
    const reloaded = open();
    const resumed = demand(await new Promise<RecoveryState>((resolve) => reloaded.onChange(resolve)), 'code');
    const resent = demand(await resumed.resend(), 'code');
    demand(await resent.submit({ code: await codeTo(app, identity, [seen]) }), 'new_password');
  });

  test('looks the same for an unknown address', async () => {
    const recovery = createRecovery(clientOf(app));
    const state = demand(await recovery.start().begin({ identity: newEmail(), purpose: 'password' }), 'code');
    expect(state.issue).toBeNull();
  });
});
