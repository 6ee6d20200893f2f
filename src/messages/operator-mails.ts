import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { newId } from '../lib/ids.js';
import { addMessageJobs, noticeAttempts } from './enqueue.js';
import type { OperatorMailKind } from './kinds.js';

/** A mail to all operators. */
export interface OperatorMail {
  readonly kind: OperatorMailKind;
  /** Values of the template. They must not contain a secret. */
  readonly values: Readonly<Record<string, string>>;
}

/** Mails to operators about the installation. */
export interface OperatorMails {
  /** Writes one mail for each active operator with a mail address, in the transaction of the event. */
  write(tx: Queryable, mail: OperatorMail): Promise<void>;
}

interface Recipient {
  readonly id: string;
  readonly email: string;
}

/**
 * Locks the rows, so that no operator is deleted before the mails are written. An operator whose temporary lock has
 * ended gets mails again.
 */
const selectOperators = statement<object, Recipient>(
  'operator_mail_recipients',
  () => sql`
  select id, email from users
  where role = 'operator' and role_active_since is not null and status = 'active' and email is not null and email_verified
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

const insertMails = statement<MailValues>(
  'operator_mail_insert',
  (p) => sql`
  with message as (
    insert into outbox (user_id, id, channel, kind, recipient, state, params, expires_at, created_at, updated_at)
    select m.user_id, m.id, 'email', ${p.kind}, m.recipient, 'queued', ${p.params}::jsonb, now + interval '1 day', now, now
    from unnest(${p.userIds}::uuid[], ${p.ids}::uuid[], ${p.recipients}::text[]) as m (user_id, id, recipient),
         (select db_now() as now) clock
    returning user_id, id, channel)
  ${addMessageJobs(sql`message`, { attempts: p.attempts })}`,
);

/** @param options.isConfigured whether a provider of mail is configured. Without one, nothing is written. */
export function createOperatorMails(options: {
  readonly isConfigured: boolean;
  readonly consoleUrl: () => string;
}): OperatorMails {
  const { isConfigured, consoleUrl } = options;
  return {
    async write(tx, { kind, values }) {
      if (!isConfigured) return;
      const operators = await tx.query(selectOperators({}));
      if (operators.length === 0) return;
      await tx.query(
        insertMails({
          userIds: operators.map(({ id }) => id),
          ids: operators.map(() => newId()),
          recipients: operators.map(({ email }) => email),
          kind: `email.${kind}`,
          params: { ...values, console: consoleUrl() },
          attempts: noticeAttempts,
        }),
      );
    },
  };
}
