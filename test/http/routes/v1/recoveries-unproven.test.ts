import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removedTables } from '../../../../src/account/unproven-recovery.js';
import type { User } from '../../../../src/contract/user.js';
import { notificationTables } from '../../../../src/notifications/retention/retention.js';
import { codesTo, codeTo, createSelfService } from '../../../support/account.js';
import { createAdministration } from '../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { testSql } from '../../../support/sql.js';
import { createUser, emailLogin, newEmail, newPhone, password, passwordLogin } from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', REGISTRATION: 'on', PIN_POLICY: 'optional' },
  });
});
afterAll(() => postern.close());

const { admin, eventsOf } = createAdministration(() => postern);
const { ask, isLoggedIn, signInAgain } = createSelfService(() => postern);
const firstPassword = 'nine dull horses';

const unproven = (fields: object = {}) => createUser(postern, { email: newEmail(), email_verified: false, ...fields });
const userOf = async (id: string) => (await admin<User>('GET', `/users/${id}`)).body;
const logIn = async (username: string | null, secret = password) =>
  (await postern.api<{ status: string }>('POST', '/v1/tokens', { body: passwordLogin(username, secret) })).body.status;
const byMail = async (email: string | null, secret: string) =>
  (
    await postern.api<{ status: string }>('POST', '/v1/tokens', {
      body: { identity: { type: 'email', value: email }, authenticator: 'password', secret, device: {} },
    })
  ).body.status;

/** Every message to the address that was sent or dropped, by its kind. */
async function messagesOf(address: string | null, kind: string) {
  return postern.database.query(
    testSql<{ state: string; recipient: string | null }>(
      'select state, recipient from outbox where recipient = $1 and kind = $2',
      [address, kind],
    ),
  );
}

async function beginRecovery(email: string | null, purpose = 'password') {
  const { body, status } = await postern.api<{ id: string }>('POST', '/v1/recoveries', {
    body: { identity: { type: 'email', value: email }, purpose },
  });
  expect(status).toBe(201);
  return `/v1/recoveries/${body.id}`;
}
async function recoveryWithCode(email: string | null) {
  const seen = await codesTo(postern, email ?? '');
  const path = await beginRecovery(email);
  return { path, secret: await codeTo(postern, email ?? '', seen) };
}
const answer = (path: string, body: object) => postern.api<{ errors?: { code: string }[] }>('POST', path, { body });

describe('an address that nobody has proven', () => {
  test('names its account at a password login, and gets no login code', async () => {
    const { email } = await unproven();
    expect(await byMail(email, password)).toBe('approved');
    const { status, body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: emailLogin(email) });
    expect(status).toBe(201);
    const outcome = testSql<object>('select state, recipient from outbox where authentication_id = $1', [body.id]);
    await eventually('the code to be dropped', async () => {
      const [row] = await postern.database.query(outcome);
      return JSON.stringify(row) === '{"state":"dropped","recipient":null}';
    });
  });

  test('is proven by a code to it, or by an operator', async () => {
    const user = await unproven();
    expect(user).toMatchObject({ email_verified: false, phone_verified: false });
    const changed = await admin<User>('PATCH', `/users/${user.id}`, { email_verified: true });
    expect(changed.body.email_verified).toBe(true);
    expect((await admin<User>('PATCH', `/users/${user.id}`, { email: newEmail() })).body.email_verified).toBe(true);
    const again = { email: newEmail(), email_verified: false };
    expect((await admin<User>('PATCH', `/users/${user.id}`, again)).body.email_verified).toBe(false);
    expect((await admin<User>('PATCH', `/users/${user.id}`, { email: again.email })).body.email_verified).toBe(false);
    expect((await admin<User>('PATCH', `/users/${user.id}`, { email: null })).body.email_verified).toBe(false);
  });

  test('gets a mail that says how to recover, when somebody registers with it', async () => {
    const { email } = await unproven();
    const body = { identity: { type: 'email', value: email } };
    expect((await postern.api('POST', '/v1/registrations', { body })).status).toBe(201);
    await eventually('the mail', async () =>
      (await messagesOf(email, 'email.registration_unproven')).some(({ state }) => state === 'sent'),
    );
  });

  test('is explained by the diagnosis', async () => {
    const user = await unproven();
    const { body } = await admin<{ ways: { authenticator: string; reasons: { code: string }[] }[] }>(
      'GET',
      `/users/${user.id}/login-diagnosis`,
    );
    const way = body.ways.find(({ authenticator }) => authenticator === 'email');
    expect(way?.reasons.map(({ code }) => code)).toContain('email_not_proven');
  });
});

