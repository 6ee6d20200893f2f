import type { DeviceInput } from '../contract/authentication.js';
import { isNotAhead } from '../database/clock.js';
import { prepared, type Queryable } from '../database/database.js';
import type { Origin } from '../lib/origin.js';
import { lockHolds } from './accounts.js';
import {
  type AuthenticationRecord,
  type AuthenticationStatus,
  approvedRecord,
  eventInput,
  eventValues,
  type IssuedToken,
  type MaybeRecord,
  openFor,
  record,
  writeEvent,
} from './authentications.js';
import type { Challenge, ChallengeState } from './authenticators/authenticator.js';
import { holdKnownDevice, recordDevice } from './devices/queries.js';
import { type GuessParameters, settleRightGuess } from './guess-budget.js';
import { tellOfNewDevice } from './messages/notices.js';
import { nextPinIsDue } from './secrets/next-pin.js';

/** Authentications that wait for a secret: taking a guess, going on to the second one, approving, rejecting. */

/** An authentication with a guess taken, for step 2 to decide on. */
export interface OpenAuthentication {
  readonly id: string;
  readonly user_id: string;
  readonly authenticator: string;
  readonly status: AuthenticationStatus;
  readonly factor: 1 | 2;
  readonly challenge: ChallengeState;
  readonly approval_secret: Buffer | null;
  readonly device: DeviceInput & { readonly id: string };
  readonly pin_refused: boolean;
}

/** Guesses at one code (ASVS 6.5), and the repeats of an approved step 2 on top. */
const maxGuesses = 5;
const maxGuessesWithRepeats = 10;

/** Whose login an authentication is, on which device, and what it waits for. */
export interface AuthenticationOwner {
  readonly userId: string;
  readonly id: string;
  readonly deviceId: string;
  readonly authenticator: string;
  readonly factor: 1 | 2;
  readonly status: AuthenticationStatus;
}

const findOwner = prepared(
  'authentication_owner',
  `select user_id as "userId", id, device_id as "deviceId", authenticator, factor, status
   from authentications where id = $1`,
);

/** Who an authentication belongs to, by its id alone, whatever its state. */
export async function findAuthenticationOwner(handle: Queryable, id: string): Promise<AuthenticationOwner | undefined> {
  const [row] = await handle.query<AuthenticationOwner>(findOwner, [id]);
  return row;
}

const takeGuess = prepared(
  'authentication_take_guess',
  `update authentications a set guesses = a.guesses + 1
   where a.user_id = $1 and a.id = $2 and a.ended_at is null
     and ((a.status in ('created', 'pending') and a.guesses < ${maxGuesses}
           and a.expires_at > db_now() and a.challenge_ends_at > db_now() and ${isNotAhead(`a.expires_at - ${openFor}`)})
       or (a.status = 'approved' and a.approval_key = $3 and a.first_used_at is null
           and a.guesses < ${maxGuessesWithRepeats} and a.approved_at > db_now() - interval '10 minutes'
           and ${isNotAhead('a.approved_at')}))
   returning a.id, a.user_id, a.authenticator, a.status, a.factor, a.challenge, a.approval_secret, a.device,
             a.pin_refused`,
);

/**
 * Takes one of an open authentication's guesses before anything is evaluated, so that any number of parallel answers
 * gets no more evaluations than there are guesses. Undefined: unknown, lapsed, used up, or decided.
 * An approved one is open once more to the request that approved it (the same Idempotency-Key) while its token is unused.
 */
export async function takeAuthenticationGuess(
  handle: Queryable,
  { userId, id }: AuthenticationOwner,
  approvalKey: Buffer | undefined,
): Promise<OpenAuthentication | undefined> {
  const [row] = await handle.query<OpenAuthentication>(takeGuess, [userId, id, approvalKey ?? null]);
  return row;
}

const asNextFactor = prepared(
  'authentication_next_factor',
  `update authentications a
   set factor = 2, status = 'pending', guesses = 0, challenge = $3::jsonb, updated_at = n.now,
       challenge_ends_at = n.now + $4 * interval '1 second', expires_at = n.now + ${openFor}
   from (select db_now() as now) n
   where a.user_id = $1 and a.id = $2 and a.factor = 1 and a.status in ('created', 'pending') and a.ended_at is null
   returning ${record}`,
);

/** Has an open login wait for its second secret, once: of parallel right answers to the first the others get undefined. */
export async function awaitSecondFactor(
  handle: Queryable,
  open: OpenAuthentication,
  { kept, lifetime }: Pick<Challenge, 'kept' | 'lifetime'>,
): Promise<AuthenticationRecord | undefined> {
  const [row] = await handle.query<AuthenticationRecord>(asNextFactor, [open.user_id, open.id, kept, lifetime]);
  return row;
}

