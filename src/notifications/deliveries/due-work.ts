import type { StepChannel } from '../../contract/category.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

/** Which kinds of deliveries have rows that are due. */
export interface DueWork {
  readonly steps: boolean;
  /** Deliveries whose quiet hours have ended. */
  readonly holds: boolean;
  readonly digests: boolean;
}

const selectDueWork = statement<{ paused: readonly StepChannel[] }, DueWork>(
  'due_work_select',
  (p) => sql`
    select exists (
             select from pending_steps where due_at <= (select db_now()) and channel <> all (${p.paused}::text[])
           ) as steps,
           exists (select from quiet_holds where held_until <= (select db_now())) as holds,
           exists (select from digests where due_at <= (select db_now())) as digests`,
);

/** Finds out with one statement what is due: usually nothing is, and the three kinds of work take three statements each. */
export async function readDueWork(database: Queryable, paused: readonly StepChannel[]): Promise<DueWork> {
  const [due] = await database.query(selectDueWork({ paused }));
  return due ?? { steps: false, holds: false, digests: false };
}
