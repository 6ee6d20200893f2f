import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, IssuedApiKey, OutboxMessage } from '../../../../src/contract/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { type MailServer, startMailServer } from '../../../support/mail-server.js';
import { testSql } from '../../../support/sql.js';
import { createUser, emailLogin, messageOf, newEmail, newPhone, smsLogin } from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const list = async (query: string, bearer = postern.adminKey) =>
  (await postern.api<OutboxMessage[]>('GET', `/admin/v1/outbox?${query}`, { bearer })).body;
const startLogin = async (phone: string | null) =>
  (await postern.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(phone) })).body.id;

describe('the outbox', () => {
  test('shows sent messages, with the code that the provider printed', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const authentication = await startLogin(user.phone);
    const message = await messageOf(postern, authentication);
    expect(message).toEqual({
      id: expect.any(String),
      user_id: user.id,
      authentication_id: authentication,
      channel: 'sms',
      kind: 'sms.code',
      recipient: user.phone,
      state: 'sent',
      provider: 'console',
      attempts: 1,
      last_error: null,
      code: expect.stringMatching(/^\d{6}$/),
      expires_at: expect.any(String),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(postern.printed.join('\n')).toContain(message.code);
  });

  test('shows no codes to a key without the scope admin, and no expired codes', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { id } = await messageOf(postern, await startLogin(user.phone));
    const key = { name: 'support', scopes: ['users:read', 'users:write'] };
    const { body: support } = await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', {
      bearer: postern.adminKey,
      body: key,
    });
    expect(await list(`filter=id:${id}`, support.token)).toMatchObject([{ id, recipient: user.phone, code: null }]);
    expect(await list(`filter=id:${id}`)).toMatchObject([{ code: expect.any(String) }]);
    await postern.database.query(testSql('update outbox set expires_at = db_now() where id = $1', [id]));
    expect(await list(`filter=id:${id}`)).toMatchObject([{ id, code: null }]);
  });

  test('filters by state, recipient, user and time, and sorts', async () => {
    const [ada, bob] = [
      await createUser(postern, { phone: newPhone() }),
      await createUser(postern, { phone: newPhone() }),
    ];
    const first = await messageOf(postern, await startLogin(ada.phone));
    const second = await messageOf(postern, await startLogin(bob.phone));
    const dropped = await messageOf(postern, await startLogin(newPhone()), ['dropped']);
    const ids = async (query: string) => (await list(query)).map(({ id }) => id);
    const both = `filter=user_id:in:${ada.id};${bob.id}`;
    expect(await ids(both)).toEqual([second.id, first.id]);
    expect(await ids(`${both}&sort=created_at:asc`)).toEqual([first.id, second.id]);
    expect(await ids(`${both}&since=${first.created_at}`)).toEqual([second.id]);
    expect(await ids(`filter=recipient:${encodeURIComponent(ada.phone ?? '')}`)).toEqual([first.id]);
    expect(await ids('filter=state:dropped')).toContain(dropped.id);
    expect(await ids(`filter=state:in:sent;failed,authentication_id:${second.authentication_id}`)).toEqual([second.id]);
  });

  test('shows no codes of a real provider', async () => {
    const other = await startTestApp({
      SMS_PROVIDER: 'webhook',
      SMS_WEBHOOK_URL: 'http://127.0.0.1:9/sms',
      SMS_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 1).toString('base64')}`,
      ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    });
    try {
      const user = await createUser(other, { phone: newPhone() });
      const { body } = await other.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
      const message = await messageOf(other, body.id, ['queued']);
      expect(message).toMatchObject({ recipient: user.phone, code: null });
    } finally {
      await other.close();
    }
  });
});

describe('a retry', () => {
  let mail: MailServer;
  let failing: TestApp;
  beforeAll(async () => {
    mail = await startMailServer();
    failing = await startTestApp({
      ...{ SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=none`, MAIL_FROM: 'no-reply@postern.example' },
      ...{ CODE_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off', NOTICES: 'none' },
    });
  });
  afterAll(async () => {
    await failing.close();
    await mail.close();
  });

  const retry = (id: string, { bearer = failing.adminKey, headers = {} } = {}) =>
    failing.api<OutboxMessage & ProblemAnswer>('POST', `/admin/v1/outbox/${id}/retry`, { bearer, headers });
  const statusAndCode = ({ status, body }: { status: number; body: ProblemAnswer }) => [
    status,
    body.type.split(':').at(-1),
  ];
  const eventsOf = async (user: { id: string }) =>
    (
      await failing.api<Event[]>('GET', `/admin/v1/events?filter=user_id:${user.id}&sort=created_at:asc`, {
        bearer: failing.adminKey,
      })
    ).body.flatMap(({ type, actor }) => (type.startsWith('message.') ? [[type, actor]] : []));

  /** Creates a user with a code that the provider has permanently refused. */
  async function createRefusedCode() {
    const user = await createUser(failing, { email: newEmail() });
    mail.refuse({ status: 550, at: 'RCPT' });
    const started = await failing.api<{ id: string }>('POST', '/v1/tokens', { body: emailLogin(user.email) });
    const message = await messageOf(failing, started.body.id, ['failed']);
    return { user, authentication: started.body.id, message };
  }

  test('sends the same code once, however many retries there are at once, and the code is right', async () => {
    const { user, authentication, message } = await createRefusedCode();
    const answers = await Promise.all(Array.from({ length: 8 }, () => retry(message.id)));
    const accepted = answers.filter(({ status }) => status === 200);
    expect(accepted.length).toBeGreaterThan(0);
    // The attempt may have begun when a later one of the retries is answered.
    for (const { body } of accepted) expect(body).toMatchObject({ id: message.id, state: 'queued', code: null });
    expect(Math.min(...accepted.map(({ body }) => body.attempts))).toBe(message.attempts);
    const sent = await messageOf(failing, authentication);
    expect(sent).toMatchObject({ id: message.id, attempts: message.attempts + 1 });
    const received = mail.received.filter(({ to }) => to.includes(user.email ?? ''));
    expect(received).toHaveLength(1);
    const answer = await failing.api('POST', `/v1/tokens/${authentication}/secret`, {
      body: { secret: /\d{6}/.exec(received[0]?.text ?? '')?.[0] },
    });
    expect(answer.body.status).toBe('approved');
    expect(await eventsOf(user)).toEqual([
      ['message.failed', 'system'],
      ['message.retried', 'key:environment'],
      ['message.sent', 'system'],
    ]);
    expect(statusAndCode(await retry(message.id))).toEqual([409, 'message_not_failed']);
  });

  test('with the same Idempotency-Key gets the same response again', async () => {
    const { message, authentication } = await createRefusedCode();
    const headers = { 'Idempotency-Key': message.id };
    const first = await retry(message.id, { headers });
    await messageOf(failing, authentication);
    const second = await retry(message.id, { headers });
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.body).toEqual(first.body);
  });

  test('is refused when the code has expired, or its login is over', async () => {
    const { message } = await createRefusedCode();
    await failing.database.query(testSql('update outbox set expires_at = db_now() where id = $1', [message.id]));
    expect(statusAndCode(await retry(message.id))).toEqual([409, 'message_outdated']);
    const other = await createRefusedCode();
    await failing.api('POST', `/admin/v1/users/${other.user.id}/logout`, { bearer: failing.adminKey });
    await failing.database.query(
      testSql(`update authentications set status = 'rejected' where id = $1`, [other.authentication]),
    );
    expect(statusAndCode(await retry(other.message.id))).toEqual([409, 'message_outdated']);
    expect(await eventsOf(other.user)).toEqual([['message.failed', 'system']]);
  });

  test('is refused after twenty attempts', async () => {
    const { message } = await createRefusedCode();
    await failing.database.query(testSql('update outbox set attempts = 20 where id = $1', [message.id]));
    const answer = await retry(message.id);
    expect(statusAndCode(answer)).toEqual([409, 'message_tried_too_often']);
  });

  test('of an unknown id gets 404, and a retry needs the scope users:write', async () => {
    expect((await retry('3f0b4a52-8f0c-4a27-9f4e-5f8a3b1f0d77')).status).toBe(404);
    expect((await retry('nonsense')).status).toBe(404);
    const { message } = await createRefusedCode();
    const keyWith = async (scope: string) =>
      (
        await failing.api<IssuedApiKey>('POST', '/admin/v1/keys', {
          bearer: failing.adminKey,
          body: { name: scope, scopes: [scope] },
        })
      ).body.token;
    expect((await retry(message.id, { bearer: await keyWith('users:read') })).status).toBe(403);
    expect((await retry(message.id, { bearer: await keyWith('users:write') })).status).toBe(200);
  });
});
