import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Account } from '../../../../../src/contract/account/account.js';
import { byPassword, codesTo, codeTo, createSelfService, type Person } from '../../../../support/account.js';
import { createAdministration } from '../../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../../support/app.js';
import { eventually } from '../../../../support/eventually.js';
import { startMailServer } from '../../../../support/mail-server.js';
import { raceRounds } from '../../../../support/rounds.js';
import { testSql } from '../../../../support/sql.js';
import { createUser, newEmail, newPhone, wrongCode } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { person, signInAgain, ask, refused, byCode } = createSelfService(() => postern);
const { admin, eventsOf } = createAdministration(() => postern);

const kinds = [
  { type: 'phone', next: newPhone, faulty: '12' },
  { type: 'email', next: newEmail, faulty: 'nobody' },
] as const;

describe.each(kinds)('a user’s own $type', ({ type, next, faulty }) => {
  const start = (who: Person, value: string, proof: object = byPassword) =>
    ask<{ id: string }>(who, 'POST', `/${type}`, { [type]: value, proof });
  /** A new address and the code that was sent to it. */
  async function begin(who: Person, value: string = next()) {
    const seen = await codesTo(postern, value);
    const { body } = await start(who, value);
    return { value, path: `/${type}/${body.id}`, secret: await codeTo(postern, value, seen) };
  }

  test('changes when the user enters the code sent to the new address', async () => {
    const who = await person({ [type]: next() });
    const { value, path, secret } = await begin(who);
    expect((await ask<Account>(who, 'GET', '')).body[type]).toBe(who.user[type]);
    const { status, body } = await ask<Account>(who, 'POST', path, { secret });
    expect(status).toBe(200);
    expect(body[type]).toBe(value);
    expect(await refused(who, 'POST', path, { secret })).toEqual([400, 'code_rejected']);
    const events = (await eventsOf(who.user.id)).map((event) => [event.type, event.data]);
    expect(events).toContainEqual(['address.change_started', { field: type }]);
    expect(events).toContainEqual(['user.changed', { fields: [type] }]);
    // The old address is free again.
    expect((await admin('POST', '/users', { [type]: who.user[type] })).status).toBe(201);
  });

  test('needs a proof and a valid address', async () => {
    const who = await person();
    expect(await refused(who, 'POST', `/${type}`, { [type]: next() })).toEqual([422, 'proof required']);
    const wrong = { type: 'password', secret: 'not it' };
    expect(await refused(who, 'POST', `/${type}`, { [type]: next(), proof: wrong })).toEqual([400, 'proof_rejected']);
    expect(await refused(who, 'POST', `/${type}`, { [type]: faulty, proof: byPassword })).toEqual([
      422,
      `${type} invalid_identity`,
    ]);
  });

  test('that another account has starts the same way, and the conflict is reported only after the code', async () => {
    const who = await person();
    const owner = await createUser(postern, { [type]: next() });
    const free = await start(who, next());
    const later = await person();
    const taken = await start(later, owner[type] ?? '');
    expect([taken.status, Object.keys(taken.body)]).toEqual([free.status, Object.keys(free.body)]);
    const path = `/${type}/${taken.body.id}`;
    const secret = await codeTo(postern, owner[type] ?? '');
    expect(await refused(later, 'POST', path, { secret: wrongCode(secret) })).toEqual([400, 'code_rejected']);
    expect(await refused(later, 'POST', path, { secret })).toEqual([409, `${type} identity_taken`]);
    expect((await admin('GET', `/users/${owner.id}`)).body[type]).toBe(owner[type]);
  });

  test('accepts its code only from the account and the device that started the change', async () => {
    const who = await person();
    const { path, secret } = await begin(who);
    for (const other of [await signInAgain(who.user), await person()]) {
      expect(await refused(other, 'POST', path, { secret })).toEqual([400, 'code_rejected']);
    }
    expect(await refused(who, 'POST', `/${type}/nothing`, { secret })).toEqual([400, 'code_rejected']);
    const otherType = type === 'phone' ? 'email' : 'phone';
    expect(await refused(who, 'POST', path.replace(type, otherType), { secret })).toEqual([400, 'code_rejected']);
    expect((await ask(who, 'POST', path, { secret })).status).toBe(200);
  });

  test('allows five wrong codes', async () => {
    const who = await person();
    const { path, secret } = await begin(who);
    for (let n = 0; n < 5; n += 1) {
      expect(await refused(who, 'POST', path, { secret: wrongCode(secret) })).toEqual([400, 'code_rejected']);
    }
    await admin('POST', `/users/${who.user.id}/unlock`);
    expect(await refused(who, 'POST', path, { secret })).toEqual([400, 'code_rejected']);
  });

  test('changes once by 50 parallel confirmations', async () => {
    const who = await person();
    const { path, secret, value } = await begin(who);
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(who, 'POST', path, { secret })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await ask<Account>(who, 'GET', '')).body[type]).toBe(value);
  });

  test('goes to one of two users who confirm it in parallel', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const [one, other] = [await person(), await person()];
      const value = next();
      const first = await begin(one, value);
      // Resets the limit of one code a minute for an address.
      await postern.database.query(testSql('delete from message_limits'));
      const second = await begin(other, value);
      const answers = await Promise.all([
        ask<ProblemAnswer>(one, 'POST', first.path, { secret: first.secret }),
        ask<ProblemAnswer>(other, 'POST', second.path, { secret: second.secret }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    }
  });

  test('can be removed with a proof if another identity remains', async () => {
    const who = await person({ [type]: next() });
    const removed = await ask<Account>(who, 'DELETE', `/${type}`, { proof: byPassword });
    expect(removed.body[type]).toBeNull();
    const { body: user } = await admin('POST', '/users', { [type]: next(), password: byPassword.secret });
    const { body } = await postern.api<{ token: string }>('POST', '/v1/tokens', {
      body: {
        identity: { type, value: user[type] },
        authenticator: 'password',
        secret: byPassword.secret,
        device: {},
      },
    });
    const session = await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: body.token });
    const withOneIdentity = { bearer: session.body.token };
    expect(await refused(withOneIdentity, 'DELETE', `/${type}`, { proof: byPassword })).toEqual([
      422,
      'identity_required',
    ]);
  });

  test('gets at most one code a minute for each account, over all addresses', async () => {
    const who = await person();
    expect((await start(who, next())).status).toBe(201);
    expect((await start(who, next())).status).toBe(429);
  });
});

