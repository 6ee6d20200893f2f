import type { Handle, Queryable } from '../../database/database.js';
import { literal, sql, statement, unprepared } from '../../database/sql.js';
import type { Counters } from '../../statistics/counters.js';
import { countDeliveries } from '../deliveries/announce.js';
import { categoryOf } from '../inbox/filter-fields.js';
import { type NotificationRow, notificationColumns, toNotification } from '../inbox/row.js';
import { insertDeliveries, type NewDelivery } from './deliveries.js';
import { outcomeOf } from './end.js';
import { type PlannedPush, type PushOptions, type PushSubject, planPushes, reachableByUser } from './plan.js';
import { type DeferredItem, divideByUser, waitingPushes } from './shares.js';

/** The maximum number of rows of `push_fan_outs` that one run reads, and the number of notifications after which it stops. */
const limits = { fanOuts: 200, notifications: 5000 };

interface FanOutRow {
  id: string;
  user_ids: string[];
  notification_ids: string[];
  created_at: string;
  traceparent: string | null;
}

/**
 * Selects the oldest rows that are due, up to the limits. The first one is selected even if it alone exceeds a limit. Skips rows that another
 * instance has locked.
 */
const takeFanOuts = statement<Record<never, never>, FanOutRow>(
  'push_fan_outs_take',
  () => sql`
    with due as (
      select id, size, sum(size) over (order by created_at, id) as total
      from (
        select id, size, created_at from push_fan_outs where due_at is null or due_at <= (select db_now())
        order by created_at, id limit ${literal(limits.fanOuts)}
      ) oldest
    )
    select p.id, p.user_ids, p.notification_ids, p.created_at, p.traceparent
    from push_fan_outs p
    where p.id in (select id from due where total - size < ${literal(limits.notifications)})
    for update skip locked`,
);

const deleteFanOuts = statement<{ ids: readonly string[] }>(
  'push_fan_outs_delete',
  (p) => sql`delete from push_fan_outs where id = any (${p.ids}::uuid[])`,
);

/** Removes from each row the items that are done. The others wait for a later run. */
const deferItems = statement<{
  fanOuts: readonly string[];
  userIds: readonly string[];
  ids: readonly string[];
  dueIn: readonly number[];
}>(
  'push_fan_outs_defer',
  (p) => sql`
    update push_fan_outs p
    set user_ids = rest.user_ids, notification_ids = rest.notification_ids, size = rest.size,
        due_at = db_now() + rest.due_in * interval '1 second'
    from (
      select fan_out, array_agg(user_id order by place) as user_ids, array_agg(id order by place) as notification_ids,
             count(*) as size, min(due_in) as due_in
      from unnest(${p.fanOuts}::uuid[], ${p.userIds}::uuid[], ${p.ids}::uuid[], ${p.dueIn}::float8[])
        with ordinality as item (fan_out, user_id, id, due_in, place)
      group by fan_out) rest
    where p.id = rest.fan_out`,
);

const selectNotifications = unprepared(
  statement<
    { userIds: readonly string[]; ids: readonly string[] },
    NotificationRow & { category: string; topic: string | null }
  >(
    'push_notifications',
    (p) => sql`
    select ${notificationColumns}, ${categoryOf} as category, topic
    from unnest(${p.userIds}::uuid[], ${p.ids}::uuid[]) as wanted (wanted_user, wanted_id)
      join notifications on user_id = wanted_user and id = wanted_id`,
  ),
);

/** One notification that may be pushed. */
interface Item {
  readonly fanOut: string;
  readonly userId: string;
  readonly id: string;
  readonly publishedAt: string;
  /** The trace (`traceparent`) of the request that published it. */
  readonly cause: string | null;
}

/**
 * Fan-out: computes the pushes of the oldest publishing requests. The transaction that deletes their rows also inserts the
 * rows and jobs of the pushes, so no push is lost or sent twice. Notifications of a user with too many pushes wait for a later
 * run.
 * @returns whether the run found a row
 */
export function fanOutPushes(
  database: Handle,
  options: PushOptions & { readonly counters: Counters },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const fanOuts = await tx.query(takeFanOuts({}));
    if (fanOuts.length === 0) return false;
    const devices = await reachableByUser(
      tx,
      options,
      fanOuts.flatMap(({ user_ids }) => user_ids),
    );
    const all = fanOuts.flatMap((fanOut) => itemsOf(fanOut, devices));
    const waiting = await waitingPushes(tx, [...devices.keys()]);
    const { now: items, later } = divideByUser(all, (userId) => devices.get(userId)?.length ?? 0, waiting);
    const planned = await planPushes(tx, options, { items, devices }, (keys) => readNotifications(tx, keys));
    const deliveries = planned.flatMap((pushes, index): NewDelivery[] => {
      const item = items[index];
      if (item === undefined) return [];
      return pushes.map((push) => ({
        ...push,
        notificationId: item.id,
        publishedAt: item.publishedAt,
        cause: item.cause,
      }));
    });
    await insertDeliveries(tx, deliveries, { waiting });
    const pushed = planned.filter((pushes) => pushes.some(({ end }) => end === undefined)).length;
    tx.onCommit(() => {
      options.counters.add('notifications.pushed', '', pushed);
      countEnded(options.counters, planned.flat());
    });
    await keep(tx, later);
    const kept = new Set(later.map(({ item }) => item.fanOut));
    await tx.query(deleteFanOuts({ ids: fanOuts.map(({ id }) => id).filter((id) => !kept.has(id)) }));
    return true;
  });
}

/** Counts the pushes that are not sent because of a decision. */
function countEnded(counters: Counters, pushes: readonly PlannedPush[]): void {
  for (const { end, category = null } of pushes) {
    if (end !== undefined) countDeliveries(counters, { channel: 'push', category, outcome: outcomeOf[end.state] });
  }
}

/** Keeps in each row only the items that wait for a later run. */
async function keep(tx: Queryable, later: readonly DeferredItem<Item>[]): Promise<void> {
  if (later.length === 0) return;
  await tx.query(
    deferItems({
      fanOuts: later.map(({ item }) => item.fanOut),
      userIds: later.map(({ item }) => item.userId),
      ids: later.map(({ item }) => item.id),
      dueIn: later.map(({ dueIn }) => dueIn),
    }),
  );
}

/** The notifications of a row whose users have a device. Most users of a large publication may have none. */
function itemsOf(
  { id: fanOut, created_at: publishedAt, traceparent: cause, user_ids, notification_ids }: FanOutRow,
  devices: ReadonlyMap<string, unknown>,
): Item[] {
  const items: Item[] = [];
  for (const [index, userId] of user_ids.entries()) {
    if (devices.has(userId)) items.push({ fanOut, userId, publishedAt, cause, id: notification_ids[index] ?? '' });
  }
  return items;
}

async function readNotifications(tx: Queryable, items: readonly Item[]): Promise<Map<string, PushSubject>> {
  const [userIds, ids] = [items.map(({ userId }) => userId), items.map(({ id }) => id)];
  const rows = await tx.query(selectNotifications({ userIds, ids }));
  return new Map(
    rows.map((row) => [
      row.id,
      { notification: toNotification(row, new Map()), category: row.category, topic: row.topic },
    ]),
  );
}
