import { recordEvent } from '../../audit/events.js';
import type { SuppressionReason } from '../../contract/suppression.js';
import type { Database, Transaction } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import { Problem } from '../../lib/problem.js';
import { isReference } from '../../lib/reference.js';
import type { Counters } from '../../statistics/counters.js';
import type { AcceptedMail, AcceptedMails } from '../mail-sender.js';
import type { Suppressions } from '../suppressions.js';

/** A report of a provider about a mail that it has accepted. */
export interface MailEvent {
  /** The id that the provider gave the mail. */
  readonly reference: string;
  /** The recipient, in any spelling. */
  readonly address: string;
  /** `soft_bounce`: the mail did not arrive, and another one may. */
  readonly outcome: 'delivered' | 'soft_bounce' | 'hard_bounce' | 'complaint';
}

/** The request of a provider. */
export interface MailEventRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it was sent. */
  readonly body: string;
}

/** Reads the reports of one provider. */
export interface MailEventReader {
  /** The name in the path. */
  readonly name: string;
  /** The name of the provider that accepted the mails. */
  readonly provider: string;
  /** @returns undefined if the request does not come from the provider, or is too old */
  read(request: MailEventRequest): Promise<readonly MailEvent[] | undefined>;
}

/** Takes the reports of providers about mails. */
export interface MailEvents extends AcceptedMails {
  /**
   * Changes the state of the mails, and suppresses addresses. A repeated or unknown report changes nothing.
   * @throws Problem `not_found` for a provider without a secret, `invalid_mail_event`
   */
  accept(name: string, request: MailEventRequest): Promise<void>;
  /** A provider has answered that the mailbox of a recorded mail does not exist. */
  applyHardBounce(tx: Transaction, mail: AcceptedMail): Promise<void>;
}

interface DeliveryRow {
  readonly userId: string;
  readonly id: string;
  readonly notificationId: string | null;
  readonly provider: string;
  readonly reference: string;
  readonly digest: Buffer;
}

/** If a message is sent again, only the reports about its last attempt count. */
const upsertDelivery = statement<DeliveryRow>(
  'mail_delivery_accepted',
  (p) => sql`
  insert into mail_deliveries (user_id, id, notification_id, provider, provider_reference, address_digest, created_at)
  values (${p.userId}, ${p.id}, ${p.notificationId}, ${p.provider}, ${p.reference}, ${p.digest}, db_now())
  on conflict (user_id, id) do update set provider = excluded.provider,
    provider_reference = excluded.provider_reference, address_digest = excluded.address_digest, delivered_at = null,
    soft_bounced_at = null, hard_bounced_at = null, complained_at = null, created_at = excluded.created_at`,
);

const deleteDelivery = statement<{ userId: string; id: string }>(
  'mail_delivery_forget',
  (p) => sql`delete from mail_deliveries where user_id = ${p.userId} and id = ${p.id}`,
);

/** While this lock is held, no report about the mail is taken as early, and none as matched. */
const lockReference = statement<{ reference: string }>(
  'mail_reference_lock',
  (p) => sql`select pg_advisory_xact_lock(hashtextextended(${p.reference}, 7203415047))`,
);

/** More early reports than this are dropped: they are about mails of other programs. */
const maxEarlyReports = 10_000;

const storeEarly = statement<{ provider: string; reference: string; digest: Buffer; outcome: string }>(
  'mail_report_early',
  (p) => sql`
  insert into early_mail_reports (provider, provider_reference, address_digest, outcome, created_at)
  select ${p.provider}, ${p.reference}, ${p.digest}, ${p.outcome}, db_now()
  where (select count(*) from (select from early_mail_reports limit ${literal(maxEarlyReports)}) stored) < ${literal(maxEarlyReports)}
  on conflict do nothing`,
);
const takeEarly = statement<Match, { outcome: MailEvent['outcome'] }>(
  'mail_reports_take_early',
  (p) => sql`
  delete from early_mail_reports
  where provider = ${p.provider} and provider_reference = ${p.reference} and address_digest = any (${p.digests}::bytea[])
  returning outcome`,
);

interface Match {
  readonly provider: string;
  readonly reference: string;
  readonly digests: readonly Buffer[];
}

