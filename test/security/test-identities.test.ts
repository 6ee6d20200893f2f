import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StartedProof } from '../../src/contract/account/proof.js';
import type { Event } from '../../src/contract/administration.js';
import type { Authentication } from '../../src/contract/authentication.js';
import type { LoginDiagnosis } from '../../src/contract/login-diagnosis/login-diagnosis.js';
import type { User } from '../../src/contract/user.js';
import type { IssuedTestIdentity } from '../../src/contract/users/test-identity.js';
import { createSelfService } from '../support/account.js';
import { createAdministration } from '../support/administration.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { stepClock } from '../support/clock.js';
import { testSql } from '../support/sql.js';
import { codeLogins, codeOf, createUser, messageOf, newPhone, smsLogin, wrongCode } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { admin } = createAdministration(() => postern);
const code = '424242';
const runSql = (text: string, ...values: unknown[]) => postern.database.query(testSql(text, values));

async function addTestIdentity(type: 'phone' | 'email', value: string | null): Promise<IssuedTestIdentity> {
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const made = await admin<IssuedTestIdentity>('POST', '/test-identities', {
    identity: { type, value },
    code,
    expires_at,
  });
  expect(made.status).toBe(201);
  return made.body;
}

async function start(body: object): Promise<Authentication> {
  await runSql('delete from message_limits');
  const answer = await postern.api<Authentication>('POST', '/v1/tokens', { body });
  expect(answer.status).toBe(201);
  return answer.body;
}

const answer = (id: string, secret: string) =>
  postern.api<Authentication>('POST', `/v1/tokens/${id}/secret`, { body: { secret, pin: '2468' } });
const statusOf = async (id: string, secret: string) => (await answer(id, secret)).status;

/** A user whose phone number accepts the fixed code. */
async function newReviewer(): Promise<User & { readonly test: IssuedTestIdentity }> {
  const user = await createUser(postern, { phone: newPhone() });
  return { ...user, test: await addTestIdentity('phone', user.phone) };
}

test.each(codeLogins)(
  'a login by $authenticator accepts the fixed code, no message is sent, and the use is an audit event',
  async ({ authenticator, field, newAddress, loginOf }) => {
    const user = await createUser(postern, { [field]: newAddress() });
    const { id: testIdentity } = await addTestIdentity(field, user[field]);
    const begun = await start(loginOf(user[field]));
    const message = await messageOf(postern, begun.id, ['dropped']);
    expect(message.recipient).toBe(null);
    expect(await statusOf(begun.id, wrongCode(code))).toBe(400);
    const approved = await answer(begun.id, code);
    expect([approved.status, approved.body.status]).toEqual([201, 'approved']);
    const { body: events } = await admin<Event[]>('GET', `/events?filter=user_id:${user.id},type:test_identity.used`);
    expect(events).toMatchObject([
      { actor: 'user', data: { test_identity_id: testIdentity, authentication_id: begun.id, authenticator } },
    ]);
    expect(JSON.stringify(events)).not.toContain(code);
  },
);

test('a login with another identity of the user accepts the fixed code of the address', async () => {
  const { username } = await newReviewer();
  const begun = await start({ ...smsLogin(null), identity: { type: 'username', value: username } });
  expect(await statusOf(begun.id, code)).toBe(201);
});

test('a re-authentication accepts the fixed code too', async () => {
  const self = createSelfService(() => postern);
  const who = await self.person();
  const { id: testIdentity } = await addTestIdentity('phone', who.user.phone);
  const begin = async () => {
    await runSql('delete from message_limits');
    return (await self.ask<StartedProof>(who, 'POST', '/proofs', { type: 'sms' })).body.id;
  };
  const change = async (secret: string) => {
    const proof = { type: 'code', id: await begin(), secret };
    return (await self.ask(who, 'PUT', '/pin', { pin: '2468', proof })).status;
  };
  expect(await change(wrongCode(code))).toBe(400);
  expect(await change(code)).toBeLessThan(300);
  const { body: sent } = await admin<object[]>('GET', `/outbox?filter=user_id:${who.user.id},kind:sms.proof_code`);
  expect(sent).toMatchObject([{ recipient: null }, { recipient: null }]);
  const { body: events } = await admin<Event[]>('GET', `/events?filter=user_id:${who.user.id},type:test_identity.used`);
  expect(events).toMatchObject([{ data: { test_identity_id: testIdentity, proof: 'code' } }]);
});

