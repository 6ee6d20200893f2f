import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Account } from '../../../../src/contract/account/account.js';
import type { StartedProof } from '../../../../src/contract/account/proof.js';
import type { OutboxMessage } from '../../../../src/contract/administration.js';
import type { User } from '../../../../src/contract/user.js';
import { byPassword, createSelfService, type Person } from '../../../support/account.js';
import { createAdministration } from '../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { createFactors } from '../../../support/factors.js';
import { type FcmFake, startFcm } from '../../../support/push-fakes.js';
import { createRecoverySteps } from '../../../support/recovery.js';
import { testSql } from '../../../support/sql.js';
import { codeOf, newEmail, newPhone, password, smsLogin } from '../../../support/users.js';

const env = {
  ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', SESSION_TTL: '30d' },
  ...{ GUESS_LIMIT: '5', GUESS_LOCK: '1h' },
};
let fcm: FcmFake;
let postern: TestApp;
beforeAll(async () => {
  fcm = await startFcm();
  fcm.behave({ status: 200, body: {} });
  postern = await startTestApp({ ...fcm.env, ...env });
});
afterEach(() => clock('0'));
afterAll(async () => {
  await postern.close();
  await fcm.close();
});

const { person, ask, refused, byCode, isIn } = createSelfService(() => postern);
const { admin, eventsOf } = createAdministration(() => postern);
const { begin, complete, recoverPin, cancelCode, cancel, loginWith, clock } = createRecoverySteps(() => postern);

const owner = (fields: object = {}) => person({ pin: '2468', email: newEmail(), ...fields });
const waiting = async ({ user }: Pick<Person, 'user'>) =>
  (await admin<User>('GET', `/users/${user.id}`)).body.pin_recovery;
/** The PIN that can log in. */
const accepted = async ({ user }: Pick<Person, 'user'>, pins = ['2468', '1357'], secret = password) => {
  const right = [];
  for (const pin of pins) if ((await loginWith(user, pin, secret)) === 'approved') right.push(pin);
  return right;
};
const typesOf = async ({ user }: Person) => (await eventsOf(user.id)).map(({ type }) => type);

