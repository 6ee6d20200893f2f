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
import { activateRoleOf } from '../../../../support/operators.js';
import type { SoftwareAuthenticator } from '../../../../support/software-authenticator.js';
import { testSql } from '../../../../support/sql.js';
import { createUser, newEmail, newPhone, wrongCode } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ GUESS_LIMIT: '50', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
    SECOND_FACTOR_BY_ROLE: 'support:required,operator:off',
  });
});
afterAll(() => postern.close());

const { person, again, ask, enrolTotp, enrolPasskey, startWithPassword, startWithPasskey, answer } = createFactors(
  () => postern,
);
const userOf = async ({ user }: Person) =>
  (await postern.api<User>('GET', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey })).body;
const change = ({ user }: Person, body: object) =>
  postern.api<User>('PATCH', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey, body });
const eventsOf = async ({ user }: Person, type: string) => {
  const path = `/admin/v1/users/${user.id}/activity?filter=type:eq:${type}`;
  return (await postern.api<Event[]>('GET', path, { bearer: postern.adminKey })).body;
};
const signFor = (authenticator: SoftwareAuthenticator, { body }: { body: { challenge?: object } }) =>
  authenticator.sign(body.challenge as Parameters<SoftwareAuthenticator['sign']>[0]);
/** A proof by a code of the app or a recovery code. */
const byApp = (secret: string | undefined) => ({ type: 'totp', secret });
const codes = ({ body }: { body: Pick<ProblemAnswer, 'errors'> }) => body.errors.map(({ code }) => code);

