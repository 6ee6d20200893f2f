import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { backOff } from '../../lib/back-off.js';
import { Problem } from '../../lib/problem.js';
import type { PublicationRow } from './rows.js';

type FailedRow = Pick<PublicationRow, 'id' | 'updated_at'>;

/** Does nothing if a request or another instance has changed the row since the step began. */
const postpone = statement<{ id: string; updatedAt: string; code: string; seconds: number }>(
  'publication_postpone',
  (p) => sql`
    update notification_publications
    set due_at = db_now() + ${p.seconds}::float8 * interval '1 second', updated_at = db_now(),
        error_code = case when ended_at is null then ${p.code} else error_code end
    where id = ${p.id} and updated_at = ${p.updatedAt}::timestamptz and due_at is not null`,
);

/** The maximum number of publications whose failures are remembered. It matters because cancelled ones are not forgotten earlier. */
const maxRemembered = 1000;
/** The maximum number of immediate retries of a chunk whose users were deleted meanwhile. */
const maxAtOnce = 5;

/** Retries failed steps, so that one publication never delays the others. */
export interface Retries {
  /** The size of the next chunk: half as large after each failure. */
  sizeOf(id: string, size: number): number;
  succeeded(id: string): void;
  /** Postpones a publication by a second, and longer after each failure. @throws errors of the database */
  failed(row: FailedRow, error: unknown): Promise<void>;
}

export function createRetries(database: Database): Retries {
  /** The failures of each publication, less the steps that succeeded after them. */
  const failures = new Map<string, number>();
  return {
    sizeOf: (id, size) => Math.max(1, Math.floor(size / 2 ** (failures.get(id) ?? 0))),
    succeeded(id) {
      const left = (failures.get(id) ?? 0) - 1;
      if (left > 0) failures.set(id, left);
      else failures.delete(id);
    },
    async failed({ id, updated_at: updatedAt }, error) {
      const attempts = (failures.get(id) ?? 0) + 1;
      const code = error instanceof Problem ? error.code : 'internal_error';
      await database.query(postpone({ id, updatedAt, code, seconds: delay(attempts, code) }));
      if (failures.size >= maxRemembered) failures.clear();
      failures.set(id, attempts);
    },
  };
}

/** Seconds until a step is repeated. The first failure may be a lost connection, so the delay is short. */
function delay(attempts: number, code: string): number {
  if (code === 'validation_failed' && attempts <= maxAtOnce) return 0;
  return attempts === 1 ? 1 : backOff(attempts - 1);
}
