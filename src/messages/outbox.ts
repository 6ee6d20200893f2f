import { recordEvent } from '../audit/events.js';
import { type MessageChannel, messageChannels, type OutboxMessage, outboxStates } from '../contract/administration.js';
import type { Database, Transaction } from '../database/database.js';
import { type ListRequest, type ListSource, type Page, readPage } from '../database/listing.js';
import { literal, sql, statement } from '../database/sql.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import type { FilterFields } from '../lib/filter/fields.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';
import { addMessageJobs, codeAttempts, codePriority, noticeAttempts } from './enqueue.js';

/** The messages that were sent, have failed or are queued, for operators. */
export interface Outbox {
  /** @param options.withCodes whether to show valid codes. It has an effect only with the development provider `console`. */
  list(request: ListRequest, options: { readonly withCodes: boolean }): Promise<Page<OutboxMessage>>;
  /**
   * Queues a message again if it failed or did not arrive. If it is already queued, this changes nothing.
   * @returns the message, without its code, and whether it was queued now
   * @throws Problem `not_found`, `message_not_failed`, `message_outdated`, `message_tried_too_often`
   */
  retry(
    tx: Transaction,
    id: string,
    origin: Origin,
  ): Promise<{ readonly message: OutboxMessage; readonly isChanged: boolean }>;
}

/** The filter fields of lists of messages. */
export const outboxFilterFields: FilterFields = {
  id: { kind: 'id' },
  user_id: { kind: 'id' },
  authentication_id: { kind: 'id' },
  channel: { kind: 'enum', values: messageChannels },
  kind: { kind: 'key' },
  state: { kind: 'enum', values: outboxStates },
  provider: { kind: 'key' },
  recipient: { kind: 'key' },
  created_at: { kind: 'time' },
  updated_at: { kind: 'time' },
};

type OutboxRow = Omit<OutboxMessage, 'code'> & { readonly sealed_code: Buffer | null };

const messages: ListSource = {
  columns: sql`id, user_id, authentication_id, channel, kind, recipient, state, provider, attempts, last_error,
            case when expires_at > db_now() then sealed_code end as sealed_code, expires_at, created_at, updated_at`,
  from: sql`outbox`,
};

/** The maximum number of attempts to send one message, including the retries by operators. */
const maxAttempts = 20;

const messageColumns = sql`o.id, o.user_id, o.authentication_id, o.channel, o.kind, o.recipient, o.state, o.provider, o.attempts,
            o.last_error, null as code, o.expires_at, o.created_at, o.updated_at`;

/**
 * Locks the message, so only one of parallel retries queues it. `is_awaited`: it has not expired and, if it has the code of
 * a login, the login still waits for the code.
 */
const lockMessage = statement<{ id: string }, OutboxMessage & { readonly is_awaited: boolean }>(
  'outbox_retry_lock',
  (p) => sql`
  select ${messageColumns},
         o.expires_at > db_now() and (o.authentication_id is null or exists (
           select from authentications a
           where a.user_id = o.user_id and a.id = o.authentication_id and a.status in ('created', 'pending')
             and a.ended_at is null and a.challenge_ends_at > db_now())) as is_awaited
  from outbox o where o.id = ${p.id} for update of o`,
);

const queueMessage = statement<{ userId: string; id: string }, OutboxMessage>(
  'outbox_retry',
  (p) => sql`
  with message as (
    update outbox o set state = 'queued', updated_at = db_now()
    where o.user_id = ${p.userId} and o.id = ${p.id} and o.state in ('failed', 'undelivered')
    returning ${messageColumns}, sealed_code),
  job as (${addMessageJobs(sql`message`, {
    attempts: sql`case when sealed_code is null then ${literal(noticeAttempts)} else ${literal(codeAttempts)} end`,
    priority: sql`case when sealed_code is null then 0 else ${codePriority(sql`0`)} end`,
  })})
  select ${messageColumns} from message o, (select count(*) from job) jobs`,
);

export interface OutboxOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  /** Whether operators may see the codes of a channel: those of the provider `console` while it prints them. */
  showsCodes(channel: MessageChannel): boolean;
}

/** Creates the list of messages and the retry of failed ones. */
export function createOutbox({ database, keys, showsCodes }: OutboxOptions): Outbox {
  return {
    async list(request, { withCodes }) {
      const page = await readPage<OutboxRow>(database, messages, request);
      const items = page.items.map(({ sealed_code, ...message }) => {
        const encryptedCode = withCodes && showsCodes(message.channel) ? sealed_code : null;
        return { ...message, code: encryptedCode === null ? null : (keys.decrypt(encryptedCode, message.id) ?? null) };
      });
      return { ...page, items };
    },
    async retry(tx, id, origin) {
      const [row] = await tx.query(lockMessage({ id }));
      if (row === undefined) throw new Problem('not_found');
      const { is_awaited: isAwaited, ...message } = row;
      if (message.state === 'queued') return { message, isChanged: false };
      if (message.state !== 'failed' && message.state !== 'undelivered') throw new Problem('message_not_failed');
      if (!isAwaited) throw new Problem('message_outdated');
      if (message.attempts >= maxAttempts)
        throw new Problem('message_tried_too_often', { params: { max: maxAttempts } });
      const { user_id: userId, channel, kind, attempts } = message;
      const [queued] = await tx.query(queueMessage({ userId, id }));
      if (queued === undefined) throw new Error('a locked message was not queued');
      await recordEvent(tx, {
        userId,
        type: 'message.retried',
        origin,
        data: { message_id: id, channel, kind, attempts },
      });
      return { message: queued, isChanged: true };
    },
  };
}
