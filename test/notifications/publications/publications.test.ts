import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../../src/database/sql.js';
import { createPublications, type PublicationMove } from '../../../src/notifications/publications/publications.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

test.each([
  [1, 1],
  [1000, 0.5],
  [null, 0],
])(
  'a publication with the rate %s that is resumed waits %s s: pauses do not exceed the rate',
  async (rate, seconds) => {
    const publications = createPublications({
      database: fresh.database,
      userCondition: async () => sql`true`,
      findUsers: async () => new Map(),
      filterErrors: () => [],
      contentErrors: async () => [],
      record: async () => undefined,
      onDue: () => undefined,
    });
    const id = randomUUID();
    await fresh.database.query(
      testSql(
        `insert into notification_publications (id, status, target, rate, notification, due_at, created_at, updated_at)
       values ($1, 'running', '{"everyone": true}', $2, '{}', db_now(), db_now(), db_now())`,
        [id, rate],
      ),
    );
    const move = (name: PublicationMove) =>
      fresh.database.transaction((tx) =>
        publications.move(tx, id, name, { origin: { actor: 'key:test' }, checkTarget: () => undefined }),
      );
    await move('pause');
    await move('resume');
    const [row] = await fresh.database.query(
      testSql<{ s: number }>(
        'select extract(epoch from due_at - updated_at)::float8 as s from notification_publications where id = $1',
        [id],
      ),
    );
    // Both times are read in one statement.
    expect(row?.s).toBeCloseTo(seconds, 1);
  },
);
