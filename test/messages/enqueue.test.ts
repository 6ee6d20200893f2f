import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OutboxMessage } from '../../src/contract/administration.js';
import { createKeyId, createSecretKeys, type SecretKeys } from '../../src/lib/crypto/secret-keys.js';
import { newId } from '../../src/lib/ids.js';
import { enqueueCode } from '../../src/messages/enqueue.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';
import { createUser, newPhone } from '../support/users.js';

let postern: TestApp;
let keys: SecretKeys;
beforeAll(async () => {
  postern = await startTestApp({ APP_NAME: 'Café' });
  keys = createSecretKeys((postern.config.SECRET_KEY ?? []).map((key) => key.reveal()));
});
afterAll(() => postern.close());

const messageInState = (id: string, states: readonly string[]) =>
  eventually(`message ${id} to be ${states.join(' or ')}`, async () => {
    const { body } = await postern.api<OutboxMessage[]>('GET', `/admin/v1/outbox?filter=id:${id}`, {
      bearer: postern.adminKey,
    });
    return body.find(({ state }) => states.includes(state));
  });

/** A code of another flow than login. */
const newCode = (userId: string, recipient: string | undefined) =>
  ({ userId, channel: 'sms', kind: 'recovery_code', recipient, code: '482913', lifetime: 600 }) as const;

describe('a code in the outbox', () => {
  test('is sent after the transaction has committed, and expires after its lifetime', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const id = await postern.database.transaction((tx) => enqueueCode(tx, keys, newCode(user.id, user.phone ?? '')));
    const sent = await messageInState(id, ['sent']);
    expect(sent).toMatchObject({
      user_id: user.id,
      authentication_id: null,
      channel: 'sms',
      kind: 'sms.recovery_code',
      recipient: user.phone,
      code: '482913',
      attempts: 1,
    });
    expect(Date.parse(sent.expires_at) - Date.parse(sent.created_at)).toBe(600_000);
    expect(postern.printed).toContain(`SMS to ${user.phone}: code 482913`);
  });

  test('leaves neither a row nor a job when the transaction fails', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const failing = postern.database.transaction(async (tx) => {
      await enqueueCode(tx, keys, newCode(user.id, user.phone ?? ''));
      throw new Error('rolled back on purpose');
    });
    await expect(failing).rejects.toThrow('rolled back on purpose');
    const left = await postern.database.query(
      testSql(
        `select 1 from outbox where user_id = $1
           union all select 1 from undispatched_messages where user_id = $1
           union all select 1 from graphile_worker._private_jobs where payload->>'user_id' = $1::text`,
        [user.id],
      ),
    );
    expect(left).toEqual([]);
  });

  test('is encrypted in the database, bound to the id of its message', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const id = await enqueueCode(postern.database, keys, newCode(user.id, user.phone ?? ''));
    const [row] = await postern.database.query<{ sealed_code: Buffer; text: string }>(
      testSql('select sealed_code, o::text as text from outbox o where id = $1', [id]),
    );
    expect(row?.text).not.toContain('482913');
    expect(keys.decrypt(row?.sealed_code ?? Buffer.alloc(0), id)).toBe('482913');
    expect(keys.decrypt(row?.sealed_code ?? Buffer.alloc(0), newId())).toBeUndefined();
  });

  test('is retried while its key is missing, with the id of the key in the error', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const gone = 'g'.repeat(32);
    const id = await enqueueCode(postern.database, createSecretKeys([gone]), newCode(user.id, user.phone ?? ''));
    const tried = await eventually('an attempt', async () => {
      const found = await messageInState(id, ['queued', 'failed']);
      return found.last_error === null ? undefined : found;
    });
    expect(tried).toMatchObject({ state: 'queued', code: null });
    expect(tried.last_error).toContain(createKeyId(gone));
    expect(tried.last_error).not.toContain(gone);
  });

  test('without a recipient is written like others, and dropped by the dispatch', async () => {
    const id = await enqueueCode(postern.database, keys, newCode(newId(), undefined));
    expect(await messageInState(id, ['dropped'])).toMatchObject({ recipient: null, attempts: 1 });
  });
});
