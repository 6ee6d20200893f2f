import type { PushChannel } from '../../contract/push.js';
import type { Database, Queryable } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { newId } from '../../lib/ids.js';
import { isReadNow, joinReadState } from '../inbox/unread.js';
import { insertDeliveries } from './deliveries.js';
import { collapseIdOf } from './message.js';

/** The queue's job that clears what a user has read (PUSH_CLEAR). The SQL of `addJob` contains this name too. */
export const clearTask = 'push.clear';

/** The payload of a `clearTask` job. */
export interface ClearJob {
  readonly user_id: string;
}

/** Seconds until a read notification is cleared. The delay lets pushes arrive that are still on their way. */
const delay = 2;
/** The maximum number of pushes that one device clears at once. Older ones stay. */
const maxCleared = 50;

/** A user has one job at a time, even if the user reads more meanwhile. */
const addJob = statement<{ userId: string }>(
  'push_clear_job',
  (p) => sql`
    select graphile_worker.add_job('push.clear', json_build_object('user_id', ${p.userId}::text),
             job_key => 'push.clear.' || ${p.userId}::text, job_key_mode => 'preserve_run_at',
             run_at => now() + ${literal(delay)} * interval '1 second', priority => 10)`,
);

/** Called in the transaction in which a user reads notifications. */
export async function clearLater(tx: Queryable, userId: string): Promise<void> {
  await tx.query(addJob({ userId }));
}

interface ShownPush {
  id: string;
  device_id: string;
  channel: PushChannel;
  notification_id: string;
  replace_key: string | null;
}

/** Pushes of three days that devices may still show, about notifications that are read. */
const takeShown = statement<{ userId: string }, ShownPush>(
  'push_clear_take',
  (p) => sql`
    update push_deliveries d set reason = 'cleared', updated_at = db_now()
    from (
      select shown.id, n.replace_key
      from push_deliveries shown
        join notifications n on n.user_id = shown.user_id and n.id = shown.notification_id
        ${joinReadState(sql`shown.user_id`, sql`n.sequence`)}
      where shown.user_id = ${p.userId} and shown.state = 'sent' and shown.reason = 'accepted'
        and shown.created_at > db_now() - interval '3 days' and ${isReadNow(sql`n.sequence`)}
    ) read
    where d.user_id = ${p.userId} and d.id = read.id
    returning d.id, d.device_id, d.channel, d.notification_id, read.replace_key`,
);

/** Creates the job that takes pushes off the screens of a user who has read their notifications. */
export function createClearing(database: Database): (job: ClearJob) => Promise<void> {
  return ({ user_id: userId }) =>
    database.user(userId).transaction(async (tx) => {
      const shown = await tx.query(takeShown({ userId }));
      const byDevice = new Map<string, ShownPush[]>();
      for (const push of shown) byDevice.set(push.device_id, [...(byDevice.get(push.device_id) ?? []), push]);
      for (const [deviceId, pushes] of byDevice) {
        const newest = pushes.sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, maxCleared);
        const channel = newest[0]?.channel;
        if (channel === undefined) continue;
        const clears = [...new Set(newest.map((push) => collapseIdOf({ userId, ...push })))];
        const delivery = { user_id: userId, device_id: deviceId, channel, notificationId: newId(), end: undefined };
        await insertDeliveries(tx, [delivery], { notice: JSON.stringify({ clears }) });
      }
    });
}
