import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Account, AccountDetails } from '../../../../../src/contract/account/account.js';
import { byPassword, createSelfService } from '../../../../support/account.js';
import { createAdministration } from '../../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { createUser, login, newPhone, passwordLogin, wrongCode } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { person, signInAgain, ask, refused, byCode, bySms, isLoggedIn } = createSelfService(() => postern);
const { admin, eventsOf } = createAdministration(() => postern);
const newPassword = 'nine dull horses';
const wrong = { type: 'password', secret: 'not the password' };
const approves = async (username: string | null, secret: string) =>
  (await postern.api<{ status: string }>('POST', '/v1/tokens', { body: passwordLogin(username, secret) })).body
    .status === 'approved';

describe('the account', () => {
  test('shows the user’s data, and nothing that only operators may see', async () => {
    const who = await person({ name: 'Ada', locale: 'en', pin: '2468', metadata: { note: 'ours' } });
    const { status, body, headers } = await ask<AccountDetails>(who, 'GET', '');
    const { id, username, phone, created_at, updated_at } = who.user;
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    const { proofs: _, ...own } = body;
    expect(own).toEqual({
      ...{
        id,
        username,
        email: null,
        email_verified: false,
        phone,
        phone_verified: true,
        name: 'Ada',
        locale: 'en',
        has_password: true,
        has_pin: true,
      },
      ...{
        role: 'user',
        is_guest: false,
        role_active: false,
        capabilities: [],
        pin_recovery: null,
        second_factors: [],
        created_at,
        updated_at,
      },
    });
  });

  test('changes name and language without a proof, and nothing else', async () => {
    const who = await person();
    const body = { name: 'Ada King', locale: 'es-MX', role: 'operator', status: 'deactivated', email: 'a@example.com' };
    const changed = await ask<Account>(who, 'PATCH', '', body);
    expect(changed.body).toMatchObject({ name: 'Ada King', locale: 'es-MX', email: null });
    expect((await admin('GET', `/users/${who.user.id}`)).body).toMatchObject({ role: 'user', status: 'active' });
    expect((await ask<Account>(who, 'PATCH', '', { locale: null })).body).toMatchObject({
      locale: null,
      name: 'Ada King',
    });
  });

  test('changes the username with a proof, and refuses a taken username with 409', async () => {
    const who = await person();
    const other = await createUser(postern);
    const username = `New${randomUUID().slice(0, 8)}`;
    expect(await refused(who, 'PATCH', '', { username })).toEqual([422, 'proof required']);
    expect(await refused(who, 'PATCH', '', { username, proof: wrong })).toEqual([400, 'proof_rejected']);
    expect(await refused(who, 'PATCH', '', { username: 'a b', proof: byPassword })).toEqual([
      422,
      'username invalid_identity',
    ]);
    const taken = { username: other.username?.toUpperCase(), proof: byPassword };
    expect(await refused(who, 'PATCH', '', taken)).toEqual([409, 'username identity_taken']);
    expect((await ask<Account>(who, 'PATCH', '', { username, proof: byPassword })).body.username).toBe(username);
    expect((await login(postern, { ...who.user, username: username.toLowerCase() })).body.status).toBe('approved');
  });

  test('keeps its last identity', async () => {
    const who = await person({ phone: undefined });
    expect(await refused(who, 'PATCH', '', { username: null, proof: byPassword })).toEqual([422, 'identity_required']);
  });
});

describe('taken usernames', () => {
  test('can be tried 20 times an hour by one user, then the answer is 429 for every username', async () => {
    const [who, other] = [await person(), await person()];
    const take = () => ask<object>(who, 'PATCH', '', { username: other.user.username, proof: byPassword });
    const statuses = [];
    for (let attempt = 0; attempt < 20; attempt += 1) statuses.push((await take()).status);
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 409));
    const refusal = await take();
    expect(refusal.status).toBe(429);
    expect(Number(refusal.headers['retry-after'])).toBeGreaterThan(0);
    const free = { username: `free${randomUUID().slice(0, 8)}`, proof: byPassword };
    expect((await ask<object>(who, 'PATCH', '', free)).status).toBe(429);
    expect((await ask<object>(who, 'PATCH', '', { name: 'Ada' })).status).toBe(200);
    expect((await ask<object>(other, 'PATCH', '', free)).status).toBe(200);
  });
});

