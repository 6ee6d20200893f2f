import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../../../src/contract/authentication.js';
import type { NewSession } from '../../../../src/contract/session.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { testSql } from '../../../support/sql.js';
import {
  codeLogins,
  codeOf,
  createUser,
  emailLogin,
  messageOf,
  newEmail,
  newPhone,
  password,
  smsLogin,
  wrongCode,
} from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp(
    { GUESS_LIMIT: '50', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
    // Fifty requests wait for one row, on a busy machine for a long time.
    { queryTimeout: 60_000 },
  );
});
afterAll(() => postern.close());

const start = (body: object) => postern.api<Authentication>('POST', '/v1/tokens', { body });
const answer = (id: string, body: object, headers = {}) =>
  postern.api<Authentication & Pick<ProblemAnswer, 'errors'> & { authentication: Authentication }>(
    'POST',
    `/v1/tokens/${id}/secret`,
    { body, headers },
  );
const status = (id: string) => postern.api<{ id: string; status: string }>('GET', `/v1/tokens/${id}`);
const newSession = (token: string | undefined) =>
  postern.api<NewSession & Pick<ProblemAnswer, 'errors'>>('POST', '/v1/sessions', { basic: token ?? '' });

/** The time until the next code may be requested, rounded: the limit counts a moment before the login is created. */
const minutesToResend = ({ resend_at, created_at }: Authentication) =>
  Math.round((Date.parse(resend_at ?? '') - Date.parse(created_at)) / 60_000);

test('the masked destination of a code comes from the request, so that it shows nothing about an account', async () => {
  const user = await createUser(postern, { phone: newPhone(), email: newEmail() });
  const byUsername = (value: string | null, authenticator: string) =>
    start({ identity: { type: 'username', value }, authenticator, device: {} });
  for (const authenticator of ['sms', 'email']) {
    await postern.database.query(testSql('delete from message_limits'));
    const known = await byUsername(user.username, authenticator);
    const unknown = await byUsername(`nobody${user.username}`, authenticator);
    expect(known.body).toMatchObject({ destination: null });
    expect(Object.keys(unknown.body)).toEqual(Object.keys(known.body));
    expect(unknown.body).toMatchObject({ destination: null });
  }
  const byMail = await start({ ...smsLogin(null), identity: { type: 'email', value: user.email } });
  expect(byMail.body).toMatchObject({ destination: null });
  const { body } = await start(emailLogin(newEmail()));
  expect(body.destination).toBe('u…@example.com');
});

describe.each(codeLogins)('when another code may be requested after one by $authenticator', (login) => {
  test.each(['known', 'unknown'])('is shown for %s identities, as the limits count', async (kind) => {
    const address = login.newAddress();
    if (kind === 'known') await createUser(postern, { [login.field]: address });
    const waits: number[] = [];
    for (let count = 1; count <= 5; count += 1) {
      const { status, body } = await start(login.loginOf(address));
      expect(status).toBe(201);
      waits.push(minutesToResend(body));
      await postern.database.query(
        testSql(`update message_limits set sent_at = array(
          select t - interval '61 s' from unnest(sent_at) with ordinality u (t, at) order by at)`),
      );
    }
    // One a minute and five an hour: the fifth one waits for the first, which was sent four minutes before.
    expect(waits).toEqual([1, 1, 1, 1, 56]);
    const refused = await start(login.loginOf(address));
    expect(refused.status).toBe(429);
    expect(Math.round(Number(refused.headers['retry-after']) / 60)).toBe(55);
  });
});

