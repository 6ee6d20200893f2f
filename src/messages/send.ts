import { type EventType, recordEvent } from '../audit/events.js';
import type { MessageChannel } from '../contract/administration.js';
import type { Database, Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { describeUnreadable, type SecretKeys } from '../lib/crypto/secret-keys.js';
import type { Counters } from '../statistics/counters.js';
import { addMessageJobs, codeAttempts, noticeAttempts } from './enqueue.js';
import { codeKinds, codeMailKinds } from './kinds.js';
import type { AcceptedMail, AcceptedMails, MailSender } from './mail-sender.js';
import type { AcceptedMessage } from './message-sender.js';
import type { SmsAdmission } from './sms-admission.js';
import type { SmsSender } from './sms-sender.js';
import type { Suppressions } from './suppressions.js';
import type { Templates } from './templates.js';

/** Sends messages of the outbox after `dispatchMessages` has added their jobs: the queue's tasks `message.send…`. */
export interface Messages {
  /**
   * Sends one message. If the provider fails, it rejects, and the queue retries until the message expires. So a message can arrive twice,
   * with the same id.
   */
  send(job: MessageJob): Promise<void>;
}

export interface MessageJob {
  readonly user_id: string;
  readonly id: string;
}

/** The configured providers. */
export interface MessageSenders {
  readonly sms?: SmsSender | undefined;
  readonly email?: MailSender | undefined;
}

type FinalState = 'sent' | 'failed' | 'expired' | 'dropped';

/** How a message ended. */
type Result =
  | ({ readonly state: 'sent' } & AcceptedMessage)
  | {
      readonly state: Exclude<FinalState, 'sent'>;
      /** The provider that has refused the message. */
      readonly provider?: string | undefined;
      readonly error?: string;
      /** The address, if the provider says that it does not exist. */
      readonly unknownMailbox?: string | undefined;
    };

interface MessageRow {
  authentication_id: string | null;
  channel: MessageChannel;
  kind: string;
  /** A message without one has no job: the dispatch drops it. */
  recipient: string;
  sealed_code: Buffer | null;
  params: Readonly<Record<string, string>> | null;
  attempts: number;
  expires_at: string;
  expired: boolean;
  /** The lifetime of the message, in minutes. */
  minutes: number;
  locale: string | null;
}

/** Counts the attempt and reads the message. The message is sent after this statement, without a lock on its row. */
const startAttempt = statement<MessageJob, MessageRow>(
  'message_start_attempt',
  (p) => sql`
    with message as (
      update outbox set attempts = attempts + 1, updated_at = db_now()
      where user_id = ${p.user_id} and id = ${p.id} and state = 'queued'
      returning user_id, authentication_id, channel, kind, recipient, sealed_code, params, attempts, expires_at,
                expires_at <= db_now() as expired,
                round(extract(epoch from expires_at - created_at) / 60)::int as minutes)
    select m.authentication_id, m.channel, m.kind, m.recipient, m.sealed_code, m.params, m.attempts, m.expires_at,
           m.expired, m.minutes, coalesce(u.locale, m.params->>'locale') as locale
    from message m left join users u on u.id = m.user_id`,
);

/**
 * Records that the provider has accepted the message. Its report about the delivery may have arrived before. Then the message stays
 * `delivered`, or becomes `undelivered`.
 */
const setAccepted = statement<MessageJob & { provider: string; reference: string | null }, object>(
  'message_set_accepted',
  (p) => {
    const isEarly = sql`coalesce(early_receipt->>'provider' = ${p.provider}::text
      and early_receipt->>'reference' = ${p.reference}::text, false)`;
    return sql`
    update outbox set
      state = case when state = 'delivered' then state when ${isEarly} then 'undelivered' else 'sent' end,
      last_error = case when state <> 'delivered' and ${isEarly} then early_receipt->>'reason' else last_error end,
      provider = case when state = 'delivered' then provider else ${p.provider}::text end,
      provider_reference = case when state = 'delivered' then provider_reference else ${p.reference}::text end,
      early_receipt = null, updated_at = db_now()
    where user_id = ${p.user_id} and id = ${p.id}
    returning 1 as changed`;
  },
);

/** Records a result other than `sent`. A message that has arrived stays `delivered`, even if a later attempt fails. */
const setState = statement<
  MessageJob & { state: Exclude<FinalState, 'sent'> | 'queued'; error: string | null },
  object
>(
  'message_set_state',
  (p) => sql`
    update outbox set state = ${p.state}, last_error = coalesce(${p.error}, last_error), updated_at = db_now()
    where user_id = ${p.user_id} and id = ${p.id} and state <> 'delivered'
    returning 1 as changed`,
);

/** Puts a message back for an instance of a newer release. The attempt does not count. */
const putBack = statement<MessageJob & { readonly maxAttempts: number }>(
  'message_put_back',
  (p) => sql`
    with message as (
      update outbox set attempts = attempts - 1, updated_at = db_now()
      where user_id = ${p.user_id} and id = ${p.id} and state = 'queued'
      returning user_id, id, channel)
    ${addMessageJobs(sql`message`, { attempts: p.maxAttempts, runAt: sql`db_now() + interval '5 seconds'` })}`,
);

const smsCodes: ReadonlySet<string> = new Set(Object.keys(codeKinds).map((kind) => `sms.${kind}`));
/** Whether the SMS contains a code that somebody has requested. */
const isSmsCode = (kind: string) => smsCodes.has(kind);

/** Mails that somebody waits for. They are sent to suppressed addresses too: a login needs them, and few are sent. */
const requestedMails: ReadonlySet<string> = new Set(
  [...Object.keys(codeKinds), ...Object.keys(codeMailKinds)].map((kind) => `email.${kind}`),
);

export interface MessagesOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly senders: MessageSenders;
  readonly templates: Templates;
  readonly counters: Counters;
  readonly smsAdmission: SmsAdmission;
  readonly suppressions: Suppressions;
  readonly mailEvents: AcceptedMails;
  /** The providers that report what becomes of their mails. */
  readonly reporting: ReadonlySet<string>;
}

