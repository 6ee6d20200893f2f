import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anonymiseActor as blank } from '../../../src/notifications/inbox/anonymise-actor.js';
import type { Notifications } from '../../../src/notifications/notifications.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import {
  createInbox,
  createInboxes,
  createTestNotifications,
  inboxRowOf,
  input,
  newestFirst,
  problemOf,
  publishAll,
} from '../../support/inbox.js';
import { testSql } from '../../support/sql.js';

let fresh: TestDatabase;
let notifications: Notifications;
beforeAll(async () => {
  fresh = await createTestDatabase();
  notifications = createTestNotifications(fresh.database);
});
afterAll(() => fresh.drop());

const notified: string[] = [];
const blankActor = (actor: string) => blank(fresh.database, actor, (users) => void notified.push(...users));
const publish = (userId: string, fields: object) =>
  publishAll({ database: fresh.database, notifications }, [input(userId, fields)]);
const listOf = async (userId: string) => (await notifications.list(userId, newestFirst))?.items ?? [];
const changesOf = (userId: string) =>
  fresh.database.query<{ id: string; change: number }>(
    testSql('select id, change_sequence as change from notifications where user_id = $1 order by change_sequence', [
      userId,
    ]),
  );

test('the name is removed from the inboxes of other users as a change; ids and other names stay', async () => {
  const [ann = '', bob = ''] = await createInboxes(fresh.database, 2);
  const [actor, other] = [randomUUID(), randomUUID()];
  const [first] = await publish(ann, { actor_id: actor, actor: 'Grace' });
  const [second] = await publish(ann, { actor_id: other, actor: 'Ada' });
  const [third] = await publish(ann, { actor_id: actor, actor: 'Grace' });
  await publish(bob, { actor_id: actor, actor: 'Grace' });
  await publish(bob, { actor_id: actor });

  await blankActor(actor);

  const [newest, middle, oldest] = await listOf(ann);
  expect(newest).toEqual({ ...third, actor: null, updated_at: newest?.updated_at });
  expect(middle).toEqual(second);
  expect(oldest).toEqual({ ...first, actor: null, updated_at: oldest?.updated_at });
  const head = await inboxRowOf(fresh.database, ann);
  expect(head).toEqual({ last_change_sequence: 5, last_time: newest?.updated_at, total: 3 });
  expect((third?.updated_at ?? '') < (oldest?.updated_at ?? '')).toBe(true);
  expect((oldest?.updated_at ?? '') < (newest?.updated_at ?? '')).toBe(true);
  expect(await changesOf(ann)).toEqual([
    { id: second?.id, change: 2 },
    { id: first?.id, change: 4 },
    { id: third?.id, change: 5 },
  ]);
  expect((await listOf(bob)).map((item) => [item.actor_id, item.actor])).toEqual([
    [actor, null],
    [actor, null],
  ]);

  expect(notified.splice(0).sort()).toEqual([ann, bob].sort());
  await blankActor(actor);
  expect(await inboxRowOf(fresh.database, ann)).toEqual(head);
  expect(notified).toEqual([]);
});

test('the name is removed from more notifications than fit into one transaction', async () => {
  const user = await createInbox(fresh.database);
  const actor = randomUUID();
  await publishAll(
    { database: fresh.database, notifications },
    Array.from({ length: 1200 }, () => input(user, { actor_id: actor, actor: 'Grace' })),
  );
  await blankActor(actor);
  const named = testSql('select 1 from notifications where actor_id = $1 and actor is not null', [actor]);
  expect(await fresh.database.query(named)).toEqual([]);
  expect(await inboxRowOf(fresh.database, user)).toMatchObject({ last_change_sequence: 2400, total: 1200 });
});

test('a locked inbox does not block the others, and is left to the next attempt', async () => {
  const [locked = '', open = ''] = await createInboxes(fresh.database, 2);
  const actor = randomUUID();
  for (const user of [locked, open]) await publish(user, { actor_id: actor, actor: 'Grace' });
  await fresh.database.transaction(async (tx) => {
    await tx.query(testSql('select 1 from inboxes where user_id = $1 for update', [locked]));
    expect((await problemOf(blankActor(actor))).code).toBe('storage_unavailable');
  });
  expect([(await listOf(locked))[0]?.actor, (await listOf(open))[0]?.actor]).toEqual(['Grace', null]);
  await blankActor(actor);
  expect((await listOf(locked))[0]?.actor).toBeNull();
});

test('an inbox that is being erased itself is skipped', async () => {
  const user = await createInbox(fresh.database);
  const actor = randomUUID();
  await publish(user, { actor_id: actor, actor: 'Grace' });
  await fresh.database.query(testSql('delete from inboxes where user_id = $1', [user]));
  await blankActor(actor);
});
