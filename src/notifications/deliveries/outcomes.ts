import type { Database, Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { backOff } from '../../lib/back-off.js';
import type { Counters } from '../../statistics/counters.js';
import { countSteps, recordDeliveries } from './announce.js';
import { type Attempt, categoryNameOf, type End } from './attempt.js';
import { type AttemptKey, keyOf, postponeDelivery } from './jobs.js';
import { stepPriority, stepTask } from './queue.js';
import type { StepMessage, StepOutcome, StepSender } from './sender.js';
import type { Target } from './target.js';

/** How a delivery ends. */
interface Result {
  readonly state: End['state'] | 'sent' | 'bounced';
  readonly reason: string;
  readonly error?: string;
  readonly provider?: string | undefined;
  /** The id that the provider gave the message. */
  readonly reference?: string | null;
  /** Whether this attempt has called a provider. */
  readonly attempted?: boolean;
}

const settleDelivery = statement<
  AttemptKey & {
    state: string;
    reason: string;
    error: string | null;
    provider: string | null;
    reference: string | null;
    newAttempts: number;
    category: string | null;
  },
  { state: Result['state'] }
>('step_delivery_settle', (p) => {
  // A report that came before the acceptance was stored: see `reports.ts`.
  const isUndelivered = sql`(${p.state}::text = 'sent' and reason = 'undelivered'
             and (provider, provider_reference) = (${p.provider}::text, ${p.reference}::text))`;
  return sql`
    with settled as (
    update step_deliveries
    set state = case when ${isUndelivered} then 'bounced' else ${p.state} end,
        reason = case when ${isUndelivered} then reason else ${p.reason} end, last_error = coalesce(${p.error}, last_error),
        provider = coalesce(${p.provider}, provider), provider_reference = coalesce(${p.reference}, provider_reference),
        attempts = attempts + ${p.newAttempts}, updated_at = db_now()
    where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt}
    returning user_id, id as delivery_id, notification_id, channel, null::uuid as device_id, ${p.category}::text as category, state, reason
    ),
    event as (${recordDeliveries(sql`settled`)}
    )
    select state from settled`;
});

const postpone = postponeDelivery('step_delivery_postpone', {
  table: sql`step_deliveries`,
  priority: stepPriority(sql`0`),
});

/** Stores how an attempt ended, and adds the job of the next attempt if there is one. */
export interface Outcomes {
  /** The delivery ends, and nothing was handed over. */
  end(attempt: Attempt, end: End): Promise<void>;
  /** The provider was called. */
  record(
    attempt: Attempt,
    target: Target,
    called: { readonly sender: StepSender; readonly message: StepMessage; readonly outcome: StepOutcome },
  ): Promise<void>;
  /** The attempt failed. Adds the job of the next one, unless the delivery expires before it. */
  retry(
    attempt: Attempt,
    target: Target,
    failure: { readonly error: string; readonly afterSeconds?: number | undefined },
  ): Promise<void>;
}

/** Creates the functions that store outcomes. */
export function createOutcomes({
  database,
  counters,
  onSent,
}: {
  readonly database: Database;
  readonly counters: Counters;
  readonly onSent?: ((lag: number) => void) | undefined;
}): Outcomes {
  /** @returns false if the delivery is gone */
  async function settle(handle: Queryable, attempt: Attempt, result: Result): Promise<boolean> {
    const { state, reason, error = null, provider = null, reference = null, attempted = false } = result;
    const { channel, job, dueAt } = attempt;
    const category = categoryNameOf(attempt);
    const stored = { state, reason, error, provider, reference, newAttempts: attempted ? 1 : 0 };
    const [settled] = await handle.query(settleDelivery({ ...keyOf(job), ...stored, category }));
    if (settled === undefined) return false;
    countSteps(counters, { channel, category, outcome: settled.state });
    if (settled.state === 'sent') onSent?.((performance.now() - dueAt) / 1000);
    return true;
  }

  const retry: Outcomes['retry'] = async (attempt, { expiresAt }, { error, afterSeconds = 0 }) => {
    const { channel, job, row } = attempt;
    const user = database.user(job.user_id);
    const seconds = Math.max(afterSeconds, backOff(row.attempts));
    if (expiresAt <= Date.parse(row.created_at) + (row.age + seconds) * 1000) {
      await settle(user, attempt, { state: 'expired', reason: 'ttl', error, attempted: true });
      return;
    }
    const values = { ...keyOf(job), error, seconds, task: stepTask(channel), cause: job.traceparent ?? null };
    await user.query(postpone(values));
  };

  return {
    retry,

    async end(attempt, end) {
      await settle(database.user(attempt.job.user_id), attempt, end);
    },

    async record(attempt, target, { sender, message, outcome }) {
      if (outcome.outcome === 'retry') return retry(attempt, target, outcome);
      await database.user(attempt.job.user_id).transaction(async (tx) => {
        if (outcome.outcome === 'sent') {
          const { provider, reference } = outcome;
          const result = { state: 'sent', reason: 'accepted', provider, reference, attempted: true } as const;
          return sender.recordAccepted(tx, message, outcome, () => settle(tx, attempt, result));
        }
        const { reason, error, provider, isUnknownMailbox } = outcome;
        const state = isUnknownMailbox ? 'bounced' : 'failed';
        const store = () => settle(tx, attempt, { state, reason, error, provider, attempted: true });
        await (isUnknownMailbox ? sender.recordUnknownMailbox(tx, message, provider ?? '', store) : store());
      });
    },
  };
}
