import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSecretKeys } from '../../src/lib/crypto/secret-keys.js';
import { newId } from '../../src/lib/ids.js';
import { createRequestLimits } from '../../src/limits/request-limits.js';
import { insertOpenAuthentication } from '../../src/login/authentications.js';
import { dispatchMessages } from '../../src/messages/dispatch.js';
import { enqueueCode } from '../../src/messages/enqueue.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

/** No service runs, so only the tests dispatch, and nothing is sent. */
let testDatabase: TestDatabase;
beforeEach(async () => {
  testDatabase = await createTestDatabase();
});
afterEach(() => testDatabase.drop());

const keys = createSecretKeys([randomBytes(32).toString('hex')]);

/** Starts a login that sends a code. Without a recipient, the identity has no account. */
async function startLogin(
  recipient?: string,
  recentCodes = 1,
): Promise<{ userId: string; id: string; messageId: string }> {
  const login = {
    ...{ userId: newId(), id: newId(), epoch: 0, authenticator: 'sms', device: { id: newId() } },
    ...{ keyThumbprint: undefined, knownDevice: undefined, origin: { actor: 'user' } },
  };
  const messageId = newId();
  const encryptedCode = keys.encrypt('123456', messageId);
  const message = {
    id: messageId,
    channel: 'sms',
    kind: 'sms.code',
    recipient,
    encryptedCode,
    params: null,
    recentCodes,
  } as const;
  await insertOpenAuthentication(testDatabase.database, login, { state: {}, lifetime: 300 }, { factor: 1, message });
  return { userId: login.userId, id: login.id, messageId };
}

/** At most this many run at a time: more would wait too long for the few connections of a busy machine. */
const maxParallel = 50;
async function many<T>(count: number, create: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let start = 0; start < count; start += maxParallel) {
    const length = Math.min(maxParallel, count - start);
    results.push(...(await Promise.all(Array.from({ length }, (_, index) => create(start + index)))));
  }
  return results;
}
/** Dispatches all queued messages. @returns the number of statements */
async function dispatchAll(): Promise<number> {
  for (let statements = 1; ; statements += 1) if (!(await dispatchMessages(testDatabase.database))) return statements;
}
/** Ids of messages in the order in which the queue runs their jobs. */
const jobs = async () =>
  (
    await testDatabase.database.query<{ id: string }>(
      testSql(`select payload->>'id' as id from graphile_worker._private_jobs order by priority, run_at, id`),
    )
  ).map(({ id }) => id);
const statusOf = async ({ id }: { readonly id: string }) => {
  const [row] = await testDatabase.database.query<{ status: string }>(
    testSql('select status from authentications where id = $1', [id]),
  );
  return row?.status;
};
const countOf = async (rowsOf: string) => {
  const [row] = await testDatabase.database.query<{ count: number }>(
    testSql(`select count(*)::int as count from ${rowsOf}`),
  );
  return row?.count;
};

test('logins with and without a recipient become pending in one statement, before a message is sent', async () => {
  const [known, unknown] = [await startLogin('+15551234567'), await startLogin()];
  expect([await statusOf(known), await statusOf(unknown)]).toEqual(['created', 'created']);
  expect(await dispatchAll()).toBe(1);
  expect([await statusOf(known), await statusOf(unknown)]).toEqual(['pending', 'pending']);
  expect(await jobs()).toEqual([known.messageId]);
  const states = 'select id, state, attempts from outbox order by recipient';
  expect(await testDatabase.database.query(testSql(states))).toEqual([
    { id: known.messageId, state: 'queued', attempts: 0 },
    { id: unknown.messageId, state: 'dropped', attempts: 1 },
  ]);
  expect(await countOf('undispatched_messages')).toBe(0);
});

test('a thousand codes without a recipient take three statements and no job', async () => {
  await many(1100, () => startLogin());
  const withRecipient = await startLogin('+15551234567');
  expect(await dispatchAll()).toBe(3);
  expect(await jobs()).toEqual([withRecipient.messageId]);
  expect(await countOf(`outbox where state = 'dropped'`)).toBe(1100);
  expect(await countOf(`authentications where status = 'pending'`)).toBe(1101);
});

test('several instances give each message one job', async () => {
  const started = await many(700, (index) => startLogin(`+1555${1_000_000 + index}`));
  await many(6, dispatchAll);
  await dispatchAll();
  expect((await jobs()).sort()).toEqual(started.map(({ messageId }) => messageId).sort());
});

