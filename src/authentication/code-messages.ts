import { type Database, prepared } from '../database/database.js';
import type { SecretKeys } from '../lib/secret-keys.js';
import { type EventType, recordEvent } from './events.js';
import type { SmsSender } from './sms-sender.js';

/** Sends the codes of two-step logins: the queue's job `message.send`. */
export interface CodeMessages {
  /**
   * Takes one message of the outbox up. Rejects when the provider failed, so that the queue tries again while the code
   * lives; a message may thus arrive twice, under the same id.
   */
  send(job: MessageJob): Promise<void>;
}

export interface MessageJob {
  readonly user_id: string;
  readonly id: string;
}

/** How often a message is tried until the queue gives up; that takes longer than a code lives. */
export const messageAttempts = 8;

type FinalState = 'sent' | 'failed' | 'expired' | 'dropped';

interface MessageRow {
  authentication_id: string;
  recipient: string | null;
  sealed_code: Buffer;
  attempts: number;
  expires_at: string;
  expired: boolean;
  locale: string | null;
}

/** Taking a message up is what makes its authentication `pending`, whatever becomes of the message. */
const takeUp = prepared(
  'message_take_up',
  `with message as (
     update outbox set attempts = attempts + 1, updated_at = db_now()
     where user_id = $1 and id = $2 and state = 'queued'
     returning user_id, authentication_id, recipient, sealed_code, attempts, expires_at, expires_at <= db_now() as expired),
   challenge as (
     update authentications a set status = 'pending', updated_at = db_now()
     from message m where a.user_id = m.user_id and a.id = m.authentication_id and a.status = 'created'
       and a.expires_at > db_now())
   select m.authentication_id, m.recipient, m.sealed_code, m.attempts, m.expires_at, m.expired, u.locale
   from message m left join users u on u.id = m.user_id`,
);
const settle = prepared(
  'message_settle',
  `update outbox set state = $3, last_error = coalesce($4, last_error), updated_at = db_now()
   where user_id = $1 and id = $2`,
);

export function createCodeMessages(options: {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly sender: SmsSender;
}): CodeMessages {
  const { database, keys, sender } = options;

  async function finish(job: MessageJob, row: MessageRow, state: FinalState, error?: string): Promise<void> {
    await database.transaction(async (tx) => {
      await tx.query(settle, [job.user_id, job.id, state, error ?? null]);
      if (state === 'dropped') return;
      await recordEvent(tx, {
        userId: job.user_id,
        type: `message.${state}` satisfies EventType,
        origin: { actor: 'system' },
        data: { message_id: job.id, authentication_id: row.authentication_id, provider: sender.name },
      });
    });
  }

  async function send(job: MessageJob): Promise<void> {
    const [row] = await database.query<MessageRow>(takeUp, [job.user_id, job.id]);
    if (row === undefined) return;
    if (row.recipient === null) return finish(job, row, 'dropped');
    if (row.expired) return finish(job, row, row.attempts > 1 ? 'failed' : 'expired');
    const code = keys.open(row.sealed_code, job.id);
    if (code === undefined)
      return finish(job, row, 'failed', 'the code was sealed with a key that SECRET_KEY no longer holds');
    try {
      await sender.send({
        id: job.id,
        to: row.recipient,
        text: codeText(code, row.locale),
        code,
        authenticationId: row.authentication_id,
        expiresAt: row.expires_at,
      });
    } catch (error) {
      const reason = (error as Error).message;
      if (row.attempts >= messageAttempts) return finish(job, row, 'failed', reason);
      await database.query(settle, [job.user_id, job.id, 'queued', reason]);
      throw error;
    }
    await finish(job, row, 'sent');
  }

  return { send };
}

function codeText(code: string, locale: string | null): string {
  return locale?.toLowerCase().startsWith('es') === true
    ? `Su código es ${code}. No lo comparta con nadie.`
    : `Your code is ${code}. Do not share it with anyone.`;
}