/** Creates the job that sends messages. */
export function createMessages(options: MessagesOptions): Messages {
  const { database, keys, senders, counters, templates, smsAdmission, suppressions, mailEvents } = options;

  /** @returns whether the statement changed the message */
  async function store(tx: Queryable, job: MessageJob, result: Result): Promise<boolean> {
    const change =
      result.state === 'sent'
        ? setAccepted({ ...job, ...result })
        : setState({ ...job, state: result.state, error: result.error ?? null });
    return (await tx.query(change)).length > 0;
  }

  async function finish(job: MessageJob, row: MessageRow, result: Result): Promise<void> {
    const mail = reportedMail(options, job, row, result);
    await database.user(job.user_id).transaction(async (tx) => {
      // This comes before the change of the message. Reports about an earlier attempt lock the rows in the same order, so nothing deadlocks.
      if (mail !== undefined) await mailEvents.recordAccepted(tx, mail);
      const isChanged = await store(tx, job, result);
      // If the message is gone, its user was deleted while the mail was sent.
      if (mail !== undefined && !isChanged) await mailEvents.forget(tx, mail);
      else if (mail !== undefined) await mailEvents.applyEarly(tx, mail);
      const { state } = result;
      if (!isChanged || state === 'dropped') return;
      const { channel, kind, authentication_id } = row;
      if (result.state !== 'sent' && result.unknownMailbox !== undefined) {
        const cause = { reason: 'hard_bounce', origin: { actor: 'system' }, userId: job.user_id } as const;
        await suppressions.add(tx, [result.unknownMailbox], cause);
      }
      const { provider = senders[channel]?.name } = result;
      await recordEvent(tx, {
        userId: job.user_id,
        type: `message.${state}` satisfies EventType,
        origin: { actor: 'system' },
        data: { message_id: job.id, kind, authentication_id, provider: provider ?? null },
      });
      tx.onCommit(() => counters.add(`messages.${state}`, channel, 1, provider));
    });
  }

  /** Why a message may not be sent. */
  async function refusalOf(job: MessageJob, { channel, kind }: MessageRow, to: string): Promise<string | undefined> {
    if (isSmsCode(kind)) return smsAdmission.refusalOf(to);
    if (channel !== 'email' || requestedMails.has(kind)) return undefined;
    const isSuppressed = await suppressions.has(database.user(job.user_id), to);
    return isSuppressed ? 'the address is suppressed' : undefined;
  }

  async function send(job: MessageJob): Promise<void> {
    const [row] = await database.user(job.user_id).query(startAttempt(job));
    if (row === undefined) return;
    const { recipient, sealed_code: encryptedCode, attempts } = row;
    if (row.expired) return finish(job, row, { state: attempts > 1 ? 'failed' : 'expired' });
    const maxAttempts = encryptedCode === null ? noticeAttempts : codeAttempts;
    // In a rolling upgrade, an instance of a newer release may have written the message.
    if (!templates.has(row.kind)) {
      await database.user(job.user_id).query(putBack({ ...job, maxAttempts }));
      return;
    }
    const refusal = await refusalOf(job, row, recipient);
    if (refusal !== undefined) return finish(job, row, { state: 'dropped', error: refusal });
    let accepted: AcceptedMessage;
    try {
      accepted = await deliver(
        options,
        job,
        row,
        encryptedCode === null ? null : decryptCode(keys, encryptedCode, job.id),
      );
    } catch (error) {
      const reason = (error as Error).message;
      if (attempts >= maxAttempts || isPermanent(error)) {
        const unknownMailbox = isUnknownMailbox(error) ? recipient : undefined;
        return finish(job, row, { state: 'failed', provider: providerOf(error), error: reason, unknownMailbox });
      }
      const values = { ...job, state: 'queued', error: reason } as const;
      const queued = await database.user(job.user_id).query(setState(values));
      if (queued.length === 0) return;
      throw error;
    }
    await finish(job, row, { state: 'sent', ...accepted });
  }

  return { send };
}