interface Matched {
  readonly user_id: string;
  readonly id: string;
}
/** A mail of the last 30 days. */
interface MatchedMail extends Matched {
  /** Null: a message of the outbox. */
  readonly notification_id: string | null;
}

/** What providers report about the mail of a notification. */
export interface StepReport extends Matched {
  readonly outcome: MailEvent['outcome'];
}

const lockDelivery = statement<Match, MatchedMail>(
  'mail_delivery_lock',
  (p) => sql`
  select user_id, id, notification_id from mail_deliveries
  where provider = ${p.provider} and provider_reference = ${p.reference} and address_digest = any (${p.digests}::bytea[])
  for update`,
);

const times = {
  delivered: sql`delivered_at`,
  soft_bounce: sql`soft_bounced_at`,
  hard_bounce: sql`hard_bounced_at`,
  complaint: sql`complained_at`,
} as const;

/** Returns a row for the first report of its kind. */
const markOnce = (outcome: MailEvent['outcome']) =>
  statement<Matched, object>(
    `mail_delivery_${outcome}`,
    (p) => sql`
    update mail_deliveries set ${times[outcome]} = db_now()
    where user_id = ${p.user_id} and id = ${p.id} and ${times[outcome]} is null
    returning 1 as changed`,
  );
const marks = {
  delivered: markOnce('delivered'),
  soft_bounce: markOnce('soft_bounce'),
  hard_bounce: markOnce('hard_bounce'),
  complaint: markOnce('complaint'),
} as const;

/** An address is suppressed when this number of mails within 14 days did not arrive. */
const maxSoftBounces = 5;

/** Counts the bounces of one address one after another, so that one of them sees all. */
const lockAddress = statement<{ digest: string }>(
  'mail_address_lock',
  (p) => sql`select pg_advisory_xact_lock(hashtextextended(${p.digest}, 7203415046))`,
);
const countSoftBounces = statement<{ digests: readonly Buffer[] }, { count: number }>(
  'mail_soft_bounces',
  (p) => sql`
  select count(*)::int as count from (
    select from mail_deliveries
    where address_digest = any (${p.digests}::bytea[]) and soft_bounced_at > db_now() - interval '14 days'
    limit ${literal(maxSoftBounces)}) bounces`,
);

interface ChangedMessage {
  readonly kind: string;
  readonly authentication_id: string | null;
}

/** A bounce is later than the acceptance by the mail server, whichever report comes first. */
const setDelivered = statement<Matched, ChangedMessage>(
  'mail_message_delivered',
  (p) => sql`
  update outbox set state = 'delivered', updated_at = db_now()
  where user_id = ${p.user_id} and id = ${p.id} and channel = 'email' and state = 'sent'
  returning kind, authentication_id`,
);
const setUndelivered = statement<Matched & { reason: string }, ChangedMessage>(
  'mail_message_undelivered',
  (p) => sql`
  update outbox set state = 'undelivered', last_error = ${p.reason}, updated_at = db_now()
  where user_id = ${p.user_id} and id = ${p.id} and channel = 'email' and state in ('sent', 'delivered')
  returning kind, authentication_id`,
);

const reasons = {
  soft_bounce: 'the mailbox did not take the mail',
  hard_bounce: 'the mailbox does not exist',
} as const;

export interface MailEventsOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly counters: Counters;
  readonly suppressions: Suppressions;
  readonly readers: readonly MailEventReader[];
  /** Changes the state of the mail of a notification. */
  readonly onStepReport: (tx: Transaction, report: StepReport) => Promise<void>;
  /** The canonical form of an address; undefined if it has none. */
  readonly canonical: (address: string) => string | undefined;
  /** Called after the commit of a hard bounce or a complaint. */
  readonly onBadReport: () => void;
}

