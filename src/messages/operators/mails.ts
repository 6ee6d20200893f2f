import { type Database, isStorageFailure, type Queryable, type Shard } from '../../database/database.js';
import { MovedError } from '../../database/server.js';
import { onEveryPart } from '../../database/sharding/every-shard.js';
import { everyoneStatement, literal, type Parameters, sql } from '../../database/sql.js';
import { newId } from '../../lib/ids.js';
import { addMessageJobs, noticeAttempts, queueForDispatch } from '../enqueue.js';
import type { OperatorMailKind } from '../kinds.js';

/** A mail to all operators. */
export interface OperatorMail {
  readonly kind: OperatorMailKind;
  /** Values of the template. They must not contain a secret. */
  readonly values: Readonly<Record<string, string>>;
}

/** Mails to operators about the installation. */
export interface OperatorMails {
  /**
   * Writes one mail for each active operator with a mail address, in the transaction of the event. Leaves out the operators
   * of a server that does not answer.
   * @throws MovedError if operators may have moved to another server meanwhile
   */
  write(tx: Queryable<'directory'>, mail: OperatorMail): Promise<void>;
}

interface Recipient {
  readonly id: string;
  readonly email: string;
}

/**
 * Locks the rows, so that no operator is deleted before the mails are written. An operator whose temporary lock has
 * ended gets mails again.
 */
const selectOperators = everyoneStatement<object, Recipient>(
  'operator_mail_recipients',
  () => sql`
  select id, email from users
  where role = 'operator' and role_active_since is not null and status = 'active' and email is not null
    and (lock_kind is null or locked_until <= db_now())
  order by id for key share`,
);

interface MailValues {
  readonly userIds: readonly string[];
  readonly ids: readonly string[];
  readonly recipients: readonly string[];
  readonly kind: string;
  readonly params: Readonly<Record<string, string>>;
  readonly attempts: number;
}

const insertMessages = (p: Parameters<Omit<MailValues, 'attempts'>>) => sql`
    insert into outbox (user_id, id, channel, kind, recipient, state, params, expires_at, created_at, updated_at)
    select m.user_id, m.id, 'email', ${p.kind}, m.recipient, 'queued', ${p.params}::jsonb, now + interval '1 day', now, now
    from unnest(${p.userIds}::uuid[], ${p.ids}::uuid[], ${p.recipients}::text[]) as m (user_id, id, recipient),
         (select db_now() as now) clock
    returning user_id, id, channel`;

const insertMails = everyoneStatement<MailValues>(
  'operator_mail_insert',
  (p) => sql`
  with message as (${insertMessages(p)})
  ${addMessageJobs(sql`message`, { attempts: p.attempts })}`,
);

/** A count of recent codes that gives these messages the same priority as other notices. */
const leastUrgent = literal(1001);

/**
 * For a transaction over several servers. Such a transaction may notify the queue on one server only, so this statement
 * adds no jobs. The dispatch adds them later.
 */
const insertMailsForDispatch = everyoneStatement<MailValues>(
  'operator_mail_insert_for_dispatch',
  (p) => sql`
  with message as (${insertMessages(p)}),
  added as (select user_id, id, db_now() as created_at from message)
  ${queueForDispatch({ from: sql`added`, recentCodes: leastUrgent })}`,
);

/** @param options.isConfigured whether a provider of mail is configured. Without one, nothing is written. */
export function createOperatorMails(options: {
  readonly database: Pick<Database, 'shards' | 'shardOf' | 'mapVersion'>;
  readonly isConfigured: boolean;
  readonly consoleUrl: () => string;
}): OperatorMails {
  const { database, isConfigured, consoleUrl } = options;
  const insert = database.shards.length === 1 ? insertMails : insertMailsForDispatch;

  async function writeOn(tx: Queryable<'everyone'>, shard: Shard, { kind, values }: OperatorMail): Promise<void> {
    // While an operator is moved to another server, both servers have the operator's row.
    const operators = (await tx.query(selectOperators({}))).filter(({ id }) => database.shardOf(id) === shard);
    if (operators.length === 0) return;
    await tx.query(
      insert({
        userIds: operators.map(({ id }) => id),
        ids: operators.map(() => newId()),
        recipients: operators.map(({ email }) => email),
        kind: `email.${kind}`,
        params: { ...values, console: consoleUrl() },
        attempts: noticeAttempts,
      }),
    );
  }
  return {
    async write(tx, mail) {
      if (!isConfigured) return;
      await onEveryPart(database, tx, (part, shard) =>
        writeOn(part, shard, mail).catch((error: unknown) => {
          const isAway = isStorageFailure(error) && !(error instanceof MovedError);
          if (database.shards.length === 1 || !isAway) throw error;
        }),
      );
    },
  };
}
