import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import type { Counters } from '../../statistics/counters.js';
import type { KnownCategories } from '../categories/categories.js';
import { countSteps } from './announce.js';
import { type Attempt, categoryNameOf } from './attempt.js';
import { joinDigests } from './digests.js';
import { type AttemptJob, type AttemptKey, keyOf } from './jobs.js';
import { type MessageChannel, stepPriority, stepTask } from './queue.js';
import { holdStep } from './quiet-hours.js';

/** Adds the job of the same attempt again, to run later. The attempt does not count: nothing was handed over. */
const repeatLater = statement<{ task: string; job: AttemptJob; seconds: number; ahead: number }>(
  'step_delivery_repeat_later',
  (p) => sql`
    select graphile_worker.add_job(${p.task}, ${p.job}::json, run_at => now() + ${p.seconds} * interval '1 second',
             priority => ${stepPriority(sql`${p.ahead}::integer`)})`,
);

/** A notification that joins a digest has no mail of its own. */
const removeDelivery = statement<AttemptKey, { id: string }>(
  'step_delivery_remove',
  (p) => sql`
    delete from step_deliveries
    where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt} and first_attempt_at is null
    returning id`,
);

/** Lets a delivery wait. Nothing was handed over, so the attempt does not count. */
export interface Waiting {
  /** Repeats the attempt after these seconds. @param ahead how many messages of the user come first */
  repeat(channel: MessageChannel, job: AttemptJob, seconds: number, ahead?: number): Promise<void>;
  /** Quiet hours hold the delivery. */
  hold(attempt: Attempt): Promise<void>;
  /** The notification comes with the next digest, and has no mail of its own. */
  joinDigest(attempt: Attempt): Promise<void>;
}

export function createWaiting({
  database,
  categories,
  counters,
  timeZone: zone,
}: {
  readonly database: Database;
  readonly categories: Pick<KnownCategories, 'get'>;
  readonly counters: Counters;
  readonly timeZone: string;
}): Waiting {
  async function repeat(channel: MessageChannel, job: AttemptJob, seconds: number, ahead = 0): Promise<void> {
    await database.user(job.user_id).query(repeatLater({ task: stepTask(channel), job, seconds, ahead }));
  }

  async function hold(attempt: Attempt): Promise<void> {
    const { channel, job } = attempt;
    const held = await database.user(job.user_id).query(holdStep({ ...keyOf(job), zone }));
    // The user has just changed the quiet hours.
    if (held.length === 0) return repeat(channel, job, 1);
    countSteps(counters, { channel, category: categoryNameOf(attempt), outcome: 'held' });
  }

  async function joinDigest({ channel, job, row }: Attempt): Promise<void> {
    const category = categories.get(row.category ?? '');
    const hasJoined = await database.user(job.user_id).transaction(async (tx) => {
      if (category === undefined) return false;
      const items = { userIds: [job.user_id], ids: [row.notification_id] };
      const late = await joinDigests(tx, items, { category, zone });
      if (late.ids.length > 0) return false;
      await tx.query(removeDelivery(keyOf(job)));
      return true;
    });
    // The digest has just closed.
    if (!hasJoined) return repeat(channel, job, 1);
    countSteps(counters, { channel, category: row.category, outcome: 'digesting' });
  }

  return { repeat, hold, joinDigest };
}