/** The mail, if its provider reports what becomes of it. */
function reportedMail(
  { reporting }: MessagesOptions,
  job: MessageJob,
  { channel, recipient }: MessageRow,
  result: Result,
): AcceptedMail | undefined {
  if (channel !== 'email' || result.state !== 'sent') return undefined;
  const { provider, reference } = result;
  if (reference === null || !reporting.has(provider)) return undefined;
  return { userId: job.user_id, id: job.id, notificationId: null, provider, reference, address: recipient };
}

/** Renders a message, and hands it to its provider. */
async function deliver(
  { templates, senders }: MessagesOptions,
  job: MessageJob,
  row: MessageRow,
  code: string | null,
): Promise<AcceptedMessage> {
  const { channel, kind, recipient: to, authentication_id: authenticationId, expires_at: expiresAt } = row;
  const linkTo = row.params?.link_to;
  const values = {
    ...row.params,
    minutes: String(row.minutes),
    ...(code !== null && { code }),
    // The fragment is not sent to a server, so no access log has the code.
    ...(linkTo !== undefined && { link: `${linkTo}#${authenticationId}.${code}` }),
  };
  const { subject, text, html } = templates.render(kind, row.locale ?? undefined, values);
  const message = { id: job.id, kind, to, text, code, authenticationId, expiresAt };
  if (channel === 'sms' && senders.sms !== undefined) return senders.sms.send(message);
  if (channel === 'sms' || senders.email === undefined) throw new Error(`no provider for ${channel} is configured`);
  return senders.email.send({ ...message, subject, html });
}

/** @throws Error while the key is missing. If the key returns before the code expires, a later attempt sends the code. */
function decryptCode(keys: SecretKeys, encryptedCode: Buffer, id: string): string {
  const code = keys.decrypt(encryptedCode, id);
  if (code === undefined) throw new Error(describeUnreadable(keys, encryptedCode, `the code of the message ${id}`));
  return code;
}

/** The provider that an error names. */
function providerOf(error: unknown): string | undefined {
  return error instanceof Error && 'provider' in error && typeof error.provider === 'string'
    ? error.provider
    : undefined;
}

/** Whether the address of a mail does not exist. */
function isUnknownMailbox(error: unknown): boolean {
  return error instanceof Error && 'isUnknownMailbox' in error && error.isUnknownMailbox === true;
}

/** Whether the provider will never accept the message. */
function isPermanent(error: unknown): boolean {
  return error instanceof Error && 'permanent' in error && error.permanent === true;
}
