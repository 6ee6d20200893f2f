import { afterEach, describe, expect, test } from 'vitest';
import type { StartOptions } from '../../../../src/app/main.js';
import type { Event, OutboxMessage } from '../../../../src/contract/administration.js';
import type { Authentication } from '../../../../src/contract/authentication.js';
import type { Suppression } from '../../../../src/contract/suppression.js';
import type { Database } from '../../../../src/database/database.js';
import { startGateway, startResend } from '../../../delivery/mail/mail-vendors.js';
import { createAdministration } from '../../../support/administration.js';
import { patient, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { type MailServer, startMailServer, startRudeServer } from '../../../support/mail-server.js';
import { testSql } from '../../../support/sql.js';
import { createUser, emailLogin, messageOf, newEmail, newPhone, signIn, smsLogin } from '../../../support/users.js';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function newServer(): Promise<MailServer> {
  const server = await startMailServer({ login: { user: 'relay', password: 'a relay password' } });
  cleanUps.push(() => server.close());
  return server;
}

async function newPostern(port: number, options?: StartOptions): Promise<TestApp> {
  const postern = await startTestApp(
    {
      SMTP_URL: `smtp://relay:a%20relay%20password@127.0.0.1:${port}`,
      MAIL_FROM: 'Example <no-reply@example.org>',
      APP_NAME: 'Example',
      LOG_LEVEL: 'trace',
    },
    options,
  );
  cleanUps.push(() => postern.close());
  return postern;
}

const start = (postern: TestApp, body: object) => postern.api<Authentication>('POST', '/v1/tokens', { body });
const answer = (postern: TestApp, id: string, secret: string) =>
  postern.api<Authentication>('POST', `/v1/tokens/${id}/secret`, { body: { secret, pin: '2468' } });

const mailTo = (server: MailServer, address: string | null) =>
  eventually(`a mail to ${address}`, async () => server.received.find(({ to }) => to[0] === address));
const codeIn = (text: string) => /^ {4}(\d{6})$/m.exec(text)?.[1] ?? '';

/** Makes the next attempt due now. */
async function hurry(database: Database): Promise<void> {
  await eventually('the next attempt to wait', async () => {
    const [waiting] = await database.query(testSql('select 1 from graphile_worker._private_jobs where run_at > now()'));
    return waiting;
  });
  await database.query(testSql('update graphile_worker._private_jobs set run_at = now() where locked_by is null'));
  await database.query(testSql(`select pg_notify('jobs:insert', '{"count":10}')`));
}

describe('a login by mail', () => {
  test('is approved by the code in the mail, which is in the language of the user', async () => {
    const server = await newServer();
    const postern = await newPostern(server.port);
    for (const [locale, subject] of [
      [undefined, 'is your Example code'],
      ['es-MX', 'es tu código de Example'],
      ['fr-CH', 'is your Example code'],
    ] as const) {
      const user = await createUser(postern, { email: newEmail(), ...(locale && { locale }) });
      const { body } = await start(postern, emailLogin(user.email));
      const mail = await mailTo(server, user.email);
      const code = codeIn(mail.text);
      expect(mail.headers.get('subject')).toBe(`${code} ${subject}`);
      expect(mail.headers.get('from')).toBe('Example <no-reply@example.org>');
      expect(mail.text).toMatch(/\b5 (minutes|minutos)\b/);
      expect(mail.text).not.toMatch(/[{}]/);
      expect((await answer(postern, body.id, code)).body.status).toBe('approved');
      expect((await answer(postern, body.id, code)).status).toBe(400);
    }
  });

  test('shows its code neither in the outbox nor in the log nor in responses to operators', async () => {
    const server = await newServer();
    const postern = await newPostern(server.port);
    const user = await createUser(postern, { email: newEmail() });
    server.refuse({ status: 451, at: 'DATA' });
    const { body } = await start(postern, emailLogin(user.email));
    await hurry(postern.database);
    const code = codeIn((await mailTo(server, user.email)).text);
    const message = await messageOf(postern, body.id);
    expect(message).toMatchObject({ channel: 'email', kind: 'email.code', recipient: user.email, code: null });
    const stored = await postern.database.query<{ row: string }>(testSql('select o::text as row from outbox o'));
    const places = [...postern.logged, ...postern.printed, ...stored.map(({ row }) => row), JSON.stringify(message)];
    for (const secret of [code, 'a relay password', 'a%20relay%20password']) {
      expect(places.filter((text) => new RegExp(`(?<![0-9a-f.])${secret}(?![0-9a-f])`).test(text))).toEqual([]);
    }
  });
});

describe('a mail server', () => {
  test('that answers 4xx gets the mail again with the same Message-ID while the code is valid', async () => {
    const server = await newServer();
    const postern = await newPostern(server.port);
    const user = await createUser(postern, { email: newEmail() });
    server.refuse({ status: 450, at: 'RCPT' }, { status: 451, at: 'DATA' });
    const { body } = await start(postern, emailLogin(user.email));
    await hurry(postern.database);
    await hurry(postern.database);
    const message = await messageOf(postern, body.id);
    expect(message).toMatchObject({
      state: 'sent',
      attempts: 3,
      last_error: 'smtp: the mail server answered 451 to DATA',
    });
    expect((await mailTo(server, user.email)).headers.get('message-id')).toBe(`<${message.id}@example.org>`);
    expect(server.received).toHaveLength(1);
  });

  test('that refuses the recipient permanently gets no further attempt, and the login does not change', async () => {
    const server = await newServer();
    const postern = await newPostern(server.port);
    const user = await createUser(postern, { email: newEmail() });
    server.refuse({ status: 550, at: 'RCPT' });
    const { body } = await start(postern, emailLogin(user.email));
    const message = await messageOf(postern, body.id, ['failed']);
    expect(message).toMatchObject({ attempts: 1, last_error: 'smtp: the mail server answered 550 to RCPT TO' });
    await eventually('an empty queue', async () => {
      const jobs = await postern.database.query(testSql('select 1 from graphile_worker._private_jobs'));
      return jobs.length === 0 ? true : undefined;
    });
    expect((await postern.api('GET', `/v1/tokens/${body.id}`)).body).toMatchObject({ status: 'pending' });
    expect(server.requestedRecipients).toHaveLength(1);
  });

  test('that answers 4xx to a notice gets the notice again', async () => {
    const server = await newServer();
    const postern = await newPostern(server.port);
    const user = await createUser(postern, { email: newEmail() });
    await signIn(postern, user);
    server.refuse({ status: 451, at: 'DATA' });
    await signIn(postern, user, { make: 'Fairphone', model: 'FP5' });
    await hurry(postern.database);
    const { headers, text } = await mailTo(server, user.email);
    expect(headers.get('subject')).toBe('Example: Somebody signed in to your account on a new device: Fairphone FP5.');
    expect(text).toMatch(/^When: \d{4}-\d\d-\d\d \d\d:\d\d UTC\nDevice: Fairphone FP5\nNetwork: 127\.0\.0\.0\/24$/m);
    const [message] = await eventually('the notice to be sent', async () => {
      const query = `filter=user_id:${user.id},state:sent`;
      const { body } = await postern.api<object[]>('GET', `/admin/v1/outbox?${query}`, { bearer: postern.adminKey });
      return body.length > 0 ? body : undefined;
    });
    expect(message).toMatchObject({ kind: 'email.new_device', code: null, authentication_id: null, attempts: 2 });
    expect(server.received).toHaveLength(1);
  });

  test('that hangs delays no SMS, even if it blocks every worker for mail', async () => {
    let connections = 0;
    const hanging = await startRudeServer(() => {
      connections += 1;
    });
    const postern = await newPostern(hanging.port, patient);
    for (let count = 0; count < 12; count += 1) {
      const { email } = await createUser(postern, { email: newEmail(), password: undefined });
      await start(postern, emailLogin(email));
    }
    await eventually('every worker to have a request that hangs', async () => (connections >= 10 ? true : undefined));
    const { phone } = await createUser(postern, { phone: newPhone() });
    const { body } = await start(postern, smsLogin(phone));
    expect(await messageOf(postern, body.id)).toMatchObject({ state: 'sent', attempts: 1 });
    const mails = await postern.database.query<{ state: string }>(
      testSql(`select distinct state from outbox where channel = 'email'`),
    );
    expect(mails).toEqual([{ state: 'queued' }]);
    // Otherwise Postern would wait for the end of these requests when it stops.
    await hanging.close();
  });
});

test('login by mail is unavailable without a mail server', async () => {
  const postern = await startTestApp({ MAIL_PROVIDER: 'none' });
  cleanUps.push(() => postern.close());
  const { status } = await start(postern, emailLogin(newEmail()));
  expect(status).toBe(422);
});

describe('several providers of mail', () => {
  test('send a mail by the next one when the first one refuses it, or loses its answer three times', async () => {
    const server = await newServer();
    const resend = await startResend();
    const postern = await startTestApp({
      ...resend.env,
      MAIL_PROVIDER: 'resend,smtp',
      SMTP_URL: `smtp://relay:a%20relay%20password@127.0.0.1:${server.port}`,
    });
    cleanUps.push(() => postern.close());
    const send = async () => {
      const { email } = await createUser(postern, { email: newEmail() });
      const { body } = await start(postern, emailLogin(email));
      const { id, state, provider } = await messageOf(postern, body.id);
      return [id, state, provider];
    };
    resend.answer(undefined, { status: 403, body: '{"name":"invalid_api_key"}' }, 'reset', 'reset', 'reset');
    const sent = [await send(), await send(), await send(), await send()];
    expect(sent.map(([, ...rest]) => rest)).toEqual(['resend', 'smtp', 'smtp', 'smtp'].map((name) => ['sent', name]));
    const [first, second, third] = sent.map(([id]) => id);
    // The provider has failed, so the fourth mail does not try it.
    expect(resend.received.map(({ headers }) => headers['idempotency-key'])).toEqual([
      first,
      second,
      third,
      third,
      third,
    ]);
    expect([server.received.length, resend.faults]).toEqual([3, []]);
    const rows = await postern.database.query<{ provider_reference: string }>(
      testSql('select provider_reference from outbox where id = any($1) order by created_at', [[first, second]]),
    );
    expect(rows.map((row) => row.provider_reference)).toEqual([resend.reference, second]);
  });

  test('do not try an address that the first one has refused', async () => {
    const server = await newServer();
    const gateway = await startGateway();
    const postern = await startTestApp({
      ...gateway.env,
      MAIL_PROVIDER: 'webhook,smtp',
      SMTP_URL: `smtp://relay:a%20relay%20password@127.0.0.1:${server.port}`,
    });
    cleanUps.push(() => postern.close());
    const user = await createUser(postern, { email: newEmail() });
    gateway.answer({ status: 422, body: '{"error":"recipient_refused"}' });
    const { body } = await start(postern, emailLogin(user.email));
    expect(await messageOf(postern, body.id, ['failed'])).toMatchObject({
      ...{ attempts: 1, provider: null },
      last_error: 'webhook: the gateway says that the recipient refuses mail (422)',
    });
    expect(server.requestedRecipients).toEqual([]);
  });
});

describe('an address that the provider does not know', () => {
  test('is suppressed: it gets codes, and no notices until an operator deletes the suppression', async () => {
    const gateway = await startGateway();
    const postern = await startTestApp({ ...gateway.env, MAIL_PROVIDER: 'webhook' });
    cleanUps.push(() => postern.close());
    const { admin } = createAdministration(() => postern);
    const user = await createUser(postern, { email: newEmail() });
    const typesOf = () => gateway.received.map(({ body }) => JSON.parse(body).type);
    const newDevice = async (make: string, state: string) => {
      await signIn(postern, user, { make, model: 'X' });
      return eventually(`a notice that is ${state}`, async () => {
        const query = `filter=user_id:${user.id},kind:email.new_device,state:${state}`;
        return (await admin<OutboxMessage[]>('GET', `/outbox?${query}`)).body[0];
      });
    };
    await signIn(postern, user);
    gateway.answer({ status: 422, body: '{"error":"unknown_mailbox"}' });
    expect(await newDevice('Fairphone', 'failed')).toMatchObject({ attempts: 1, provider: null });
    const { body: suppression } = await admin<Suppression>('POST', '/suppressions/find', { email: user.email });
    expect(suppression.reason).toBe('hard_bounce');
    const { body: events } = await admin<Event[]>('GET', `/users/${user.id}/activity?limit=10`);
    expect(events).toContainEqual(
      expect.objectContaining({
        ...{ type: 'suppression.created', actor: 'system' },
        data: { suppression_id: suppression.id, reason: 'hard_bounce' },
      }),
    );

    expect(await newDevice('Samsung', 'dropped')).toMatchObject({ last_error: 'the address is suppressed' });
    const { body } = await start(postern, emailLogin(user.email));
    expect(await messageOf(postern, body.id)).toMatchObject({ state: 'sent' });
    expect(typesOf()).toEqual(['email.new_device', 'email.code']);

    await admin('DELETE', `/suppressions/${suppression.id}`);
    await newDevice('Nokia', 'sent');
    expect(typesOf()).toEqual(['email.new_device', 'email.code', 'email.new_device']);
  });

  test('is not suppressed because the provider refuses the mail for another reason', async () => {
    const gateway = await startGateway();
    const postern = await startTestApp({ ...gateway.env, MAIL_PROVIDER: 'webhook' });
    cleanUps.push(() => postern.close());
    const { admin } = createAdministration(() => postern);
    const user = await createUser(postern, { email: newEmail() });
    gateway.answer({ status: 422, body: '{"error":"recipient_refused"}' });
    const { body } = await start(postern, emailLogin(user.email));
    await messageOf(postern, body.id, ['failed']);
    expect((await admin('POST', '/suppressions/find', { email: user.email })).status).toBe(404);
  });
});