describe('a PIN that a code has recovered', () => {
  test('replaces the old one a day later, and not a moment before', async () => {
    const who = await owner();
    const answer = await recoverPin(who.user, '1357');
    expect([answer.status, answer.body]).toEqual([
      200,
      { id: expect.any(String), recovered: 'pin', status: 'pending', effective_at: expect.any(String) },
    ]);
    const shown = (await ask<Account>(who, 'GET', '')).body.pin_recovery;
    expect(shown).toEqual({ started_at: expect.any(String), effective_at: answer.body.effective_at });
    expect(Date.parse(shown?.effective_at ?? '') - Date.parse(shown?.started_at ?? '')).toBe(86_400_000);
    expect(await accepted(who)).toEqual(['2468']);
    await clock('23 hours 59 minutes');
    expect(await accepted(who)).toEqual(['2468']);
    expect(await isIn(who)).toBe(true);
    await clock('24 hours');
    expect(await accepted(who, ['1357'])).toEqual(['1357']);
    expect(await accepted(who, ['2468'])).toEqual([]);
    expect(await isIn(who)).toBe(false);
    expect(await waiting(who)).toBeNull();
    const types = await typesOf(who);
    expect(types).toEqual(
      expect.arrayContaining(['pin_recovery.started', 'recovery.completed', 'user.pin_changed', 'user.logged_out']),
    );
    expect(types.indexOf('recovery.completed')).toBeGreaterThan(types.indexOf('pin_recovery.started'));
  });

  test('does not let a thief of the SIM log in, neither by SMS nor with a recovered password', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    await postern.database.everyone.query(testSql('delete from message_limits'));
    const { body: begun } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(who.user.phone) });
    const body = { secret: await codeOf(postern, begun.id), pin: '1357' };
    expect((await postern.api('POST', `/v1/tokens/${begun.id}/secret`, { body })).status).toBe(400);
    const { path, secret } = await begin(who.user, 'password');
    const stolen = 'nine dull horses';
    const recovered = await complete(path, { secret, password: stolen });
    expect(recovered.body).toEqual({ id: expect.any(String), recovered: 'password' });
    expect(await loginWith(who.user, undefined, stolen)).toBe('rejected');
    expect(await loginWith(who.user, '1357', stolen)).toBe('rejected');
    // The recovery of the password has ended the recovery of the PIN.
    await clock('25 hours');
    expect(await accepted(who, ['1357'], stolen)).toEqual([]);
    expect(await accepted(who, ['2468'], stolen)).toEqual(['2468']);
  });

  test('takes effect for all parallel logins at the same time', async () => {
    for (const pin of ['1357', '2468']) {
      const who = await owner();
      await recoverPin(who.user, '1357');
      await clock('24 hours 1 second');
      const statuses = await Promise.all(Array.from({ length: 5 }, () => loginWith(who.user, pin)));
      expect(new Set(statuses)).toEqual(new Set([pin === '1357' ? 'approved' : 'rejected']));
      expect((await typesOf(who)).filter((type) => type === 'recovery.completed')).toHaveLength(1);
      await clock('0');
    }
  });

  test('applies to a login that was started with the old one', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    await clock('23 hours 59 minutes');
    await postern.database.everyone.query(testSql('delete from message_limits'));
    const login = { ...smsLogin(who.user.phone), pin: '2468' };
    const { body: begun } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: login });
    const secret = await codeOf(postern, begun.id);
    await clock('24 hours 1 second');
    const answer = { body: { secret, pin: '2468' } };
    expect((await postern.api('POST', `/v1/tokens/${begun.id}/secret`, answer)).status).toBe(400);
  });

  test('ends a session that sends the old one as a proof', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    await clock('24 hours 1 second');
    const change = { pin: '9876', proof: { type: 'pin', secret: '2468' } };
    expect(await refused(who, 'PUT', '/pin', change)).toEqual([401, 'invalid_session_token']);
    expect(await accepted(who, ['1357'])).toEqual(['1357']);
  });

  test('takes effect without a login, by the queue, and ends existing logins', async () => {
    const hasty = await startTestApp({ ...env, PIN_RECOVERY_DELAY: '1s' });
    try {
      const self = createSelfService(() => hasty);
      const who = await self.person({ pin: '2468' });
      await createRecoverySteps(() => hasty).recoverPin(who.user, '1357');
      await eventually('the session to end', async () => ((await self.isIn(who)) ? undefined : true));
      const { loginWith: log } = createRecoverySteps(() => hasty);
      expect([await log(who.user, '2468'), await log(who.user, '1357')]).toEqual(['rejected', 'approved']);
    } finally {
      await hasty.close();
    }
  });

  test('takes effect at once without a delay', async () => {
    const prompt = await startTestApp({ ...env, PIN_RECOVERY_DELAY: '0' });
    try {
      const self = createSelfService(() => prompt);
      const steps = createRecoverySteps(() => prompt);
      const who = await self.person({ pin: '2468' });
      const { body } = await steps.recoverPin(who.user, '1357');
      expect(body).toEqual({ id: expect.any(String), recovered: 'pin' });
      expect(await self.isIn(who)).toBe(false);
      const statuses = [await steps.loginWith(who.user, '2468'), await steps.loginWith(who.user, '1357')];
      expect(statuses).toEqual(['rejected', 'approved']);
    } finally {
      await prompt.close();
    }
  });

  test('does not change the second factor', async () => {
    const factors = createFactors(() => postern);
    const who = await owner();
    const { app } = await factors.enrolTotp(who);
    await recoverPin(who.user, '1357');
    expect(await loginWith(who.user, '2468')).toBe('pending');
    await clock('24 hours 1 second');
    const login = { ...smsLogin(who.user.phone), pin: '1357' };
    await postern.database.everyone.query(testSql('delete from message_limits'));
    const { body: begun } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: login });
    const first = { secret: await codeOf(postern, begun.id), pin: '1357' };
    const halfway = await postern.api<{ status: string }>('POST', `/v1/tokens/${begun.id}/secret`, { body: first });
    expect(halfway.body.status).toBe('pending');
    await app.rewind();
    expect((await factors.answer(begun.id, await app.code())).body.status).toBe('approved');
  });

  test('is shown in an export without the PIN, and is deleted with the user', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    const { body, text } = await ask<{ account: Account }>(who, 'GET', '/export');
    expect(body.account.pin_recovery).toEqual(await waiting(who));
    expect(text).not.toMatch(/argon2|next_pin/);
    expect((await admin('DELETE', `/users/${who.user.id}`)).status).toBe(204);
    await clock('25 hours');
    await expect(postern.services.pinRecoveries.apply(who.user.id)).resolves.toBeUndefined();
  });
});

