import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createDatabase } from '../../src/database/database.js';
import { createSecretKeys } from '../../src/lib/crypto/secret-keys.js';
import { createWebhooks } from '../../src/webhooks/endpoints.js';
import type { AttemptResult } from '../../src/webhooks/schedule.js';
import { startWebhooks } from '../../src/webhooks/sending.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startFaultyProxy } from '../support/fault-injection/proxy.js';
import { testSql } from '../support/sql.js';

const keys = createSecretKeys(['secret '.repeat(8)]);
/** Milliseconds: less than a lease. */
const deadline = 20_000;
let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const rows = <T extends object>(text: string, values: unknown[] = []) => db.database.query<T>(testSql(text, values));

/** A sender that reaches the database through a proxy, and an endpoint whose events it sends. */
async function start(send: () => Promise<unknown>) {
  const { host, port } = db.target;
  const proxy = await startFaultyProxy(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  onTestFinished(() => proxy.close());
  const webhooks = createWebhooks({ database: db.database, keys, checkUrl: () => undefined });
  const { id } = await db.database.transaction((tx) =>
    webhooks.create(
      tx,
      { url: 'https://example.com', description: '', events: ['user.*'], filter: '', payload: 'thin' },
      { actor: 'key:environment' },
    ),
  );
  const database = createDatabase({
    target: { ...db.target, host: '127.0.0.1', port: proxy.port },
    size: 5,
    onConnectionError: () => undefined,
  });
  onTestFinished(() => database.close());
  let count = 0;
  const accepted: AttemptResult = {
    ok: true,
    status: 204,
    answer: '',
    error: undefined,
    retryAfter: undefined,
    durationMs: 1,
  };
  const sending = startWebhooks({
    database,
    keys,
    sender: {
      async send() {
        count += 1;
        await send();
        return accepted;
      },
    },
    resources: { read: async () => ({}) },
    mails: { write: async () => undefined },
    log: { warn: () => undefined },
  });
  onTestFinished(() => sending.stop());
  return { id, proxy, attempts: () => count };
}

/** Adds an event of a new user and its delivery. */
const addDelivery = (endpointId: string, marker: string) =>
  rows(
    `with event as (
       insert into webhook_events (user_id, sequence, id, type, data, created_at)
       values ($1, 1, gen_random_uuid(), 'user.updated', jsonb_build_object('marker', $3::text), now()) returning *),
     queue as (insert into webhook_queues (user_id, endpoint_id, pending, due_at) values ($1, $2, 1, now()))
     insert into webhook_deliveries (user_id, id, endpoint_id, sequence, event_id, type, created_at)
     select user_id, gen_random_uuid(), $2, 1, id, type, now() from event`,
    [randomUUID(), endpointId, marker],
  );
const untilEmpty = (endpointId: string) =>
  eventually(
    'the end of the deliveries',
    async () =>
      (await rows('select from webhook_queues where endpoint_id = $1', [endpointId])).length === 0 || undefined,
    deadline,
  );

test('the result of a delivery is stored after an outage of the database, and the event is not sent again', async () => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { id, proxy, attempts } = await start(() => released);
  await addDelivery(id, 'outage');
  await eventually('the attempt', async () => attempts() === 1 || undefined);
  proxy.down();
  release();
  await eventually('a write that fails', async () => proxy.refused() > 0 || undefined);
  await proxy.up();
  await untilEmpty(id);
  expect(attempts()).toBe(1);
});

test('a queue that was taken by a statement whose answer was lost is taken again before its lease ends', async () => {
  const { id, proxy, attempts } = await start(async () => undefined);
  await addDelivery(id, 'first');
  await untilEmpty(id);
  const lost = proxy.loseAnswer('marker-of-the-lost-answer');
  await addDelivery(id, 'marker-of-the-lost-answer');
  await lost;
  await untilEmpty(id);
  expect(attempts()).toBe(2);
});
