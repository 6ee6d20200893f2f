import type { StepChannel } from '../../contract/category.js';
import type { StepReason, StepState } from '../../contract/push.js';
import type { Transaction } from '../../database/database.js';
import { type Sql, sql, statement } from '../../database/sql.js';
import type { Counters } from '../../statistics/counters.js';
import { categoryOf } from '../inbox/filter-fields.js';
import { countSteps, type DeliveryOutcome, recordDeliveries } from './announce.js';

/** What a provider reports about a message that it has accepted. */
export interface StepReport {
  readonly user_id: string;
  readonly id: string;
  readonly outcome: 'delivered' | 'soft_bounce' | 'hard_bounce' | 'complaint';
}

/**
 * The state after a report, and the states in which the report is news. Reports may arrive in any order: a bounce takes precedence over
 * `delivered`, and a complaint over both.
 */
const changes = {
  delivered: { state: 'delivered', reason: 'delivered', from: ['sent'] },
  soft_bounce: { state: 'bounced', reason: 'soft_bounce', from: ['sent', 'delivered'] },
  hard_bounce: { state: 'bounced', reason: 'hard_bounce', from: ['sent', 'delivered', 'bounced'] },
  complaint: { state: 'complained', reason: 'complaint', from: ['sent', 'delivered', 'bounced'] },
} as const satisfies Record<
  StepReport['outcome'],
  { state: StepState; reason: StepReason; from: readonly StepState[] }
>;

interface Reported {
  channel: StepChannel;
  category: string | null;
  state: StepState;
}

/** SQL: an `update` of deliveries, which also records an event for each. It returns `Reported`. */
const withEvent = (update: Sql): Sql => sql`
  with reported as (${update}
  returning user_id, id as delivery_id, notification_id, channel, null::uuid as device_id, state, reason,
    coalesce(digest_category, (select ${categoryOf} from notifications n
                               where n.user_id = step_deliveries.user_id and n.id = step_deliveries.notification_id)) as category
  ),
  event as (${recordDeliveries(sql`reported`)}
  )
  select channel, category, state from reported`;

const setReported = statement<
  { userId: string; id: string; state: string; reason: string; from: readonly string[] },
  Reported
>('step_delivery_reported', (p) =>
  withEvent(sql`
  update step_deliveries set state = ${p.state}, reason = ${p.reason}, updated_at = db_now()
  where user_id = ${p.userId} and id = ${p.id} and state = any (${p.from}::text[])`),
);

/** Changes the state of a delivery after a report of its provider, in the transaction that takes the report. */
export async function applyReport(
  tx: Transaction,
  { user_id: userId, id, outcome }: StepReport,
  counters: Counters,
): Promise<void> {
  const { state, reason, from } = changes[outcome];
  const [changed] = await tx.query(setReported({ userId, id, state, reason, from }));
  if (changed !== undefined) tx.onCommit(() => countSteps(counters, { ...changed, outcome: state }));
}

/** What a provider reports about an SMS that it has accepted. */
export interface StepReceipt {
  readonly userId: string;
  readonly id: string;
  readonly provider: string;
  readonly reference: string;
  readonly outcome: 'delivered' | 'undelivered';
  /** Why it was not delivered, in words. */
  readonly reason: string | null;
}

/** An SMS that has arrived is final, whichever attempt the report is about. */
const setDelivered = statement<StepReceipt, Reported>('step_sms_delivered', (p) =>
  withEvent(sql`
  update step_deliveries set state = 'delivered', reason = 'delivered', provider = ${p.provider},
    provider_reference = ${p.reference}, updated_at = db_now()
  where user_id = ${p.userId} and id = ${p.id} and channel = 'sms' and first_attempt_at is not null
    and state in ('queued', 'sent', 'bounced', 'failed', 'expired')`),
);

/**
 * Only a report about the last attempt counts. If it comes before the attempt is stored (`queued`), it is kept with the delivery, whose state
 * changes when the attempt is stored. A report that is kept already is none about a new attempt.
 */
const setUndelivered = statement<StepReceipt, Reported>('step_sms_undelivered', (p) =>
  withEvent(sql`
  update step_deliveries
  set state = case state when 'sent' then 'bounced' else state end, reason = 'undelivered', last_error = ${p.reason},
    provider = ${p.provider}, provider_reference = ${p.reference}, updated_at = db_now()
  where user_id = ${p.userId} and id = ${p.id} and channel = 'sms' and first_attempt_at is not null
    and (state = 'sent' and provider = ${p.provider} and coalesce(provider_reference, ${p.reference}) = ${p.reference}
         or state = 'queued' and (provider, provider_reference) is distinct from (${p.provider}::text, ${p.reference}::text))`),
);

/** Changes the state of an SMS after a receipt. */
export async function applyReceipt(tx: Transaction, receipt: StepReceipt, counters: Counters): Promise<void> {
  const [changed] = await tx.query(receipt.outcome === 'delivered' ? setDelivered(receipt) : setUndelivered(receipt));
  if (changed === undefined || changed.state === 'queued') return;
  tx.onCommit(() => countSteps(counters, { ...changed, outcome: changed.state as DeliveryOutcome }));
}
