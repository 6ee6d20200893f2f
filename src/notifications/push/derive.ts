import type { Notification } from '../../contract/notification.js';
import type { PushChannel } from '../../contract/push.js';
import { type Database, prepared, type Queryable, sql } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import { type NotificationRow, notificationColumns, toNotification } from '../row.js';
import { type PushOptions, planPushes } from './plan.js';

/** The queue's job that sends by a channel. */
export const sendTask = (channel: PushChannel) => `push.send.${channel}`;

/** What a job of `sendTask` names. The attempt keeps a job that is left over from making one again. */
export interface PushJob {
  readonly user_id: string;
  readonly id: string;
  readonly attempt: number;
}

/** Behind everything else in the queue: an index scan for a code to send does not pass over waiting pushes. */
export const pushPriority = 10;

/** Publications that are looked at in one step, and the notifications that it is to end with. */
const look = { publications: 200, notifications: 5000 };
/** Rows that one statement writes: it must end well before a statement's time is up. */
const rowsAtOnce = 1000;

/**
 * The oldest publications, as many as make a good step, and always one. Others may be at it at the same time: what they
 * hold is passed over.
 */
const takePublications = prepared(
  'push_publications_take',
  `with due as (
     select id, size, sum(size) over (order by created_at, id) as total
     from (select id, size, created_at from publications order by created_at, id limit ${look.publications}) oldest)
   select p.id, p.user_ids, p.notification_ids, p.created_at
   from publications p
   where p.id in (select id from due where total - size < ${look.notifications})
   for update skip locked`,
);
const deletePublications = prepared('push_publications_delete', 'delete from publications where id = any ($1::uuid[])');
/** Planned at each use, as all that is asked of many users at once. */
const selectNotifications = sql(
  `select ${notificationColumns}
   from unnest($1::uuid[], $2::uuid[]) as wanted (wanted_user, wanted_id)
     join notifications on user_id = wanted_user and id = wanted_id`,
);
const insertDeliveries = prepared(
  'push_deliveries_insert',
  `with delivery as (
     insert into push_deliveries (user_id, id, notification_id, device_id, channel, state, reason, created_at, updated_at)
     select user_id, id, notification_id, device_id, channel, case when muted then 'muted' else 'queued' end,
            case when muted then 'muted' else 'waiting' end, created_at, db_now()
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::boolean[], $7::timestamptz[])
       as made (user_id, id, notification_id, device_id, channel, muted, created_at)
     returning user_id, id, channel, state)
   select count(*) as jobs from graphile_worker.add_jobs(array(
     select row('push.send.' || channel, json_build_object('user_id', user_id, 'id', id, 'attempt', 0),
                null, null, null, null, ${pushPriority}, null)::graphile_worker.job_spec
     from delivery where state = 'queued'))
   where exists (select from delivery where state = 'queued')`,
);

interface PublicationRow {
  id: string;
  user_ids: string[];
  notification_ids: string[];
  created_at: string;
}

/** One notification that may have to be pushed. */
interface Item {
  readonly userId: string;
  readonly id: string;
  readonly publishedAt: string;
}

/**
 * Works out the pushes of the oldest publications: rows and jobs in the transaction in which the publications go, so
 * that none is lost or made twice.
 * @returns whether there was anything to do
 */
export function derivePushes(database: Database, options: PushOptions): Promise<boolean> {
  return database.transaction(async (tx) => {
    const publications = await tx.query<PublicationRow>(takePublications);
    if (publications.length === 0) return false;
    const items = publications.flatMap(itemsOf);
    const planned = await planPushes(tx, options, items, (wanted) => readNotifications(tx, wanted));
    const rows = planned.flatMap((pushes, index) => {
      const item = items[index];
      return item === undefined ? [] : pushes.map((push) => ({ ...push, item }));
    });
    for (let start = 0; start < rows.length; start += rowsAtOnce) {
      const some = rows.slice(start, start + rowsAtOnce);
      await tx.query(insertDeliveries, [
        some.map(({ user_id }) => user_id),
        some.map(() => newId()),
        some.map(({ item }) => item.id),
        some.map(({ device_id }) => device_id),
        some.map(({ channel }) => channel),
        some.map(({ muted }) => muted),
        some.map(({ item }) => item.publishedAt),
      ]);
    }
    await tx.query(deletePublications, [publications.map(({ id }) => id)]);
    return true;
  });
}

function itemsOf({ user_ids, notification_ids, created_at }: PublicationRow): Item[] {
  return user_ids.map((userId, index) => ({ userId, id: notification_ids[index] ?? '', publishedAt: created_at }));
}

async function readNotifications(tx: Queryable, items: readonly Item[]): Promise<Map<string, Notification>> {
  const values = [items.map(({ userId }) => userId), items.map(({ id }) => id)];
  const rows = await tx.query<NotificationRow>(selectNotifications, values);
  return new Map(rows.map((row) => [row.id, toNotification(row, new Map())]));
}