describe('the password', () => {
  test('changes with a proof, and every other login ends', async () => {
    const who = await person();
    const elsewhere = await signInAgain(who.user);
    const changed = await ask<Account>(who, 'PUT', '/password', { password: newPassword, proof: byPassword });
    expect(changed.status).toBe(200);
    expect(await isLoggedIn(who)).toBe(true);
    expect(await isLoggedIn(elsewhere)).toBe(false);
    expect(await approves(who.user.username, newPassword)).toBe(true);
    expect(await approves(who.user.username, byPassword.secret)).toBe(false);
    const types = (await eventsOf(who.user.id)).map(({ type, actor }) => `${type} by ${actor}`);
    expect(types).toContain('user.password_changed by user');
  });

  test('change gives the calling login a new token for further sessions, and other tokens stop working', async () => {
    const { api } = postern;
    const who = await person();
    const token = async () => (await login(postern, who.user)).body.token ?? '';
    const [own, other] = [await token(), await token()];
    const { body } = await api<{ token: string }>('POST', '/v1/sessions', { basic: own });
    const proof = byPassword;
    const change = { password: newPassword, proof };
    const changed = await ask<{ token: string }>({ bearer: body.token }, 'PUT', '/password', change);
    expect((await api('POST', '/v1/sessions', { basic: changed.body.token })).status).toBe(201);
    expect((await api('POST', '/v1/sessions', { basic: own })).status).toBe(401);
    expect((await api('POST', '/v1/sessions', { basic: other })).status).toBe(401);
  });

  test('is not the own username, and the proof stays valid', async () => {
    const who = await person();
    const proof = await byCode(who);
    const password = `${who.user.username}!`;
    const proven = { current_password: byPassword.secret, proof };
    expect(await refused(who, 'PUT', '/password', { password, ...proven })).toEqual([
      422,
      'password password_too_personal',
    ]);
    expect((await ask(who, 'PUT', '/password', { password: newPassword, ...proven })).status).toBe(200);
  });

  test('is checked against the policy before the proof is used', async () => {
    const who = await person();
    const proof = await byCode(who);
    const proven = { current_password: byPassword.secret, proof };
    const change = { password: 'password', ...proven };
    expect(await refused(who, 'PUT', '/password', change)).toEqual([422, 'password password_too_common']);
    expect((await ask(who, 'PUT', '/password', { password: newPassword, ...proven })).status).toBe(200);
    const again = { password: 'ten dull horses', current_password: newPassword, proof };
    expect(await refused(who, 'PUT', '/password', again)).toEqual([400, 'proof_rejected']);
  });

  test('changes by a code only with the current password, and a wrong one uses no code up', async () => {
    const who = await person();
    const proof = await byCode(who);
    const change = { password: newPassword, proof };
    expect(await refused(who, 'PUT', '/password', change)).toEqual([422, 'current_password required']);
    const mistyped = { ...change, current_password: 'not the password' };
    expect(await refused(who, 'PUT', '/password', mistyped)).toEqual([400, 'current_password password_wrong']);
    expect(await approves(who.user.username, byPassword.secret)).toBe(true);
    const right = { ...change, current_password: byPassword.secret };
    expect((await ask(who, 'PUT', '/password', right)).status).toBe(200);
    expect(await approves(who.user.username, newPassword)).toBe(true);
  });

  test('as the current one counts as a guess, so a session cannot try many', async () => {
    const who = await person();
    const proof = await byCode(who);
    const attempt = (current_password: string) =>
      refused(who, 'PUT', '/password', { password: newPassword, current_password, proof });
    for (let guess = 0; guess < 5; guess += 1) {
      expect(await attempt(`guess ${guess}`)).toEqual([400, 'current_password password_wrong']);
    }
    expect(await attempt(byPassword.secret)).toEqual([423, 'account_temporarily_locked']);
  });

  test('can be set for the first time by a code', async () => {
    const { body: user } = await admin('POST', '/users', { username: `u${randomInt(1e9)}`, phone: newPhone() });
    const who = await bySms(user);
    expect(await refused(who, 'PUT', '/password', { password: newPassword, proof: byPassword })).toEqual([
      400,
      'proof_rejected',
    ]);
    const { body } = await ask<Account>(who, 'PUT', '/password', { password: newPassword, proof: await byCode(who) });
    expect(body.has_password).toBe(true);
    expect(await approves(user.username, newPassword)).toBe(true);
  });
});