describe('enrolling an authenticator app', () => {
  test('returns a secret and its URI, and takes effect when a code confirms it', async () => {
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
    const { appOf, again } = createFactors(() => postern);
    const code = await appOf(who.user.id, body.secret).code();
    expect((await ask(who, 'POST', `/totp/${body.id}`, { secret: wrongCode(code) })).status).toBe(400);
    expect((await ask(await again(who.user), 'POST', `/totp/${body.id}`, { secret: code })).status).toBe(400);
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
    // A challenge that was started before would need another proof now.
    expect((await ask(who, 'POST', `/totp/${begun.id}`, { secret: await app.code() })).status).toBe(400);
    const asked = await ask<ProblemAnswer>(who, 'POST', '/proofs', { type: 'sms' });
    expect([asked.status, ...codes(asked)]).toEqual([422, 'not_supported']);
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
    const proven = { ...change, proof: byApp(await app.code()) };
    expect((await ask(who, 'PUT', '/password', proven)).status).toBe(200);
  });

  test('makes every proof include it, also in the session that enrolled it', async () => {
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
    expect((await ask(who, 'PUT', '/password', { password, proof: byApp(await app.code()) })).status).toBe(200);
    await app.rewind();
    expect((await ask(who, 'DELETE', '/totp', { proof: byApp(await app.code()) })).status).toBe(204);
    const byNew = { type: 'password', secret: password };
    expect((await ask(who, 'PUT', '/pin', { pin: '2468', proof: byNew })).status).toBe(200);
  });

  test('stops earlier sessions from changing the account with the password alone', async () => {
    const { refused } = createSelfService(() => postern);
    const who = await person();
    const before = await again(who.user);
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

describe('a login with an authenticator app', () => {
  test('is pending after the correct password, and approved by a code', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const { status, body } = await startWithPassword(who);
    expect([status, body.status, body.token]).toEqual([201, 'pending', undefined]);
    expect(body.challenge).toEqual({ type: 'totp', alternatives: ['recovery_code'] });
    const approved = await answer(body.id, await app.code());
    expect([approved.status, approved.body.status]).toEqual([201, 'approved']);
    const session = await postern.api('POST', '/v1/sessions', { basic: approved.body.token ?? '' });
    expect(session.status).toBe(201);
    const [event] = await eventsOf(who, 'login.approved');
    expect(event?.data).toMatchObject({ authenticator: 'password', second_factor: 'totp' });
  });

  test('shows nothing about the factor after a wrong password', async () => {
    const who = await person();
    await enrolTotp(who);
    const other = await createUser(postern);
    const body = (username: string | null) => ({
      ...{ identity: { type: 'username', value: username }, authenticator: 'password', secret: 'wrong', device: {} },
    });
    const answers = [];
    for (const name of [who.user.username, other.username]) {
      answers.push((await postern.api<object>('POST', '/v1/tokens', { body: body(name) })).body);
    }
    expect(Object.keys(answers[0] ?? {})).toEqual(Object.keys(answers[1] ?? {}));
    expect(answers.every((one) => 'status' in one && one.status === 'rejected')).toBe(true);
  });

  test('accepts the code of the current or previous step, but no older, future or out-of-order code', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const { body } = await startWithPassword(who);
    for (const steps of [-3, 2, 3]) expect((await answer(body.id, await app.code(steps))).status).toBe(400);
    expect((await answer(body.id, await app.code())).status).toBe(201);
    const next = await startWithPassword(who);
    expect((await answer(next.body.id, await app.code(-1))).status).toBe(400);
    await app.rewind();
    expect((await answer(next.body.id, await app.code(-1))).status).toBe(201);
  });

  test('does not accept a code of a login for a proof, nor the reverse', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const { body } = await startWithPassword(who);
    const code = await app.code();
    expect((await answer(body.id, code)).status).toBe(201);
    const refused = await ask<ProblemAnswer>(who, 'DELETE', '/totp', { proof: { type: 'totp', secret: code } });
    expect(codes(refused)).toEqual(['proof_rejected']);
    await app.rewind();
    const again = await app.code();
    const made = await ask(who, 'POST', '/recovery-codes', { proof: { type: 'totp', secret: again } });
    expect(made.status).toBe(201);
    const login = await startWithPassword(who);
    expect((await answer(login.body.id, again)).status).toBe(400);
  });

  test('repeats the approving response for its Idempotency-Key, although the code was used', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const { body } = await startWithPassword(who);
    const key = { 'Idempotency-Key': randomUUID() };
    const code = await app.code();
    const first = await answer(body.id, code, key);
    const repeat = await answer(body.id, code, key);
    expect([first.status, repeat.status]).toEqual([201, 201]);
    expect(repeat.body.token).not.toBe(first.body.token);
    expect((await answer(body.id, code)).status).toBe(400);
  });

  test('accepts secrets of any form as input, and only the correct one approves', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    const { body } = await startWithPassword(who);
    const forms = [
      '{',
      '{}',
      '[]',
      '{"id":1}',
      '{"id":"","response":null}',
      '٠١٢٣٤٥',
      ' ',
      '1234567',
      '\u{1f600}',
      'a'.repeat(16_000),
    ];
    for (const form of forms) {
      const login = await startWithPassword(who);
      expect((await answer(login.body.id, form)).status).toBe(400);
    }
    expect((await answer(body.id, await app.code())).status).toBe(201);
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
    const rows = await postern.database.everyone.query<{ text: string }>(
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

describe('the policy of the second factor', () => {
  test('of the user overrides that of the role, which overrides the default', async () => {
    const who = await person();
    await enrolPasskey(who);
    expect((await startWithPassword(who)).body.status).toBe('approved');
    expect((await change(who, { role: 'support' })).body.role).toBe('support');
    expect((await startWithPassword(who)).body.challenge?.type).toBe('passkey');
    // With a role the passkey is a second factor, so the password alone is no valid proof for the enrolment.
    expect((await change(who, { role: 'user' })).status).toBe(200);
    await enrolTotp(who);
    expect((await change(who, { role: 'operator' })).status).toBe(200);
    expect((await startWithPassword(who)).body.status).toBe('approved');
    expect((await change(who, { second_factor: 'own' })).body.second_factor).toBe('own');
    expect((await startWithPassword(who)).body.challenge?.type).toBe('totp');
    expect((await change(who, { role: 'support', second_factor: 'off' })).status).toBe(200);
    expect((await startWithPassword(who)).body.status).toBe('approved');
    expect((await change(who, { second_factor: 'sometimes' })).status).toBe(422);
    expect((await change(who, { second_factor: null })).body.second_factor).toBeNull();
  });

  test('lets users with both factors use either, and shows no credential before the correct first secret', async () => {
    const who = await person();
    const { app, recoveryCodes } = await enrolTotp(who);
    const { authenticator } = await enrolPasskey(who, { proof: byApp(recoveryCodes[9]) });
    const challenges = [];
    for (const secret of [
      () => app.code(),
      () => recoveryCodes[0] ?? '',
      (options: object) => authenticator.sign(options),
    ]) {
      const { body } = await startWithPassword(who);
      const challenge = body.challenge as unknown as { type: string; passkey: { allowCredentials: { id: string }[] } };
      challenges.push(challenge);
      expect((await answer(body.id, await secret(challenge.passkey))).status).toBe(201);
    }
    expect(challenges[0]).toMatchObject({ type: 'totp', alternatives: ['passkey', 'recovery_code'] });
    expect(challenges[0]?.passkey.allowCredentials.map(({ id }) => id)).toEqual([
      authenticator.credentialId.toString('base64url'),
    ]);
    expect((await startWithPasskey()).body.challenge).toMatchObject({ type: 'passkey', allowCredentials: [] });
    const seconds = (await eventsOf(who, 'login.approved')).map(({ data }) => data.second_factor);
    expect(seconds.filter((name) => name !== undefined).sort()).toEqual(['passkey', 'recovery_code', 'totp']);
  });
});

describe('an operator', () => {
  const reset = ({ user }: Person, bearer: string) =>
    postern.api<User>('DELETE', `/admin/v1/users/${user.id}/second-factors`, { bearer });

  test('can remove a user’s lost factors, which records an event', async () => {
    const who = await person();
    const { recoveryCodes } = await enrolTotp(who);
    const { authenticator } = await enrolPasskey(who, { proof: byApp(recoveryCodes[9]) });
    expect((await userOf(who)).second_factors.map(({ type }) => type)).toEqual(['totp', 'passkey']);
    const pending = await startWithPassword(who);
    const after = await reset(who, postern.adminKey);
    expect([after.status, after.body.second_factors]).toEqual([200, []]);
    expect((await eventsOf(who, 'second_factors.removed')).map(({ data }) => data)).toEqual([
      { totp: true, passkeys: 1 },
    ]);
    expect((await answer(pending.body.id, recoveryCodes[0] ?? '')).status).toBe(400);
    expect((await startWithPassword(who)).body.status).toBe('approved');
    const login = await startWithPasskey();
    expect((await answer(login.body.id, signFor(authenticator, login))).status).toBe(400);
    expect((await reset({ ...who, user: { ...who.user, id: randomUUID() } }, postern.adminKey)).status).toBe(404);
  });

  test('can administer with a session only after a login with a second factor', async () => {
    const who = await person();
    const { app } = await enrolTotp(who);
    await change(who, { role: 'operator', second_factor: 'own' });
    await activateRoleOf(postern, who.user.id);
    const users = async (bearer: string) => (await postern.api('GET', '/admin/v1/users', { bearer })).status;
    expect(await users(who.bearer)).toBe(403);
    const { body } = await startWithPassword(who);
    const { body: approved } = await answer(body.id, await app.code());
    const session = await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: approved.token ?? '' });
    expect(await users(session.body.token)).toBe(200);
  });

  test('needs the scope admin if the user has a role', async () => {
    const key = await postern.api<{ token: string }>('POST', '/admin/v1/keys', {
      bearer: postern.adminKey,
      body: { name: 'support', scopes: ['users:write'] },
    });
    const who = await person();
    await enrolTotp(who);
    await change(who, { role: 'operator', second_factor: 'own' });
    expect((await reset(who, key.body.token)).status).toBe(403);
    expect((await userOf(who)).second_factors).toHaveLength(1);
    await change(who, { role: 'user' });
    expect((await reset(who, key.body.token)).status).toBe(200);
  });
});
