import type { NoticeChannel } from '../../contract/administration.js';
import { prepared, type Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import type { NoticeKind } from './kinds.js';

/** The queue's job that makes the messages of a notice. */
export const noticeTask = 'notice.send';

/** Something that a user is to be told of. */
export interface NoticeFact {
  readonly userId: string;
  readonly kind: NoticeKind;
  /** Its device is named, and its address told coarsely. */
  readonly origin: Origin;
  /** An address that the account had until now: whoever reads it is told too. */
  readonly former?: { readonly email?: string; readonly phone?: string };
}

/** Telling users of what happens to their accounts, once for each fact. */
export interface Notices {
  /** Those that are wanted and can be used. */
  readonly channels: readonly NoticeChannel[];
  /**
   * Has the user told: writes a row and a job in the transaction of the fact. Does so for whoever does not exist too, so
   * that a lock looks the same; the queue drops it. Never with a secret in it.
   */
  notify(tx: Queryable, fact: NoticeFact): Promise<void>;
}

const addJob = `select graphile_worker.add_job('${noticeTask}', json_build_object('user_id', user_id, 'id', id))`;

const insertNotice = prepared(
  'notice_insert',
  `with notice as (
     insert into notices (user_id, id, kind, data, created_at)
     select $1, $2, $3, jsonb_strip_nulls(jsonb_build_object('device_id', $4::uuid, 'address', host($5::inet),
              'former_email', $6::text, 'former_phone', $7::text, 'make', d.make, 'model', d.model,
              'os_name', d.os_name, 'os_version', d.os_version)), db_now()
     from (select 1) always left join devices d on d.user_id = $1 and d.id = $4
     returning user_id, id)
   ${addJob} from notice`,
);

/** Without channels nothing is written. */
export function createNotices(channels: readonly NoticeChannel[]): Notices {
  return {
    channels,
    async notify(tx, { userId, kind, origin, former }) {
      if (channels.length === 0) return;
      const told = [userId, newId(), kind, origin.deviceId ?? null, origin.address ?? null];
      await tx.query(insertNotice, [...told, former?.email ?? null, former?.phone ?? null]);
    },
  };
}

/** SQL: whether the user `u` can be told by one of the channels `$n`; by push, on another device than `device`. */
const isReached = (channels: string, device: string) => `
  ('email' = any (${channels}) and u.email is not null or 'sms' = any (${channels}) and u.phone is not null
   or 'inbox' = any (${channels})
   or 'push' = any (${channels}) and exists (
        select from devices other where other.user_id = u.id and other.id <> ${device}
          and (other.apn_device_token <> '' or other.gcm_device_token <> '' or other.web_push_subscription is not null)))`;

/**
 * SQL of the statement that approves the login `authentication`: the notice of its device if that is new, as rows of
 * `told`, which must be read for the job to be added. The first device of a user is no news (decision 67). A user whom
 * nothing would reach costs neither row nor job.
 * @param channels the parameter that holds the channels, such as `$14`
 */
export const tellOfNewDevice = (channels: string) => `
  notice as (
    insert into notices (user_id, id, kind, data, created_at)
    select d.user_id, e.id, 'new_device', jsonb_strip_nulls(jsonb_build_object('device_id', d.id,
             'address', host(e.address), 'make', d.make, 'model', d.model, 'os_name', d.os_name,
             'os_version', d.os_version)), d.created_at
    from device d join users u on u.id = d.user_id, authentication a, event e
    where d.is_new and ${isReached(`${channels}::text[]`, 'd.id')} and was_logged_in(d.user_id, d.id, a.id)
    returning user_id, id),
  told as (${addJob} from notice)`;

/** What a change of a user touches that logins are made with; null: it is removed. */
interface ChangedValues {
  readonly email?: string | null;
  readonly phone?: string | null;
  readonly password_hash?: string | null;
  readonly pin_hash?: string | null;
}

/**
 * What a user is told of a change, and the addresses that it is the last message to.
 * @param as what it is told as, in one notice, whatever has changed
 */
export function changedCredentials(
  before: { readonly email: string | null; readonly phone: string | null },
  values: ChangedValues,
  as?: NoticeKind,
): Pick<NoticeFact, 'kind' | 'former'>[] {
  const has = (name: keyof ChangedValues) => values[name] !== undefined;
  const isNew = (name: 'email' | 'phone') => has(name) && values[name] !== before[name];
  const facts: Pick<NoticeFact, 'kind' | 'former'>[] = [];
  if (has('password_hash')) facts.push({ kind: 'password_changed' });
  if (has('pin_hash')) facts.push({ kind: 'pin_changed' });
  if (isNew('email'))
    facts.push({ kind: 'email_changed', former: before.email === null ? {} : { email: before.email } });
  if (isNew('phone'))
    facts.push({ kind: 'phone_changed', former: before.phone === null ? {} : { phone: before.phone } });
  return as === undefined || facts.length === 0 ? facts : [{ kind: as }];
}
