import type { MessageChannel, NoticeChannel } from '../contract/administration.js';
import type { authenticationStatuses, DeviceInput } from '../contract/authentication.js';
import type { AuthenticationErrorCode } from '../contract/errors.js';
import { prepared, type Queryable } from '../database/database.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { lockHolds } from './accounts.js';
import type { Challenge } from './authenticators/authenticator.js';
import { holdKnownDevice, recordDevice } from './devices/queries.js';
import { type GuessParameters, settleRightGuess } from './guess-budget.js';
import { awaitDispatch } from './messages/enqueue.js';
import { tellOfNewDevice } from './messages/notices.js';
import { nextPinIsDue } from './secrets/next-pin.js';

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
}

/** A login as it begins. */
export interface NewAuthentication {
  readonly id: string;
  readonly userId: string;
  readonly epoch: number;
  readonly authenticator: string;
  readonly device: DeviceInput & { readonly id: string };
  /** The device's id when the user was approved on it before this login began. */
  readonly knownDevice: string | undefined;
  readonly origin: Origin;
}

/** How long an authentication is open for its next secret. */
export const openFor = "interval '10 minutes'";

/** Columns of an authentication as its client may see it. */
export const record = 'id, device_id, status, error_code, expires_at, created_at, updated_at';

/** SQL: writes down what became of the authentications `from`. */
export const writeEvent = (from: string, type: string) => `
  insert into events (user_id, id, type, actor, address, request_id, data, created_at)
  select a.user_id, e.id, ${type}, e.actor, e.address, e.request_id,
         jsonb_strip_nulls(jsonb_build_object('authentication_id', a.id, 'authenticator', a.authenticator,
           'second_factor', a.second_factor, 'device_id', a.device_id)), a.updated_at
  from ${from} a, event e`;

/** The columns of an event's origin, as parameters from `$first` on. */
export const eventInput = (first: number) =>
  `event as (select $${first}::uuid as id, $${first + 1}::text as actor, $${first + 2}::inet as address, $${first + 3}::text as request_id)`;
export const eventValues = ({ actor, address, requestId }: Origin) => {
  return [newId(), actor, address ?? null, requestId ?? null];
};

const insertApproved = prepared(
  'authentication_approve_at_once',
  `with settled as materialized (${settleRightGuess('$1', 15)}),
   clock as materialized (select db_now() as now from settled), ${eventInput(9)},
   held_device as materialized (${holdKnownDevice('$1', '$13', 'settled')}),
   authentication as (
     insert into authentications (user_id, id, device_id, authenticator, status, epoch, device, token_digest,
                                  expires_at, created_at, updated_at, approved_at)
     select u.id, $2, $3, $4, 'approved', u.epoch, $6::jsonb, $7, now + $8 * interval '1 ms', now, now, now
     from users u, clock where u.id = $1 and u.epoch = $5 and u.status = 'active' and not ${lockHolds}
       and not ${nextPinIsDue}
       and ($13::uuid is null or exists (select 1 from held_device))
     returning *),
   device as (${recordDevice('authentication')}),
   logged as (${writeEvent('authentication', "'login.approved'")}),
   ${tellOfNewDevice('$14')}
   select ${record}, (select count(*) from told) as told from settled left join authentication on true`,
);

/** What an approving statement returns: no id where the approval does not stand. */
export type MaybeRecord = AuthenticationRecord | { readonly id: null };

export function approvedRecord(row: MaybeRecord | undefined): AuthenticationRecord | undefined {
  return row === undefined || row.id === null ? undefined : row;
}

/** The token of a login that is approved. */
export interface IssuedToken {
  readonly digest: Buffer;
  /** Milliseconds. */
  readonly lifetime: number;
  /** How the user is told if the device is new. */
  readonly tells: readonly NoticeChannel[];
}

/**
 * Records a login that was approved in one step, its device, and the fact, and settles its guess; all or nothing, in one
 * round trip. Where the approval does not stand, the guess was right all the same.
 * @returns undefined when the user was changed or the known device removed meanwhile, so that the approval no longer
 * stands.
 */
export async function insertApprovedAuthentication(
  handle: Queryable,
  login: NewAuthentication,
  token: IssuedToken,
  guess: GuessParameters,
): Promise<AuthenticationRecord | undefined> {
  const { userId, id, device, authenticator, epoch, origin } = login;
  const [row] = await handle.query<MaybeRecord>(insertApproved, [
    ...[userId, id, device.id, authenticator, epoch, device, token.digest, token.lifetime],
    ...eventValues(origin),
    ...[login.knownDevice ?? null, token.tells, ...guess],
  ]);
  return approvedRecord(row);
}

const insertRejected = prepared(
  'authentication_reject_at_once',
  `with clock as materialized (select db_now() as now), ${eventInput(7)},
   authentication as (
     insert into authentications (user_id, id, device_id, authenticator, status, epoch, error_code,
                                  expires_at, created_at, updated_at)
     select $1, $2, $3, $4, 'rejected', $5, $6, now, now, now from clock
     returning *),
   logged as (${writeEvent('authentication', "'login.rejected'")})
   select ${record} from authentication`,
);

