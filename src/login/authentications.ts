import type { NoticeChannel } from '../contract/administration.js';
import type { authenticationStatuses, LoginDevice } from '../contract/authentication.js';
import type { AuthenticationErrorCode } from '../contract/errors/authentications.js';
import type { Challenge, ChallengeState } from '../credentials/challenge.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { lockKnownDevice, pageLoginOf, recordDevice } from '../devices/queries.js';
import { lockHolds, nextPinIsDue } from '../identities/accounts.js';
import type { Origin } from '../lib/origin.js';
import { settleRightGuess, type TakenGuess } from '../limits/guess-budget.js';
import { type LoginPolicies, loginEnd, loginIdleTtl, loginTtl } from '../limits/login-policies.js';
import { newDeviceNotice } from '../messages/notices.js';
import {
  type EncryptedMessage,
  type EventValues,
  eventCte,
  eventValues,
  insertEvent,
  type MessageValues,
  messageCtes,
  messageValues,
  newDeviceColumns,
  recordColumns,
  timeForSecret,
} from './authentication-fragments.js';

/** The rows of `authentications`: every login, from its start to the end of its token. */

export type AuthenticationStatus = (typeof authenticationStatuses)[number];

/** An authentication as its client may see it. */
export interface AuthenticationRecord {
  readonly id: string;
  readonly device_id: string;
  readonly status: AuthenticationStatus;
  readonly error_code: '' | AuthenticationErrorCode;
  readonly expires_at: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Whether its token is bound to a key of the client. */
  readonly is_bound: boolean;
}

/** A login that starts. */
export interface NewAuthentication {
  readonly id: string;
  readonly userId: string;
  readonly epoch: number;
  readonly authenticator: string;
  readonly device: LoginDevice;
  /** The thumbprint of the key that its token will be bound to. Undefined: it will not be bound. */
  readonly keyThumbprint: string | undefined;
  /** The device's id, if a login of the user was approved on it before this one began. */
  readonly knownDevice: string | undefined;
  readonly origin: Origin;
}

interface LoginValues extends EventValues {
  readonly userId: string;
  readonly id: string;
  readonly deviceId: string;
  readonly authenticator: string;
  readonly epoch: number;
  readonly keyThumbprint: string | null;
}

function loginValues(login: NewAuthentication): LoginValues {
  const { userId, id, device, authenticator, epoch, keyThumbprint = null, origin } = login;
  return { userId, id, deviceId: device.id, authenticator, epoch, keyThumbprint, ...eventValues(origin) };
}

interface ApprovedValues extends LoginValues, TakenGuess {
  readonly device: LoginDevice;
  readonly tokenDigest: Buffer;
  readonly policies: LoginPolicies;
  readonly knownDevice: string | null;
  readonly channels: readonly NoticeChannel[];
}

/**
 * Settles the guess first, which locks its budget, and then locks the known device before it inserts the login, as the
 * removal of a device does. So an approval and a removal of its device run one after the other and cannot deadlock.
 */
const insertApproved = statement<ApprovedValues, MaybeRecord>(
  'authentication_approve_at_once',
  (p) => sql`
  with settled as materialized (${settleRightGuess(p.userId, p)}),
  clock as materialized (select db_now() as now from settled),
  ${eventCte(p)},
  held_device as materialized (
    ${lockKnownDevice({ userId: p.userId, deviceId: p.knownDevice, after: sql`settled` })}),
  authentication as (
    insert into authentications (user_id, id, device_id, authenticator, status, epoch, device, key_thumbprint,
                                 token_digest, expires_at, idle_expires_at, created_at, updated_at, approved_at)
    select u.id, ${p.id}, ${p.deviceId}, ${p.authenticator}, 'approved', u.epoch, ${p.device}::jsonb,
           ${p.keyThumbprint}, ${p.tokenDigest}, now + ${loginTtl(p.policies)}, now + ${loginIdleTtl(p.policies)},
           now, now, now
    from users u, clock where u.id = ${p.userId} and u.epoch = ${p.epoch} and u.status = 'active' and not ${lockHolds}
      and not ${nextPinIsDue}
      and (${p.knownDevice}::uuid is null or exists (select 1 from held_device))
    returning *),
  device as (${recordDevice(sql`authentication`)}),
  logged as (${insertEvent(sql`'login.approved'`)}),
  ${newDeviceNotice({ channels: p.channels })}
  select ${recordColumns}, ${newDeviceColumns(p.userId, p.policies)}, (select count(*) from notice_job) as notice_jobs from settled left join authentication on true`,
);

