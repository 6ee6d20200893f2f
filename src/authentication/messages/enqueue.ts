import type { MessageChannel } from '../../contract/administration.js';
import { prepared, type Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import type { CodeKind } from './kinds.js';

/** How often a code is tried until the queue gives up; that takes longer than a code lives. */
export const codeAttempts = 8;
/** A notice, which is still worth having hours later: ten hours, with the queue's back-off. */
export const noticeAttempts = 11;

/** The queue's job that sends by a channel. Each channel has one, so that each can have workers of its own. */
export const messageTasks = {
  sms: 'message.send',
  email: 'message.send.email',
} as const satisfies Record<MessageChannel, string>;

/** SQL: the job of a channel. */
const taskOf = (channel: string) =>
  `case ${channel} when 'sms' then '${messageTasks.sms}' when 'email' then '${messageTasks.email}' end`;

/** SQL: the priority of a code's job. The queue takes low ones first; all its other jobs have 0 or more. */
export const codePriority = (turn: string) => `${turn} - 1001`;

/** SQL: adds the jobs of the outbox's rows `from` (user_id, id, channel), if there are any. */
export const addMessageJobs = (from: string, { attempts = codeAttempts, priority = '0', runAt = 'null' } = {}) => `
  select job.id
  from graphile_worker.add_jobs(array(
    select row(${taskOf('channel')}, json_build_object('user_id', user_id, 'id', id), null, ${runAt}, ${attempts},
               null, ${priority}, null)::graphile_worker.job_spec
    from ${from})) job
  where exists (select from ${from})`;

/**
 * SQL: has the outbox's rows `from` (user_id, id, created_at) dispatched, see `dispatchMessages`.
 * @param turn how many codes the client's address has asked for lately: see `RequestLimits.messageFrom`
 */
export const awaitDispatch = (from: string, turn: string) => `
  insert into undispatched_messages (user_id, id, turn, created_at) select user_id, id, ${turn}::smallint, created_at from ${from}`;

/** A code that is to be sent. */
export interface NewCode {
  /** Whose it is; a stand-in for nobody. */
  readonly userId: string;
  readonly channel: MessageChannel;
  readonly kind: CodeKind;
  /** E.164 or a mail address. Undefined: nobody; the message is written all the same, and dropped when it is dispatched. */
  readonly recipient: string | undefined;
  /** Undefined for what tells something and holds no code. */
  readonly code: string | undefined;
  /** Seconds. A code that is older is not sent any more. */
  readonly lifetime: number;
  /** The language to write in (BCP 47), for who is no user yet; a user's own locale goes before it. */
  readonly locale?: string | undefined;
  /** How many codes the client's address has asked for lately; without it the code goes before those of all addresses. */
  readonly turn?: number | undefined;
  /** What its text holds beside the code. */
  readonly values?: Readonly<Record<string, string>>;
}

const insertMessage = prepared(
  'message_enqueue',
  `with message as (
     insert into outbox (user_id, id, channel, kind, recipient, state, sealed_code, params, expires_at, created_at, updated_at)
     select $1, $2, $3, $4, $5, 'queued', $6, $7::jsonb, now + $8 * interval '1 second', now, now
     from (select db_now() as now) clock
     returning user_id, id, created_at)
   ${awaitDispatch('message', '$9')}`,
);

/**
 * Puts a code into the outbox, sealed, to be dispatched: in one statement, and so in the caller's transaction if there is
 * one. Whether it may be sent is asked before (`RequestLimits`).
 * @returns the message's id, under which the outbox shows it
 */
export async function enqueueCode(handle: Queryable, keys: SecretKeys, message: NewCode): Promise<string> {
  const { userId, channel, kind, recipient, code, lifetime, locale, values, turn = 0 } = message;
  const id = newId();
  const sealed = code === undefined ? null : keys.seal(code, id);
  const params = locale === undefined && values === undefined ? null : JSON.stringify({ ...values, locale });
  await handle.query(insertMessage, [
    ...[userId, id, channel, `${channel}.${kind}`, recipient ?? null, sealed, params, lifetime, turn],
  ]);
  return id;
}
