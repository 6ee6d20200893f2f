import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../../../src/contract/authentication.js';
import type { User } from '../../../../src/contract/user.js';
import { codesTo, codeTo } from '../../../support/account.js';
import { createAdministration } from '../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { testSql } from '../../../support/sql.js';
import { codeLogins, createUser, newEmail, newPhone, wrongCode } from '../../../support/users.js';

/** `sign_up: true` at a login by a code: an unknown address gets a real code, and the right one makes the user. */

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ REGISTRATION: 'on', PIN_POLICY: 'optional', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
  });
});
afterAll(() => postern.close());

const { admin, eventsOf } = createAdministration(() => postern);

interface Begun {
  readonly id: string;
  readonly code: string;
}
const bodyOf = (type: 'email' | 'phone', value: string | null, more: object = {}) => ({
  ...{ identity: { type, value }, authenticator: type === 'email' ? 'email' : 'sms', device: {}, sign_up: true },
  ...more,
});
const start = (type: 'email' | 'phone', value: string | null, more: object = {}) =>
  postern.api<Authentication>('POST', '/v1/tokens', { body: bodyOf(type, value, more) });
async function begin(value: string, more: object = {}): Promise<Begun> {
  const seen = await codesTo(postern, value);
  const { status, body } = await start(value.includes('@') ? 'email' : 'phone', value, more);
  expect(status).toBe(201);
  return { id: body.id, code: await codeTo(postern, value, seen) };
}
const answer = ({ id }: Pick<Begun, 'id'>, secret: string, headers = {}) =>
  postern.api<Authentication>('POST', `/v1/tokens/${id}/secret`, { body: { secret }, headers });
const usersWith = async (value: string) =>
  (
    await admin<User[]>(
      'GET',
      `/users?filter=${value.includes('@') ? 'email' : 'phone'}:eq:${encodeURIComponent(value)}`,
    )
  ).body;
const refusal = async (body: object, on: TestApp = postern) => {
  const { status, body: problem } = await on.api<ProblemAnswer>('POST', '/v1/tokens', { body });
  return [status, ...problem.errors.map(({ field, code }) => `${field} ${code}`)];
};

describe.each(codeLogins)('by $authenticator', ({ newAddress }) => {
  test('the right code of an unknown address makes the user, who is logged in', async () => {
    const address = newAddress();
    const begun = await begin(address, { device: { make: 'Fairphone' } });
    const { status, body } = await answer(begun, begun.code);
    expect([status, body.status]).toEqual([201, 'approved']);
    const [user, ...others] = await usersWith(address);
    expect(others).toEqual([]);
    expect(user).toMatchObject({ id: body.user_id, role: 'user' });
    expect(user?.[address.includes('@') ? 'email_verified' : 'phone_verified']).toBe(true);
    const session = await postern.api<{ user_id: string }>('POST', '/v1/sessions', { basic: body.token ?? '' });
    expect([session.status, session.body.user_id]).toEqual([201, user?.id]);
    const types = (await eventsOf(user?.id ?? '')).map(({ type }) => type);
    for (const type of ['user.created', 'identity.verified', 'registration.completed', 'login.approved'])
      expect(types).toContain(type);
    // The login is used up, and the address now logs in.
    expect((await answer(begun, begun.code)).status).toBe(400);
    await postern.database.query(testSql('delete from message_limits'));
    const again = await begin(address);
    expect((await answer(again, again.code)).body.user_id).toBe(user?.id);
  });

  test('20 parallel right answers make one user and one login', async () => {
    const address = newAddress();
    const begun = await begin(address);
    const answers = await Promise.all(Array.from({ length: 20 }, () => answer(begun, begun.code)));
    expect(answers.filter(({ body }) => body.status === 'approved')).toHaveLength(1);
    expect(await usersWith(address)).toHaveLength(1);
  });

  test('a wrong code makes nobody, and five of them end the login', async () => {
    const address = newAddress();
    const begun = await begin(address);
    for (let guess = 0; guess < 5; guess += 1) expect((await answer(begun, wrongCode(begun.code))).status).toBe(400);
    expect((await answer(begun, begun.code)).status).toBe(423);
    expect(await usersWith(address)).toEqual([]);
  });
});

test('20 logins of one address that wait at the same time make one user', async () => {
  const address = newEmail();
  const begun: Begun[] = [];
  for (let count = 0; count < 20; count += 1) {
    await postern.database.query(testSql('delete from message_limits'));
    begun.push(await begin(address));
  }
  const answers = await Promise.all(begun.map((one) => answer(one, one.code)));
  expect(await usersWith(address)).toHaveLength(1);
  const approved = answers.filter(({ body }) => body.token !== undefined);
  expect(new Set(approved.map(({ body }) => body.user_id)).size).toBe(1);
  expect(answers.map(({ status }) => status).every((status) => status === 201 || status === 400)).toBe(true);
});