/** The result of an approving statement: the id is null if the login could not be approved. */
export type MaybeRecord = ApprovedRecord | { readonly id: null };

/** An approved login. */
export interface ApprovedRecord extends AuthenticationRecord {
  /** Whether no login of the user was approved on this device before. */
  readonly is_new_device: boolean;
  /** Whether `DeviceLimit.removeUnused` has devices to remove. */
  readonly has_more_devices: boolean;
}

/** The record of an approving statement; undefined if the login could not be approved. */
export function approvedRecord(row: MaybeRecord | undefined): ApprovedRecord | undefined {
  return row === undefined || row.id === null ? undefined : row;
}

/** The token of an approved login. */
export interface IssuedToken {
  readonly digest: Buffer;
  readonly policies: LoginPolicies;
  /** The channels of the notice to the user if the device is new. */
  readonly noticeChannels: readonly NoticeChannel[];
}

/**
 * Records a login that was approved in one step, its device and its event, and settles its guess: all or nothing, in one round trip. The
 * guess counts as right even if the login cannot be approved.
 * @returns undefined if the login cannot be approved, because the user was changed or the known device was removed
 */
export async function insertApprovedAuthentication(
  handle: Queryable,
  login: NewAuthentication,
  token: IssuedToken,
  guess: TakenGuess,
): Promise<ApprovedRecord | undefined> {
  const [row] = await handle.query(
    insertApproved({
      ...loginValues(login),
      ...guess,
      device: login.device,
      tokenDigest: token.digest,
      policies: token.policies,
      knownDevice: login.knownDevice ?? null,
      channels: token.noticeChannels,
    }),
  );
  return approvedRecord(row);
}

const insertRejected = statement<LoginValues & { errorCode: string }, AuthenticationRecord>(
  'authentication_reject_at_once',
  (p) => sql`
  with clock as materialized (select db_now() as now),
  ${eventCte(p)},
  authentication as (
    insert into authentications (user_id, id, device_id, authenticator, status, epoch, error_code,
                                 expires_at, created_at, updated_at)
    select ${p.userId}, ${p.id}, ${p.deviceId}, ${p.authenticator}, 'rejected', ${p.epoch}, ${p.errorCode},
           now, now, now from clock
    returning *),
  logged as (${insertEvent(sql`'login.rejected'`)})
  select ${recordColumns} from authentication`,
);

/** Records a login that was rejected in one step, in the same way for known and unknown identities. */
export async function insertRejectedAuthentication(
  handle: Queryable,
  login: NewAuthentication,
  errorCode: AuthenticationErrorCode,
): Promise<AuthenticationRecord> {
  const [row] = await handle.query(insertRejected({ ...loginValues(login), errorCode }));
  if (row === undefined) throw new Error('an insert returned no row');
  return row;
}

interface OpenValues extends LoginValues, MessageValues {
  readonly device: LoginDevice;
  readonly challenge: ChallengeState;
  readonly pinRefused: boolean;
  readonly lifetimeSeconds: number;
  readonly factor: 1 | 2;
}

/** Inserts new rows only, so it waits for no lock. */
const insertOpen = statement<OpenValues, AuthenticationRecord>(
  'authentication_begin',
  (p) => sql`
  with clock as materialized (select db_now() as now),
  ${eventCte(p)},
  authentication as (
    insert into authentications (user_id, id, device_id, authenticator, status, epoch, device, key_thumbprint, challenge,
                                 pin_refused, factor, challenge_ends_at, expires_at, created_at, updated_at)
    select ${p.userId}, ${p.id}, ${p.deviceId}, ${p.authenticator},
           case when ${p.messageId}::uuid is null or ${p.factor} = 2 then 'pending' else 'created' end, ${p.epoch}, ${p.device}::jsonb,
           ${p.keyThumbprint}, ${p.challenge}::jsonb, ${p.pinRefused}, ${p.factor}, now + ${p.lifetimeSeconds} * interval '1 second',
           now + ${timeForSecret}, now, now
    from clock
    returning *),
  ${messageCtes(p)},
  logged as (${insertEvent(sql`'login.started'`)})
  select ${recordColumns} from authentication`,
);