/** Records a login that was refused in one step. The same for users and for nobody. */
export async function insertRejectedAuthentication(
  handle: Queryable,
  login: NewAuthentication,
  errorCode: AuthenticationErrorCode,
): Promise<AuthenticationRecord> {
  const { userId, id, device, authenticator, epoch, origin } = login;
  const values = [userId, id, device.id, authenticator, epoch, errorCode, ...eventValues(origin)];
  const [row] = await handle.query<AuthenticationRecord>(insertRejected, values);
  if (row === undefined) throw new Error('an insert returned no row');
  return row;
}

const insertOpen = prepared(
  'authentication_begin',
  `with clock as materialized (select db_now() as now), ${eventInput(16)},
   authentication as (
     insert into authentications (user_id, id, device_id, authenticator, status, epoch, device, challenge, pin_refused,
                                  factor, challenge_ends_at, expires_at, created_at, updated_at)
     select $1, $2, $3, $4, case when $10::uuid is null then 'pending' else 'created' end, $5, $6::jsonb, $7::jsonb, $8,
            $15, now + $9 * interval '1 second', now + ${openFor}, now, now
     from clock
     returning *),
   message as (
     insert into outbox (user_id, id, authentication_id, channel, kind, recipient, state, sealed_code, expires_at,
                         created_at, updated_at)
     select a.user_id, $10, a.id, $11, $12, $13, 'queued', $14, a.challenge_ends_at, a.created_at, a.created_at
     from authentication a where $10::uuid is not null
     returning user_id, id, created_at),
   queued as (${awaitDispatch('message', '$20')}),
   logged as (${writeEvent('authentication', "'login.started'")})
   select ${record} from authentication`,
);

/** A message of a challenge, sealed, ready for the outbox. */
export interface SealedMessage {
  readonly id: string;
  readonly channel: MessageChannel;
  readonly kind: string;
  readonly recipient: string | undefined;
  readonly sealedCode: Buffer;
  /** How many codes the client's address has asked for lately. */
  readonly turn: number;
}

/** What is known of a login that waits for its next secret. */
export interface OpenState {
  /** Which secret it waits for. */
  readonly factor: 1 | 2;
  readonly pinRefused: boolean;
  readonly message: SealedMessage | undefined;
}

/**
 * Records a login that waits for a secret, and its message, which is to be dispatched; all or nothing. Without a message it
 * is `pending` from the start.
 */
export async function insertOpenAuthentication(
  handle: Queryable,
  login: NewAuthentication,
  challenge: Pick<Challenge, 'kept' | 'lifetime'>,
  extra: Pick<OpenState, 'factor'> & Partial<OpenState>,
): Promise<AuthenticationRecord> {
  const { userId, id, device, authenticator, epoch, origin } = login;
  const { message } = extra;
  const [row] = await handle.query<AuthenticationRecord>(insertOpen, [
    ...[userId, id, device.id, authenticator, epoch, device],
    ...[challenge.kept, extra.pinRefused ?? false, challenge.lifetime],
    ...[message?.id ?? null, message?.channel ?? null, message?.kind ?? null, message?.recipient ?? null],
    ...[message?.sealedCode ?? null, extra.factor, ...eventValues(origin), message?.turn ?? null],
  ]);
  if (row === undefined) throw new Error('an insert returned no row');
  return row;
}

const findStatus = prepared(
  'authentication_status',
  `select a.id,
          case when a.status in ('created', 'pending') and a.expires_at <= db_now() then 'rejected' else a.status end as status
   from authentications a left join users u on u.id = a.user_id
   where a.id = $1 and a.ended_at is null
     and (a.status <> 'approved' or u.epoch = a.epoch)
     and (a.status <> 'rejected' or a.updated_at > db_now() - interval '24 hours')`,
);

/** The status by id alone; lapsing is computed here. Undefined: unknown, deleted or superseded. */
export async function findAuthenticationStatus(
  handle: Queryable,
  id: string,
): Promise<{ id: string; status: AuthenticationStatus } | undefined> {
  const [row] = await handle.query<{ id: string; status: AuthenticationStatus }>(findStatus, [id]);
  return row;
}

const endOne = prepared(
  'authentication_end',
  `with ${eventInput(4)},
   authentication as (
     update authentications a set ended_at = n.now, updated_at = n.now
     from users u cross join lateral (select db_now() as now) n
     where a.user_id = $1 and a.id = $2 and ($3::bytea is null or a.token_digest = $3)
       and u.id = a.user_id and u.epoch = a.epoch
       and a.status = 'approved' and a.ended_at is null and a.expires_at > n.now
     returning a.*),
   logged as (${writeEvent('authentication', "'token.deleted'")})
   select id from authentication`,
);

/** Ends an approved authentication and with it every session of it. False: there is no active one. */
export async function endAuthentication(
  handle: Queryable,
  owner: { readonly userId: string; readonly id: string; readonly digest?: Buffer },
  origin: Origin,
): Promise<boolean> {
  const rows = await handle.query(endOne, [owner.userId, owner.id, owner.digest ?? null, ...eventValues(origin)]);
  return rows.length > 0;
}
