import type { MessageChannel } from '../../contract/administration.js';
import { type Database, prepared } from '../../database/database.js';
import { describeUnreadable, type SecretKeys } from '../../lib/secret-keys.js';
import { type EventType, recordEvent } from '../events/events.js';
import { codeAttempts, noticeAttempts } from './enqueue.js';
import type { MailSender } from './mail-sender.js';
import type { SmsSender } from './sms-sender.js';
import type { Templates } from './templates.js';

/** Sends what is in the outbox and was dispatched: the queue's jobs `message.send…`. */
export interface Messages {
  /**
   * Takes one message up. Rejects when the provider failed, so that the queue tries again while the message lives; a
   * message may thus arrive twice, under the same id.
   */
  send(job: MessageJob): Promise<void>;
}

export interface MessageJob {
  readonly user_id: string;
  readonly id: string;
}

/** The providers that are configured. */
export interface MessageSenders {
  readonly sms?: SmsSender | undefined;
  readonly email?: MailSender | undefined;
}

type FinalState = 'sent' | 'failed' | 'expired' | 'dropped';

interface MessageRow {
  authentication_id: string | null;
  channel: MessageChannel;
  kind: string;
  recipient: string | null;
  sealed_code: Buffer | null;
  params: Readonly<Record<string, string>> | null;
  attempts: number;
  expires_at: string;
  expired: boolean;
  /** Minutes that the message lived when it was written. */
  minutes: number;
  locale: string | null;
}

const takeUp = prepared(
  'message_take_up',
  `with message as (
     update outbox set attempts = attempts + 1, updated_at = db_now()
     where user_id = $1 and id = $2 and state = 'queued'
     returning user_id, authentication_id, channel, kind, recipient, sealed_code, params, attempts, expires_at,
               expires_at <= db_now() as expired,
               round(extract(epoch from expires_at - created_at) / 60)::int as minutes)
   select m.authentication_id, m.channel, m.kind, m.recipient, m.sealed_code, m.params, m.attempts, m.expires_at,
          m.expired, m.minutes, coalesce(u.locale, m.params->>'locale') as locale
   from message m left join users u on u.id = m.user_id`,
);
const settle = prepared(
  'message_settle',
  `update outbox set state = $3, last_error = coalesce($4, last_error), updated_at = db_now()
   where user_id = $1 and id = $2`,
);

export function createMessages(options: {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly senders: MessageSenders;
  readonly templates: Templates;
}): Messages {
  const { database, keys, senders, templates } = options;

  async function finish(job: MessageJob, row: MessageRow, state: FinalState, error?: string): Promise<void> {
    await database.transaction(async (tx) => {
      await tx.query(settle, [job.user_id, job.id, state, error ?? null]);
      if (state === 'dropped') return;
      const { channel, kind, authentication_id } = row;
      await recordEvent(tx, {
        userId: job.user_id,
        type: `message.${state}` satisfies EventType,
        origin: { actor: 'system' },
        data: { message_id: job.id, kind, authentication_id, provider: senders[channel]?.name ?? null },
      });
    });
  }

  function deliver(job: MessageJob, row: MessageRow & { readonly recipient: string }, code: string | null) {
    const { channel, kind, recipient: to, authentication_id: authenticationId, expires_at: expiresAt } = row;
    const values = { ...row.params, minutes: String(row.minutes), ...(code !== null && { code }) };
    const { subject, text } = templates.render(kind, row.locale ?? undefined, values);
    const message = { id: job.id, kind, to, text, code, authenticationId, expiresAt };
    const sending = channel === 'sms' ? senders.sms?.send(message) : senders.email?.send({ ...message, subject });
    if (sending === undefined) throw new Error(`no provider of ${channel} is configured`);
    return sending;
  }

  async function send(job: MessageJob): Promise<void> {
    const [row] = await database.query<MessageRow>(takeUp, [job.user_id, job.id]);
    if (row === undefined) return;
    const { recipient, sealed_code: sealed, attempts } = row;
    // Dispatching has dropped it, unless an earlier version has queued it.
    if (recipient === null) return finish(job, row, 'dropped');
    if (row.expired) return finish(job, row, attempts > 1 ? 'failed' : 'expired');
    try {
      await deliver(job, { ...row, recipient }, sealed === null ? null : openCode(keys, sealed, job.id));
    } catch (error) {
      const reason = (error as Error).message;
      const most = sealed === null ? noticeAttempts : codeAttempts;
      if (attempts >= most || isPermanent(error)) return finish(job, row, 'failed', reason);
      await database.query(settle, [job.user_id, job.id, 'queued', reason]);
      throw error;
    }
    await finish(job, row, 'sent');
  }

  return { send };
}

/** A key that is missing may come back while the code lives: then a further attempt sends it. */
function openCode(keys: SecretKeys, sealed: Buffer, id: string): string {
  const code = keys.open(sealed, id);
  if (code === undefined) throw new Error(describeUnreadable(keys, sealed, `the code of the message ${id}`));
  return code;
}

/** Whether the provider will never take the message. */
function isPermanent(error: unknown): boolean {
  return error instanceof Error && 'permanent' in error && error.permanent === true;
}