/** The state of a login that waits for its next secret. */
export interface OpenState {
  /** The secret that it waits for. */
  readonly factor: 1 | 2;
  readonly pinRefused: boolean;
  readonly message: EncryptedMessage | undefined;
}

/**
 * Records a login that waits for a secret, and its message, which is queued for `dispatchMessages`: all or nothing.
 * Without a message the login is `pending` from the start.
 */
export async function insertOpenAuthentication(
  handle: Queryable,
  login: NewAuthentication,
  challenge: Pick<Challenge, 'state' | 'lifetime'>,
  openState: Pick<OpenState, 'factor'> & Partial<OpenState>,
): Promise<AuthenticationRecord> {
  const { message } = openState;
  const [row] = await handle.query(
    insertOpen({
      ...loginValues(login),
      device: login.device,
      challenge: challenge.state,
      pinRefused: openState.pinRefused ?? false,
      lifetimeSeconds: challenge.lifetime,
      factor: openState.factor,
      ...messageValues(message),
    }),
  );
  if (row === undefined) throw new Error('an insert returned no row');
  return row;
}

interface StatusRow {
  readonly id: string;
  readonly status: AuthenticationStatus;
}

const findStatus = statement<{ id: string }, StatusRow>(
  'authentication_status',
  (p) => sql`
  select a.id,
         case when a.status in ('created', 'pending') and a.expires_at <= db_now() then 'rejected' else a.status end as status
  from authentications a left join users u on u.id = a.user_id
  where a.id = ${p.id} and a.ended_at is null
    and (a.status <> 'approved' or u.epoch = a.epoch)
    and (a.status <> 'rejected' or a.updated_at > db_now() - interval '24 hours')`,
);

/** Finds the status of a login by its id alone. Undefined if the login is unknown, deleted or superseded. */
export async function findAuthenticationStatus(handle: Queryable, id: string): Promise<StatusRow | undefined> {
  const [row] = await handle.query(findStatus({ id }));
  return row;
}

/** A login at an app that came from the pages ends with the login of the pages in that browser, which would open the app again. */
const endApproved = statement<{ userId: string; id: string; tokenDigest: Buffer | null } & EventValues, { id: string }>(
  'authentication_end',
  (p) => sql`
  with ${eventCte(p)},
  authentication as (
    update authentications a set ended_at = n.now, updated_at = n.now
    from users u cross join lateral (select db_now() as now) n
    where a.user_id = ${p.userId} and a.id = ${p.id}
      and (${p.tokenDigest}::bytea is null or a.token_digest = ${p.tokenDigest})
      and u.id = a.user_id and u.epoch = a.epoch
      and a.status = 'approved' and a.ended_at is null and ${loginEnd} > n.now
    returning a.*),
  page as (
    update authentications p set ended_at = a.ended_at, updated_at = a.updated_at
    from authentication a
    where a.authenticator = 'page' and p.user_id = a.user_id and p.id = ${pageLoginOf}
      and p.status = 'approved' and p.ended_at is null),
  logged as (${insertEvent(
    sql`case when a.acting_operator is null then 'token.deleted' else 'support_login.ended' end`,
    // The token of a support login belongs to its operator.
    sql`case when ${p.tokenDigest}::bytea is null or a.acting_operator is null then e.actor else 'user:' || a.acting_operator end`,
  )})
  select id from authentication`,
);

/** Ends an approved authentication and all its sessions. @returns false if there is no active one */
export async function endAuthentication(
  handle: Queryable,
  owner: { readonly userId: string; readonly id: string; readonly digest?: Buffer },
  origin: Origin,
): Promise<boolean> {
  const { userId, id, digest = null } = owner;
  const rows = await handle.query(endApproved({ userId, id, tokenDigest: digest, ...eventValues(origin) }));
  return rows.length > 0;
}
