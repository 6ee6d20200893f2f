import { arrayText } from '../../database/array-text.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement, unprepared } from '../../database/sql.js';

/**
 * The limits of one user, so that the pushes of this user do not delay those of others:
 *
 * - `step`: pushes that one step of the fan-out creates.
 * - `waiting`: pushes that wait in the queue. Further notifications wait before the fan-out, where they cost nothing.
 */
const userLimits = { step: 200, waiting: 1000 };
/** The assumed number of pushes of a user that are sent in a second. The time of the next try depends on it. */
const assumedRate = 200;
/** Seconds until the next try for a user with too many waiting pushes. */
const fullPause = 60;

const countWaiting = unprepared(
  statement<{ userIds: string }, { user_id: string; waiting: number }>(
    'push_waiting',
    (p) => sql`
    select user_id, count(*)::integer as waiting from push_deliveries
    where user_id = any (${p.userIds}::uuid[]) and state = 'queued' group by user_id`,
  ),
);

/** How many pushes of these users wait to be sent, by user id. Users without one are absent. */
export async function waitingPushes(handle: Queryable, userIds: readonly string[]): Promise<Map<string, number>> {
  if (userIds.length === 0) return new Map();
  const rows = await handle.query(countWaiting({ userIds: arrayText(userIds) }));
  return new Map(rows.map(({ user_id, waiting }) => [user_id, waiting]));
}

/** An item that waits for a later step. */
export interface DeferredItem<Item> {
  readonly item: Item;
  /** Seconds from now. */
  readonly dueIn: number;
}

/**
 * Divides items into those whose pushes are created now and those that wait, in the order of the items.
 * @param pushesOf the number of pushes of an item of the user
 * @param waiting how many pushes of the user wait in the queue
 */
export function divideByUser<Item extends { readonly userId: string }>(
  items: readonly Item[],
  pushesOf: (userId: string) => number,
  waiting: ReadonlyMap<string, number>,
): { readonly now: Item[]; readonly later: DeferredItem<Item>[] } {
  const taken = new Map<string, number>();
  const deferred = new Map<string, number>();
  const now: Item[] = [];
  const later: DeferredItem<Item>[] = [];
  for (const item of items) {
    const { userId } = item;
    const pushes = pushesOf(userId);
    const takenPushes = taken.get(userId) ?? 0;
    const room = userLimits.waiting - (waiting.get(userId) ?? 0);
    // A user may have more devices than a step creates pushes: the first item is taken as a whole.
    const fits = takenPushes === 0 ? room > 0 : takenPushes + pushes <= Math.min(userLimits.step, room);
    if (pushes === 0 || (fits && !deferred.has(userId))) {
      taken.set(userId, takenPushes + pushes);
      now.push(item);
      continue;
    }
    const before = (deferred.get(userId) ?? 0) + pushes;
    deferred.set(userId, before);
    later.push({ item, dueIn: before / assumedRate + (room > 0 ? 0 : fullPause) });
  }
  return { now, later };
}
