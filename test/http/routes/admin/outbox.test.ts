import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IssuedApiKey, OutboxMessage } from '../../../../src/contract/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { testSql } from '../../../support/sql.js';
import { createUser, messageOf, newPhone, smsLogin } from '../../../support/users.js';

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
    await postern.database.everyone.query(testSql('update outbox set expires_at = db_now() where id = $1', [id]));
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
