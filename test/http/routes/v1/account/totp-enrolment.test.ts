import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ActivityEntry } from '../../../../../src/contract/account/activity.js';
import type { NewTotp, RecoveryCodes } from '../../../../../src/contract/account/factors.js';
import type { Event } from '../../../../../src/contract/administration.js';
import type { User } from '../../../../../src/contract/user.js';
import { byPassword, createSelfService, type Person } from '../../../../support/account.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../../support/app.js';
import { eventually } from '../../../../support/eventually.js';
import { createFactors, fromBase32 } from '../../../../support/factors.js';
import { testSql } from '../../../../support/sql.js';
import { newEmail, newPhone, wrongCode } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ GUESS_LIMIT: '50', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
    SECOND_FACTOR_BY_ROLE: 'support:required,operator:off',
  });
});
afterAll(() => postern.close());

const { person, signInAgain, ask, enrolTotp, startWithPassword, answer } = createFactors(() => postern);
const userOf = async ({ user }: Person) =>
  (await postern.api<User>('GET', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey })).body;
const change = ({ user }: Person, body: object) =>
  postern.api<User>('PATCH', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey, body });
const eventsOf = async ({ user }: Person, type: string) => {
  const path = `/admin/v1/users/${user.id}/activity?filter=type:eq:${type}`;
  return (await postern.api<Event[]>('GET', path, { bearer: postern.adminKey })).body;
};
const codes = ({ body }: { body: Pick<ProblemAnswer, 'errors'> }) => body.errors.map(({ code }) => code);

/** A proof by a code of the app or a recovery code. */
const byApp = (secret: string | undefined) => ({ type: 'totp', secret });

