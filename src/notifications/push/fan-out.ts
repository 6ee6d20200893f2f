import type { Notification } from '../../contract/notification.js';
import type { Handle, Queryable } from '../../database/database.js';
import { literal, sql, statement, unprepared } from '../../database/sql.js';
import type { Counters } from '../../statistics/counters.js';
import { type NotificationRow, notificationColumns, toNotification } from '../inbox/row.js';
import { insertDeliveries, type NewDelivery } from './deliveries.js';
import { type PushOptions, planPushes } from './plan.js';

/** The maximum number of publications that one step reads, and the number of notifications after which it stops. */
const limits = { publications: 200, notifications: 5000 };

interface PublicationRow {
  id: string;
  user_ids: string[];
  notification_ids: string[];
  created_at: string;
  traceparent: string | null;
}

/** The oldest publications up to the limits, and at least one. Publications that another instance has locked are skipped. */
const takePublications = statement<Record<never, never>, PublicationRow>(
  'push_publications_take',
  () => sql`
    with due as (
      select id, size, sum(size) over (order by created_at, id) as total
      from (
        select id, size, created_at from publications order by created_at, id limit ${literal(limits.publications)}
      ) oldest
    )
    select p.id, p.user_ids, p.notification_ids, p.created_at, p.traceparent
    from publications p
    where p.id in (select id from due where total - size < ${literal(limits.notifications)})
    for update skip locked`,
);

const deletePublications = statement<{ ids: readonly string[] }>(
  'push_publications_delete',
  (p) => sql`delete from publications where id = any (${p.ids}::uuid[])`,
);

const selectNotifications = unprepared(
  statement<{ userIds: readonly string[]; ids: readonly string[] }, NotificationRow>(
    'push_notifications',
    (p) => sql`
    select ${notificationColumns}
    from unnest(${p.userIds}::uuid[], ${p.ids}::uuid[]) as wanted (wanted_user, wanted_id)
      join notifications on user_id = wanted_user and id = wanted_id`,
  ),
);

/** One notification that may be pushed. */
interface Item {
  readonly userId: string;
  readonly id: string;
  readonly publishedAt: string;
  readonly cause: string | null;
}

/**
 * Fan-out: computes the pushes of the oldest publications. The transaction that deletes the publications also inserts the
 * rows and jobs of the pushes, so no push is lost or sent twice.
 * @returns whether the step found a publication
 */
export function fanOutPushes(
  database: Handle,
  options: PushOptions & { readonly counters: Counters },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const publications = await tx.query(takePublications({}));
    if (publications.length === 0) return false;
    const items = publications.flatMap(itemsOf);
    const planned = await planPushes(tx, options, items, (keys) => readNotifications(tx, keys));
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
    await insertDeliveries(tx, deliveries);
    const pushed = planned.filter((pushes) => pushes.some(({ muted }) => !muted)).length;
    tx.onCommit(() => options.counters.add('notifications.pushed', '', pushed));
    await tx.query(deletePublications({ ids: publications.map(({ id }) => id) }));
    return true;
  });
}

function itemsOf({ user_ids, notification_ids, created_at: publishedAt, traceparent: cause }: PublicationRow): Item[] {
  return user_ids.map((userId, index) => ({ userId, id: notification_ids[index] ?? '', publishedAt, cause }));
}

async function readNotifications(tx: Queryable, items: readonly Item[]): Promise<Map<string, Notification>> {
  const [userIds, ids] = [items.map(({ userId }) => userId), items.map(({ id }) => id)];
  const rows = await tx.query(selectNotifications({ userIds, ids }));
  return new Map(rows.map((row) => [row.id, toNotification(row, new Map())]));
}
