import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import type { Attempt } from './attempt.js';
import { takeCap } from './caps.js';
import { type AttemptKey, keyOf } from './jobs.js';
import type { Target } from './target.js';

/** Called before the first call of a provider, so that a process that dies during the call leaves a trace. */
const markHandedOver = statement<AttemptKey, { id: string }>(
  'step_delivery_hand_over',
  (p) => sql`
    update step_deliveries set first_attempt_at = db_now(), updated_at = db_now()
    where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt} and first_attempt_at is null
    returning id`,
);

/** Rolls back the mark of a hand-over: another delivery took the last place below the cap. */
class NoPlace extends Error {}

/**
 * Marks the first hand-over of a delivery, and counts it for the cap of its category.
 * @returns false if the delivery must not be handed over now: its digest has closed meanwhile, or another one took the last place
 */
export async function beginHandOver(
  database: Database,
  { channel, job, row }: Attempt,
  { category, digest }: Target,
): Promise<boolean> {
  const user = database.user(job.user_id);
  if (category.cap === null || digest !== null) return (await user.query(markHandedOver(keyOf(job)))).length > 0;
  const step = { userId: job.user_id, notificationId: row.notification_id, channel };
  try {
    return await user.transaction(async (tx) => {
      // First, because it waits for a digest that is closing: a delivery that is gone takes no place.
      if ((await tx.query(markHandedOver(keyOf(job)))).length === 0) return false;
      if (!(await takeCap(tx, step, category))) throw new NoPlace();
      return true;
    });
  } catch (error) {
    if (error instanceof NoPlace) return false;
    throw error;
  }
}
