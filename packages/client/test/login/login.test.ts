import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createFactors } from '../../../../test/support/factors.js';
import { testSql } from '../../../../test/support/sql.js';
import { createUser, newEmail, newPhone, password, wrongCode } from '../../../../test/support/users.js';
import { createLogin, type LoginState, memoryStorage } from '../../src/index.js';
import { clientOf, createNetwork, lastCode, lost, problem } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({
    LOGIN_LIMIT_PER_ADDRESS: '0',
    CODE_LIMIT_PER_ADDRESS: '0',
    PIN_POLICY: 'optional',
    GUESS_LOCK: '30m',
  });
});
afterAll(() => app.close());

const { person, enrolTotp, appOf } = createFactors(() => app);
function demand<S extends LoginState['step']>(state: LoginState, step: S): Extract<LoginState, { readonly step: S }> {
  expect(state).toMatchObject({ step });
  return state as Extract<LoginState, { readonly step: S }>;
}

describe('a password login', () => {
  test('signs the client in', async () => {
    const user = await createUser(app);
    const postern = clientOf(app);
    const login = createLogin(postern);
    const steps: string[] = [];
    login.onChange(({ step, busy }) => steps.push(busy ? `${step} busy` : step));
    const done = demand(await login.start().password({ identity: user.username ?? '', password }), 'done');
    expect(done).toMatchObject({ user_id: user.id, issue: null, busy: false });
    expect(postern.current).toEqual({ status: 'signed_in', user_id: user.id, device_id: done.device_id });
    expect(steps).toEqual(['start', 'start busy', 'done']);
  });

  test.each(['known', 'unknown'])('of a %s user with a wrong password says that a secret is wrong', async (kind) => {
    const { username } = kind === 'known' ? await createUser(app) : { username: 'nobody' };
    const state = await createLogin(clientOf(app))
      .start()
      .password({ identity: username ?? '', password: 'not this one' });
    expect(demand(state, 'start').issue).toMatchObject({ kind: 'wrong', message: expect.stringMatching(/./) });
  });

  test('with an invalid identity names the error', async () => {
    const state = await createLogin(clientOf(app)).start().password({ identity: 'a@b', password });
    expect(demand(state, 'start').issue).toMatchObject({ kind: 'invalid', errors: [{ field: 'identity.value' }] });
  });

  test('that locks the account counts down, and then returns to the start', async () => {
    const { username } = await createUser(app);
    const login = createLogin(clientOf(app));
    for (let guess = 0; guess < 5; guess += 1)
      await login.start().password({ identity: username ?? '', password: 'wrong' });
    const locked = demand(await login.start().password({ identity: username ?? '', password }), 'locked');
    if (locked.permanent) throw new Error('locked for good');
    for await (const seconds of locked.countdown()) {
      expect(seconds).toBeGreaterThan(60);
      break;
    }
    demand(locked.back(), 'start');
  });

  test('of an account that an operator locked is blocked', async () => {
    const user = await createUser(app);
    const body = { permanent: true };
    await app.api('POST', `/admin/v1/users/${user.id}/lock`, { bearer: app.adminKey, body });
    const state = await createLogin(clientOf(app))
      .start()
      .password({ identity: user.username ?? '', password });
    const blocked = demand(state, 'locked');
    expect(blocked).toMatchObject({ permanent: true, reason: 'account_locked' });
    if (blocked.permanent) demand(blocked.restart(), 'start');
  });
});

