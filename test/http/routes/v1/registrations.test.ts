import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Account } from '../../../../src/contract/account/account.js';
import { codeTo } from '../../../support/account.js';
import { createAdministration } from '../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { createFactors, originOf } from '../../../support/factors.js';
import { startMailServer } from '../../../support/mail-server.js';
import {
  type CreationOptions,
  type MakingClaims,
  makePasskey,
  type SoftwareAuthenticator,
} from '../../../support/software-authenticator.js';
import { testSql } from '../../../support/sql.js';
import { createUser, newEmail, newPhone, passwordLogin, wrongCode } from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', REGISTRATION: 'on' });
});
afterAll(() => postern.close());

const { admin, eventsOf } = createAdministration(() => postern);
const password = 'nine dull horses';
const newName = () => `new${randomInt(1e12)}`;

const start = (phone: string | null, on: TestApp = postern) =>
  on.api<{ id: string }>('POST', '/v1/registrations', { body: { identity: { type: 'phone', value: phone } } });
const complete = (path: string, body: object) => postern.api<Account>('POST', path, { body });
async function refusal(path: string, body: object) {
  const answer = await postern.api<ProblemAnswer>('POST', path, { body });
  return [
    answer.status,
    ...answer.body.errors.map(({ field, code }) => (field === undefined ? code : `${field} ${code}`)),
  ];
}
async function begin(phone: string = newPhone()) {
  const { body } = await start(phone);
  return { phone, path: `/v1/registrations/${body.id}`, secret: await codeTo(postern, phone) };
}

test('a registration creates an account with the confirmed address, which can then log in', async () => {
  const { phone, path, secret } = await begin();
  const username = newName();
  const fields = { secret, username, password, name: 'Ada', locale: 'en', role: 'operator', metadata: { a: 1 } };
  const { status, body } = await complete(path, fields);
  expect(status).toBe(201);
  expect(body).toMatchObject({ username, phone, email: null, name: 'Ada', has_password: true, has_pin: false });
  expect((await admin('GET', `/users/${body.id}`)).body).toMatchObject({ role: 'user', metadata: {} });
  const login = await postern.api<{ status: string }>('POST', '/v1/tokens', {
    body: passwordLogin(username, password),
  });
  expect(login.body.status).toBe('approved');
  expect((await eventsOf(body.id)).map(({ type, actor }) => [type, actor])).toContainEqual(['user.created', 'user']);
  expect(await refusal(path, { secret })).toEqual([400, 'code_rejected']);
});

test('a registration needs only the address', async () => {
  const { phone, path, secret } = await begin();
  expect((await complete(path, { secret })).body).toMatchObject({ phone, username: null, has_password: false });
});

test('a registration works by mail as by SMS', async () => {
  const email = newEmail();
  const body = { identity: { type: 'email', value: email } };
  const begun = await postern.api<{ id: string }>('POST', '/v1/registrations', { body });
  const secret = await codeTo(postern, email);
  expect((await complete(`/v1/registrations/${begun.body.id}`, { secret })).body).toMatchObject({ email, phone: null });
});

test('a registration uses the requested language for the code, and the language of the user for the notice', async () => {
  const server = await startMailServer();
  const smtp = { SMTP_URL: `smtp://127.0.0.1:${server.port}?tls=none`, MAIL_FROM: 'no-reply@example.org' };
  const mailing = await startTestApp({ ...smtp, REGISTRATION: 'on' });
  try {
    const { email: taken } = await createUser(mailing, { email: newEmail(), locale: 'es-MX' });
    const fresh = newEmail();
    for (const [value, locale] of [
      [fresh, 'es'],
      [taken, 'en'],
    ]) {
      const body = { identity: { type: 'email', value }, locale };
      expect((await mailing.api('POST', '/v1/registrations', { body })).status).toBe(201);
    }
    const mailTo = (email: string | null) =>
      eventually('a mail', async () => server.received.find(({ to }) => to.includes(email ?? ''))?.text);
    expect(await mailTo(fresh)).toContain('Tu código para registrarte en Postern');
    expect(await mailTo(taken)).toContain('que ya tiene una cuenta');
  } finally {
    await mailing.close();
    await server.close();
  }
});

