import { type Sql, sql, statement } from '../../database/sql.js';

/**
 * The payload of a job that makes one attempt of a mail, an SMS or a push. The number of the attempt prevents an old job from repeating
 * an attempt.
 */
export interface AttemptJob {
  readonly user_id: string;
  readonly id: string;
  readonly attempt: number;
  /** The request that caused the delivery, if it is traced. */
  readonly traceparent?: string | null;
}

/** Identifies an attempt. The attempt is valid if the delivery is still queued and has this number of earlier attempts. */
export interface AttemptKey {
  readonly userId: string;
  readonly id: string;
  readonly attempt: number;
}

export const keyOf = (job: AttemptJob): AttemptKey => ({ userId: job.user_id, id: job.id, attempt: job.attempt });

/**
 * Counts the attempt and adds the job of the next one, in one statement. If the job of the counted attempt runs again, it finds no
 * row.
 * @param table the table of the deliveries
 * @param priority that of the job
 */
export const postponeDelivery = (name: string, { table, priority }: { readonly table: Sql; readonly priority: Sql }) =>
  statement<AttemptKey & { error: string; seconds: number; task: string; cause: string | null }>(
    name,
    (p) => sql`
    with delivery as (
      update ${table} set reason = 'retrying', last_error = ${p.error}, attempts = attempts + 1, updated_at = db_now()
      where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt}
      returning user_id, id, attempts
    )
    select graphile_worker.add_job(${p.task}, json_build_object('user_id', user_id, 'id', id, 'attempt', attempts,
               'traceparent', ${p.cause}::text), run_at => now() + ${p.seconds} * interval '1 second', priority => ${priority})
    from delivery`,
  );
