import type { MessageChannel, NoticeChannel } from '../../contract/administration.js';
import { type Database, prepared, type Queryable, type Transaction } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import { addMessageJobs, noticeAttempts } from './enqueue.js';
import { type NoticeKind, noticesBesideCodes } from './kinds.js';
import { describeDevice, describeNetwork, describeTime } from './notice-values.js';
import type { Templates } from './templates.js';

/** A notice as push and the inbox show it. */
export interface ShownNotice {
  readonly id: string;
  readonly userId: string;
  readonly kind: NoticeKind;
  readonly text: string;
  /** A device that is not pushed to: the one that the notice is about. */
  readonly exceptDevice: string | undefined;
}

/** Hands a notice to push and to the inbox, in the transaction in which the notice goes. */
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

/** Who is told, held so that the user is not deleted meanwhile. */
interface ReaderRow {
  email: string | null;
  phone: string | null;
  locale: string | null;
}

/** Whoever takes the row away tells it: a job that is done again finds nothing. */
const takeNotice = prepared(
  'notice_take',
  'delete from notices where user_id = $1 and id = $2 returning kind, data, created_at',
);
const holdReader = prepared(
  'notice_reader',
  `select email, phone, locale from users where id = $1 and status = 'active' for key share`,
);
const takeTurn = prepared('notice_limit', 'select take_request($1, $2, 3600) as wait');
const insertMessages = prepared(
  'notice_messages',
  `with message as (
     insert into outbox (user_id, id, channel, kind, recipient, state, params, expires_at, created_at, updated_at)
     select $1, m.id, m.channel, m.channel || '.' || $2, m.recipient, 'queued', $3::jsonb, now + interval '1 day', now, now
     from unnest($4::uuid[], $5::text[], $6::text[]) as m (id, channel, recipient), (select db_now() as now) clock
     returning user_id, id, channel)
   ${addMessageJobs('message', { attempts: noticeAttempts })}`,
);

/**
 * How many notices of a kind an account gets in an hour: whoever knows a user's name can lock the account again and
 * again, and whoever knows the password can log in on new devices for ever. What needed a fresh proof is always told.
 */
const perHour: Readonly<Partial<Record<NoticeKind, number>>> = { account_locked: 1, new_device: 20 };

export interface NoticeSendingOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly templates: Templates;
  readonly channels: readonly NoticeChannel[];
  readonly show: ShowNotice;
}

/** The queue's job `notice.send`: makes the messages of one notice, all or nothing, once. */
export function createNoticeSending(options: NoticeSendingOptions): (job: NoticeJob) => Promise<void> {
  const { database, keys, templates, channels, show } = options;

  /** Whether the account has not had too many of the kind. */
  async function isInTurn(tx: Queryable, userId: string, kind: NoticeKind): Promise<boolean> {
    const most = perHour[kind];
    if (most === undefined) return true;
    const key = keys.digest('limit', `notice ${kind}\n${userId}`).subarray(0, 16);
    const [row] = await tx.query<{ wait: number | null }>(takeTurn, [key, most]);
    return row?.wait == null;
  }

  function recipients(reader: ReaderRow, { kind, data }: NoticeRow): { channel: MessageChannel; to: string }[] {
    if (noticesBesideCodes.includes(kind)) return [];
    const addresses = { email: [reader.email, data.former_email], sms: [reader.phone, data.former_phone] } as const;
    return (['email', 'sms'] as const).flatMap((channel) => {
      if (!channels.includes(channel)) return [];
      const known = addresses[channel].filter((address) => typeof address === 'string');
      return [...new Set(known)].map((to) => ({ channel, to }));
    });
  }

  return ({ user_id: userId, id }) =>
    database.transaction(async (tx) => {
      const [notice] = await tx.query<NoticeRow>(takeNotice, [userId, id]);
      if (notice === undefined) return;
      const [reader] = await tx.query<ReaderRow>(holdReader, [userId]);
      if (reader === undefined || !(await isInTurn(tx, userId, notice.kind))) return;
      const { kind, data } = notice;
      const values = {
        device: describeDevice(data),
        address: describeNetwork(data.address),
        time: describeTime(notice.created_at),
      };
      const messages = recipients(reader, notice);
      if (messages.length > 0) {
        const columns = [messages.map(() => newId()), messages.map(({ channel }) => channel)];
        await tx.query(insertMessages, [userId, kind, values, ...columns, messages.map(({ to }) => to)]);
      }
      const { text } = templates.render(`push.${kind}`, reader.locale ?? undefined, values);
      const exceptDevice = kind === 'new_device' ? data.device_id : undefined;
      await show(tx, { id, userId, kind, text, exceptDevice });
    });
}
