import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { dummyHashFor } from '../../../src/credentials/hashes/registry.js';
import { unusedSchemesTask } from '../../../src/credentials/password-schemes.js';
import type { Database, Shard } from '../../../src/database/database.js';
import { runMaintenanceOnce } from '../../../src/database/maintenance/tasks.js';
import type { Statement } from '../../../src/database/sql.js';
import { createImageDisk } from '../../../src/delivery/storage/disk.js';
import { cleanUpImages } from '../../../src/notifications/images/cleanup.js';
import { startShardedApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { createImageFolder } from '../../support/image-fixtures.js';
import { moveUsers } from '../../support/moves.js';
import { createTestShards, type TestShards } from '../../support/shards.js';
import { testSql } from '../../support/sql.js';
import { newEmail } from '../../support/users.js';

let shards: TestShards;
let app: TestApp;
/** The database as the service uses it: transactions of `app.database` are open on every server. */
let database: Database;
let folder: Awaited<ReturnType<typeof createImageFolder>>;
beforeAll(async () => {
  folder = await createImageFolder();
  shards = await createTestShards(3);
  app = await startShardedApp(shards);
  database = await shards.open();
});
afterAll(async () => {
  await database.close();
  await app.close();
  await folder.remove();
});

const importedHash = dummyHashFor('$pbkdf2-sha256$1000') ?? '';
const postUser = async (body: object) => {
  const answer = await app.api<User>('POST', '/admin/v1/users', { bearer: app.adminKey, body });
  expect(answer.status).toBe(201);
  return answer.body;
};
/** A user of a server with the hash. */
async function createUserOn(server: string, passwordHash: string): Promise<User> {
  for (;;) {
    const user = await postUser({ email: newEmail(), password_hash: passwordHash });
    if (app.database.shardOf(user.id).name === server) return user;
    await app.api('DELETE', `/admin/v1/users/${user.id}`, { bearer: app.adminKey });
  }
}
const onDirectory = <Row extends object>(text: string, values: unknown[] = []) =>
  app.database.directory.query<Row>(testSql<Row>(text, values) as never);
const schemes = async () =>
  (await onDirectory<{ scheme: string }>('select scheme from password_schemes order by scheme')).map(
    ({ scheme }) => scheme,
  );
const dropUnused = () => runMaintenanceOnce(database, [unusedSchemesTask(database)]);

test('a scheme of a password hash stays while a user of any server has it, or a server is down', async () => {
  const user = await createUserOn('east', importedHash);
  const [scheme] = await schemes();
  expect(scheme).toContain('pbkdf2');
  await dropUnused();
  expect(await schemes()).toEqual([scheme]);
  await app.api('DELETE', `/admin/v1/users/${user.id}`, { bearer: app.adminKey });
  await shards.stop('west');
  try {
    await dropUnused();
    expect(await schemes()).toEqual([scheme]);
  } finally {
    await shards.start('west');
  }
  await dropUnused();
  expect(await schemes()).toEqual([]);
});

/**
 * The database with servers that are read one after the other: `east` when `west` has answered. In between, the user moves
 * from `east` to `west` once.
 */
function withMove(user: User): { readonly slowDatabase: Database; readonly reads: () => number } {
  let reads = 0;
  let isWestRead = false;
  const query = async <Row extends object>({ name, everyone }: Shard, statement: Statement<Row>) => {
    if (name === 'east') await eventually('the answer of west', async () => isWestRead || undefined);
    const rows = await everyone.query(statement);
    if (name === 'east') isWestRead = false;
    if (name === 'west') {
      reads += 1;
      if (reads === 1) await moveUsers(shards, [user.id], 'west');
      isWestRead = true;
    }
    return rows;
  };
  const slow = database.shards.map(
    (shard): Shard => ({
      ...shard,
      everyone: { ...shard.everyone, query: (statement) => query(shard, statement) },
    }),
  );
  return { slowDatabase: { ...database, shards: slow }, reads: () => reads };
}

test('an image stays, also if the user who sees it moves while the servers are read', async () => {
  const user = await createUserOn('east', importedHash);
  const image = 'https://images.example/a.png';
  const published = await app.api('POST', '/admin/v1/notifications', {
    bearer: app.adminKey,
    body: { user_id: user.id, notification_type: 'payment', description: 'You were paid', image },
  });
  expect(published.status).toBe(201);
  await onDirectory(`update images set check_after = db_now() - interval '1 day'`);
  const { slowDatabase, reads } = withMove(user);
  const storage = createImageDisk({ folder: folder.path });
  expect(await cleanUpImages({ database: slowDatabase, storage })).toBe(0);
  expect(reads()).toBe(2);
  expect(await onDirectory('select from images')).toHaveLength(1);
  await onDirectory('delete from images');
});

test('images stay while a server is down or is not in SHARDS of the instance, and files without a row are removed', async () => {
  let now = 0;
  const storage = createImageDisk({ folder: folder.path, monotonicNow: () => now });
  const clean = () => cleanUpImages({ database, storage });
  const image = randomUUID();
  await onDirectory(
    `insert into images (id, created_at, updated_at, check_after) values ($1, db_now(), db_now(), db_now() - interval '1 day')`,
    [image],
  );
  const leftover = randomUUID();
  const isUnsettled = async () => (await storage.longUnsettled()).includes(leftover);
  await storage.markUnsettled(leftover);
  // Its age counts from the first check.
  await isUnsettled();
  now += 24 * 3_600_000;
  expect(await isUnsettled()).toBe(true);
  const imageIds = async () => (await onDirectory<{ id: string }>('select id from images')).map(({ id }) => id);

  await shards.stop('west');
  try {
    await expect(clean()).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await imageIds()).toEqual([image]);
    expect(await isUnsettled()).toBe(false);
  } finally {
    await shards.start('west');
  }
  await onDirectory(`insert into shards (name) values ('north')`);
  await expect(clean()).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(await imageIds()).toEqual([image]);
  await onDirectory(`delete from shards where name = 'north'`);
  expect(await clean()).toBe(1);
  expect(await imageIds()).toEqual([]);
});