describe('enrolling an authenticator app', () => {
  test('returns a secret and its URI, and has no effect before a code confirms it', async () => {
    const who = await person();
    const begun = await ask<NewTotp>(who, 'POST', '/totp', { proof: byPassword });
    expect(begun.status).toBe(201);
    expect(begun.body.secret).toMatch(/^[A-Z2-7]{32}$/);
    const uri = new URL(begun.body.uri);
    expect([uri.protocol, uri.host, uri.pathname]).toEqual(['otpauth:', 'totp', `/Postern:${who.user.username}`]);
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      ...{ secret: begun.body.secret, issuer: 'Postern', algorithm: 'SHA1', digits: '6', period: '30' },
    });
    expect((await startWithPassword(who)).body.status).toBe('approved');
  });

  test('returns ten recovery codes the first time, and none when the app is replaced', async () => {
    const who = await person();
    const first = await enrolTotp(who);
    expect(new Set(first.recoveryCodes).size).toBe(10);
    for (const code of first.recoveryCodes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){2}$/);
    const second = await enrolTotp(who, byApp(first.recoveryCodes[0]));
    expect(second.recoveryCodes).toEqual([]);
    const { body } = await startWithPassword(who);
    expect((await answer(body.id, await first.app.code())).status).toBe(400);
    expect((await answer(body.id, await second.app.code())).status).toBe(201);
  });

  test('needs a proof, the same device and the correct code', async () => {
    const who = await person();
    expect((await ask(who, 'POST', '/totp', {})).status).toBe(422);
    const wrong = await ask<ProblemAnswer>(who, 'POST', '/totp', { proof: { type: 'password', secret: 'no' } });
    expect(codes(wrong)).toEqual(['proof_rejected']);
    const { body } = await ask<NewTotp>(who, 'POST', '/totp', { proof: byPassword });
    const { appOf, signInAgain } = createFactors(() => postern);
    const code = await appOf(who.user.id, body.secret).code();
    expect((await ask(who, 'POST', `/totp/${body.id}`, { secret: wrongCode(code) })).status).toBe(400);
    expect((await ask(await signInAgain(who.user), 'POST', `/totp/${body.id}`, { secret: code })).status).toBe(400);
    expect((await ask(who, 'POST', `/totp/${body.id}`, { secret: code })).status).toBe(200);
    expect((await ask(who, 'POST', `/totp/${body.id}`, { secret: code })).status).toBe(400);
    expect((await ask(who, 'POST', '/totp/no-id', { secret: code })).status).toBe(404);
  });

  test('accepts the confirming code only once, and ends no session', async () => {
    const who = await person();
    const { body } = await ask<NewTotp>(who, 'POST', '/totp', { proof: byPassword });
    const app = createFactors(() => postern).appOf(who.user.id, body.secret);
    const code = await app.code();
    expect((await ask(who, 'POST', `/totp/${body.id}`, { secret: code })).status).toBe(200);
    const login = await startWithPassword(who);
    expect((await answer(login.body.id, code)).status).toBe(400);
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: who.bearer })).status).toBe(200);
  });

  test('stops codes to an address from changing the account, including codes sent before', async () => {
    const who = await person({ phone: newPhone() });
    const { byCode } = createSelfService(() => postern);
    const { body: begun } = await ask<NewTotp>(who, 'POST', '/totp', { proof: await byCode(who) });
    const { app } = await enrolTotp(who);
    // A challenge that was started before the app was enrolled would need another proof now.
    expect((await ask(who, 'POST', `/totp/${begun.id}`, { secret: await app.code() })).status).toBe(400);
    const started = await ask<ProblemAnswer>(who, 'POST', '/proofs', { type: 'sms' });
    expect([started.status, ...codes(started)]).toEqual([422, 'not_supported']);
    const proof = { type: 'code', id: randomUUID(), secret: '123456' };
    for (const [method, path] of [
      ['POST', '/totp'],
      ['DELETE', '/totp'],
      ['POST', '/passkeys'],
      ['POST', '/recovery-codes'],
      ['DELETE', ''],
    ] as const) {
      const refused = await ask<ProblemAnswer>(who, method, path, { proof });
      expect([refused.status, refused.body.errors[0]?.field]).toEqual([422, 'proof.type']);
    }
    const change = { password: 'nine dull horses', proof };
    expect((await ask(who, 'PUT', '/password', change)).status).toBe(422);
    const code = await app.code();
    const byCodeAlone = await ask<ProblemAnswer>(who, 'PUT', '/password', { ...change, proof: byApp(code) });
    expect([byCodeAlone.status, byCodeAlone.body.errors[0]?.field]).toEqual([422, 'current_password']);
    const mistyped = { ...change, current_password: 'not it', proof: byApp(code) };
    const wrong = await ask<ProblemAnswer>(who, 'PUT', '/password', mistyped);
    expect([wrong.status, ...codes(wrong)]).toEqual([400, 'password_wrong']);
    const proven = { ...change, current_password: byPassword.secret, proof: byApp(code) };
    expect((await ask(who, 'PUT', '/password', proven)).status).toBe(200);
  });

  test('makes the app part of every proof, also in the session that enrolled it', async () => {
    const { refused } = createSelfService(() => postern);
    const who = await person();
    const { app } = await enrolTotp(who);
    const password = 'nine dull horses';
    const changes = [
      ['PUT', '/password', { password }],
      ['PUT', '/pin', { pin: '2468' }],
      ['POST', '/email', { email: newEmail() }],
      ['POST', '/passkeys', {}],
      ['POST', '/recovery-codes', {}],
      ['DELETE', '/totp', {}],
      ['DELETE', '', {}],
    ] as const;
    for (const [method, path, change] of changes) {
      const answer = await refused(who, method, path, { ...change, proof: byPassword });
      expect(answer).toEqual([422, 'proof.type invalid_choice']);
    }
    const proven = { password, current_password: byPassword.secret, proof: byApp(await app.code()) };
    expect((await ask(who, 'PUT', '/password', proven)).status).toBe(200);
    await app.rewind();
    expect((await ask(who, 'DELETE', '/totp', { proof: byApp(await app.code()) })).status).toBe(204);
    const byNewPassword = { type: 'password', secret: password };
    expect((await ask(who, 'PUT', '/pin', { pin: '2468', proof: byNewPassword })).status).toBe(200);
  });

  test('stops earlier sessions from changing the account with the password alone', async () => {
    const { refused } = createSelfService(() => postern);
    const who = await person();
    const before = await signInAgain(who.user);
    const { app, recoveryCodes } = await enrolTotp(who);
    const needsFactor = [422, 'proof.type invalid_choice'];
    expect(await refused(before, 'DELETE', '/totp', { proof: byPassword })).toEqual(needsFactor);
    expect(await refused(before, 'POST', '/passkeys', { proof: byPassword })).toEqual(needsFactor);
    const password = 'nine dull horses';
    expect(await refused(before, 'PUT', '/password', { password, proof: byPassword })).toEqual(needsFactor);
    const change = { pin: '2468', proof: byApp(await app.code()) };
    expect((await ask(before, 'PUT', '/pin', change)).status).toBe(200);
    const byRecovery = { type: 'totp', secret: recoveryCodes[0] };
    expect((await ask(before, 'DELETE', '/totp', { proof: byRecovery })).status).toBe(204);
    expect((await ask(before, 'PUT', '/password', { password, proof: byPassword })).status).toBe(200);
  });

  test('records an event and notifies the user, and so does removing it', async () => {
    const who = await person();
    const email = newEmail();
    await change(who, { email });
    const { app, recoveryCodes } = await enrolTotp(who);
    expect(await eventsOf(who, 'totp.enrolled')).toHaveLength(1);
    expect((await userOf(who)).second_factors).toEqual([{ type: 'totp', created_at: expect.any(String) }]);
    expect((await ask(who, 'POST', '/recovery-codes', { proof: byApp(recoveryCodes[0]) })).status).toBe(201);
    const proof = { type: 'totp', secret: await app.code() };
    expect((await ask(who, 'DELETE', '/totp', { proof })).status).toBe(204);
    expect(await eventsOf(who, 'totp.removed')).toHaveLength(1);
    expect((await userOf(who)).second_factors).toEqual([]);
    const seen = await eventually('the notices', async () => {
      const kinds = 'kind:in:email.totp_added;email.totp_removed;email.recovery_codes_made';
      const path = `/admin/v1/outbox?filter=user_id:${who.user.id},${kinds}`;
      const { body } = await postern.api<{ recipient: string }[]>('GET', path, { bearer: postern.adminKey });
      return body.length === 3 ? body : undefined;
    });
    expect(seen.map(({ recipient }) => recipient)).toEqual([email, email, email]);
    expect((await startWithPassword(who)).body.status).toBe('approved');
    expect((await ask(who, 'DELETE', '/totp', { proof: byPassword })).status).toBe(404);
    expect((await ask(who, 'POST', '/recovery-codes', { proof: byPassword })).status).toBe(404);
  });
});

