import type { StepChannel } from '../../contract/category.js';
import { type Sql, sql } from '../../database/sql.js';
import type { Counters } from '../../statistics/counters.js';
import { isSubscribed } from '../inbox/webhook-events.js';

/** What became of a delivery: its state in the API. A push to a device that is gone has `failed`. */
export type DeliveryOutcome =
  | 'sent'
  | 'delivered'
  | 'bounced'
  | 'complained'
  | 'failed'
  | 'skipped'
  | 'expired'
  | 'dropped'
  | 'held'
  | 'digesting';

/**
 * SQL: the outcomes that webhooks get. The others are waiting, wishes of the user or decisions of the app, about which a receiver can
 * do nothing.
 */
const announced = sql`'sent', 'delivered', 'bounced', 'complained', 'failed', 'expired'`;

/**
 * SQL: an `insert` for a CTE. It records events of deliveries in the statement that changes them. If no endpoint receives such an event,
 * it costs one look into an empty table.
 * @param from what follows `from`: rows with `user_id`, `delivery_id`, `notification_id`, `channel`, `device_id`, `category`, `state`
 *   and `reason`
 */
export const recordDeliveries = (from: Sql): Sql => sql`
      insert into webhook_outbox (created_at, type, actor, user_ids, data)
      select db_now(), 'delivery.' || state, 'system', array[user_id], jsonb_build_object(
               'delivery_id', delivery_id, 'notification_id', notification_id, 'channel', channel, 'device_id', device_id,
               'category', category, 'reason', reason)
      from ${from}
      where state in (${announced}) and ${isSubscribed(sql`'delivery.' || state`)}`;

interface CountedDeliveries {
  readonly channel: StepChannel;
  /** Null: it is not known, because the notification was deleted. */
  readonly category: string | null;
  readonly outcome: DeliveryOutcome;
}

/** No category can have this name. */
const noCategory = '(none)';

/** Counts deliveries by category. `Counters` limits how many categories there are. */
export function countDeliveries(counters: Counters, counted: CountedDeliveries, count = 1): void {
  const { channel, category, outcome } = counted;
  counters.add(`deliveries.${outcome}`, category ?? noCategory, count, channel);
}

/** Counts steps by channel, and as deliveries by category. */
export function countSteps(counters: Counters, counted: CountedDeliveries, count = 1): void {
  counters.add(`steps.${counted.outcome}`, counted.channel, count);
  countDeliveries(counters, counted, count);
}
