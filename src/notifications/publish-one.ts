import type { Notification, NotificationInput } from '../contract/notification.js';
import type { Database } from '../database/database.js';
import { sharedByKey } from '../database/shared-by-key.js';
import { together } from '../database/together.js';
import { lockAndCountFullBlocks } from './block-counts.js';
import { type PublishRules, publish, publishOne } from './publish.js';
import { type Created, insertIntoInbox, insertOne, insertTogether, type NewRow } from './publish-queries.js';

/**
 * One notification to one user, as `publish` makes it. Without an image it is one statement that commits by itself; what
 * is published meanwhile shares one.
 */
export function createOnePublisher(
  database: Pick<Database, 'query' | 'lane'>,
  rules: PublishRules,
  batching: boolean,
): (request: NotificationInput, numbers: readonly (string | undefined)[]) => Promise<Notification> {
  const insertAll = createInboxInsert(database, rules.pushes, batching);
  const insert = batching
    ? sharedByKey(({ userId }: NewRow) => userId, insertAll)
    : async (row: NewRow) => (await insertAll([row]))[0];
  return async (request, numbers) => {
    if ((request.image_id ?? request.image ?? null) === null) {
      return publishOne(database, rules, request, numbers, insert);
    }
    const userId = request.user_id?.toLowerCase() ?? '';
    const [notification] = await database.lane(userId).transaction((tx) => publish(tx, rules, request, numbers));
    if (notification === undefined) throw new Error('one notification was published, and none came of it');
    return notification;
  };
}

type InsertIntoInbox = (rows: readonly NewRow[]) => Promise<readonly (Created | undefined)[]>;

/** Makes some notifications of one inbox, one or several. Inboxes that are published to at once share a statement. */
function createInboxInsert(
  database: Pick<Database, 'query' | 'lane'>,
  pushes: boolean,
  batching: boolean,
): InsertIntoInbox {
  const alone: InsertIntoInbox = async (rows) => {
    const [row] = rows;
    if (row === undefined) return [];
    const lane = database.lane(row.userId);
    return rows.length === 1 ? [await insertOne(lane, row, pushes)] : insertIntoInbox(lane, rows, pushes);
  };
  const shared = together<readonly NewRow[], readonly (Created | undefined)[]>({
    alone,
    async many(inboxes) {
      const created = await insertTogether(database, inboxes.flat(), pushes);
      let next = 0;
      return inboxes.map((rows) => {
        const own = created.slice(next, next + rows.length);
        next += rows.length;
        return own.includes(undefined) ? undefined : own;
      });
    },
  });
  const insert = batching ? shared : alone;
  return async (rows) => {
    const created = await insert(rows);
    const userId = rows[0]?.userId;
    if (userId !== undefined && created.some((each) => each?.isFull)) await countUnlessBusy(database, userId);
    return created;
  };
}

/** What was published is committed, whatever becomes of this: the next notification finds the same to be done. */
async function countUnlessBusy(database: Pick<Database, 'lane'>, userId: string): Promise<void> {
  const count = database.lane(userId).transaction((tx) => lockAndCountFullBlocks(tx, userId));
  await count.catch(() => undefined);
}