describe('the notices about a recovery of the PIN', () => {
  test('go at once to known devices and to other addresses, but not to the address of the code', async () => {
    const who = await owner();
    const token = randomBytes(32).toString('hex');
    const body = { type: 'android', token };
    expect((await postern.api('POST', '/v1/devices/tokens', { bearer: who.bearer, body })).status).toBeLessThan(300);
    await recoverPin(who.user, '1357');
    const code = await cancelCode(who.user.email);
    expect(code).toMatch(/^[0-9a-z]{4}(-[0-9a-z]{4}){2}$/);
    const path = `/outbox?filter=user_id:${who.user.id},kind:in:sms.pin_recovery;email.pin_recovery`;
    const messages = (await admin<OutboxMessage[]>('GET', path)).body;
    expect(messages.map(({ channel, recipient }) => [channel, recipient])).toEqual([['email', who.user.email]]);
    const pushed = await eventually('the push', async () =>
      fcm.received.find(({ to, content }) => to === token && JSON.stringify(content).includes('pin_recovery')),
    );
    expect(JSON.stringify(pushed.content)).not.toContain(code);
  });

  test('go to the phone if the code went by mail', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357', 'email');
    expect(await cancel('phone', who.user.phone, await cancelCode(who.user.phone))).toMatchObject({ status: 204 });
    expect(await waiting(who)).toBeNull();
  });
});

