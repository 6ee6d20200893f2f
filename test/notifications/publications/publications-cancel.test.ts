import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../../src/database/sql.js';
import { createFanOut } from '../../../src/notifications/publications/fan-out.js';
import { createPublications } from '../../../src/notifications/publications/publications.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createInboxes, createTestNotifications } from '../../support/inbox.js';
import { raceRounds } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';

/** 150 before each push, and 1,000 in `.ci/full`. A round takes milliseconds. */
const rounds = 50 * raceRounds;

let fresh: TestDatabase;
const topicId = randomUUID();
beforeAll(async () => {
  fresh = await createTestDatabase();
  // Two chunks while others use the database.
  const users = await createInboxes(fresh.database, 600);
  await rows(
    `insert into topics (id, key, title, is_open, created_at, updated_at) values ($1, 'club', '', false, db_now(), db_now())`,
    [topicId],
  );
  await rows(
    'insert into subscriptions (topic_id, user_id, created_at) select $1, id, db_now() from unnest($2::uuid[]) id',
    [topicId, users],
  );
});
afterAll(() => fresh.drop());

const rows = <Row extends object>(text: string, values: unknown[] = []) =>
  fresh.database.query<Row>(testSql(text, values));
const count = async (text: string): Promise<number> => (await rows<{ n: number }>(`select ${text} as n`))[0]?.n ?? 0;
const notifications = () => count('(select count(*)::int from notifications)');

test(`after a cancellation has answered, nothing more is created: ${rounds} rounds against a running fan-out`, {
  timeout: 600_000,
}, async () => {
  const { database } = fresh;
  const { publishTo: publish, removeAll: remove } = createTestNotifications(database);
  const step = createFanOut({
    ...{ database, publish, remove, userCondition: async () => sql`true`, announce: async () => undefined },
    onFailure: (error) => {
      throw error;
    },
    isBusy: () => true,
  });
  const publications = createPublications({
    ...{ database, userCondition: async () => sql`true`, findUsers: async () => new Map() },
    ...{ filterErrors: () => [], contentErrors: async () => [], record: async () => undefined, onDue: () => undefined },
  });
  const cancel = (id: string) =>
    database.transaction(async (tx) => {
      const moved = await publications.move(tx, id, 'cancel', {
        origin: { actor: 'system' },
        checkTarget: () => undefined,
      });
      return moved.publication;
    });
  const seen = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    await rows('delete from notification_publications');
    await rows('delete from notifications');
    const id = randomUUID();
    await rows(
      `insert into notification_publications (id, status, target, topic_id, notification, due_at, created_at, updated_at)
       values ($1, 'scheduled', '{"topic": "club"}', $2, '{"notification_type": "payment", "description": "A payment"}',
               db_now(), db_now(), db_now())`,
      [id, topicId],
    );
    // The start, then the first or the second chunk at the same time as the cancellation.
    for (let done = 0; done <= round % 2; done += 1) await step();
    const running = step();
    for (let turn = 0; turn < round % 12; turn += 1) await nextTurn();
    const answer = await cancel(id).catch(() => undefined);
    const [atAnswer, { created = 0, status = 'done' } = {}] = [await notifications(), answer];
    await running;
    while ((await step()).isDone);
    seen.add(`${status} ${answer === undefined ? 'late' : created}`);
    expect(await notifications()).toBe(answer === undefined ? 600 : created);
    expect(atAnswer).toBe(answer === undefined ? atAnswer : created);
  }
  // It came before a chunk, and after one.
  expect([...seen].some((each) => each === 'cancelled 0')).toBe(true);
  expect([...seen].some((each) => /^cancelled [1-9]/.test(each))).toBe(true);
});
