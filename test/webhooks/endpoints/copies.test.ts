import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedWebhook, Webhook } from '../../../src/contract/webhooks.js';
import type { Shard } from '../../../src/database/database.js';
import { countUnreadableOnAll } from '../../../src/database/secrets/unreadable.js';
import { createSecretKeys } from '../../../src/lib/crypto/secret-keys.js';
import { repairEndpointCopies } from '../../../src/webhooks/endpoints/copies.js';
import { createAdministration } from '../../support/administration.js';
import { startShardedApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { createTestShards, type TestShards } from '../../support/shards.js';
import { testSql } from '../../support/sql.js';
import { createUser } from '../../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

let shards: TestShards;
let app: TestApp;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  shards = await createTestShards(3);
  app = await startShardedApp(shards, { ALLOW_PRIVATE_NETWORK_TARGETS: 'true' });
});
afterAll(async () => {
  await app.close();
  await receiver.close();
});

const { admin } = createAdministration(() => app);
const create = (events: string[]) =>
  admin<IssuedWebhook>('POST', '/webhooks', { url: `${receiver.url}/${events}`, events });

/** What each server knows of the endpoints. */
const copies = () =>
  Promise.all(
    app.database.shards.map(({ everyone }) =>
      everyone.query<{ id: string; events: string[]; enabled: boolean }>(
        testSql('select id, events, enabled from webhook_endpoints order by created_at'),
      ),
    ),
  );
const onEach = <Value>(value: Value) => app.database.shards.map(() => value);

/** Creates users until each server has one. */
async function usersOnEach(): Promise<ReadonlyMap<Shard, string>> {
  const users = new Map<Shard, string>();
  while (users.size < 3) {
    const { id } = await createUser(app);
    users.set(app.database.shardOf(id), id);
  }
  return users;
}

/** The users with an event of this type that an endpoint got or will get. */
async function usersWith(endpointId: string, type: string): Promise<string[]> {
  await eventually('all events with numbers', async () => {
    const rows = await Promise.all(
      app.database.shards.map(({ everyone }) => everyone.query(testSql('select from webhook_outbox'))),
    );
    return rows.flat().length === 0 || undefined;
  });
  const rows = await Promise.all(
    app.database.shards.map(({ everyone }) =>
      everyone.query<{ user_id: string }>(
        testSql('select user_id from webhook_deliveries where endpoint_id = $1 and type = $2', [endpointId, type]),
      ),
    ),
  );
  return rows.flat().map(({ user_id }) => user_id);
}

test('each server records events for a webhook as soon as the request that creates or changes it is answered', async () => {
  const users = [...(await usersOnEach()).values()].sort();
  const change = (name: string) => Promise.all(users.map((id) => admin('PATCH', `/users/${id}`, { name })));
  const { status, body } = await create(['user.updated']);
  expect(status).toBe(201);
  await change('1');
  expect((await usersWith(body.id, 'user.updated')).sort()).toEqual(users);
  expect((await admin('PATCH', `/webhooks/${body.id}`, { events: ['user.locked'] })).status).toBe(200);
  await Promise.all(users.map((id) => admin('POST', `/users/${id}/lock`, { permanent: true })));
  await change('2');
  expect((await usersWith(body.id, 'user.locked')).sort()).toEqual(users);
  expect(await usersWith(body.id, 'user.updated')).toHaveLength(3);
  // The copies have no secrets, so a new SECRET_KEY leaves no unreadable ones.
  const other = createSecretKeys(['00'.repeat(32)]);
  expect(
    (await countUnreadableOnAll(app.database, other)).find(({ kind }) => /^secrets of webhooks/.test(kind)),
  ).toEqual(expect.objectContaining({ count: 1 }));
  expect((await admin('DELETE', `/webhooks/${body.id}`)).status).toBe(204);
  expect(await copies()).toEqual(onEach([]));
});

test('parallel changes leave the same endpoints on each server', async () => {
  const created = await Promise.all(Array.from({ length: 8 }, () => create(['user.created'])));
  const [first, second, ...others] = created.map(({ body }) => body.id);
  const results = await Promise.all([
    ...['user.locked', 'login.*', 'device.*', 'user.deleted'].map((type) =>
      admin('PATCH', `/webhooks/${first}`, { events: [type] }),
    ),
    admin('PATCH', `/webhooks/${second}`, { enabled: false }),
    ...others.map((id) => admin('DELETE', `/webhooks/${id}`)),
    create(['token.ended']),
  ]);
  expect(results.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 204, 204, 204, 204, 204, 204, 201]);
  const [directory, ...copied] = await copies();
  expect(directory).toHaveLength(3);
  expect(copied).toEqual([directory, directory]);
});

test('while a server does not answer, webhooks can be stopped and deleted, but not created', async () => {
  const stopped = (await create(['user.created'])).body;
  const deleted = (await create(['user.created'])).body;
  const before = await copies();
  await shards.stop('east');
  try {
    expect((await create(['user.created'])).status).toBe(503);
    expect((await admin('PATCH', `/webhooks/${stopped.id}`, { events: ['*'] })).status).toBe(503);
    expect((await admin<Webhook>('GET', `/webhooks/${stopped.id}`)).body.events).toEqual(['user.created']);
    expect((await admin('PATCH', `/webhooks/${stopped.id}`, { enabled: false })).status).toBe(200);
    expect((await admin('DELETE', `/webhooks/${deleted.id}`)).status).toBe(204);
  } finally {
    await shards.start('east');
  }
  const [directory, east, west] = await copies();
  expect(west).toEqual(directory);
  expect(east).toEqual(before[1]);
  await repairEndpointCopies(app.database);
  expect(await copies()).toEqual(onEach(directory));
  expect(directory).toHaveLength((before[0]?.length ?? 0) - 1);
});
