import { timeText } from '../../database/clock.js';
import { sql, statement } from '../../database/sql.js';
import { heldSince } from '../channels/held.js';
import type { AttemptKey } from '../deliveries/jobs.js';
import { quietUntil } from '../deliveries/quiet-hours.js';
import { type PushChoices, pushChoices } from '../preferences/pushes.js';
import type { StoredNotice } from './notice.js';

/** A push before an attempt. */
export interface DeliveryRow {
  notification_id: string;
  device_id: string;
  attempts: number;
  /** Seconds until the push expires, with PUSH_TTL. Pauses of the channel and quiet hours do not count, except for a notice: it is not held. */
  seconds_left: number;
  mutes: string[];
  /** What the user has chosen about pushes; null: nothing. */
  choices: (PushChoices & { readonly quiet_until: string | null }) | null;
  /** For how many held pushes it stands; null: for itself. */
  collapsed: number | null;
  /** The content, when the push is about a notice and not about a notification. */
  notice: StoredNotice | null;
}

/** Returns no row when the attempt was made before, or the push has ended. */
export const selectDelivery = statement<AttemptKey & { ttl: number; zone: string }, DeliveryRow>(
  'push_delivery_start_attempt',
  (p) => sql`
    select notification_id, device_id, attempts, notice, collapsed,
           extract(epoch from created_at + ${p.ttl} * interval '1 ms' - db_now())::float8
             + case when notice is null then ${heldSince(sql`'push'`, sql`created_at`, sql`d.holds`)} else 0 end as seconds_left,
           (select ${pushChoices} || jsonb_build_object('quiet_until', ${timeText(quietUntil(p.zone))}) from preferences where preferences.user_id = d.user_id) as choices,
           array(select filter from mutes where mutes.user_id = d.user_id) as mutes
    from push_deliveries d
    where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt}`,
);
