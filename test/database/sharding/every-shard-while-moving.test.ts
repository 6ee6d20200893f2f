import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database, Transaction } from '../../../src/database/database.js';
import type { Scope } from '../../../src/database/sql.js';
import { createOperatorMails } from '../../../src/messages/operators/mails.js';
import { createWebhookDeliveries } from '../../../src/webhooks/deliveries.js';
import { startShardedApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { moveUsers } from '../../support/moves.js';
import { createTestShards, type TestShards } from '../../support/shards.js';
import { testSql } from '../../support/sql.js';
import { createUser, newEmail } from '../../support/users.js';

let shards: TestShards;
let app: TestApp;
let database: Database;
beforeAll(async () => {
  shards = await createTestShards(3);
  app = await startShardedApp(shards);
  database = await shards.open();
});
afterAll(async () => {
  await database.close();
  await app.close();
});

async function newUserOn(server: string, fields: object = {}): Promise<string> {
  for (;;) {
    const { id } = await createUser(app, { email: newEmail(), ...fields });
    if (database.shardOf(id).name === server) return id;
  }
}

/** The moves of the current test. They end after its transaction, which has locks of tables. */
const moves: Promise<unknown>[] = [];
afterEach(() => Promise.all(moves.splice(0)));

/** A directory in whose transactions a user moves from west to east, when east was read and before west is read. */
function movingAfterEast(userId: string): Database['directory'] {
  const moving = (tx: Transaction<Scope>): Transaction<Scope> => ({
    ...tx,
    async query(statement) {
      const rows = await tx.query(statement);
      if (statement.server === 'east' && moves.length === 0) {
        moves.push(moveUsers(shards, [userId], 'east'));
        await eventually('the new map', async () => database.shardOf(userId).name === 'east' || undefined);
      }
      return rows;
    },
  });
  const { directory } = database;
  return { ...directory, transaction: (work) => directory.transaction((tx) => work(moving(tx as Transaction<Scope>))) };
}

test('a replay of chosen deliveries finds those of a user who moves meanwhile', async () => {
  const userId = await newUserOn('west');
  const [endpointId, deliveryId] = [randomUUID(), randomUUID()];
  // It is disabled, so that nothing is sent.
  await database.everyone.query(
    testSql(
      `insert into webhook_endpoints (id, url, description, events, filter, payload, has_inbox_events, enabled, secret,
                                      created_at, updated_at)
       values ($1, '', '', array['user.*'], '', 'thin', false, false, '', db_now(), db_now())`,
      [endpointId],
    ),
  );
  await database.shardOf(userId).everyone.query(
    testSql(
      `with event as (
         insert into webhook_events (user_id, sequence, id, type, data, created_at)
         values ($1, 1, gen_random_uuid(), 'user.created', '{}', db_now()) returning *)
       insert into webhook_deliveries (user_id, id, endpoint_id, sequence, event_id, type, state, created_at)
       select user_id, $2, $3, sequence, id, type, 'failed', created_at from event`,
      [userId, deliveryId, endpointId],
    ),
  );
  const deliveries = createWebhookDeliveries({ ...database, directory: movingAfterEast(userId) });
  const origin = { actor: 'key:test' };
  const replay = await deliveries.replay(endpointId, { delivery_ids: [deliveryId] }, origin);
  expect(replay.events).toBe(1);
  const found = await database
    .shardOf(userId)
    .everyone.query(
      testSql<{ state: string }>('select state from webhook_deliveries where user_id = $1 order by state', [userId]),
    );
  expect(found.map(({ state }) => state)).toEqual(['failed', 'pending']);
});

test('an operator who moves meanwhile gets a mail to all operators', async () => {
  const userId = await newUserOn('west', { role: 'operator' });
  const { everyone } = database.shardOf(userId);
  await everyone.query(testSql('update users set role_active_since = db_now() where id = $1', [userId]));
  const mails = createOperatorMails({ database, isConfigured: true, consoleUrl: () => '' });
  await movingAfterEast(userId).transaction((tx) => mails.write(tx, { kind: 'webhook_gone', values: {} }));
  const written = await Promise.all(
    database.shards.map((shard) =>
      shard.everyone.query(testSql(`select from outbox where user_id = $1 and kind = 'email.webhook_gone'`, [userId])),
    ),
  );
  expect(written.flat()).toHaveLength(1);
});
