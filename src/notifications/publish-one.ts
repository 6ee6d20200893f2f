import type { Notification, NotificationInput } from '../contract/notification.js';
import type { Database } from '../database/database.js';
import { together } from '../database/together.js';
import { lockAndCountFullBlocks } from './block-counts.js';
import { type PublishRules, publish, publishOne } from './publish.js';
import { insertOne, insertTogether, type NewRow } from './publish-queries.js';

/**
 * One notification to one user, as `publish` makes it. Without an image it is one statement that commits by itself; what
 * is published meanwhile shares one.
 */
export function createOnePublisher(
  database: Pick<Database, 'query' | 'lane'>,
  rules: PublishRules,
  batching: boolean,
): (request: NotificationInput, numbers: readonly (string | undefined)[]) => Promise<Notification> {
  const insertAlone = (row: NewRow) => insertOne(database.lane(row.userId), row, rules.pushes);
  // What was published is committed, whatever becomes of this: the next notification finds the same to be done.
  const countUnlessBusy = (userId: string) =>
    database
      .lane(userId)
      .transaction((tx) => lockAndCountFullBlocks(tx, userId))
      .catch(() => undefined);
  const insert = batching
    ? together({
        alone: insertAlone,
        many: (rows: readonly NewRow[]) => insertTogether(database, rows, rules.pushes),
      })
    : insertAlone;
  const insertAndCount = async (row: NewRow) => {
    const created = await insert(row);
    if (created?.isFull) await countUnlessBusy(row.userId);
    return created;
  };
  return async (request, numbers) => {
    if ((request.image_id ?? request.image ?? null) === null) {
      return publishOne(database, rules, request, numbers, insertAndCount);
    }
    const userId = request.user_id?.toLowerCase() ?? '';
    const [notification] = await database.lane(userId).transaction((tx) => publish(tx, rules, request, numbers));
    if (notification === undefined) throw new Error('one notification was published, and none came of it');
    return notification;
  };
}