test('a code to the old number is a valid proof, and starting the change uses it', async () => {
  const who = await person();
  const proof = await byCode(who);
  const value = newPhone();
  expect((await ask(who, 'POST', '/phone', { phone: value, proof })).status).toBe(201);
  await postern.database.query(testSql('delete from message_limits'));
  expect(await refused(who, 'POST', '/phone', { phone: value, proof })).toEqual([400, 'proof_rejected']);
});

test('the old mail address is told about a change, with what to do if it was not the user', async () => {
  const server = await startMailServer();
  const smtp = { SMTP_URL: `smtp://127.0.0.1:${server.port}?tls=none`, MAIL_FROM: 'no-reply@example.org' };
  const mailing = await startTestApp({ ...smtp, CODE_LIMIT_PER_ADDRESS: '0' });
  try {
    const { person, ask } = createSelfService(() => mailing);
    const [old, next] = [newEmail(), newEmail()];
    const who = await person({ email: old });
    const { body } = await ask<{ id: string }>(who, 'POST', '/email', { email: next, proof: byPassword });
    const mailTo = (address: string, text: RegExp) =>
      eventually(`a mail to ${address}`, async () =>
        server.received.find((mail) => mail.to.includes(address) && text.test(mail.text)),
      );
    const [, secret = ''] = /^ {4}(\d{6})$/m.exec((await mailTo(next, /confirm/)).text) ?? [];
    expect((await ask(who, 'POST', `/email/${body.id}`, { secret })).status).toBe(200);
    const { text } = await mailTo(old, /The mail address of your account was changed/);
    expect(text).toContain('If not, sign out the devices that you do not know, and change your password');
  } finally {
    await mailing.close();
    await server.close();
  }
});