describe('a recovery of the PIN is cancelled', () => {
  test('by a session of the user, which needs no proof', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    const cancelled = await ask<Account>(who, 'DELETE', '/pin-recovery');
    expect([cancelled.status, cancelled.body.pin_recovery]).toEqual([200, null]);
    expect(await refused(who, 'DELETE', '/pin-recovery')).toEqual([404, 'not_found']);
    await clock('25 hours');
    expect(await accepted(who)).toEqual(['2468']);
    expect(await isIn(who)).toBe(true);
    const event = (await eventsOf(who.user.id)).find(({ type }) => type === 'pin_recovery.cancelled');
    expect(event).toMatchObject({ actor: 'user', data: { reason: 'asked' } });
  });

  test('by the code at another address, once, in any notation', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    const code = await cancelCode(who.user.email);
    const copied = ` ${code.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O')} `;
    expect((await cancel('email', who.user.email, copied)).status).toBe(204);
    expect((await cancel('email', who.user.email, code)).status).toBe(400);
    await clock('25 hours');
    expect(await accepted(who)).toEqual(['2468']);
    const event = (await eventsOf(who.user.id)).find(({ type }) => type === 'pin_recovery.cancelled');
    expect(event).toMatchObject({ actor: 'user', data: { reason: 'code' } });
  });

  test('by no other code, and the response does not show whether there is an account or a recovery', async () => {
    const [who, other, idle] = [await owner(), await owner(), await owner()];
    await recoverPin(who.user, '1357');
    await recoverPin(other.user, '1357');
    const code = await cancelCode(other.user.email);
    const answers = await Promise.all([
      cancel('email', who.user.email, code),
      cancel('phone', who.user.phone, 'aaaa-bbbb-cccc'),
      cancel('email', idle.user.email, code),
      cancel('email', newEmail(), code),
      cancel('phone', newPhone(), code),
    ]);
    const shapes = answers.map(({ status, headers, body }) => [status, Object.keys(headers), body.errors]);
    expect(new Set(shapes.map((shape) => JSON.stringify(shape))).size).toBe(1);
    expect([answers[0].status, answers[0].body.errors[0]?.code]).toEqual([400, 'code_rejected']);
    expect(await waiting(who)).not.toBeNull();
    // Wrong codes never prevent the owner from cancelling.
    await Promise.all(Array.from({ length: 30 }, () => cancel('email', other.user.email, 'aaaa-bbbb-cccc')));
    expect((await cancel('phone', other.user.phone, code)).status).toBe(204);
  });

  test('by an operator, who can see it, but not by an operator who cannot change the user', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    expect(await waiting(who)).toEqual({ started_at: expect.any(String), effective_at: expect.any(String) });
    const keyOf = async (scopes: string[]) =>
      (await admin<{ token: string }>('POST', '/keys', { name: 'x', scopes })).body.token;
    const path = `/users/${who.user.id}/pin-recovery`;
    const bearer = await keyOf(['users:read']);
    expect((await admin('DELETE', path, undefined, { bearer })).status).toBe(403);
    await admin('PATCH', `/users/${who.user.id}`, { role: 'support' });
    const helper = { bearer: await keyOf(['users:write']) };
    expect((await admin('DELETE', path, undefined, helper)).status).toBe(403);
    await admin('PATCH', `/users/${who.user.id}`, { role: 'user' });
    const cancelled = await admin<User>('DELETE', path, undefined, helper);
    expect([cancelled.status, cancelled.body.pin_recovery]).toEqual([200, null]);
    expect((await admin('DELETE', path)).status).toBe(404);
    const event = (await eventsOf(who.user.id)).find(({ type }) => type === 'pin_recovery.cancelled');
    expect(event?.actor).toMatch(/^key:/);
  });

  test('no longer after it took effect', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    const code = await cancelCode(who.user.email);
    await clock('24 hours 1 second');
    expect((await cancel('email', who.user.email, code)).status).toBe(400);
    expect((await ask(who, 'DELETE', '/pin-recovery')).status).toBe(404);
    expect(await accepted(who, ['1357'])).toEqual(['1357']);
  });

  test('by another recovery, which waits the full delay and has its own code', async () => {
    const who = await owner();
    const first = await recoverPin(who.user, '1357');
    const code = await cancelCode(who.user.email);
    await clock('12 hours');
    const second = await recoverPin(who.user, '9876');
    expect(Date.parse(second.body.effective_at ?? '')).toBeGreaterThan(Date.parse(first.body.effective_at ?? ''));
    const newCode = await cancelCode(who.user.email, [code]);
    expect((await cancel('email', who.user.email, code)).status).toBe(400);
    await clock('25 hours');
    expect(await accepted(who, ['2468', '1357', '9876'])).toEqual(['2468']);
    await clock('36 hours 1 second');
    expect((await cancel('email', who.user.email, newCode)).status).toBe(400);
    expect(await accepted(who, ['9876'])).toEqual(['9876']);
  });

  const newPassword = 'nine dull horses';
  test.each<[string, (who: Person) => Promise<unknown>, string, string]>([
    [
      'a new password',
      (who) => ask(who, 'PUT', '/password', { password: newPassword, proof: byPassword }),
      '2468',
      newPassword,
    ],
    ['a new PIN', (who) => ask(who, 'PUT', '/pin', { pin: '9876', proof: byPassword }), '9876', password],
    ['a new phone number', ({ user }) => admin('PATCH', `/users/${user.id}`, { phone: newPhone() }), '2468', password],
    ['an operator’s new PIN', ({ user }) => admin('PATCH', `/users/${user.id}`, { pin: '9876' }), '9876', password],
    [
      'deactivation',
      async ({ user }) => {
        await admin('PATCH', `/users/${user.id}`, { status: 'deactivated' });
        await admin('PATCH', `/users/${user.id}`, { status: 'active' });
      },
      '2468',
      password,
    ],
  ])('by %s', async (_, change, pin, secret) => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    await change(who);
    expect(await waiting(who)).toBeNull();
    const event = (await eventsOf(who.user.id)).find(({ type }) => type === 'pin_recovery.cancelled');
    expect(event?.data).toEqual({ reason: 'account_changed' });
    await clock('25 hours');
    expect(await accepted(who, ['1357', pin], secret)).toEqual([pin]);
  });

  test('but not by a lock or a new name: the operator decides about the recovery separately', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    await ask(who, 'PATCH', '', { name: 'Ada' });
    await admin('POST', `/users/${who.user.id}/lock`, { permanent: true });
    await admin('POST', `/users/${who.user.id}/unlock`);
    expect(await waiting(who)).not.toBeNull();
  });

  test('by one of several parallel requests with its code', async () => {
    const who = await owner();
    await recoverPin(who.user, '1357');
    const code = await cancelCode(who.user.email);
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => cancel('email', who.user.email, code)),
      ...Array.from({ length: 10 }, () => ask(who, 'DELETE', '/pin-recovery')),
    ]);
    expect(answers.filter(({ status }) => status === 200 || status === 204)).toHaveLength(1);
    expect((await typesOf(who)).filter((type) => type === 'pin_recovery.cancelled')).toHaveLength(1);
  });
});

