import type { Notification, NotificationInput } from '../contract/notification.js';
import type { Database } from '../database/database.js';
import { together } from '../database/together.js';
import { lockAndCountFullBlocks } from './block-counts.js';
import { type PublishRules, publish } from './publish.js';
import { type Deliveries, insertOne, insertTogether } from './publish-queries.js';

/**
 * One notification to one user, as `publish` makes it. Without an image it is one statement that commits by itself; what
 * is published meanwhile shares one.
 */
export function createOnePublisher(
  database: Pick<Database, 'query' | 'lane'>,
  rules: PublishRules,
  batching: boolean,
): (request: NotificationInput, numbers: readonly (string | undefined)[]) => Promise<Notification> {
  const insertAlone = ({ userId, delivery }: Addressed) => insertOne(database.lane(userId), delivery, rules.pushes);
  // What was published is committed, whatever becomes of this: the next notification finds the same to be done.
  const countUnlessBusy = (userId: string) =>
    database
      .lane(userId)
      .transaction((tx) => lockAndCountFullBlocks(tx, userId))
      .catch(() => undefined);
  const insert = batching
    ? together({
        alone: insertAlone,
        many: (requests: readonly Addressed[]) =>
          insertTogether(
            database,
            requests.map(({ delivery }) => delivery),
            rules.pushes,
          ),
      })
    : insertAlone;
  return async (request, numbers) => {
    const userId = request.user_id?.toLowerCase() ?? '';
    const inTurn = async (delivery: Deliveries) => {
      const created = await insert({ userId, delivery });
      if (created.full.length > 0) await countUnlessBusy(userId);
      return created;
    };
    const isShown = (request.image_id ?? request.image ?? null) !== null;
    const [notification] = isShown
      ? await database.lane(userId).transaction((tx) => publish(tx, rules, request, numbers))
      : await publish(database, rules, request, numbers, { insertOne: inTurn });
    if (notification === undefined) throw new Error('one notification was published, and none came of it');
    return notification;
  };
}

interface Addressed {
  readonly userId: string;
  readonly delivery: Deliveries;
}
