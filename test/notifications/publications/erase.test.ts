import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../../src/database/sql.js';
import { erasePublished } from '../../../src/notifications/publications/erase.js';
import { createFanOut } from '../../../src/notifications/publications/fan-out.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { createInboxes, createTestNotifications } from '../../support/inbox.js';
import { testSql } from '../../support/sql.js';

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase(undefined, { queryTimeout: 60_000 });
});
afterAll(() => fresh.drop());

const rows = <Row extends object>(text: string, values: unknown[] = []) =>
  fresh.database.query<Row>(testSql(text, values));

async function newPublication(target: object): Promise<string> {
  const id = randomUUID();
  await rows(
    `insert into notification_publications (id, status, target, rate, notification, due_at, created_at, updated_at)
     values ($1, 'scheduled', $2, 4, '{"notification_type": "payment", "description": "A payment"}', db_now(), db_now(), db_now())`,
    [id, JSON.stringify(target)],
  );
  return id;
}
const dueNow = (id: string) => rows('update notification_publications set due_at = db_now() where id = $1', [id]);
const deleteUser = async (id: string) => {
  await rows('delete from users where id = $1', [id]);
  await rows('delete from inboxes where user_id = $1', [id]);
};
/** The bounds and users of the chunks, and the position. */
async function stored(id: string) {
  const chunks = await rows<{ users: string[] }>(
    'select first_user || user_ids || last_user as users from publication_chunks where publication_id = $1 order by first_user',
    [id],
  );
  const [row] = await rows<{ position: string | null; status: string; created: number }>(
    'select position, status, created from notification_publications where id = $1',
    [id],
  );
  return { ...row, chunks: chunks.map(({ users }) => users) };
}
function createStep(publish = createTestNotifications(fresh.database).publishTo) {
  return createFanOut({
    database: fresh.database,
    userCondition: async () => sql`true`,
    publish,
    remove: createTestNotifications(fresh.database).removeAll,
    announce: async () => undefined,
    onFailure: (error) => {
      throw error;
    },
    isBusy: () => false,
  });
}

test('the id of a deleted user is neither a bound of a chunk nor the position, and the rest is reached once', async () => {
  const users = (await createInboxes(fresh.database, 5)).sort();
  const [a = '', b = '', c = '', d = '', e = ''] = users;
  const id = await newPublication({ everyone: true });
  const step = createStep();
  // The start, and a chunk of two.
  await step();
  await step();
  expect(await stored(id)).toMatchObject({ position: b, chunks: [[a, a, b, b]] });
  await deleteUser(b);
  await erasePublished(fresh.database, b);
  expect(await stored(id)).toMatchObject({ position: a, chunks: [[a, a, a]] });
  await deleteUser(a);
  await erasePublished(fresh.database, a);
  expect(await stored(id)).toMatchObject({ position: '00000000-0000-0000-0000-000000000000', chunks: [] });
  for (const _ of [c, e]) {
    await dueNow(id);
    await step();
  }
  expect(await stored(id)).toEqual({
    position: null,
    status: 'done',
    created: 5,
    chunks: [
      [c, c, d, d],
      [e, e, e],
    ],
  });
  for (const user of users) await deleteUser(user);
});

test('a chunk that is being written leaves no id of a user who is deleted meanwhile', async () => {
  const users = (await createInboxes(fresh.database, 3)).sort();
  const [, b = ''] = users;
  // Examined by the chunk, and not reached.
  await rows(`update users set status = 'deactivated' where id = $1`, [b]);
  const id = await newPublication({ users: 'locale:neq:xx' });
  let erased: Promise<void> | undefined;
  let isErased = false;
  const { publishTo } = createTestNotifications(fresh.database);
  const step = createStep(async (tx, content, to) => {
    await deleteUser(b);
    erased = erasePublished(fresh.database, b).then(() => {
      isErased = true;
    });
    await eventually('the erasure to end or to wait for the chunk', async () => {
      const waiting = await rows(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return isErased || waiting.length > 0 || undefined;
    });
    return publishTo(tx, content, to);
  });
  await step();
  await step();
  await erased;
  const { position, created } = await stored(id);
  expect(created).toBe(1);
  expect(position).toBe(users[0]);
});

test('what was published to a guest who was merged stays a part of the publication, and is recalled', async () => {
  await rows('delete from notifications');
  const [one = '', ...others] = (await createInboxes(fresh.database, 4)).sort();
  const [two = '', three = '', late = ''] = others;
  const id = await newPublication({ count: 3 });
  await rows('insert into publication_recipients (publication_id, user_id) select $1, id from unnest($2::uuid[]) id', [
    id,
    [one, two, three],
  ]);
  const step = createStep();
  for (let done = false; !done; ) {
    await dueNow(id);
    await step();
    done = (await stored(id)).status === 'done';
  }
  // The first one was a guest, whose notifications now belong to the second one. The third one goes to who got nothing.
  const merge = async (from: string, to: string) => {
    await rows(
      `update notifications set user_id = $2, sequence = sequence + 1000, change_sequence = change_sequence + 1000
       where user_id = $1`,
      [from, to],
    );
    await deleteUser(from);
  };
  await merge(one, two);
  await erasePublished(fresh.database, one);
  await merge(three, late);
  await erasePublished(fresh.database, three);
  const { chunks } = await stored(id);
  expect(new Set(chunks.flat())).toEqual(new Set([two, late]));
  for (const [first, ...rest] of chunks) expect([first, ...rest]).toEqual([first, ...rest].sort());
  await rows('update notification_publications set recall_requested_at = db_now(), due_at = db_now() where id = $1', [
    id,
  ]);
  while (
    (await rows('select from notification_publications where id = $1 and recall_finished_at is null', [id])).length > 0
  )
    await step();
  expect(await rows('select removed::int from notification_publications where id = $1', [id])).toEqual([
    { removed: 3 },
  ]);
  expect(await rows('select from notifications where user_id = any ($1)', [[two, late]])).toEqual([]);
});