test('the queue sends codes that a session requested first, then those for networks with the fewest recent codes, then the oldest', async () => {
  const counts = [3, 1, 2, 1];
  const started = [];
  for (const recentCodes of counts) started.push(await startLogin('+15551234567', recentCodes));
  const code = {
    channel: 'sms',
    kind: 'proof_code',
    recipient: '+15551234567',
    code: '123456',
    lifetime: 300,
  } as const;
  const sessionCode = await enqueueCode(testDatabase.database, keys, { ...code, userId: newId() });
  await testDatabase.database.query(testSql(`select graphile_worker.add_job('notice.send', '{"id": "a notice"}')`));
  await dispatchAll();
  const ids = started.map(({ messageId }) => messageId);
  expect(await jobs()).toEqual([sessionCode, ids[1], ids[3], ids[2], ids[0], 'a notice']);
});

test('a message that was deleted before its dispatch leaves no rows behind', async () => {
  const { messageId } = await startLogin('+15551234567');
  await testDatabase.database.query(testSql('delete from outbox where id = $1', [messageId]));
  await dispatchAll();
  expect([await countOf('undispatched_messages'), await jobs()]).toEqual([0, []]);
});

describe.each(['authentications', 'outbox'])('while a transaction locks a row of %s', (table) => {
  test('other messages are dispatched, and the message of the locked row afterwards', async () => {
    const [lockedLogin, other, withoutRecipient] = [
      await startLogin('+15551234567'),
      await startLogin('+15557654321'),
      await startLogin(),
    ];
    const client = new pg.Client(testDatabase.target);
    await client.connect();
    await client.query('begin');
    await client.query(`select from ${table} where user_id = $1 for update`, [lockedLogin.userId]);
    await dispatchAll();
    expect([await jobs(), await statusOf(lockedLogin)]).toEqual([[other.messageId], 'created']);
    expect([await statusOf(other), await statusOf(withoutRecipient)]).toEqual(['pending', 'pending']);
    await client.end();
    await dispatchAll();
    expect([await jobs(), await statusOf(lockedLogin)]).toEqual([[lockedLogin.messageId, other.messageId], 'pending']);
  });
});

describe('the number of recent codes', () => {
  let identities = 0;
  /** Counts a code for another identity at each call. */
  async function recentCodesOf(clientAddress: string, messagesPerAddress = 0): Promise<number> {
    const limits = createRequestLimits({
      database: testDatabase.database,
      keys,
      loginsPerAddress: 0,
      messagesPerAddress,
      messagesPerPrefix: 0,
      messagesInTotal: 0,
    });
    identities += 1;
    const { recentCodes } = await limits.countCode({
      clientAddress,
      identityDigest: Buffer.from(`identity ${identities}`),
      userId: newId(),
      channel: 'email',
      identity: { type: 'email', canonical: `n${identities}@example.com` },
      address: undefined,
      knownDevice: undefined,
    });
    return recentCodes;
  }

  test('is how many codes the client’s network requested recently, by the clock of the database', async () => {
    expect(await recentCodesOf('192.0.2.1')).toBe(1);
    expect(await recentCodesOf('192.0.2.1')).toBe(2);
    expect(await recentCodesOf('192.0.2.2')).toBe(1);
    expect((await many(20, () => recentCodesOf('2001:db8::1'))).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    expect(await recentCodesOf('2001:db8::2')).toBe(21);
    const stepClock = (offset: string) =>
      testDatabase.database.query(
        testSql(`create or replace function db_now() returns timestamptz language sql volatile
             as $$ select clock_timestamp() + interval '${offset}' $$`),
      );
    await stepClock('10 minutes');
    expect(await recentCodesOf('2001:db8::1')).toBe(12);
    await stepClock('-1 year');
    expect(await recentCodesOf('2001:db8::1')).toBe(1000);
  });

  test('increases with each code that is not refused', async () => {
    expect(await recentCodesOf('192.0.2.1', 2)).toBe(1);
    expect(await recentCodesOf('192.0.2.1', 2)).toBe(2);
    await expect(recentCodesOf('192.0.2.1', 2)).rejects.toMatchObject({ code: 'too_many_requests' });
    expect(await recentCodesOf('192.0.2.1')).toBe(3);
  });
});
