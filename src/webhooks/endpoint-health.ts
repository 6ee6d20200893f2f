import type { Database } from '../database/database.js';
import type { OperatorMails } from '../messages/operator-mails.js';
import { disableFailing } from './endpoints.js';
import type { QueueRun } from './queue-run.js';
import { longestPauses } from './schedule.js';
import { recordFailure, recordSuccess, retrySoon } from './sending-queries.js';

export interface HealthOptions {
  readonly database: Database;
  /** Tells operators that an endpoint was disabled. */
  readonly mails: OperatorMails;
  readonly log: { warn(fields: object, message: string): void };
}

/** Milliseconds between two writes of the health of an endpoint that has not changed. */
const healthInterval = 5000;

/**
 * Records successes and failures of an endpoint in one row, but not each of them, because all deliveries write this row.
 * Disables the endpoint if it is gone or has failed for five days.
 */
export function createHealth({ database, log, mails }: HealthOptions, id: string): (run: QueueRun) => Promise<void> {
  let last: { readonly ok: boolean; readonly at: number } | undefined;

  async function disable(reason: 'gone' | 'failing') {
    const disabled = await database.transaction((tx) => disableFailing(tx, mails, { id, reason }));
    if (disabled) log.warn({ webhook_id: id, reason }, 'a webhook was disabled');
  }
  return async ({ results, isGone }) => {
    const attempted = results.filter((result) => result.attempted);
    const success = attempted.findLast(({ state }) => state === 'delivered');
    const failure = attempted.findLast(({ state }) => state !== 'delivered');
    const ok = success !== undefined;
    if (attempted.length > 0) {
      const now = performance.now();
      if (last?.ok !== ok || now - last.at >= healthInterval) {
        last = { ok, at: now };
        if (ok) {
          await database.query(recordSuccess({ id }));
          await database.query(retrySoon({ id, plannedSeconds: longestPauses }));
        } else {
          const [row] = await database.query(recordFailure({ id, error: failure?.error ?? 'unknown' }));
          if (row?.has_failed === true && !isGone) await disable('failing');
        }
      }
    }
    if (isGone) await disable('gone');
  };
}