/** Creates the service that takes reports about mails. */
export function createMailEvents(options: MailEventsOptions): MailEvents {
  const { database, keys, counters, suppressions, readers, canonical, onBadReport } = options;

  async function suppress(tx: Transaction, address: string, reason: SuppressionReason, userId: string) {
    await suppressions.add(tx, [address], { reason, origin: { actor: 'system' }, userId });
  }

  /** The message of the outbox, if the mail was one. */
  async function changeMessage(tx: Transaction, provider: string, mail: MatchedMail, outcome: MailEvent['outcome']) {
    if (mail.notification_id !== null) return options.onStepReport(tx, { ...mail, outcome });
    if (outcome === 'complaint') return;
    const reason = outcome === 'delivered' ? undefined : `${provider}: ${reasons[outcome]}`;
    const change = reason === undefined ? setDelivered(mail) : setUndelivered({ ...mail, reason });
    const [message] = await tx.query(change);
    if (message === undefined) return;
    // A delivery gets no event of its own, because there is already an event for the sent message.
    if (reason !== undefined) {
      const data = { message_id: mail.id, ...message, provider, reason };
      await recordEvent(tx, { userId: mail.user_id, type: 'message.undelivered', origin: { actor: 'system' }, data });
    }
    tx.onCommit(() =>
      counters.add(reason === undefined ? 'messages.delivered' : 'messages.undelivered', 'email', 1, provider),
    );
  }

  /** @returns whether the report was the first of its kind */
  async function applyTo(
    tx: Transaction,
    provider: string,
    mail: MatchedMail,
    { address, outcome }: Pick<MailEvent, 'address' | 'outcome'>,
  ) {
    const digests = keys.digests('address', address);
    if (outcome === 'soft_bounce') await tx.query(lockAddress({ digest: digests[0]?.toString('hex') ?? '' }));
    if ((await tx.query(marks[outcome](mail))).length === 0) return false;
    await changeMessage(tx, provider, mail, outcome);
    if (outcome === 'hard_bounce' || outcome === 'complaint') {
      await suppress(tx, address, outcome, mail.user_id);
      tx.onCommit(onBadReport);
    }
    if (outcome === 'soft_bounce') {
      const [bounces] = await tx.query(countSoftBounces({ digests }));
      if ((bounces?.count ?? 0) >= maxSoftBounces) await suppress(tx, address, 'soft_bounces', mail.user_id);
    }
    return true;
  }

  /** @returns whether the report was the first of its kind about a mail of this service */
  async function apply(provider: string, { reference, address: text, outcome }: MailEvent): Promise<boolean> {
    const address = canonical(text);
    if (address === undefined || !isReference(reference)) return false;
    const digests = keys.digests('address', address);
    return database.transaction(async (tx) => {
      await tx.query(lockReference({ reference }));
      const [mail] = await tx.query(lockDelivery({ provider, reference, digests }));
      if (mail !== undefined) return applyTo(tx, provider, mail, { address, outcome });
      await tx.query(storeEarly({ provider, reference, digest: keys.digest('address', address), outcome }));
      return false;
    });
  }

  return {
    async recordAccepted(tx, { address, ...mail }) {
      await tx.query(lockReference({ reference: mail.reference }));
      await tx.query(upsertDelivery({ ...mail, digest: keys.digest('address', address) }));
    },
    async forget(tx, { userId, id }) {
      await tx.query(deleteDelivery({ userId, id }));
    },
    async applyHardBounce(tx, { userId, id, address }) {
      await tx.query(marks.hard_bounce({ user_id: userId, id }));
      await suppress(tx, address, 'hard_bounce', userId);
      tx.onCommit(onBadReport);
    },
    async applyEarly(tx, { userId, id, notificationId, provider, reference, address }) {
      const early = await tx.query(takeEarly({ provider, reference, digests: keys.digests('address', address) }));
      const name = readers.find((reader) => reader.provider === provider)?.name ?? provider;
      const mail = { user_id: userId, id, notification_id: notificationId };
      for (const { outcome } of early) {
        const isApplied = await applyTo(tx, provider, mail, { address, outcome });
        if (isApplied) tx.onCommit(() => counters.add('mail.events', outcome, 1, name));
      }
    },
    async accept(name, request) {
      const reader = readers.find((candidate) => candidate.name === name);
      if (reader === undefined) throw new Problem('not_found');
      const events = await reader.read(request);
      if (events === undefined) throw new Problem('invalid_mail_event');
      for (const event of events) {
        const isApplied = await apply(reader.provider, event);
        counters.add('mail.events', isApplied ? event.outcome : 'ignored', 1, name);
      }
    },
  };
}