test('the approval can be repeated with its Idempotency-Key', async () => {
  const begun = await begin(newEmail());
  const headers = { 'idempotency-key': 'the same' };
  const first = await answer(begun, begun.code, headers);
  const second = await answer(begun, begun.code, headers);
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body.user_id).toBe(first.body.user_id);
  expect(second.body.token).not.toBe(first.body.token);
});

test('a code that was sent without sign_up never makes a user', async () => {
  const address = newEmail();
  const { body } = await start('email', address, { sign_up: false });
  expect((await answer(body, '000000')).status).toBe(400);
  expect(await codesTo(postern, address)).toEqual([]);
});

test('known, unknown, deactivated and unproven addresses leave the same rows and get the same answer', async () => {
  const known = await createUser(postern, { email: newEmail() });
  const unproven = await createUser(postern, { email: newEmail(), email_verified: false });
  const deactivated = await createUser(postern, { email: newEmail() });
  await admin('PATCH', `/users/${deactivated.id}`, { status: 'deactivated' });
  const rowsOf = async (id: string) =>
    postern.database.query(
      testSql(
        `select a.status, a.factor, a.guesses, a.pin_refused, a.epoch, o.channel, o.state <> 'queued' as is_taken,
                (select array_agg(key order by key) from jsonb_object_keys(a.challenge) key) as kept,
                (select array_agg(e.type order by e.type) from events e
                 where e.user_id = a.user_id and e.data->>'authentication_id' = a.id::text
                   and e.type not like 'message.%') as events
         from authentications a join outbox o on o.authentication_id = a.id where a.id = $1`,
        [id],
      ),
    );
  const seen = [];
  for (const email of [known.email, newEmail(), deactivated.email, unproven.email]) {
    const { status, body } = await start('email', email);
    const isTaken = async () => {
      const [row] = (await rowsOf(body.id)) as { is_taken?: boolean }[];
      return row?.is_taken === true ? true : undefined;
    };
    await eventually('the message', isTaken);
    const { id: _, device_id, expires_at, resend_at, created_at, updated_at, destination, ...shape } = body;
    expect([device_id, expires_at, resend_at, created_at, updated_at, destination]).not.toContain(undefined);
    seen.push({ status, shape, rows: await rowsOf(body.id), second: (await start('email', email)).status });
  }
  for (const one of seen) expect(one).toEqual(seen[0]);
});

test('the owner of an unproven address gets a mail that says how to recover, and no code', async () => {
  const { email } = await createUser(postern, { email: newEmail(), email_verified: false });
  const { body } = await start('email', email);
  await eventually('the mail', async () => {
    const [row] = await postern.database.query<{ kind: string; state: string; is_code: boolean }>(
      testSql('select kind, state, sealed_code is not null as is_code from outbox where authentication_id = $1', [
        body.id,
      ]),
    );
    return row?.state === 'sent' && row.kind === 'email.registration_unproven' && !row.is_code ? true : undefined;
  });
});

test('a newcomer goes through a required second factor', async () => {
  const strict = await postern.another({
    ...{ SECOND_FACTOR: 'required', REGISTRATION: 'on', PIN_POLICY: 'off', CODE_LIMIT_PER_ADDRESS: '0' },
  });
  try {
    const address = newEmail();
    const { body } = await strict.api<Authentication>('POST', '/v1/tokens', { body: bodyOf('email', address) });
    const secret = await codeTo(strict, address);
    const next = await strict.api<Authentication>('POST', `/v1/tokens/${body.id}/secret`, { body: { secret } });
    expect(next.body).toMatchObject({ status: 'pending', challenge: { type: 'enrol' } });
  } finally {
    await strict.close();
  }
});

test('sign_up is refused where it cannot work, in the same way for every address', async () => {
  const { email, phone } = await createUser(postern, { email: newEmail(), phone: newPhone() });
  const off = await postern.another({ REGISTRATION: 'off' });
  try {
    for (const value of [email, newEmail()])
      expect(await refusal(bodyOf('email', value), off)).toEqual([422, 'sign_up registration_off']);
    expect(await refusal({ ...bodyOf('phone', phone), authenticator: 'password', secret: 'x' }, off)).toEqual([
      422,
      'sign_up registration_off',
    ]);
  } finally {
    await off.close();
  }
  expect(await refusal({ ...bodyOf('phone', phone), authenticator: 'email' })).toEqual([
    422,
    'identity.type invalid_choice',
  ]);
  expect(await refusal({ ...bodyOf('email', email), identity: { type: 'username', value: 'ada' } })).toEqual([
    422,
    'identity.type invalid_choice',
  ]);
  for (const authenticator of ['password', 'passkey'])
    expect(await refusal({ ...bodyOf('email', email), authenticator, secret: 'x' })).toEqual([
      422,
      'sign_up not_supported',
    ]);
});