describe.each(codeLogins)('a two-step login by $authenticator', ({ field, newAddress, loginOf }) => {
  test.each([
    ['a space and a line end', (code: string) => ` ${code.slice(0, 3)} ${code.slice(3)}\n`],
    ['a hyphen', (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`],
    ['Arabic digits', (code: string) => code.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)))],
  ])('accepts the code with %s', async (_what, typed) => {
    const address = newAddress();
    await createUser(postern, { [field]: address });
    const { body } = await start(loginOf(address));
    const approved = await answer(body.id, { secret: typed(await codeOf(postern, body.id)), pin: '2468' });
    expect([approved.status, approved.body.status]).toEqual([201, 'approved']);
  });

  const newUser = (fields: object = {}) => createUser(postern, { [field]: newAddress(), ...fields });

  async function begin(fields: object = {}) {
    const user = await newUser(fields);
    const { body } = await start(loginOf(user[field]));
    return { user, body, code: await codeOf(postern, body.id) };
  }

  test('starts as created without a token, and expires after ten minutes', async () => {
    const user = await newUser();
    const { status: code, body } = await start(loginOf(user[field]));
    expect(code).toBe(201);
    expect(Object.keys(body).sort()).toEqual([
      'created_at',
      'destination',
      'device_id',
      'error_code',
      'error_message',
      'expires_at',
      'id',
      'resend_at',
      'status',
      'updated_at',
    ]);
    expect(body.status).toBe('created');
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(600_000);
  });

  test('becomes pending when the queue sends its message, and approved by the code', async () => {
    const { body, code } = await begin();
    expect((await status(body.id)).body).toEqual({ id: body.id, status: 'pending' });
    const approved = await answer(body.id, { secret: code, pin: '2468' });
    expect(approved.status).toBe(201);
    expect(approved.body).toMatchObject({ id: body.id, device_id: body.device_id, status: 'approved', error_code: '' });
    expect(approved.body.token).toMatch(/^psa_/);
    expect((await status(body.id)).body.status).toBe('approved');
    expect((await newSession(approved.body.token)).status).toBe(201);
  });

  test('ignores a secret at step 1', async () => {
    const user = await newUser();
    expect((await start({ ...loginOf(user[field]), secret: password })).body.status).toBe('created');
  });

  test('needs a PIN of 4 to 12 digits at step 2', async () => {
    const { body, code } = await begin();
    for (const pin of [undefined, '123', '1234567890123', '12a4', '١٢٣٤']) {
      const refused = await answer(body.id, { secret: code, pin });
      expect(refused.status).toBe(422);
      expect(refused.body.errors[0]?.field).toBe('pin');
    }
    expect((await answer(body.id, { secret: code, pin: '1234' })).status).toBe(201);
  });

  test('explains in the first refusal which PIN a user without one sends', async () => {
    const { body, code } = await begin();
    const hints = {
      en: 'PIN_POLICY=required requires a PIN here. If the user has no PIN, send any 4 to 12 digits.',
      es: 'PIN_POLICY=required exige aquí un PIN. Si el usuario no tiene PIN, envía de 4 a 12 dígitos cualesquiera.',
    };
    for (const [language, hint] of Object.entries(hints)) {
      for (const sent of [{ secret: code }, {}]) {
        const { status, body: problem } = await answer(body.id, sent, { 'Accept-Language': language });
        const pin = problem.errors.find((error) => error.field === 'pin');
        expect([status, pin?.code]).toEqual([422, 'required']);
        expect(pin?.message).toContain(hint);
      }
    }
    expect((await answer(body.id, { secret: code, pin: '1234' })).status).toBe(201);
  });

  test('refuses the correct code with a wrong PIN', async () => {
    const { body, code } = await begin({ pin: '2468' });
    expect((await answer(body.id, { secret: code, pin: '1357' })).status).toBe(400);
    expect((await answer(body.id, { secret: code, pin: '2468' })).status).toBe(201);
  });

  test('checks a PIN of step 1 too, but reports it only at step 2', async () => {
    const user = await newUser({ pin: '2468' });
    const { body } = await start({ ...loginOf(user[field]), pin: '1357' });
    expect(body.status).toBe('created');
    expect((await answer(body.id, { secret: await codeOf(postern, body.id), pin: '2468' })).status).toBe(400);
  });

  test('returns the same response for a wrong code, a rejected login and an unknown id; the fifth wrong code rejects it', async () => {
    const { body, code } = await begin();
    const answers = [];
    for (let guess = 1; guess <= 5; guess += 1) {
      answers.push(await answer(body.id, { secret: wrongCode(code), pin: '2468' }));
      expect((await status(body.id)).body.status).toBe(guess < 5 ? 'pending' : 'rejected');
    }
    answers.push(await answer(body.id, { secret: code, pin: '2468' }));
    answers.push(await answer(randomUUID(), { secret: code, pin: '2468' }));
    const shapes = answers.map(({ status, body }) => {
      const { id: _, ...authentication } = body.authentication;
      return { status, codes: body.errors.map((error) => error.code), authentication };
    });
    expect(new Set(shapes.map((shape) => JSON.stringify(shape))).size).toBe(1);
    expect(shapes[0]).toEqual({
      status: 400,
      codes: ['authorization_rejected'],
      authentication: { status: 'rejected', error_code: 'authorization_rejected', error_message: expect.any(String) },
    });
  });

  test('gives an unknown identity the same response, row and job, and never approves it', async () => {
    const known = await begin();
    const unknown = await start(loginOf(newAddress()));
    expect(unknown.status).toBe(201);
    expect(Object.keys(unknown.body)).toEqual(Object.keys(known.body));
    expect(unknown.body).toMatchObject({ status: 'created', error_code: '', error_message: '' });
    expect(unknown.body.destination).toMatch(/^(?:\+1\d…\d\d|u…@example\.com)$/);
    expect(minutesToResend(unknown.body)).toBe(minutesToResend(known.body));
    const message = await messageOf(postern, unknown.body.id, ['dropped']);
    expect(message).toMatchObject({ recipient: null, attempts: 1 });
    expect((await status(unknown.body.id)).body.status).toBe('pending');
    for (let guess = 1; guess <= 5; guess += 1) {
      expect((await answer(unknown.body.id, { secret: message.code ?? '', pin: '2468' })).status).toBe(400);
    }
    expect((await status(unknown.body.id)).body.status).toBe('rejected');
  });

  test('approves one of fifty parallel correct codes', async () => {
    const { body, code } = await begin();
    const answers = await Promise.all(Array.from({ length: 50 }, () => answer(body.id, { secret: code, pin: '2468' })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(49);
  });

  test('accepts a code only for its own authentication', async () => {
    const user = await newUser();
    const one = (await start(loginOf(user[field]))).body;
    await postern.database.query(testSql('delete from message_limits'));
    const other = (await start(loginOf(user[field]))).body;
    const [code, otherCode] = [await codeOf(postern, one.id), await codeOf(postern, other.id)];
    if (code !== otherCode) expect((await answer(other.id, { secret: code, pin: '2468' })).status).toBe(400);
    expect((await answer(one.id, { secret: code, pin: '2468' })).status).toBe(201);
    expect((await answer(other.id, { secret: otherCode, pin: '2468' })).status).toBe(201);
  });

  test('expires: the code after five minutes, the authentication after ten', async () => {
    const { body, code } = await begin();
    const age = (minutes: number) =>
      postern.database.query(
        testSql(
          `update authentications set challenge_ends_at = challenge_ends_at - $2 * interval '1 minute',
             expires_at = expires_at - $2 * interval '1 minute' where id = $1`,
          [body.id, minutes],
        ),
      );
    await age(5);
    expect((await answer(body.id, { secret: code, pin: '2468' })).status).toBe(400);
    expect((await status(body.id)).body.status).toBe('pending');
    await age(5);
    expect((await status(body.id)).body.status).toBe('rejected');
  });

  test('approves a repeat with the same Idempotency-Key while the token is unused', async () => {
    const { body, code } = await begin();
    const key = { 'Idempotency-Key': randomUUID() };
    const first = await answer(body.id, { secret: code, pin: '2468' }, key);
    expect(first.headers['idempotency-key']).toBe(key['Idempotency-Key']);
    const repeat = await answer(body.id, { secret: code, pin: '2468' }, key);
    expect(repeat.body.status).toBe('approved');
    expect(repeat.body.token).not.toBe(first.body.token);
    expect((await newSession(first.body.token)).status).toBe(401);
    expect((await answer(body.id, { secret: wrongCode(code), pin: '2468' }, key)).status).toBe(400);
    expect((await answer(body.id, { secret: code, pin: '2468' })).status).toBe(400);
    expect((await newSession(repeat.body.token)).status).toBe(201);
    expect((await answer(body.id, { secret: code, pin: '2468' }, key)).status).toBe(400);
  });
});

describe.each(codeLogins)('a message by $authenticator', ({ field, newAddress, loginOf }) => {
  test('is sent, and the activity of the user shows it', async () => {
    const user = await createUser(postern, { [field]: newAddress() });
    const { body } = await start(loginOf(user[field]));
    await codeOf(postern, body.id);
    const events = await eventually('the event of the message', async () => {
      const activity = await postern.api<{ type: string }[]>('GET', `/admin/v1/users/${user.id}/activity`, {
        bearer: postern.adminKey,
      });
      return activity.body.some(({ type }) => type === 'message.sent') ? activity.body : undefined;
    });
    expect(events.map(({ type }) => type)).toEqual(['message.sent', 'login.started', 'user.created']);
    expect(postern.printed.some((line) => line.includes(user[field] ?? '-'))).toBe(true);
  });
});