describe('the PIN', () => {
  test('can be changed with the PIN itself, and not with a code', async () => {
    const who = await person({ pin: '2468' });
    const byPin = (secret: string) => ({ type: 'pin', secret });
    expect(await refused(who, 'PUT', '/pin', { pin: '1357', proof: byPin('9999') })).toEqual([400, 'proof_rejected']);
    expect((await ask(who, 'PUT', '/pin', { pin: '1357', proof: byPin('2468') })).status).toBe(200);
    expect((await ask<Account>(who, 'DELETE', '/pin', { proof: byPin('1357') })).body.has_pin).toBe(false);
    // Without a stored PIN, no PIN is a valid proof.
    expect(await refused(who, 'PUT', '/pin', { pin: '1357', proof: byPin('1357') })).toEqual([400, 'proof_rejected']);
  });

  test('is no proof for other changes, and cannot be removed with a code', async () => {
    const who = await person({ pin: '2468' });
    const proof = { type: 'pin', secret: '2468' };
    expect(await refused(who, 'PUT', '/password', { password: newPassword, proof })).toEqual([
      422,
      'proof.type invalid_choice',
    ]);
    expect(await refused(who, 'DELETE', '', { proof })).toEqual([422, 'proof.type invalid_choice']);
    expect(await refused(who, 'DELETE', '/pin', { proof: await byCode(who) })).toEqual([
      422,
      'proof.type invalid_choice',
    ]);
    expect((await ask(who, 'DELETE', '/pin', { proof: byPassword })).status).toBe(200);
  });
});

describe('a proof', () => {
  test('by code works once, on its own device, for its own user', async () => {
    const who = await person();
    const proof = await byCode(who);
    const change = { pin: '2468', proof };
    const elsewhere = await signInAgain(who.user);
    const stranger = await person();
    expect(await refused(elsewhere, 'PUT', '/pin', change)).toEqual([400, 'proof_rejected']);
    expect(await refused(stranger, 'PUT', '/pin', change)).toEqual([400, 'proof_rejected']);
    expect((await ask(who, 'PUT', '/pin', change)).status).toBe(200);
    const another = { password: newPassword, current_password: byPassword.secret, proof };
    expect(await refused(who, 'PUT', '/password', another)).toEqual([400, 'proof_rejected']);
  });

  test('by code works for one of 50 parallel requests', async () => {
    const who = await person();
    const proof = await byCode(who);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => ask(who, 'PUT', '/pin', { pin: '2468', proof })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect((await eventsOf(who.user.id)).filter(({ type }) => type === 'user.pin_changed')).toHaveLength(1);
  });

  test('by code allows five guesses', async () => {
    const who = await person();
    const right = await byCode(who);
    const guess = { ...right, secret: wrongCode(right.secret) };
    for (let n = 0; n < 5; n += 1) {
      expect(await refused(who, 'PUT', '/pin', { pin: '2468', proof: guess })).toEqual([400, 'proof_rejected']);
    }
    await admin('POST', `/users/${who.user.id}/unlock`);
    expect(await refused(who, 'PUT', '/pin', { pin: '2468', proof: right })).toEqual([400, 'proof_rejected']);
  });

  test('shares the guess budget of logins on the device', async () => {
    const who = await person();
    for (let n = 0; n < 5; n += 1) {
      expect(await refused(who, 'DELETE', '', { proof: wrong })).toEqual([400, 'proof_rejected']);
    }
    expect(await refused(who, 'DELETE', '', { proof: byPassword })).toEqual([423, 'account_temporarily_locked']);
    expect((await login(postern, who.user, { id: who.deviceId })).status).toBe(423);
    // A lock after wrong guesses does not end existing sessions.
    expect(await isLoggedIn(who)).toBe(true);
    const types = (await eventsOf(who.user.id)).map(({ type }) => type);
    expect(types.filter((type) => type === 'proof.rejected')).toHaveLength(5);
    expect(types).toContain('account.locked_by_guesses');
  });

  test('by code needs its id: without it the answer is 422', async () => {
    const who = await person();
    const proof = { type: 'code', secret: '000000' };
    expect(await refused(who, 'DELETE', '', { proof })).toEqual([422, 'proof.id required']);
    expect(await refused(who, 'DELETE', '', {})).toEqual([422, 'proof required']);
    expect(await refused(who, 'DELETE', '', { proof: { type: 'totp', secret: '000000' } })).toEqual([
      422,
      'proof.type invalid_choice',
    ]);
  });

  test('by code becomes invalid when its address changes', async () => {
    const who = await person();
    const proof = await byCode(who);
    await admin('PATCH', `/users/${who.user.id}`, { phone: null });
    expect(await refused(who, 'PUT', '/pin', { pin: '2468', proof })).toEqual([400, 'proof_rejected']);
  });
});

describe('deleting the account', () => {
  test('needs a proof, and all data is gone on the next request', async () => {
    const who = await person();
    expect(await refused(who, 'DELETE', '', { proof: wrong })).toEqual([400, 'proof_rejected']);
    const deleted = await ask(who, 'DELETE', '', { proof: byPassword });
    expect(deleted.status).toBe(204);
    expect(await isLoggedIn(who)).toBe(false);
    expect((await admin('GET', `/users/${who.user.id}`)).status).toBe(404);
  });
});