describe('in a session', () => {
  const notByCode = [422, 'proof.type invalid_choice'];

  test('a code can neither replace nor remove a PIN; the password can do both at once', async () => {
    const who = await owner();
    const proof = await byCode(who);
    expect(await refused(who, 'PUT', '/pin', { pin: '1357', proof })).toEqual(notByCode);
    expect(await refused(who, 'DELETE', '/pin', { proof })).toEqual(notByCode);
    expect((await ask(who, 'PUT', '/pin', { pin: '1357', proof: byPassword })).status).toBe(200);
    expect(await accepted(who)).toEqual(['1357']);
  });

  test('a code sets a first PIN, unless a PIN was set meanwhile', async () => {
    const who = await person();
    const proof = await byCode(who);
    const [set, raced] = await Promise.all([
      ask(who, 'PUT', '/pin', { pin: '2468', proof: byPassword }),
      ask(who, 'PUT', '/pin', { pin: '1357', proof }),
    ]);
    expect(set.status).toBe(200);
    // In either order, the PIN is in the end the one that was set with the password.
    expect([200, 400, 422]).toContain(raced.status);
    expect(await accepted(who)).toEqual(['2468']);
  });

  test('a password that a code has set cannot change the PIN during the delay; the PIN can', async () => {
    const who = await owner();
    const stolen = 'nine dull horses';
    const set = { password: stolen, proof: await byCode(who) };
    expect((await ask(who, 'PUT', '/password', set)).status).toBe(200);
    const byStolen = { type: 'password', secret: stolen };
    expect(await refused(who, 'PUT', '/pin', { pin: '1357', proof: byStolen })).toEqual(notByCode);
    expect(await refused(who, 'DELETE', '/pin', { proof: byStolen })).toEqual(notByCode);
    const byPin = { type: 'pin', secret: '2468' };
    expect((await ask(who, 'PUT', '/pin', { pin: '9876', proof: byPin })).status).toBe(200);
    await clock('24 hours 1 second');
    expect((await ask(who, 'PUT', '/pin', { pin: '1357', proof: byStolen })).status).toBe(200);
  });

  test('a passkey that a code has enrolled cannot change the PIN during the delay', async () => {
    const { enrolPasskey } = createFactors(() => postern);
    const who = await owner();
    expect((await enrolPasskey(who, { proof: await byCode(who) })).status).toBe(201);
    expect(await refused(who, 'PUT', '/pin', { pin: '1357', proof: byPassword })).toEqual(notByCode);
    const trusted = await owner();
    expect((await enrolPasskey(trusted)).status).toBe(201);
    expect((await ask(trusted, 'PUT', '/pin', { pin: '1357', proof: byPassword })).status).toBe(200);
  });
});