test('wrong codes use up the guesses of the account, also for the fixed code', async () => {
  const { phone } = await newReviewer();
  const first = await start(smsLogin(phone));
  for (let count = 0; count < 5; count += 1) expect(await statusOf(first.id, wrongCode(code))).toBe(400);
  const second = await start(smsLogin(phone));
  expect(await statusOf(second.id, code)).toBe(423);
});

describe('the fixed code is refused', () => {
  test('for every other identity', async () => {
    await newReviewer();
    const other = await createUser(postern, { phone: newPhone() });
    const begun = await start(smsLogin(other.phone));
    const real = await codeOf(postern, begun.id);
    if (real !== code) expect(await statusOf(begun.id, code)).toBe(400);
    expect(await statusOf(begun.id, real)).toBe(201);
    const unknown = await start(smsLogin(newPhone()));
    expect(await statusOf(unknown.id, code)).toBe(400);
  });

  test('after the end, also in a login that began before, and codes are sent again', async () => {
    const { phone } = await newReviewer();
    const before = await start(smsLogin(phone));
    // The login stays open: only the test identity ends.
    await runSql(`update test_identities set expires_at = db_now() where canonical = $1`, phone);
    expect(await statusOf(before.id, code)).toBe(400);
    const after = await start(smsLogin(phone));
    expect(await statusOf(after.id, await codeOf(postern, after.id))).toBe(201);
  });

  test('after the end by the clock of the database, and codes are sent again', async () => {
    const { phone, test } = await newReviewer();
    try {
      await stepClock(postern.database, '61 minutes');
      const begun = await start(smsLogin(phone));
      expect((await messageOf(postern, begun.id)).recipient).toBe(phone);
      const { body } = await admin<{ errors?: unknown }>('GET', `/test-identities/${test.id}`);
      expect(body).toMatchObject({ id: test.id });
    } finally {
      await stepClock(postern.database, '0');
    }
  });

  test('after the deletion of the test identity, also if the same identity is added again', async () => {
    const { phone, test: first } = await newReviewer();
    const begun = await start(smsLogin(phone));
    expect((await admin('DELETE', `/test-identities/${first.id}`)).status).toBe(204);
    expect(await statusOf(begun.id, code)).toBe(400);
    await addTestIdentity('phone', phone);
    expect(await statusOf(begun.id, code)).toBe(400);
  });

  test.each(['support', 'operator'])('once the user has the role %s', async (role) => {
    const { id, phone } = await newReviewer();
    const before = await start(smsLogin(phone));
    expect((await admin('PATCH', `/users/${id}`, { role })).status).toBe(200);
    expect(await statusOf(before.id, code)).toBe(400);
    const after = await start(smsLogin(phone));
    expect((await messageOf(postern, after.id)).recipient).toBe(phone);
    expect(await statusOf(after.id, code)).toBe(400);
  });

  test('for another user who takes over the address', async () => {
    const { id, phone } = await newReviewer();
    await admin('PATCH', `/users/${id}`, { phone: newPhone() });
    const next = await createUser(postern, { phone });
    const begun = await start(smsLogin(next.phone));
    expect((await messageOf(postern, begun.id)).recipient).toBe(phone);
    expect(await statusOf(begun.id, code)).toBe(400);
  });

  test('for a recovery, which gets a random code', async () => {
    const { phone } = await newReviewer();
    await runSql('delete from message_limits');
    const identity = { type: 'phone', value: phone };
    const { status } = await postern.api('POST', '/v1/recoveries', { body: { identity, purpose: 'password' } });
    expect(status).toBe(201);
    const { body } = await admin<{ recipient: string }[]>('GET', `/outbox?filter=kind:sms.recovery_code`);
    expect(body.map(({ recipient }) => recipient)).toContain(phone);
  });
});

test('the diagnosis of the user has a note about the fixed code and its end', async () => {
  const { id, test: testIdentity } = await newReviewer();
  const { body } = await admin<LoginDiagnosis>('GET', `/users/${id}/login-diagnosis`);
  const way = body.ways.find(({ authenticator }) => authenticator === 'sms');
  expect(way?.verdict).toBe('yes');
  const reason = way?.reasons.find(({ code: found }) => found === 'test_identity');
  expect(reason).toMatchObject({ effect: 'note', until: testIdentity.expires_at });
});

test('the doctor warns of test identities', async () => {
  await newReviewer();
  const { body } = await admin<{ findings: readonly { level: string; what: string }[] }>('GET', '/system');
  expect(body.findings.filter(({ what }) => what === 'test identities')).toMatchObject([{ level: 'warn' }]);
});
