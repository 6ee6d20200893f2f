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
  /** When it was due, by `performance.now()`. The time for which it was held is added. */
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
  /** Whether a first attempt was made. */
  was_handed_over: boolean;
  /** When the step was due. */
  created_at: string;
  /** Seconds since then, and the seconds of these in which a pause or quiet hours held it. */
  age: number;
  held: number;
  quiet_until: string | null;
  /** A digest: its category, its members, and how many there were. Null: a single notification. */
  digest_category: string | null;
  digest_count: number | null;
  member_ids: string[] | null;
  /** The number of deliveries that must be handed over before this one. */
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
 * The count of earlier deliveries stops here. It only decides how long a delivery waits until it checks again. If a user has many, each of them
 * checks rarely, so others are not slowed down.
 */
const maxAhead = 1000;

/**
 * SQL: the number of earlier deliveries to the same user by the same channel that are still queued. A delivery whose first attempt was more than
 * 60 s ago does not count: it is retried, and the next ones no longer wait for it.
 */
const ahead: Sql = sql`(
             select count(*)::integer from (
               select from step_deliveries b
               where b.user_id = d.user_id and b.channel = d.channel and b.state = 'queued'
                 and (b.created_at, b.id) < (d.created_at, d.id)
                 and coalesce(b.first_attempt_at > db_now() - interval '60 seconds', true)
               limit ${literal(maxAhead)}) earlier)`;

/** Returns no row if this attempt was made before, or if the delivery has ended. */
export const selectDelivery = (
  lockHolds: Sql,
): StatementWith<AttemptKey & { channel: string; zone: string }, DeliveryRow> =>
  statement<AttemptKey & { channel: string; zone: string }, DeliveryRow>('step_delivery_read', (p) => {
    const parts = {
      userId: sql`d.user_id`,
      notificationId: sql`d.notification_id`,
      channel: sql`${p.channel}::text`,
      condition: sql`d.condition`,
      lockHolds,
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
