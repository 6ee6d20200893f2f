import type { MessageChannel } from '../contract/administration.js';
import type { Queryable } from '../database/database.js';
import { type Sql, type SqlPart, sql, statement } from '../database/sql.js';
import { currentCause } from '../database/traced.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newId } from '../lib/ids.js';
import type { CodeKind } from './kinds.js';

/**
 * The maximum number of attempts to send a code. With the pauses of the queue, the attempts last longer than a code is
 * valid.
 */
export const codeAttempts = 8;
/**
 * The maximum number of attempts to send a notice. With the pauses of the queue, the attempts last about ten hours,
 * because a late notice is still useful.
 */
export const noticeAttempts = 11;

/** The queue's task that sends by a channel. Each channel has its own, so that each can have its own workers. */
export const messageTasks = {
  sms: 'message.send',
  email: 'message.send.email',
} as const satisfies Record<MessageChannel, string>;

/** SQL: the priority of a code's job. The queue runs low numbers first, and all its other jobs have 0 or more. */
export function codePriority(recentCodes: SqlPart): Sql {
  return sql`${recentCodes} - 1001`;
}

/** SQL: the settings of message jobs. */
export interface MessageJobs {
  readonly attempts: SqlPart;
  /** The default is 0. */
  readonly priority?: SqlPart;
  /** The default is null: at once. */
  readonly runAt?: SqlPart;
  /** The trace of the request that caused the job. The default is the request to which the statement belongs. */
  readonly cause?: SqlPart;
}

/**
 * SQL: adds the jobs that send rows of the outbox, if there are any. The tasks are those of `messageTasks`.
 *
 * @param from the rows (user_id, id, channel)
 */
export function addMessageJobs(from: SqlPart, jobs: MessageJobs): Sql {
  const { attempts, priority = sql`0`, runAt = sql`null`, cause = currentCause } = jobs;
  const task = sql`case channel when 'sms' then 'message.send' when 'email' then 'message.send.email' end`;
  return sql`
  select job.id
  from graphile_worker.add_jobs(array(
    select row(${task}, json_build_object('user_id', user_id, 'id', id, 'traceparent', ${cause}), null,
               ${runAt}, ${attempts}::int, null, ${priority}, null)::graphile_worker.job_spec
    from ${from})) job
  where exists (select from ${from})`;
}

/**
 * SQL: queues rows of the outbox for `dispatchMessages`.
 *
 * @param rows.from the rows (user_id, id, created_at)
 * @param rows.recentCodes how many codes the client's address requested recently: see `CountedCode`
 */
export function queueForDispatch({
  from,
  recentCodes,
}: {
  readonly from: SqlPart;
  readonly recentCodes: SqlPart;
}): Sql {
  return sql`
  insert into undispatched_messages (user_id, id, turn, created_at)
  select user_id, id, ${recentCodes}::smallint, created_at from ${from}`;
}

/** A code to send. */
export interface NewCode {
  /** The user's id; a derived id for an identity without an account. */
  readonly userId: string;
  readonly channel: MessageChannel;
  readonly kind: CodeKind;
  /** E.164 or a mail address. Undefined for an identity without an account: the dispatch drops the message. */
  readonly recipient: string | undefined;
  /** Undefined for a message that holds no code. */
  readonly code: string | undefined;
  /** Seconds. After this time the message is not sent any more. */
  readonly lifetime: number;
  /** The language (BCP 47) for a recipient without an account. A user's own locale takes precedence. */
  readonly locale?: string | undefined;
  /** How many codes the client's address requested recently. Lower numbers are sent first. The default is 0. */
  readonly recentCodes?: number | undefined;
  /** Values of the template, beside the code. */
  readonly values?: Readonly<Record<string, string>>;
}

interface MessageValues {
  readonly userId: string;
  readonly id: string;
  readonly channel: MessageChannel;
  readonly kind: string;
  readonly recipient: string | null;
  readonly encryptedCode: Buffer | null;
  readonly params: string | null;
  readonly lifetime: number;
  readonly recentCodes: number;
}

const insertMessage = statement<MessageValues>(
  'message_enqueue',
  (p) => sql`
    with message as (
      insert into outbox (user_id, id, channel, kind, recipient, state, sealed_code, params, expires_at, created_at,
                          updated_at)
      select ${p.userId}, ${p.id}, ${p.channel}, ${p.kind}, ${p.recipient}, 'queued', ${p.encryptedCode},
             ${p.params}::jsonb, now + ${p.lifetime} * interval '1 second', now, now
      from (select db_now() as now) clock
      returning user_id, id, created_at)
    ${queueForDispatch({ from: sql`message`, recentCodes: p.recentCodes })}`,
);

/**
 * Puts a code into the outbox, encrypted, and queues it for dispatch, in one statement. The rows belong to the user, or
 * carry the derived id of an identity without an account. The caller checks the limits before (`RequestLimits`).
 *
 * @returns the id of the message in the outbox
 */
export async function enqueueCode(handle: Queryable, keys: SecretKeys, message: NewCode): Promise<string> {
  const { userId, channel, kind, recipient = null, code, lifetime, locale, values, recentCodes = 0 } = message;
  const id = newId();
  const encryptedCode = code === undefined ? null : keys.encrypt(code, id);
  const params = locale === undefined && values === undefined ? null : JSON.stringify({ ...values, locale });
  await handle.query(
    insertMessage({
      userId,
      id,
      channel,
      kind: `${channel}.${kind}`,
      recipient,
      encryptedCode,
      params,
      lifetime,
      recentCodes,
    }),
  );
  return id;
}
