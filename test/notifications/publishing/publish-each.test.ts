import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Problem } from '../../../src/lib/problem.js';
import { publishEach } from '../../../src/notifications/publishing/publish-each.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createInboxes, createTestNotifications, inboxRowOf, input, problemOf } from '../../support/inbox.js';

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

const item = (userId: string) => ({ input: input(userId), exactNumber: undefined });

test('a user who is deleted after validation does not affect the other items', async () => {
  const { database } = fresh;
  const real = createTestNotifications(database);
  const [ann = '', bob = ''] = await createInboxes(database, 2);
  const notifications = { ...real, validateEach: async (inputs: readonly object[]) => inputs.map(() => []) };
  const outcomes = await publishEach({ database, notifications }, [
    item(ann),
    item(randomUUID()),
    item(bob),
    item(randomUUID()),
  ]);
  const gone = { errors: [{ field: 'user_id', code: 'unknown_user' }] };
  const published = { ids: [expect.any(String)] };
  expect(outcomes).toEqual([published, gone, published, gone]);
  expect([await inboxRowOf(database, ann), await inboxRowOf(database, bob)]).toMatchObject([
    { total: 1 },
    { total: 1 },
  ]);
});

test('any other error is thrown, and nothing is published', async () => {
  const { database } = fresh;
  const real = createTestNotifications(database);
  const [ann = ''] = await createInboxes(database, 1);
  for (const problem of [new Problem('storage_unavailable'), new Problem('validation_failed')]) {
    const notifications = { ...real, publish: () => Promise.reject(problem) };
    expect(await problemOf(publishEach({ database, notifications }, [item(ann)]))).toBe(problem);
  }
  expect(await inboxRowOf(database, ann)).toMatchObject({ total: 0 });
});
