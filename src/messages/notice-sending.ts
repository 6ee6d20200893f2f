import type { MessageChannel, NoticeChannel } from '../contract/administration.js';
import type { Database, Queryable, Transaction } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newId } from '../lib/ids.js';
import { addMessageJobs, noticeAttempts } from './enqueue.js';
import { type NoticeKind, noticesReplacedByCodes } from './kinds.js';
import { describeDevice, describeNetwork, describeTime } from './notice-values.js';
import type { Templates } from './templates.js';

/** A notice as push and the inbox show it. */
export interface ShownNotice {
  readonly id: string;
  readonly userId: string;
  readonly kind: NoticeKind;
  readonly text: string;
  /** The device that the notice is about. It gets no push. */
  readonly exceptDevice: string | undefined;
}

/** Pushes a notice and adds it to the inbox, in the transaction that deletes the row of the notice. */
export type ShowNotice = (tx: Transaction, notice: ShownNotice) => Promise<void>;

export interface NoticeJob {
  readonly user_id: string;
  readonly id: string;
}

interface NoticeRow {
  kind: NoticeKind;
  data: {
    readonly device_id?: string;
    readonly address?: string;
    readonly former_email?: string;
    readonly former_phone?: string;
    readonly make?: string;
    readonly model?: string;
    readonly os_name?: string;
    readonly os_version?: string;
  };
  created_at: string;
}

/** The user to notify. */
interface RecipientRow {
  email: string | null;
  phone: string | null;
  locale: string | null;
}

/** The job that deletes the row sends the notice. A repeated job finds no row. */
const takeNotice = statement<{ userId: string; id: string }, NoticeRow>(
  'notice_take',
  (p) => sql`delete from notices where user_id = ${p.userId} and id = ${p.id} returning kind, data, created_at`,
);

/** Locks the user's row, so that the user is not deleted before the messages are written. */
const selectRecipient = statement<{ userId: string }, RecipientRow>(
  'notice_recipient',
  (
    p,
  ) => sql`select case when email_verified then email end as email, case when phone_verified then phone end as phone, locale
    from users where id = ${p.userId} and status = 'active' for key share`,
);

const takeRequest = statement<{ key: Buffer; limit: number }, { wait: number | null }>(
  'notice_limit',
  (p) => sql`select take_request(${p.key}, ${p.limit}, 3600) as wait`,
);

interface MessagesValues {
  readonly userId: string;
  readonly kind: NoticeKind;
  readonly params: Readonly<Record<string, string>>;
  readonly ids: readonly string[];
  readonly channels: readonly MessageChannel[];
  readonly recipients: readonly string[];
  readonly attempts: number;
}

const insertMessages = statement<MessagesValues>(
  'notice_messages',
  (p) => sql`
    with message as (
      insert into outbox (user_id, id, channel, kind, recipient, state, params, expires_at, created_at, updated_at)
      select ${p.userId}, m.id, m.channel, m.channel || '.' || ${p.kind}, m.recipient, 'queued', ${p.params}::jsonb,
             now + interval '1 day', now, now
      from unnest(${p.ids}::uuid[], ${p.channels}::text[], ${p.recipients}::text[]) as m (id, channel, recipient),
           (select db_now() as now) clock
      returning user_id, id, channel)
    ${addMessageJobs(sql`message`, { attempts: p.attempts })}`,
);

/**
 * The maximum number of notices of a kind that an account gets in an hour. Anyone who knows a user's name can lock the
 * account repeatedly, anyone who knows the password can log in on many new devices, and anyone who has copied tokens can
 * use them repeatedly. Events that need re-authentication have no limit.
 */
const hourlyLimits: Readonly<Partial<Record<NoticeKind, number>>> = {
  account_locked: 1,
  new_device: 20,
  device_removed: 20,
  logged_out: 20,
  token_misused: 3,
  token_shared: 3,
};

export interface NoticeSendingOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly templates: Templates;
  readonly channels: readonly NoticeChannel[];
  readonly show: ShowNotice;
}

/** The queue's task `notice.send`: creates the messages of one notice in one transaction, once. */
export function createNoticeSending(options: NoticeSendingOptions): (job: NoticeJob) => Promise<void> {
  const { database, keys, templates, channels, show } = options;

  async function isWithinLimit(tx: Queryable, userId: string, kind: NoticeKind): Promise<boolean> {
    const limit = hourlyLimits[kind];
    if (limit === undefined) return true;
    const key = keys.digest('limit', `notice ${kind}\n${userId}`).subarray(0, 16);
    const [row] = await tx.query(takeRequest({ key, limit }));
    return row?.wait == null;
  }

  function recipients(user: RecipientRow, { kind, data }: NoticeRow): { channel: MessageChannel; to: string }[] {
    if (noticesReplacedByCodes.includes(kind)) return [];
    const addresses = { email: [user.email, data.former_email], sms: [user.phone, data.former_phone] } as const;
    return (['email', 'sms'] as const).flatMap((channel) => {
      if (!channels.includes(channel)) return [];
      const known = addresses[channel].filter((address) => typeof address === 'string');
      return [...new Set(known)].map((to) => ({ channel, to }));
    });
  }

  return ({ user_id: userId, id }) =>
    database.transaction(async (tx) => {
      const [notice] = await tx.query(takeNotice({ userId, id }));
      if (notice === undefined) return;
      const [user] = await tx.query(selectRecipient({ userId }));
      if (user === undefined || !(await isWithinLimit(tx, userId, notice.kind))) return;
      const { kind, data } = notice;
      const params = {
        device: describeDevice(data),
        address: describeNetwork(data.address),
        time: describeTime(notice.created_at),
      };
      const messages = recipients(user, notice);
      if (messages.length > 0) {
        await tx.query(
          insertMessages({
            userId,
            kind,
            params,
            ids: messages.map(() => newId()),
            channels: messages.map(({ channel }) => channel),
            recipients: messages.map(({ to }) => to),
            attempts: noticeAttempts,
          }),
        );
      }
      const { text } = templates.render(`push.${kind}`, user.locale ?? undefined, params);
      const exceptDevice = kind === 'new_device' ? data.device_id : undefined;
      await show(tx, { id, userId, kind, text, exceptDevice });
    });
}