test('a registration creates one account for 50 parallel requests', async () => {
  const { phone, path, secret } = await begin();
  const answers = await Promise.all(Array.from({ length: 50 }, () => complete(path, { secret, username: newName() })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  const { body } = await admin<unknown[]>('GET', `/users?filter=phone:eq:${encodeURIComponent(phone)}`);
  expect(body).toHaveLength(1);
});

test('a registration is refused if an earlier one with the same address was completed', async () => {
  const one = await begin();
  await postern.database.query(testSql('delete from message_limits'));
  const { body } = await start(one.phone);
  const secret = await codeTo(postern, one.phone, [one.secret]);
  expect((await complete(one.path, { secret: one.secret })).status).toBe(201);
  expect(await refusal(`/v1/registrations/${body.id}`, { secret })).toEqual([409, 'phone identity_taken']);
});

test('a password that is the own name, username or address is refused, and the code stays valid', async () => {
  const { path, secret, phone } = await begin();
  const username = newName();
  for (const password of [phone, `${username}!`, 'Quillfeather 1815', 'ada-quillfeather'])
    expect([password, await refusal(path, { secret, password, username, name: 'Ada Quillfeather' })]).toEqual([
      password,
      [422, 'password password_too_personal'],
    ]);
  expect((await complete(path, { secret, username })).status).toBe(201);
});

test('a taken username gets 409 and the code stays valid; errors do not count as guesses', async () => {
  const { username } = await createUser(postern);
  const { path, secret } = await begin();
  for (let n = 0; n < 6; n += 1) {
    expect(await refusal(path, { secret, password: 'password', username: 'a b' })).toEqual([
      422,
      'username invalid_identity',
      'password password_too_common',
    ]);
  }
  expect(await refusal(path, { secret, username })).toEqual([409, 'username identity_taken']);
  expect((await complete(path, { secret, username: newName() })).status).toBe(201);
});

test('a registration allows five wrong codes', async () => {
  const { path, secret } = await begin();
  for (let n = 0; n < 5; n += 1) {
    expect(await refusal(path, { secret: wrongCode(secret) })).toEqual([400, 'code_rejected']);
  }
  expect(await refusal(path, { secret })).toEqual([423, 'account_temporarily_locked']);
});

test('for an existing address, the start returns the same response, and no code is valid', async () => {
  const owner = await createUser(postern, { phone: newPhone() });
  const [free, taken] = await Promise.all([start(newPhone()), start(owner.phone)]);
  const shapeOf = ({ status, headers, body }: typeof free) => [status, Object.keys(headers), Object.keys(body)];
  expect(shapeOf(taken)).toEqual(shapeOf(free));
  expect(await refusal(`/v1/registrations/${taken.body.id}`, { secret: '000000' })).toEqual([400, 'code_rejected']);
  // Only the owner gets a notice.
  await eventually('the notice to the owner', async () => {
    const notices = postern.printed.filter((line) => line.includes('but it already has an account'));
    return notices.length === 1 && notices[0]?.includes(owner.phone ?? '') ? true : undefined;
  });
  // The owner's guesses and events do not change.
  const rows = await postern.database.query(
    testSql('select 1 from guess_budgets where user_id = $1 union all select 1 from challenges where user_id = $1', [
      owner.id,
    ]),
  );
  expect(rows).toEqual([]);
  const limited = await Promise.all([start(newPhone()), start(owner.phone)]);
  expect(limited.map(({ status }) => status)).toEqual([201, 429]);
});

test('a registration gets 403 for every request if REGISTRATION is off', async () => {
  const off = await postern.another({ REGISTRATION: 'off' });
  try {
    for (const path of ['/v1/registrations', `/v1/registrations/${randomUUID()}`]) {
      const body = { identity: { type: 'phone', value: newPhone() }, secret: '000000' };
      const answer = await off.api<ProblemAnswer>('POST', path, { body });
      expect([answer.status, answer.body.errors[0]?.code]).toEqual([403, 'registration_off']);
    }
  } finally {
    await off.close();
  }
});

test('codes are limited by dial prefix, and further codes are silently not sent', async () => {
  const limited = await postern.another({ SMS_LIMIT_PER_PREFIX: '2' });
  try {
    const phones = Array.from({ length: 4 }, (_, n) => `+4915511${String(randomInt(1e6)).padStart(6, '0')}${n}`);
    const answers = await Promise.all(phones.map((phone) => start(phone, limited)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const [row] = await postern.database.query<{ sent: number }>(
      testSql('select count(*)::int as sent from outbox where recipient = any($1)', [phones]),
    );
    expect(row?.sent).toBe(2);
  } finally {
    await limited.close();
  }
});

test('a registration with a device logs in: one code, one token, for one of 20 parallel requests', async () => {
  const { phone, path, secret } = await begin();
  const device = { id: randomUUID(), make: 'Fairphone' };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      postern.api<Account & { authentication?: { token: string; status: string; device_id: string } }>('POST', path, {
        body: { secret, device },
      }),
    ),
  );
  const [registered, ...others] = answers.filter(({ status }) => status === 201);
  expect(others).toEqual([]);
  const authentication = registered?.body.authentication;
  expect(registered?.body).toMatchObject({ phone, phone_verified: true });
  expect(authentication).toMatchObject({ status: 'approved', device_id: device.id, user_id: registered?.body.id });
  const session = await postern.api('POST', '/v1/sessions', { basic: authentication?.token ?? '' });
  expect(session.status).toBe(201);
  const repeated = await postern.api('POST', path, { body: { secret, device } });
  expect(repeated.status).not.toBe(201);
});

test('check only says that the code is right, and counts as a guess', async () => {
  const { path, secret } = await begin();
  const check = (code: string) => postern.api<object>('POST', path, { body: { secret: code, check: true } });
  expect((await check(wrongCode(secret))).status).toBe(400);
  const right = await check(secret);
  expect([right.status, Object.keys(right.body)]).toEqual([200, ['expires_at']]);
  for (let guess = 0; guess < 2; guess += 1) expect((await check(secret)).status).toBe(200);
  expect((await complete(path, { secret })).status).toBe(201);
});

interface WithPasskey {
  readonly authenticator: SoftwareAuthenticator;
  readonly response: object;
}

/** Asks for the options of a passkey and creates it. */
async function newPasskey(path: string, secret: string, claims: MakingClaims = {}): Promise<WithPasskey> {
  const begun = await postern.api<{ options: CreationOptions & { user: { name: string } }; expires_at: string }>(
    'POST',
    path,
    { body: { secret, passkey: 'begin', name: 'Ada' } },
  );
  expect([begun.status, Object.keys(begun.body)]).toEqual([200, ['options', 'expires_at']]);
  return makePasskey(begun.body.options, originOf(postern), claims);
}

test('a registration with a passkey needs no password, and the passkey then logs in', async () => {
  const { path, secret } = await begin();
  const { authenticator, response } = await newPasskey(path, secret);
  const { status, body } = await complete(path, { secret, passkey: response });
  expect([status, body.has_password]).toEqual([201, false]);
  expect(body.second_factors).toMatchObject([{ type: 'passkey' }]);
  expect((await eventsOf(body.id)).map(({ type }) => type)).toContain('passkey.enrolled');
  const login = await postern.api<{ id: string; challenge: object }>('POST', '/v1/tokens', {
    body: { authenticator: 'passkey', device: {} },
  });
  const assertion = authenticator.sign(login.body.challenge);
  const approved = await postern.api<{ user_id: string; status: string }>(
    'POST',
    `/v1/tokens/${login.body.id}/secret`,
    {
      body: { secret: assertion },
    },
  );
  expect(approved.body).toMatchObject({ status: 'approved', user_id: body.id });
});

test('a passkey for other options or another origin is refused, and the code stays valid', async () => {
  const { path, secret } = await begin();
  const foreign = await newPasskey(path, secret, { origin: 'https://evil.example' });
  expect(await refusal(path, { secret, passkey: foreign.response })).toEqual([422, 'passkey invalid_passkey']);
  expect(await refusal(path, { secret, passkey: 'never' })).toEqual([422, 'passkey invalid_format']);
  const { response } = await newPasskey(path, secret);
  expect((await complete(path, { secret, passkey: response })).status).toBe(201);
});

test('one of 20 parallel registrations with a passkey makes the account, with one passkey and one login', async () => {
  const { path, secret } = await begin();
  const { response } = await newPasskey(path, secret);
  const body = { secret, passkey: response, device: {} };
  const answers = await Promise.all(Array.from({ length: 20 }, () => complete(path, body)));
  const [made, ...others] = answers.filter(({ status }) => status === 201);
  expect(others).toEqual([]);
  expect(made?.body).toMatchObject({ authentication: { status: 'approved' } });
  const [row] = await postern.database.query<{ passkeys: number; logins: number }>(
    testSql(
      `select (select count(*)::int from passkeys where user_id = $1) as passkeys,
              (select count(*)::int from authentications where user_id = $1) as logins`,
      [made?.body.id],
    ),
  );
  expect(row).toEqual({ passkeys: 1, logins: 1 });
});

test('options for a passkey need the right code, and count as a guess', async () => {
  const { path, secret } = await begin();
  expect(await refusal(path, { secret: wrongCode(secret), passkey: 'begin' })).toEqual([400, 'code_rejected']);
  for (let guess = 0; guess < 4; guess += 1) await newPasskey(path, secret);
  expect(await refusal(path, { secret, passkey: 'begin' })).toEqual([400, 'code_rejected']);
});

interface EnrolledLogin {
  readonly id: string;
  readonly status: string;
  readonly token?: string;
  readonly recovery_codes?: readonly string[];
  readonly challenge: {
    readonly type: string;
    readonly options: readonly { readonly type: string; secret?: string }[];
  };
}

test('where a second factor is required, a registration with a device goes on with its enrolment', async () => {
  const strict = await postern.another({ SECOND_FACTOR: 'required', REGISTRATION: 'on', CODE_LIMIT_PER_ADDRESS: '0' });
  try {
    const phone = newPhone();
    const { body } = await start(phone, strict);
    const secret = await codeTo(strict, phone);
    const registered = await strict.api<{ id: string; authentication: EnrolledLogin }>(
      'POST',
      `/v1/registrations/${body.id}`,
      { body: { secret, device: {} } },
    );
    expect(registered.status).toBe(201);
    expect(registered.body.authentication).toMatchObject({ status: 'pending', challenge: { type: 'enrol' } });
    const { id: userId, authentication } = registered.body;
    expect(authentication.token).toBeUndefined();
    const key = authentication.challenge.options.find(({ type }) => type === 'totp')?.secret ?? '';
    const app = createFactors(() => strict).appOf(userId, key);
    const path = `/v1/tokens/${authentication.id}/secret`;
    const enrolled = await strict.api<EnrolledLogin>('POST', path, { body: { secret: await app.code() } });
    expect(enrolled.body).toMatchObject({ status: 'approved', token: expect.stringMatching(/^psa_/) });
    expect(enrolled.body.recovery_codes).toHaveLength(10);
    const session = await strict.api('POST', '/v1/sessions', { basic: enrolled.body.token ?? '' });
    expect(session.status).toBe(201);
  } finally {
    await strict.close();
  }
});

test('the same request again, after resend_at, sends another code', async () => {
  const email = newEmail();
  const ask = () =>
    postern.api<{ id: string; destination: string; resend_at: string; expires_at: string }>(
      'POST',
      '/v1/registrations',
      {
        body: { identity: { type: 'email', value: email } },
      },
    );
  const first = await ask();
  expect(Object.keys(first.body)).toEqual(['id', 'expires_at', 'destination', 'resend_at']);
  expect(first.body.destination).toBe(`${email.slice(0, 1)}…@example.com`);
  expect(Date.parse(first.body.expires_at)).toBeGreaterThan(Date.parse(first.body.resend_at));
  const seen = await codeTo(postern, email);
  expect((await ask()).status).toBe(429);
  await postern.database.query(testSql('delete from message_limits'));
  const again = await ask();
  const secret = await codeTo(postern, email, [seen]);
  expect((await complete(`/v1/registrations/${again.body.id}`, { secret })).status).toBe(201);
});
