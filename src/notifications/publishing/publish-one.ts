import type { Notification, NotificationInput } from '../../contract/notification.js';
import { createKeyedCoalescer } from '../../database/batching/keyed-coalescer.js';
import { createWriteCoalescer } from '../../database/batching/write-coalescer.js';
import type { Database } from '../../database/database.js';
import { lockAndCountFullBlocks } from '../inbox/block-counts.js';
import { type PublishRules, publish, publishOne } from './publish.js';
import { type Created, insertIntoInbox, insertOne, insertTogether, type NewRow } from './publish-queries.js';
import type { ExactNumbers } from './validation.js';

/**
 * Publishes one notification to one user, as `publish` does. A notification without an image needs only one statement,
 * which commits by itself. Notifications that are published at the same time share a statement (decision 46).
 */
export function createOnePublisher(
  database: Database,
  rules: PublishRules,
  batching: boolean,
): (request: NotificationInput, numbers: ExactNumbers) => Promise<Notification> {
  const insertAll = createInboxInsert(database, rules.pushes, batching);
  const insert = batching
    ? createKeyedCoalescer(({ userId }: NewRow) => userId, insertAll)
    : async (row: NewRow) => (await insertAll([row]))[0];
  return async (request, numbers) => {
    if ((request.image_id ?? request.image ?? null) === null) {
      return publishOne(database, rules, request, numbers, insert);
    }
    const userId = request.user_id?.toLowerCase() ?? '';
    const [notification] = await database.user(userId).transaction((tx) => publish(tx, rules, request, numbers));
    if (notification === undefined) throw new Error('one notification was published, and none was returned');
    return notification;
  };
}

type InsertIntoInbox = (rows: readonly NewRow[]) => Promise<readonly (Created | undefined)[]>;

/**
 * Inserts notifications of one inbox. Notifications for several inboxes that are published at the same time share a
 * statement.
 */
function createInboxInsert(database: Database, pushes: boolean, batching: boolean): InsertIntoInbox {
  const alone: InsertIntoInbox = async (rows) => {
    const [row] = rows;
    if (row === undefined) return [];
    const handle = database.user(row.userId);
    return rows.length === 1 ? [await insertOne(handle, row, pushes)] : insertIntoInbox(handle, rows, pushes);
  };
  const shared = createWriteCoalescer<readonly NewRow[], readonly (Created | undefined)[]>({
    alone,
    async many(inboxes) {
      const createdRows = await insertTogether(database, inboxes.flat(), pushes);
      let next = 0;
      return inboxes.map((rows) => {
        const ownRows = createdRows.slice(next, next + rows.length);
        next += rows.length;
        return ownRows.includes(undefined) ? undefined : ownRows;
      });
    },
  });
  const insert = batching ? shared : alone;
  return async (rows) => {
    const createdRows = await insert(rows);
    const userId = rows[0]?.userId;
    if (userId !== undefined && createdRows.some((each) => each?.isFull)) await tryToCount(database, userId);
    return createdRows;
  };
}

/** Ignores failures: the notifications are committed, and the next publication to the inbox counts the blocks. */
async function tryToCount(database: Database, userId: string): Promise<void> {
  const count = database.user(userId).transaction((tx) => lockAndCountFullBlocks(tx, userId));
  await count.catch(() => undefined);
}
