import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { enqueueCode } from '../../../src/authentication/messages/enqueue.js';
import type { OutboxMessage } from '../../../src/contract/administration.js';
import { sql } from '../../../src/database/database.js';
import { newId } from '../../../src/lib/ids.js';
import { createKeyId, createSecretKeys, type SecretKeys } from '../../../src/lib/secret-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { createUser, newPhone } from '../../support/people.js';

let postern: TestApp;
let keys: SecretKeys;
beforeAll(async () => {
  postern = await startTestApp({ APP_NAME: 'Café' });
  keys = createSecretKeys((postern.config.SECRET_KEY ?? []).map((key) => key.reveal()));
});
afterAll(() => postern.close());

const message = (id: string, states: readonly string[]) =>
  eventually(`message ${id} to be ${states.join(' or ')}`, async () => {
    const { body } = await postern.api<OutboxMessage[]>('GET', `/admin/v1/outbox?filter=id:${id}`, {
      bearer: postern.adminKey,
    });
    return body.find(({ state }) => states.includes(state));
  });

/** A code of a flow that is no login. */
const newCode = (userId: string, recipient: string | undefined) =>
  ({ userId, channel: 'sms', kind: 'recovery_code', recipient, code: '482913', lifetime: 600 }) as const;

describe('a code that a flow puts into the outbox', () => {
  test('is sent once the transaction has committed, and lives as long as it was given', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const id = await postern.database.transaction((tx) => enqueueCode(tx, keys, newCode(user.id, user.phone ?? '')));
    const sent = await message(id, ['sent']);
    expect(sent).toMatchObject({
      ...{ user_id: user.id, authentication_id: null, channel: 'sms', kind: 'sms.recovery_code' },
      ...{ recipient: user.phone, code: '482913', attempts: 1 },
    });
    expect(Date.parse(sent.expires_at) - Date.parse(sent.created_at)).toBe(600_000);
    expect(postern.printed).toContain(`SMS to ${user.phone}: code 482913`);
  });

  test('leaves neither row nor job when the transaction fails', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const failing = postern.database.transaction(async (tx) => {
      await enqueueCode(tx, keys, newCode(user.id, user.phone ?? ''));
      throw new Error('it was not to be');
    });
    await expect(failing).rejects.toThrow('it was not to be');
    const left = await postern.database.query(
      sql(`select 1 from outbox where user_id = $1
           union all select 1 from undispatched_messages where user_id = $1
           union all select 1 from graphile_worker._private_jobs where payload->>'user_id' = $1::text`),
      [user.id],
    );
    expect(left).toEqual([]);
  });

  test('is sealed in the database, under the id of its own message', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const id = await enqueueCode(postern.database, keys, newCode(user.id, user.phone ?? ''));
    const [row] = await postern.database.query<{ sealed_code: Buffer; text: string }>(
      sql('select sealed_code, o::text as text from outbox o where id = $1'),
      [id],
    );
    expect(row?.text).not.toContain('482913');
    expect(keys.open(row?.sealed_code ?? Buffer.alloc(0), id)).toBe('482913');
    expect(keys.open(row?.sealed_code ?? Buffer.alloc(0), newId())).toBeUndefined();
  });

  test('waits while its key is missing, and says which one that is', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const gone = 'g'.repeat(32);
    const id = await enqueueCode(postern.database, createSecretKeys([gone]), newCode(user.id, user.phone ?? ''));
    const tried = await eventually('an attempt', async () => {
      const found = await message(id, ['queued', 'failed']);
      return found.last_error === null ? undefined : found;
    });
    expect(tried).toMatchObject({ state: 'queued', code: null });
    expect(tried.last_error).toContain(createKeyId(gone));
    expect(tried.last_error).not.toContain(gone);
  });

  test('to nobody is written as others are, and dropped when it is dispatched', async () => {
    const id = await enqueueCode(postern.database, keys, newCode(newId(), undefined));
    expect(await message(id, ['dropped'])).toMatchObject({ recipient: null, attempts: 1 });
  });
});