const adopt = prepared(
  'authentication_adopt',
  `with nameless as (
     delete from authentications where user_id = $1 and id = $2 and status in ('created', 'pending') and ended_at is null
     returning *)
   insert into authentications (user_id, id, device_id, authenticator, status, epoch, device, challenge, factor,
                                challenge_ends_at, expires_at, created_at, updated_at, guesses)
   select $3, id, device_id, authenticator, 'pending', $4, device, '{}', factor,
          challenge_ends_at, expires_at, created_at, db_now(), ${maxGuesses}
   from nameless
   returning id`,
);

/**
 * Gives a login that began without a name to the user who turned out to be behind it, once; its challenge is used up, and
 * so are its guesses: an answer that comes later finds nothing to be guessed at.
 * Not a hot path, and the only statement that moves a row from one user to another.
 * @returns undefined when a parallel answer was first.
 */
export async function adoptAuthentication(
  handle: Queryable,
  open: OpenAuthentication,
  user: { readonly userId: string; readonly epoch: number },
): Promise<OpenAuthentication | undefined> {
  const adopted = await handle.query(adopt, [open.user_id, open.id, user.userId, user.epoch]);
  return adopted.length === 0 ? undefined : { ...open, user_id: user.userId, status: 'pending', challenge: {} };
}

const approveOpen = prepared(
  'authentication_approve',
  `with settled as materialized (${settleRightGuess('$1', 16)}), ${eventInput(8)},
   held_device as materialized (${holdKnownDevice('$1', '$12', 'settled')}),
   authentication as (
     update authentications a
     set status = 'approved', token_digest = $3, expires_at = n.now + $4 * interval '1 ms', updated_at = n.now,
         approved_at = n.now, approval_key = $5, approval_secret = $13, second_factor = coalesce($14, a.second_factor)
     from users u cross join lateral (select db_now() as now) n
     where a.user_id = $1 and a.id = $2 and u.id = a.user_id and u.epoch = a.epoch and u.status = 'active'
       and not ${lockHolds} and not ${nextPinIsDue} and a.status = any($6::text[]) and a.approval_key is not distinct from $7
       and a.first_used_at is null and a.ended_at is null
       and (select count(*) from held_device) >= 0
     returning a.*),
   device as (${recordDevice('authentication')}),
   logged as (${writeEvent('authentication', "'login.approved'")}),
   ${tellOfNewDevice('$15')}
   select ${record}, (select count(*) from told) as told from settled left join authentication on true`,
);

/** What approves an authentication. */
export interface Approval {
  /** SHA-256 of the request's Idempotency-Key. */
  readonly key: Buffer | undefined;
  /** Keyed digest of the secret, for a repeat to be compared with. */
  readonly secret: Buffer;
  /** What the second secret was, where one was asked for. */
  readonly secondFactor: string | undefined;
}

/** An approval with the token that it issues, and the guess that it settles. */
export interface Approving {
  readonly issued: IssuedToken;
  readonly approval: Approval;
  readonly origin: Origin;
  readonly settling: GuessParameters;
}

/**
 * Approves an open authentication, once: of parallel right answers one wins, the others get undefined. Either way its
 * guess is settled, for it was right. The device is locked before the authentication, as its removal does, so that the
 * two cannot wait for each other.
 * A repeat by the same Idempotency-Key replaces the unused token instead.
 */
export async function approveAuthentication(
  handle: Queryable,
  open: OpenAuthentication,
  { issued, approval, origin, settling }: Approving,
): Promise<AuthenticationRecord | undefined> {
  const key = approval.key ?? null;
  const isRepeat = open.status === 'approved';
  const [row] = await handle.query<MaybeRecord>(approveOpen, [
    ...[open.user_id, open.id, issued.digest, issued.lifetime, key],
    ...[isRepeat ? ['approved'] : ['created', 'pending'], isRepeat ? key : null, ...eventValues(origin)],
    ...[open.device.id, approval.secret, approval.secondFactor ?? null, issued.tells, ...settling],
  ]);
  return approvedRecord(row);
}

const rejectOpen = prepared(
  'authentication_reject',
  `with clock as materialized (select db_now() as now), ${eventInput(3)},
   authentication as (
     update authentications a
     set updated_at = now, status = case when guesses >= ${maxGuesses} then 'rejected' else status end,
         error_code = case when guesses >= ${maxGuesses} then 'authorization_rejected' else '' end
     from clock
     where a.user_id = $1 and a.id = $2 and a.status in ('created', 'pending')
     returning a.*)
   ${writeEvent('authentication', "'login.rejected'")}`,
);

/** Records a wrong answer; the last guess rejects the authentication for good. */
export async function rejectAuthentication(handle: Queryable, open: OpenAuthentication, origin: Origin): Promise<void> {
  await handle.query(rejectOpen, [open.user_id, open.id, ...eventValues(origin)]);
}
