import type { NoticeChannel } from '../contract/administration.js';
import type { Queryable } from '../database/database.js';
import { type Sql, type SqlPart, sql, statement } from '../database/sql.js';
import { currentCause } from '../database/traced.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { alwaysShownNotices, type NoticeKind } from './kinds.js';

/** The queue's task that creates the messages of a notice. */
export const noticeTask = 'notice.send';

/** An event that the user gets a notice about. */
export interface NewNotice {
  readonly userId: string;
  readonly kind: NoticeKind;
  /** The origin of the event. The notice names its device and the network of its address. */
  readonly origin: Origin;
  /** Addresses that the account had until now. They get the notice too. */
  readonly former?: { readonly email?: string; readonly phone?: string };
}

/** Notifies users of events of their accounts, once for each event. */
export interface Notices {
  /** The channels that the setting `NOTICES` lists and that have a provider. */
  readonly channels: readonly NoticeChannel[];
  /**
   * Writes a row of the user and a job, in the transaction of the event. It does the same for the derived id of an
   * identity without an account, so that a client sees no difference. The job then deletes the row and sends nothing. The
   * row must not contain a secret.
   */
  notify(tx: Queryable, notice: NewNotice): Promise<void>;
}

/** SQL: adds the job `noticeTask` for rows (user_id, id). */
const addJob = sql`select graphile_worker.add_job('notice.send',
    json_build_object('user_id', user_id, 'id', id, 'traceparent', ${currentCause}))`;

interface NoticeValues {
  readonly userId: string;
  readonly id: string;
  readonly kind: NoticeKind;
  readonly deviceId: string | null;
  readonly address: string | null;
  readonly formerEmail: string | null;
  readonly formerPhone: string | null;
}

const insertNotice = statement<NoticeValues>(
  'notice_insert',
  (p) => sql`
    with notice as (
      insert into notices (user_id, id, kind, data, created_at)
      select ${p.userId}, ${p.id}, ${p.kind}, jsonb_strip_nulls(jsonb_build_object(
               'device_id', ${p.deviceId}::uuid, 'address', host(${p.address}::inet),
               'former_email', ${p.formerEmail}::text, 'former_phone', ${p.formerPhone}::text,
               'make', d.make, 'model', d.model, 'os_name', d.os_name, 'os_version', d.os_version)), db_now()
      from (select 1) always left join devices d on d.user_id = ${p.userId} and d.id = ${p.deviceId}
      returning user_id, id)
    ${addJob} from notice`,
);

/** @param channels the channels to use. If there is none, `notify` writes only notices of `alwaysShownNotices`. */
export function createNotices(channels: readonly NoticeChannel[]): Notices {
  return {
    channels,
    async notify(tx, { userId, kind, origin, former }) {
      if (channels.length === 0 && !alwaysShownNotices.includes(kind)) return;
      await tx.query(
        insertNotice({
          userId,
          id: newId(),
          kind,
          deviceId: origin.deviceId ?? null,
          address: origin.clientAddress ?? null,
          formerEmail: former?.email ?? null,
          formerPhone: former?.phone ?? null,
        }),
      );
    },
  };
}

/** SQL: whether one of the channels reaches the user `u`; push must reach another device than `device`. */
const isReached = (channels: SqlPart, device: SqlPart) => sql`
  ('email' = any (${channels}::text[]) and u.email is not null and u.email_verified or 'sms' = any (${channels}::text[]) and u.phone is not null and u.phone_verified
   or 'inbox' = any (${channels}::text[])
   or 'push' = any (${channels}::text[]) and exists (
        select from devices other where other.user_id = u.id and other.id <> ${device}
          and (other.apn_device_token <> '' or other.gcm_device_token <> '' or other.web_push_subscription is not null)))`;

/**
 * SQL: two CTEs, `notice` and `notice_job`, of a statement that approves a login. They write the notice of a new device, if a
 * channel reaches the user and the device is not the user's first one (decision 25). The statement must have the CTEs
 * `device` (`recordDevice`), `authentication` and `event`, and must read `notice_job`: otherwise the job is not added.
 *
 * @param notice.channels an array of `NoticeChannel`
 */
export function newDeviceNotice({ channels }: { readonly channels: SqlPart }): Sql {
  return sql`
  notice as (
    insert into notices (user_id, id, kind, data, created_at)
    select d.user_id, e.id, 'new_device', jsonb_strip_nulls(jsonb_build_object('device_id', d.id,
             'address', host(e.address), 'make', d.make, 'model', d.model, 'os_name', d.os_name,
             'os_version', d.os_version)), d.created_at
    from device d join users u on u.id = d.user_id, authentication a, event e
    where d.is_new and ${isReached(channels, sql`d.id`)} and was_logged_in(d.user_id, d.id, a.id)
    returning user_id, id),
  notice_job as (${addJob} from notice)`;
}

/** The members of a change that concern credentials and addresses. Null if a value is removed. */
interface ChangedValues {
  readonly username?: string | null;
  readonly email?: string | null;
  readonly phone?: string | null;
  readonly password_hash?: string | null;
  readonly pin_hash?: string | null;
}

/**
 * The notices of a change of a user. A notice of a changed address goes to the former address too, if that was proven.
 *
 * @param onlyKind send one notice of this kind instead, for any change
 */
export function noticesOfChange(
  before: {
    readonly username: string | null;
    readonly email: string | null;
    readonly email_verified: boolean;
    readonly phone: string | null;
    readonly phone_verified: boolean;
  },
  values: ChangedValues,
  onlyKind?: NoticeKind,
): Pick<NewNotice, 'kind' | 'former'>[] {
  const notices: Pick<NewNotice, 'kind' | 'former'>[] = [];
  if (values.password_hash !== undefined) notices.push({ kind: 'password_changed' });
  if (values.pin_hash !== undefined) notices.push({ kind: 'pin_changed' });
  if (values.email !== undefined && values.email !== before.email) {
    notices.push({
      kind: 'email_changed',
      former: before.email !== null && before.email_verified ? { email: before.email } : {},
    });
  }
  if (values.phone !== undefined && values.phone !== before.phone) {
    notices.push({
      kind: 'phone_changed',
      former: before.phone !== null && before.phone_verified ? { phone: before.phone } : {},
    });
  }
  if (values.username !== undefined && values.username !== before.username) notices.push({ kind: 'username_changed' });
  return onlyKind === undefined || notices.length === 0 ? notices : [{ kind: onlyKind }];
}