describe.each(['own', 'required'])('a factor and the PIN, with SECOND_FACTOR=%s', (policy) => {
  let strict: TestApp;
  beforeAll(async () => {
    strict = await startTestApp({ ...env, SECOND_FACTOR: policy });
  });
  afterEach(() => steps.clock('0'));
  afterAll(() => strict.close());
  const self = createSelfService(() => strict);
  const factors = createFactors(() => strict);
  const steps = createRecoverySteps(() => strict);
  const byPin = { type: 'pin', secret: '2468' };
  const onlyThePin = [422, [{ field: 'proof.type', code: 'invalid_choice', message: 'This must be one of: pin.' }]];

  type Changed = Account & Pick<ProblemAnswer, 'errors'>;
  type FactorProof = () => Promise<object>;
  /** Each enrols a factor, and returns a function that creates proofs with it. */
  const enrolments = {
    totp: async (who: Person, proof: object): Promise<FactorProof> => {
      const { recoveryCodes } = await factors.enrolTotp(who, proof);
      return async () => ({ type: 'totp', secret: recoveryCodes.pop() });
    },
    passkey: async (who: Person, proof: object): Promise<FactorProof> => {
      const { authenticator } = await factors.enrolPasskey(who, { proof });
      return async () => {
        const { body } = await self.ask<StartedProof>(who, 'POST', '/proofs', { type: 'passkey' });
        return { type: 'passkey', id: body.id, secret: authenticator.sign(body.challenge ?? {}) };
      };
    },
  };
  const sources = {
    'a code': self.byCode,
    'a password that a code has set': async (who: Person) => {
      const stolen = 'nine dull horses';
      const set = { password: stolen, proof: await self.byCode(who) };
      expect((await self.ask(who, 'PUT', '/password', set)).status).toBe(200);
      return { type: 'password', secret: stolen };
    },
  };
  const changes = {
    PUT: (who: Person, proof: object) => self.ask<Changed>(who, 'PUT', '/pin', { pin: '1357', proof }),
    DELETE: (who: Person, proof: object) => self.ask<Changed>(who, 'DELETE', '/pin', { proof }),
  };
  const names = <Name extends string>(choices: Record<Name, unknown>) => Object.keys(choices) as Name[];
  const pairs = names(enrolments).flatMap((factor) =>
    names(sources).flatMap((source) => names(changes).map((change) => [factor, source, change] as const)),
  );

  test.each(pairs)('a %s enrolled by %s does not %s the PIN during the delay', async (factor, source, change) => {
    const who = await self.person({ pin: '2468' });
    const proofOf = await enrolments[factor](who, await sources[source](who));
    const early = await changes[change](who, await proofOf());
    expect([early.status, early.body.errors]).toEqual(onlyThePin);
    expect((await self.ask<Account>(who, 'GET', '')).body.has_pin).toBe(true);
    await steps.clock('23 hours 59 minutes');
    const late = await changes[change](who, await proofOf());
    expect([late.status, late.body.errors]).toEqual(onlyThePin);
    await steps.clock('24 hours 1 second');
    expect((await changes[change](who, await proofOf())).status).toBe(200);
  });

  test.each(pairs)('with a %s enrolled by %s, the PIN can %s the PIN', async (factor, source, change) => {
    const who = await self.person({ pin: '2468' });
    await enrolments[factor](who, await sources[source](who));
    const changed = await changes[change](who, byPin);
    expect([changed.status, changed.body.has_pin]).toEqual([200, change === 'PUT']);
  });

  test.each(names(enrolments).flatMap((factor) => names(changes).map((change) => [factor, change] as const)))(
    'a %s enrolled by the old password does %s the PIN at once',
    async (factor, change) => {
      const who = await self.person({ pin: '2468' });
      const proofOf = await enrolments[factor](who, byPassword);
      const changed = await changes[change](who, await proofOf());
      expect([changed.status, changed.body.has_pin]).toEqual([200, change === 'PUT']);
    },
  );

  test('a code cannot enrol a factor beside a second factor, and so cannot change the PIN', async () => {
    const who = await self.person({ pin: '2468' });
    const code = await self.byCode(who);
    const proofOf = await enrolments.totp(who, byPassword);
    expect(await self.refused(who, 'POST', '/passkeys', { proof: code })).toEqual([422, 'proof.type invalid_choice']);
    expect((await changes.PUT(who, await proofOf())).status).toBe(200);
  });
});

test('recovery codes that a code has created cannot change the PIN during the delay', async () => {
  const factors = createFactors(() => postern);
  const who = await owner();
  await factors.enrolPasskey(who);
  // No login needs this passkey, so it is no second factor, and a code is a valid proof.
  const made = await ask<{ recovery_codes: string[] }>(who, 'POST', '/recovery-codes', { proof: await byCode(who) });
  expect(made.status).toBe(201);
  await factors.enrolTotp(who);
  const proof = { type: 'totp', secret: made.body.recovery_codes[0] };
  expect(await refused(who, 'PUT', '/pin', { pin: '1357', proof })).toEqual([422, 'proof.type invalid_choice']);
});

test('a recovery of the password does not reset the guesses at the PIN', async () => {
  const who = await owner();
  for (let n = 0; n < 5; n += 1) expect(await loginWith(who.user, '0000')).toBe('rejected');
  const { path, secret } = await begin(who.user, 'password');
  const stolen = 'nine dull horses';
  expect((await complete(path, { secret, password: stolen })).status).toBe(200);
  const body = { identity: { type: 'username', value: who.user.username }, authenticator: 'password', secret: stolen };
  expect((await postern.api('POST', '/v1/tokens', { body: { ...body, device: {}, pin: '0001' } })).status).toBe(423);
});

test('a change of the PIN ends a recovery whose code was sent', async () => {
  const who = await owner();
  const { path, secret } = await begin(who.user, 'pin');
  expect((await ask(who, 'PUT', '/pin', { pin: '9876', proof: byPassword })).status).toBe(200);
  expect((await complete(path, { secret, pin: '1357' })).status).toBe(400);
  expect(await waiting(who)).toBeNull();
});
