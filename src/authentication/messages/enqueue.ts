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

/** SQL: adds the jobs of the outbox's rows `from` (user_id, id, channel). */
export const addMessageJobs = (from: string, attempts = codeAttempts) => `
  select graphile_worker.add_job(${taskOf('channel')}, json_build_object('user_id', user_id, 'id', id),
                                 max_attempts => ${attempts})
  from ${from}`;

/** A code that is to be sent. */
export interface NewCode {
  /** Whose it is; a stand-in for nobody. */
  readonly userId: string;
  readonly channel: MessageChannel;
  readonly kind: CodeKind;
  /** E.164 or a mail address. Undefined: nobody; the message takes the same way and is dropped by the queue. */
  readonly recipient: string | undefined;
  /** Undefined for what tells something and holds no code. */
  readonly code: string | undefined;
  /** Seconds. A code that is older is not sent any more. */
  readonly lifetime: number;
  /** The language to write in (BCP 47), for who is no user yet; a user's own locale goes before it. */
  readonly locale?: string | undefined;
}

const insertMessage = prepared(
  'message_enqueue',
  `with message as (
     insert into outbox (user_id, id, channel, kind, recipient, state, sealed_code, params, expires_at, created_at, updated_at)
     select $1, $2, $3, $4, $5, 'queued', $6, $7::jsonb, now + $8 * interval '1 second', now, now
     from (select db_now() as now) clock
     returning user_id, id, channel)
   ${addMessageJobs('message')}`,
);

/**
 * Puts a code into the outbox, sealed, with the queue's job: in one statement, and so in the caller's transaction if
 * there is one. Whether it may be sent is asked before (`RequestLimits`).
 * @returns the message's id, by which its way can be followed in the outbox
 */
export async function enqueueCode(handle: Queryable, keys: SecretKeys, message: NewCode): Promise<string> {
  const { userId, channel, kind, recipient, code, lifetime, locale } = message;
  const id = newId();
  const sealed = code === undefined ? null : keys.seal(code, id);
  const params = locale === undefined ? null : JSON.stringify({ locale });
  await handle.query(insertMessage, [
    ...[userId, id, channel, `${channel}.${kind}`, recipient ?? null, sealed, params, lifetime],
  ]);
  return id;
}
