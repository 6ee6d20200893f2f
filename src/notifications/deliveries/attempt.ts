import { literal, type Sql, type StatementWith, sql, statement } from '../../database/sql.js';
import { heldSince } from '../channels/held.js';
import type { StepFacts } from './decide.js';
import { type FactColumns, factColumns, factJoins } from './facts.js';
import type { AttemptJob, AttemptKey } from './jobs.js';
import type { MessageChannel } from './queue.js';
import { quietUntil } from './quiet-hours.js';

/** One attempt of a delivery. */
export interface Attempt {
  readonly channel: MessageChannel;
  readonly job: AttemptJob;
  /** The delivery before the attempt. */
  readonly row: DeliveryRow;
  /** When it was due, without the time for which it was held, by `performance.now()`. */
  readonly dueAt: number;
}

/** The category of what is sent. Null: the notification was deleted. */
export const categoryNameOf = ({ row }: Pick<Attempt, 'row'>): string | null => row.digest_category ?? row.category;

/** Why a delivery ends. */
export interface End {
  readonly state: 'failed' | 'skipped' | 'expired' | 'dropped';
  readonly reason: string;
}

export interface DeliveryRow extends FactColumns {
  notification_id: string;
  condition: StepFacts['condition'];
  attempts: number;
  was_handed_over: boolean;
  created_at: string;
  /** Seconds since the step was due, and for how many of them its channel was paused or quiet hours held it. */
  age: number;
  held: number;
  quiet_until: string | null;
  /** A digest: its category, its members, and how many there were. Null: a single notification. */
  digest_category: string | null;
  digest_count: number | null;
  member_ids: string[] | null;
  /** How many deliveries are handed over before this one. */
  ahead: number;
  address: string | null;
  locale: string | null;
  name: string | null;
  time_zone: string | null;
  actor: string | null;
  description: string | null;
  extra: { data?: Record<string, unknown>; url?: string } | null;
}

/**
 * More deliveries ahead than this are not counted: they only say how long to wait. So the many messages of one user look seldom, and
 * cost the others little.
 */
const maxAhead = 1000;

/**
 * SQL: how many earlier deliveries to the same user by the same channel are still to be handed over. One that is tried again does
 * not hold up the next for longer than 60 s.
 */
const ahead: Sql = sql`(
             select count(*)::integer from (
               select from step_deliveries b
               where b.user_id = d.user_id and b.channel = d.channel and b.state = 'queued'
                 and (b.created_at, b.id) < (d.created_at, d.id)
                 and coalesce(b.first_attempt_at > db_now() - interval '60 seconds', true)
               limit ${literal(maxAhead)}) earlier)`;

/** Returns no row when the attempt was made before, or the delivery has ended. */
export const selectDelivery = (
  lockHolds: Sql,
): StatementWith<AttemptKey & { channel: string; zone: string }, DeliveryRow> =>
  statement<AttemptKey & { channel: string; zone: string }, DeliveryRow>('step_delivery_read', (p) => {
    const parts = {
      ...{ userId: sql`d.user_id`, notificationId: sql`d.notification_id` },
      ...{ channel: sql`${p.channel}::text`, condition: sql`d.condition`, lockHolds },
    };
    return sql`
    select d.notification_id, d.condition, d.attempts, d.first_attempt_at is not null as was_handed_over, d.created_at,
           extract(epoch from db_now() - d.created_at)::float8 as age, ${heldSince(sql`d.channel`, sql`d.created_at`, sql`d.holds`)} as held,
           ${quietUntil(p.zone)} as quiet_until, d.digest_category, d.digest_count, d.member_ids, ${ahead} as ahead,
           case d.channel when 'email' then u.email else u.phone end as address, u.locale, u.name, preferences.time_zone,
           n.actor, n.description, n.extra, ${factColumns(parts)}
    from step_deliveries d ${factJoins(parts)}
    where d.user_id = ${p.userId} and d.id = ${p.id} and d.channel = ${p.channel}::text and d.state = 'queued'
      and d.attempts = ${p.attempt}`;
  });