describe('recovery codes', () => {
  test('replace the second factor once each, in any notation, and the number left is shown', async () => {
    const who = await person();
    const { recoveryCodes } = await enrolTotp(who);
    const [code = '', other = ''] = recoveryCodes;
    const { body } = await startWithPassword(who);
    expect((await answer(body.id, code.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O'))).status).toBe(201);
    const [event] = await eventsOf(who, 'login.approved');
    expect(event?.data).toMatchObject({ second_factor: 'recovery_code' });
    expect((await eventsOf(who, 'recovery_code.used')).map(({ data }) => data)).toEqual([{ left: 9 }]);
    const seen = await ask<ActivityEntry[]>(who, 'GET', '/activity?filter=type:recovery_code.used');
    expect(seen.body.map(({ text }) => text)).toEqual(['A recovery code was used; 9 are left.']);
    const next = await startWithPassword(who);
    expect((await answer(next.body.id, code)).status).toBe(400);
    expect((await answer(next.body.id, other)).status).toBe(201);
  });

  test('are never accepted as first secret', async () => {
    const who = await person();
    const { recoveryCodes } = await enrolTotp(who);
    const body = {
      ...{ identity: { type: 'username', value: who.user.username }, authenticator: 'password', device: {} },
      secret: recoveryCodes[0],
    };
    expect((await postern.api<{ status: string }>('POST', '/v1/tokens', { body })).body.status).toBe('rejected');
  });

  test('can all be replaced', async () => {
    const who = await person();
    const { recoveryCodes } = await enrolTotp(who);
    const { body } = await ask<RecoveryCodes>(who, 'POST', '/recovery-codes', { proof: byApp(recoveryCodes[0]) });
    expect(new Set([...body.recovery_codes, ...recoveryCodes]).size).toBe(20);
    const login = await startWithPassword(who);
    expect((await answer(login.body.id, recoveryCodes[1] ?? '')).status).toBe(400);
    expect((await answer(login.body.id, body.recovery_codes[0] ?? '')).status).toBe(201);
  });

  test('are valid proofs to remove a lost app', async () => {
    const who = await person();
    const { recoveryCodes } = await enrolTotp(who);
    const proof = { type: 'totp', secret: recoveryCodes[3] };
    expect((await ask(who, 'DELETE', '/totp', { proof })).status).toBe(204);
  });

  test('are stored as digests only, and the secret of the app is stored encrypted', async () => {
    const who = await person();
    const { recoveryCodes, secret } = await enrolTotp(who);
    const rows = await postern.database.query<{ text: string }>(
      testSql(
        `select encode(digest, 'escape') || encode(digest, 'base64') as text from recovery_codes where user_id = $1
           union all select encode(secret, 'escape') || encode(secret, 'hex') || encode(secret, 'base64') from totp where user_id = $1
           union all select kept::text from challenges where user_id = $1`,
        [who.user.id],
      ),
    );
    expect(rows).toHaveLength(12);
    const dump = rows.map(({ text }) => text).join('\n');
    const bytes = fromBase32(secret);
    const shown = [...recoveryCodes.flatMap((code) => [code, code.replaceAll('-', '')]), secret];
    for (const text of [...shown, bytes.toString('base64'), bytes.toString('hex')]) expect(dump).not.toContain(text);
  });
});