describe('a recovery through an unproven address', () => {
  test('removes everything from before, proves the address and sets a first password', async () => {
    const user = await unproven({ phone: newPhone(), phone_verified: false, name: 'Mallory', pin: '2468' });
    const who = await signInAgain(user, '2468');
    await postern.api('POST', '/admin/v1/notifications', {
      bearer: postern.adminKey,
      body: { user_id: user.id, notification_type: 'payment', description: 'of before' },
    });
    const { path, secret } = await recoveryWithCode(user.email);
    expect(await isLoggedIn(who)).toBe(true);
    expect((await answer(path, { secret, password: firstPassword })).status).toBe(200);
    for (const table of [...removedTables, ...notificationTables.map(({ table: name }) => name)]) {
      if (table === 'notices') continue;
      const rows = await postern.database.query(testSql(`select 1 from ${table} where user_id = $1`, [user.id]));
      expect([table, rows.length]).toEqual([table, 0]);
    }
    expect(await isLoggedIn(who)).toBe(false);
    const after = await userOf(user.id);
    expect(after).toMatchObject({ ...{ username: null, phone: null, name: '', has_pin: false, has_password: true } });
    expect(after).toMatchObject({ email: user.email, email_verified: true });
    expect(await logIn(user.username)).toBe('rejected');
    expect(await byMail(user.email, password)).toBe('rejected');
    expect(await byMail(user.email, firstPassword)).toBe('approved');
    expect((await eventsOf(user.id)).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['identity.verified', 'recovery.completed']),
    );
    expect((await answer(path, { secret, password: firstPassword })).status).toBe(400);
  });

  test('needs no password', async () => {
    const user = await unproven();
    const { path, secret } = await recoveryWithCode(user.email);
    expect((await answer(path, { secret })).status).toBe(200);
    expect(await userOf(user.id)).toMatchObject({ has_password: false, email_verified: true });
  });

  test('is refused while the account has a proven address, or had a login by one', async () => {
    const proven = await unproven({ phone: newPhone() });
    const loggedIn = await createUser(postern, { email: newEmail() });
    const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: emailLogin(loggedIn.email) });
    const secret = await codeTo(postern, loggedIn.email ?? '');
    await postern.api('POST', `/v1/tokens/${body.id}/secret`, { body: { secret } });
    await admin('PATCH', `/users/${loggedIn.id}`, { email_verified: false });
    await postern.database.query(testSql('delete from message_limits'));
    for (const { email } of [proven, loggedIn]) {
      const seen = (await messagesOf(email, 'email.recovery_code')).length;
      await beginRecovery(email);
      expect(await messagesOf(email, 'email.recovery_code')).toHaveLength(seen);
    }
  });

  test('is refused when an address of the account was proven meanwhile', async () => {
    const user = await unproven();
    const { path, secret } = await recoveryWithCode(user.email);
    await admin('PATCH', `/users/${user.id}`, { email_verified: true });
    expect((await answer(path, { secret, password: firstPassword })).status).toBe(400);
    expect(await logIn(user.username)).toBe('approved');
  });

  test.each(['a login', 'a change'])('leaves nothing to %s that runs at the same time', async (other) => {
    for (let round = 0; round < 5; round += 1) {
      const user = await unproven();
      const who = await signInAgain(user);
      const { path, secret } = await recoveryWithCode(user.email);
      const parallel = () =>
        other === 'a login'
          ? postern.api<{ status: string; token?: string }>('POST', '/v1/tokens', {
              body: passwordLogin(user.username, password, { id: randomUUID() }),
            })
          : ask<{ token?: string }>(who, 'PUT', '/password', {
              password: 'a squatter stays here',
              proof: { type: 'password', secret: password },
            });
      const answers = await Promise.all([answer(path, { secret, password: firstPassword }), parallel(), parallel()]);
      const recovered = answers[0].status === 200;
      // A change that came first ends the code.
      if (other === 'a login') expect(recovered).toBe(true);
      if (!recovered) continue;
      for (const { body } of answers.slice(1)) {
        const token = (body as { token?: string }).token;
        if (token === undefined) continue;
        const basic = `Basic ${Buffer.from(token).toString('base64')}`;
        const { status } = await postern.api('POST', '/v1/sessions', { headers: { authorization: basic } });
        expect(status).not.toBe(201);
      }
      expect(await byMail(user.email, firstPassword)).toBe('approved');
    }
  });
});

/** Every table with rows of users, and what a recovery through an unproven address does with them. */
const keptTables: Readonly<Record<string, string>> = {
  identities: 'the proven address and the external id stay, the others are released',
  imported_hashes: 'a trigger follows users.password_hash',
  inboxes: 'is reset',
  challenges: 'are ended',
  test_identities: 'belong to the operator',
  former_names: 'belong to the audit trail',
  setup_links: 'belong to the operator',
  session_changes: 'record invalidations',
  revocations: 'record what has ended',
  used_dpop_proofs: 'keep proofs from being used again',
  images: 'an image that no notification shows is removed by the clean-up',
  outbox: 'records what was sent',
  mail_deliveries: 'records what was sent',
  undispatched_messages: 'are dispatched or dropped within seconds',
  webhook_users: 'belong to webhooks',
  webhook_events: 'belong to webhooks',
  webhook_deliveries: 'belong to webhooks',
  webhook_queues: 'belong to webhooks',
  events: 'are the audit trail',
  event_feed: 'is the audit trail',
};

test('every table with rows of users is either removed or kept on purpose', async () => {
  const rows = await postern.database.query(
    testSql<{ table_name: string }>(`select c.table_name from information_schema.columns c
     join information_schema.tables t on t.table_name = c.table_name and t.table_schema = c.table_schema
     where c.table_schema = 'public' and c.column_name = 'user_id' and t.table_type = 'BASE TABLE'`),
  );
  const decided = [...removedTables, ...notificationTables.map(({ table }) => table), ...Object.keys(keptTables)];
  expect(rows.map(({ table_name }) => table_name).toSorted()).toEqual(decided.toSorted());
});