describe('a login by code', () => {
  async function begun(options: Parameters<typeof clientOf>[1] = {}) {
    const phone = newPhone();
    const user = await createUser(app, { phone });
    const postern = clientOf(app, options);
    const login = createLogin(postern);
    const state = demand(await login.start().sms({ identity: phone }), 'code');
    return { user, postern, login, state, code: await lastCode(app) };
  }

  test('goes from the identity to the code to the session', async () => {
    const { user, postern, state, code } = await begun();
    expect(state).toMatchObject({ channel: 'sms', identity: { type: 'phone', value: user.phone } });
    expect(state.destination).toBe(`${user.phone?.slice(0, 3)}…${user.phone?.slice(-2)}`);
    expect(state.expiresAt.getTime()).toBeGreaterThan(state.resendAt.getTime());
    demand(await state.submit({ code, pin: '' }), 'done');
    expect(await postern.getSession()).toMatchObject({ user_id: user.id });
  });

  test('takes another code after a wrong one, until the guesses are used up', async () => {
    const { state, code } = await begun();
    let next: LoginState = state;
    for (let guess = 0; guess < 4; guess += 1) {
      next = await demand(next, 'code').submit({ code: wrongCode(code) });
      expect(next.issue).toMatchObject({ kind: 'wrong' });
    }
    next = await demand(next, 'code').submit({ code: wrongCode(code) });
    expect(next).toMatchObject({ step: 'start', issue: { kind: 'lapsed' } });
  });

  test('a lost answer does not cost the login: the same input approves it', async () => {
    const network = createNetwork();
    const { state, code } = await begun({ fetch: (...sent) => network.fetch(...sent) });
    let secrets = 0;
    network.answer = async (request) => {
      if (!request.endsWith('/secret')) return undefined;
      secrets += 1;
      return undefined;
    };
    const keys: (string | null)[] = [];
    const { fetch: through } = network;
    Object.assign(network, {
      async fetch(...[input, init]: Parameters<typeof through>) {
        const answer = await through(input, init);
        if (`${input}`.endsWith('/secret')) keys.push(new Headers(init?.headers).get('idempotency-key'));
        return keys.length === 1 ? lost() : answer;
      },
    });
    const offline = demand(await state.submit({ code }), 'code');
    expect(offline.issue).toMatchObject({ kind: 'offline' });
    demand(await offline.submit({ code }), 'done');
    expect(secrets).toBe(2);
    expect(keys[0]).toBe(keys[1]);
  });

  test('sends repeated input once, and refuses other input while it is busy', async () => {
    const network = createNetwork();
    const { state, code } = await begun({ fetch: network.fetch });
    const first = state.submit({ code });
    expect(state.submit({ code })).toBe(first);
    await expect(state.submit({ code: '000000' })).rejects.toThrow(/busy/);
    demand(await first, 'done');
    expect(network.sent.filter((request) => request.endsWith('/secret'))).toHaveLength(1);
    await expect(state.submit({ code })).rejects.toThrow(/has ended/);
  });

  test('can be cancelled while the client waits for an answer', async () => {
    const network = createNetwork();
    const { state, login, code } = await begun({ fetch: network.fetch });
    const submitted = state.submit({ code: wrongCode(code) });
    const first = login.start();
    expect((await submitted).step).toBe('start');
    expect(login.current).toBe(first);
  });

  test('says when it is too early for another code', async () => {
    const { state } = await begun();
    const early = demand(await state.resend(), 'code');
    expect(early.issue).toMatchObject({ kind: 'wait', until: expect.any(Date) });
    await app.database.query(testSql('delete from message_limits'));
    const again = demand(await early.resend(), 'code');
    expect(again.issue).toBeNull();
    demand(await again.submit({ code: await lastCode(app) }), 'done');
  });

  test('survives a reload if the app asks for this', async () => {
    const storage = memoryStorage();
    const phone = newPhone();
    await createUser(app, { phone });
    await createLogin(clientOf(app, { storage }), { resume: true }).start().sms({ identity: phone });
    const code = await lastCode(app);
    const login = createLogin(clientOf(app, { storage }), { resume: true });
    const resumed = await new Promise<LoginState>((resolve) => login.onChange(resolve));
    demand(await demand(resumed, 'code').submit({ code }), 'done');
    expect(await storage.get('postern.open')).toBeNull();
  });

  test('survives a reload if a backend keeps the login', async () => {
    const values = new Map<string, string>();
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => values.get(key) ?? null,
      setItem: (key: string, value: string) => values.set(key, value),
      removeItem: (key: string) => values.delete(key),
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    const phone = newPhone();
    await createUser(app, { phone });
    const options = { storage: 'backend' } as const;
    await createLogin(clientOf(app, options), { resume: true }).start().sms({ identity: phone });
    const login = createLogin(clientOf(app, options), { resume: true });
    const resumed = await new Promise<LoginState>((resolve) => login.onChange(resolve));
    expect(demand(resumed, 'code').identity).toEqual({ type: 'phone', value: phone });
  });

  test('looks the same for an unknown identity', async () => {
    const state = demand(await createLogin(clientOf(app)).start().email({ identity: newEmail() }), 'code');
    expect(state).toMatchObject({ channel: 'email', destination: 'u…@example.com', issue: null });
  });
});

