import { recordEvent } from '../../audit/events.js';
import type { Database, Transaction } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import { isReference } from '../../lib/reference.js';
import type { Counters } from '../../statistics/counters.js';

/** A report of a provider about a message that it has accepted. */
export interface Receipt {
  /** The id of the outbox row, or that of the user and of the delivery of a step: see `stepReceiptId`. */
  readonly messageId: string;
  /** The id that the provider gave the message. */
  readonly reference: string;
  /** `pending`: the provider still tries. */
  readonly outcome: 'delivered' | 'undelivered' | 'pending';
  /** Why the message was not delivered, in words. */
  readonly reason: string | null;
}

/** The request of a provider. */
export interface ReceiptRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The parameter `message` of the URL. */
  readonly messageId: string | undefined;
  /** The body as it was sent. */
  readonly body: string;
}

/** Reads the reports of one provider. */
export interface ReceiptReader {
  /** The name of the provider. */
  readonly name: string;
  /** @returns undefined if the provider did not sign the request */
  read(request: ReceiptRequest): Promise<Receipt | undefined>;
}

/** Takes the reports of providers. */
export interface Receipts {
  /**
   * Changes the state of the message. A repeated, late or unknown report changes nothing.
   * @throws Problem `not_found` for a provider that is not configured, `invalid_receipt_signature`
   */
  accept(provider: string, request: ReceiptRequest): Promise<void>;
}

/** What a receipt about the SMS of a notification names. */
export const stepReceiptId = (userId: string, id: string): string => `${userId}.${id}`;

/** A report about the SMS of a notification. */
export interface StepReceipt {
  readonly userId: string;
  readonly id: string;
  readonly provider: string;
  readonly reference: string;
  readonly outcome: 'delivered' | 'undelivered';
  readonly reason: string | null;
}

interface ChangedRow {
  readonly kind: string;
  readonly authentication_id: string | null;
}

interface ReceiptValues {
  readonly id: string;
  readonly provider: string;
  readonly reference: string;
}

/** While this lock is held, the attempt that sends the message cannot commit. */
const lockMessage = statement<{ id: string }, { user_id: string }>(
  'message_receipt_lock',
  (p) => sql`select user_id from outbox where id = ${p.id} for update`,
);

/**
 * A delivered message is final, whichever attempt delivered it: a message that is queued for another attempt is not sent
 * again.
 */
const markDelivered = statement<ReceiptValues, ChangedRow>(
  'message_delivered',
  (p) => sql`
  update outbox set state = 'delivered', provider = ${p.provider}, provider_reference = ${p.reference},
    early_receipt = null, last_error = case when state = 'undelivered' then null else last_error end, updated_at = db_now()
  where id = ${p.id} and channel = 'sms' and state in ('queued', 'sent', 'failed', 'expired', 'undelivered')
  returning kind, authentication_id`,
);

/**
 * Only a report about the last attempt counts. If Postern could not read the answer of the provider, it has stored no
 * reference, and accepts a report with any reference.
 */
const markUndelivered = statement<ReceiptValues & { reason: string | null }, ChangedRow>(
  'message_undelivered',
  (p) => sql`
  update outbox set state = 'undelivered', provider_reference = ${p.reference}, last_error = ${p.reason},
    updated_at = db_now()
  where id = ${p.id} and channel = 'sms' and state = 'sent' and provider = ${p.provider}
    and coalesce(provider_reference, ${p.reference}) = ${p.reference}
  returning kind, authentication_id`,
);

/**
 * A report may arrive before the attempt is committed. It is stored with the message. When the attempt commits, it uses
 * the report if both have the same reference. A report about an earlier attempt is not stored.
 */
const storeEarlyReceipt = statement<ReceiptValues & { reason: string | null }>(
  'message_receipt_early',
  (p) => sql`
  update outbox set early_receipt = jsonb_build_object(
    'provider', ${p.provider}::text, 'reference', ${p.reference}::text, 'reason', ${p.reason}::text)
  where id = ${p.id} and channel = 'sms' and state = 'queued'
    and (provider, provider_reference) is distinct from (${p.provider}::text, ${p.reference}::text)`,
);

/** Creates the service that takes reports. */
export function createReceipts(options: {
  readonly database: Database;
  readonly counters: Counters;
  readonly readers: readonly ReceiptReader[];
  /** Changes the state of the SMS of a notification. */
  readonly onStepReceipt: (tx: Transaction, receipt: StepReceipt) => Promise<void>;
}): Receipts {
  const { database, counters, readers } = options;

  async function apply(provider: string, receipt: Omit<StepReceipt, 'userId' | 'provider'>): Promise<void> {
    const { id, reference, outcome, reason } = receipt;
    await database.transaction(async (tx) => {
      const values = { id, provider, reference };
      const [locked] = await tx.query(lockMessage({ id }));
      if (locked === undefined) return;
      const { user_id: userId } = locked;
      const change = outcome === 'delivered' ? markDelivered(values) : markUndelivered({ ...values, reason });
      const [changedMessage] = await tx.query(change);
      if (changedMessage === undefined) {
        if (outcome === 'undelivered') await tx.query(storeEarlyReceipt({ ...values, reason }));
        return;
      }
      const { kind, authentication_id } = changedMessage;
      // A delivery gets no event of its own, because there is already an event for the sent message.
      if (outcome === 'undelivered') {
        const data = { message_id: id, kind, authentication_id, provider, reason };
        await recordEvent(tx, { userId, type: 'message.undelivered', origin: { actor: 'system' }, data });
      }
      tx.onCommit(() =>
        counters.add(outcome === 'delivered' ? 'messages.delivered' : 'messages.undelivered', 'sms', 1, provider),
      );
    });
  }

  return {
    async accept(provider, request) {
      const reader = readers.find(({ name }) => name === provider);
      if (reader === undefined) throw new Problem('not_found');
      const receipt = await reader.read(request);
      if (receipt === undefined) throw new Problem('invalid_receipt_signature');
      const { messageId, reference, outcome, reason } = receipt;
      if (!isReference(reference) || outcome === 'pending') return;
      const [first, second] = messageId.split('.', 3).map(parseId);
      if (first === undefined) return;
      const details = { reference, outcome, reason };
      if (messageId.length === first.length) return apply(provider, { id: first, ...details });
      if (second === undefined || messageId !== stepReceiptId(first, second)) return;
      await database
        .user(first)
        .transaction((tx) => options.onStepReceipt(tx, { userId: first, id: second, provider, ...details }));
    },
  };
}