describe('a second factor', () => {
  test('is asked for after the password, and a recovery code replaces it', async () => {
    const who = await person();
    const { recoveryCodes } = await enrolTotp(who);
    const login = createLogin(clientOf(app));
    const identity = who.user.username ?? '';
    const totp = demand(await login.start().password({ identity, password }), 'totp');
    expect(totp.passkey).toBeNull();
    const wrong = demand(await totp.submit({ code: '000000' }), 'totp');
    expect(wrong.issue).toMatchObject({ kind: 'wrong' });
    demand((await wrong.recoveryCode?.(recoveryCodes[0] ?? '')) ?? wrong, 'done');
  });
});

describe('after the first secret', () => {
  const admin = (userId: string, body: object) =>
    app.api('PATCH', `/admin/v1/users/${userId}`, { bearer: app.adminKey, body });

  test('a password for one use must be changed, and refused ones can be corrected', async () => {
    const user = await createUser(app, { must_change: true });
    const login = createLogin(clientOf(app));
    const state = demand(await login.start().password({ identity: user.username ?? '', password }), 'new_password');
    const same = demand(await state.submit({ password }), 'new_password');
    expect(same.issue).toMatchObject({ kind: 'invalid', errors: [{ field: 'secret', code: 'password_unchanged' }] });
    const done = demand(await same.submit({ password: 'nine dull horses sleep' }), 'done');
    expect(done).toMatchObject({ user_id: user.id });
    expect(done.recovery_codes).toBeUndefined();
  });

  test('a required factor is added, after a code to the address of the user', async () => {
    const email = newEmail();
    const user = await createUser(app, { email });
    await admin(user.id, { second_factor: 'required' });
    const login = createLogin(clientOf(app));
    const code = demand(await login.start().password({ identity: email, password }), 'code');
    expect(code).toMatchObject({ channel: 'email', takesPin: false, destination: expect.stringContaining('@') });
    const enrol = demand(await code.submit({ code: await lastCode(app) }), 'enrol');
    expect(enrol.totp.uri).toContain(enrol.totp.secret);
    const authenticator = appOf(user.id, enrol.totp.secret);
    const wrong = demand(await enrol.submit({ code: wrongCode(await authenticator.code()) }), 'enrol');
    expect(wrong.issue).toMatchObject({ kind: 'wrong' });
    const done = demand(await wrong.submit({ code: await authenticator.code() }), 'done');
    expect(done.recovery_codes).toHaveLength(10);
  });
});

describe('a login whose request fails', () => {
  test.each<[string, () => Response, string]>([
    ['because the network is lost', lost, 'offline'],
    ['because a page arrives instead of an answer', () => new Response('<html>'), 'failed'],
    ['because of too many requests', () => problem(429, 'too_many_requests', { 'retry-after': '60' }), 'wait'],
    [
      'because the service is unavailable',
      () => problem(503, 'authenticator_unavailable', { 'retry-after': '5' }),
      'wait',
    ],
    ['with an error code of a newer service', () => problem(400, 'a_new_code'), 'failed'],
  ])('%s stays at its step and shows the reason', async (_name, answer, kind) => {
    const network = createNetwork();
    const login = createLogin(clientOf(app, { fetch: network.fetch }));
    network.answer = answer;
    const { username } = await createUser(app);
    const state = demand(await login.start().password({ identity: username ?? '', password }), 'start');
    expect(state.issue).toMatchObject({ kind, message: expect.stringMatching(/./) });
    network.answer = undefined;
    demand(await state.password({ identity: username ?? '', password }), 'done');
  });
});

test('an unknown challenge of a newer service is a step that takes a secret', async () => {
  const network = createNetwork();
  const login = createLogin(clientOf(app, { fetch: network.fetch }));
  const now = new Date().toISOString();
  network.answer = () =>
    Response.json({
      ...{ id: 'a', device_id: 'b', status: 'pending', error_code: '', error_message: '', later: true },
      ...{ challenge: { type: 'face', hint: 'smile' }, expires_at: now, created_at: now, updated_at: now },
    });
  const state = demand(await login.start().custom('custom:face', { identity: 'ada' }), 'secret');
  expect(state).toMatchObject({ authenticator: 'custom:face', challenge: { type: 'face', hint: 'smile' } });
});

test('a passkey without WebAuthn is not supported', async () => {
  const state = await createLogin(clientOf(app)).start().passkey();
  expect(demand(state, 'start').issue).toMatchObject({ kind: 'unsupported' });
});
