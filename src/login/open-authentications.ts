import type { LoginDevice } from '../contract/authentication.js';
import type { AuthenticationErrorCode } from '../contract/errors/authentications.js';
import type { Challenge, ChallengeState } from '../credentials/challenge.js';
import { isNotAhead } from '../database/clock.js';
import type { Queryable } from '../database/database.js';
import { type Parameters, type Sql, sql, statement } from '../database/sql.js';
import { lockKnownDevice, pageLoginOf, recordDevice } from '../devices/queries.js';
import { lockHolds, nextPinIsDue } from '../identities/accounts.js';
import type { Origin } from '../lib/origin.js';
import { settleRightGuess, type TakenGuess } from '../limits/guess-budget.js';
import { loginIdleTtl, loginTtl } from '../limits/login-policies.js';
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
import {
  type ApprovedRecord,
  type AuthenticationRecord,
  type AuthenticationStatus,
  approvedRecord,
  type IssuedToken,
  type MaybeRecord,
} from './authentications.js';

/** Authentications that wait for a secret: take a guess, continue with the second factor, approve, reject. */

/**
 * An authentication after one of its guesses was taken. Step 2 decides about it. The status is `approved` only if a request
 * repeats the approval: see `takeAuthenticationGuess`.
 */
export interface OpenAuthentication {
  readonly id: string;
  readonly user_id: string;
  readonly authenticator: string;
  readonly status: AuthenticationStatus;
  readonly factor: 1 | 2;
  readonly challenge: ChallengeState;
  readonly approval_secret: Buffer | null;
  readonly device: LoginDevice;
  /** The guesses that are used, with the one that was taken. */
  readonly guesses: number;
  /** Whether step 1 contained a wrong PIN. It is reported at step 2 (decision 7). */
  readonly pin_refused: boolean;
}

/**
 * SQL: the maximum number of guesses at one code (ASVS 6.5). `maxGuessesWithRepeats` also counts the repeats of an
 * approved step 2.
 */
const maxGuesses = sql`5`;
const maxGuessesWithRepeats = sql`10`;

/** The owner of an authentication, its device, and the secret that it waits for. */
export interface AuthenticationOwner {
  readonly userId: string;
  readonly id: string;
  readonly deviceId: string;
  readonly authenticator: string;
  readonly factor: 1 | 2;
  readonly status: AuthenticationStatus;
}

const findOwner = statement<{ id: string }, AuthenticationOwner>(
  'authentication_owner',
  (p) => sql`
  select user_id as "userId", id, device_id as "deviceId", authenticator, factor, status
  from authentications where id = ${p.id}`,
);

/** The owner of an authentication, by its id alone, in any state. */
export async function findAuthenticationOwner(handle: Queryable, id: string): Promise<AuthenticationOwner | undefined> {
  const [row] = await handle.query(findOwner({ id }));
  return row;
}

/** Locks the row of the authentication, so parallel answers take their guesses one after the other. */
const takeGuess = statement<{ userId: string; id: string; approvalKey: Buffer | null }, OpenAuthentication>(
  'authentication_take_guess',
  (p) => sql`
  update authentications a
  set guesses = a.guesses + case when a.challenge ->> 'awaits' = 'new_password' then 0 else 1 end
  where a.user_id = ${p.userId} and a.id = ${p.id} and a.ended_at is null
    and ((a.status in ('created', 'pending') and a.guesses < ${maxGuesses}
          and a.expires_at > db_now() and a.challenge_ends_at > db_now()
          and ${isNotAhead(sql`a.expires_at - ${timeForSecret}`)})
      or (a.status = 'approved' and a.approval_key = ${p.approvalKey} and a.first_used_at is null
          and a.guesses < ${maxGuessesWithRepeats} and a.approved_at > db_now() - interval '10 minutes'
          and ${isNotAhead(sql`a.approved_at`)}))
  returning a.id, a.user_id, a.authenticator, a.status, a.factor, a.challenge, a.approval_secret, a.device,
            a.pin_refused, a.guesses`,
);

/**
 * Takes one of an open authentication's guesses before a secret is evaluated, so that parallel answers cannot exceed
 * the number of guesses. A new password is no guess. A request with the
 * Idempotency-Key of the approval may repeat the approval while the token is unused.
 * @returns undefined if the authentication is unknown, expired or decided, or has no guesses left
 */
export async function takeAuthenticationGuess(
  handle: Queryable,
  { userId, id }: AuthenticationOwner,
  approvalKey: Buffer | undefined,
): Promise<OpenAuthentication | undefined> {
  const [row] = await handle.query(takeGuess({ userId, id, approvalKey: approvalKey ?? null }));
  return row;
}

interface NextStepValues extends MessageValues {
  readonly userId: string;
  readonly id: string;
  readonly answered: ChallengeState;
  readonly challenge: ChallengeState;
  readonly lifetimeSeconds: number;
  readonly factor: 1 | 2;
  readonly guesses: number;
  /** How much the epoch of the user has grown in this transaction. */
  readonly newEpochs: number;
}

/** The row still has the challenge that was answered, so only one of several parallel answers continues the login. */
const setNextStep = statement<NextStepValues, AuthenticationRecord>(
  'authentication_next_factor',
  (p) => sql`
  with authentication as (
    update authentications a
    set factor = ${p.factor}, status = 'pending', guesses = ${p.guesses}, challenge = ${p.challenge}::jsonb,
        epoch = a.epoch + ${p.newEpochs}, updated_at = n.now,
        challenge_ends_at = n.now + ${p.lifetimeSeconds} * interval '1 second', expires_at = n.now + ${timeForSecret}
    from (select db_now() as now) n
    where a.user_id = ${p.userId} and a.id = ${p.id} and a.challenge = ${p.answered}::jsonb
      and a.status in ('created', 'pending') and a.ended_at is null
    returning a.*),
  ${messageCtes(p)}
  select ${recordColumns} from authentication`,
);

/** What an open login waits for next. */
export interface NextStep extends Pick<Challenge, 'state' | 'lifetime'> {
  readonly message: EncryptedMessage | undefined;
  /** 1: the user is not known yet. 2: the first secret was right. */
  readonly factor: 1 | 2;
  /** The guesses that count as used. */
  readonly guesses: number;
  /** Whether the answer has ended the other logins of the user by a new epoch. */
  readonly hasNewEpoch: boolean;
}

/**
 * Makes an open login wait for its next answer, once, and queues the message of the challenge. It keeps how a browser was redirected: its
 * access tokens name the app, and its approval takes over when a login of the pages was made.
 * @returns undefined if a parallel right answer was first
 */
export async function awaitNextStep(
  handle: Queryable,
  open: OpenAuthentication,
  { state, lifetime, message, factor, guesses, hasNewEpoch }: NextStep,
): Promise<AuthenticationRecord | undefined> {
  const { redirect } = open.challenge;
  const [row] = await handle.query(
    setNextStep({
      userId: open.user_id,
      id: open.id,
      answered: open.challenge,
      challenge: redirect === undefined ? state : { ...state, redirect },
      lifetimeSeconds: lifetime,
      factor,
      guesses,
      newEpochs: hasNewEpoch ? 1 : 0,
      ...messageValues(message),
    }),
  );
  return row;
}

/**
 * Deletes the row under its temporary user id and inserts it under the id of the user. The delete locks the row, so
 * only one of several parallel answers moves it. No other statement moves a row from one user to another.
 */
const assignToUser = statement<
  { temporaryUserId: string; id: string; userId: string; epoch: number },
  { challenge: ChallengeState }
>(
  'authentication_adopt',
  (p) => sql`
  with nameless as (
    delete from authentications
    where user_id = ${p.temporaryUserId} and id = ${p.id} and status in ('created', 'pending') and ended_at is null
    returning *)
  insert into authentications (user_id, id, device_id, authenticator, status, epoch, device, key_thumbprint, challenge,
                               factor, challenge_ends_at, expires_at, created_at, updated_at, guesses)
  select ${p.userId}, id, device_id, authenticator, 'pending', ${p.epoch}, device, key_thumbprint,
         jsonb_strip_nulls(jsonb_build_object('redirect', challenge->'redirect')), factor,
         challenge_ends_at, expires_at, created_at, db_now(), ${maxGuesses}
  from nameless
  returning challenge`,
);

/**
 * Assigns a login that began without an identity to its user, once. The login then has no guesses left, so a later answer is
 * refused. Of its challenge it keeps how a browser was redirected, for a browser that repeats the last step.
 * @returns undefined if a parallel answer was first
 */
export async function assignAuthentication(
  handle: Queryable,
  open: OpenAuthentication,
  { userId, epoch }: { readonly userId: string; readonly epoch: number },
): Promise<OpenAuthentication | undefined> {
  const [assigned] = await handle.query(assignToUser({ temporaryUserId: open.user_id, id: open.id, userId, epoch }));
  return assigned && { ...open, user_id: userId, status: 'pending', challenge: assigned.challenge };
}

interface ApprovalValues extends EventValues, TakenGuess {
  readonly userId: string;
  readonly id: string;
  readonly deviceId: string;
  readonly tokenDigest: Buffer;
  readonly policies: IssuedToken['policies'];
  readonly approvalKey: Buffer | null;
  readonly approvalSecret: Buffer;
  readonly secondFactor: string | null;
  readonly fromStatuses: readonly AuthenticationStatus[];
  readonly fromApprovalKey: Buffer | null;
  /** How much the epoch of the user has grown in this transaction. */
  readonly newEpochs: number;
  readonly channels: IssuedToken['noticeChannels'];
}

/**
 * SQL: the login of the pages from which an app's login came, while it is valid. The app's login is no new proof: it has the time
 * and the methods of that login (`pageLoginMethod`), and ends no later.
 */
const pageLoginOfApp = ({ userId, id }: Parameters<Pick<ApprovalValues, 'userId' | 'id'>>): Sql => sql`
    select p.id, coalesce(p.authenticated_at, p.approved_at) as authenticated_at, p.expires_at,
           array['login:' || p.authenticator] || p.proven_by as proven_by
    from authentications a join authentications p on p.user_id = a.user_id and p.id = ${pageLoginOf}
    where a.user_id = ${userId} and a.id = ${id} and a.authenticator = 'page'
      and p.status = 'approved' and p.ended_at is null and least(p.expires_at, p.idle_expires_at) > db_now()`;

/**
 * Settles the guess first, which locks its budget. Then it locks the device and after it the authentication, as the removal
 * of a device does, so the two cannot deadlock.
 */
const approveOpen = statement<ApprovalValues, MaybeRecord>(
  'authentication_approve',
  (p) => sql`
  with settled as materialized (${settleRightGuess(p.userId, p)}),
  ${eventCte(p)},
  held_device as materialized (
    ${lockKnownDevice({ userId: p.userId, deviceId: p.deviceId, after: sql`settled` })}),
  page_login as materialized (${pageLoginOfApp(p)}),
  authentication as (
    update authentications a
    set status = 'approved', epoch = u.epoch, token_digest = ${p.tokenDigest},
        expires_at = least(n.now + ${loginTtl(p.policies)}, held.authenticated_at + ${loginTtl(p.policies)}, held.expires_at),
        authenticated_at = held.authenticated_at, proven_by = coalesce(held.proven_by, a.proven_by),
        idle_expires_at = n.now + ${loginIdleTtl(p.policies)},
        updated_at = n.now, approved_at = n.now, approval_key = ${p.approvalKey}, approval_secret = ${p.approvalSecret},
        second_factor = coalesce(${p.secondFactor}, a.second_factor)
    from users u cross join lateral (select db_now() as now) n left join page_login held on true
    where a.user_id = ${p.userId} and a.id = ${p.id} and (a.authenticator <> 'page' or held.id is not null) and u.id = a.user_id and u.epoch = a.epoch + ${p.newEpochs}
      and u.status = 'active' and not ${lockHolds} and not ${nextPinIsDue} and a.status = any(${p.fromStatuses}::text[])
      and a.approval_key is not distinct from ${p.fromApprovalKey}
      and a.first_used_at is null and a.ended_at is null
      and (select count(*) from held_device) >= 0
    returning a.*),
  device as (${recordDevice(sql`authentication`)}),
  logged as (${insertEvent(sql`'login.approved'`)}),
  ${newDeviceNotice({ channels: p.channels })}
  select ${recordColumns}, ${newDeviceColumns(p.userId, p.policies)}, (select count(*) from notice_job) as notice_jobs from settled left join authentication on true`,
);

/** The request that approves an authentication. */
export interface Approval {
  /** SHA-256 of the request's Idempotency-Key. */
  readonly key: Buffer | undefined;
  /** Keyed digest of the secret, to compare a repeated request with. */
  readonly secret: Buffer;
  /** The type of the second factor, if one was used. */
  readonly secondFactor: string | undefined;
  /** Whether this transaction has ended every other login of the user. */
  readonly hasNewEpoch: boolean;
}

/** An approval with the token that it issues, and the guess that it settles. */
export interface Approving {
  readonly issued: IssuedToken;
  readonly approval: Approval;
  readonly origin: Origin;
  readonly guess: TakenGuess;
}

/**
 * Approves an open authentication once, and settles its guess, which was right in any case. A repeated request with the same
 * Idempotency-Key replaces the unused token instead.
 * @returns undefined if a parallel right answer was first
 */
export async function approveAuthentication(
  handle: Queryable,
  open: OpenAuthentication,
  { issued, approval, origin, guess }: Approving,
): Promise<ApprovedRecord | undefined> {
  const approvalKey = approval.key ?? null;
  const isRepeat = open.status === 'approved';
  const [row] = await handle.query(
    approveOpen({
      userId: open.user_id,
      id: open.id,
      deviceId: open.device.id,
      tokenDigest: issued.digest,
      policies: issued.policies,
      approvalKey,
      approvalSecret: approval.secret,
      secondFactor: approval.secondFactor ?? null,
      fromStatuses: isRepeat ? ['approved'] : ['created', 'pending'],
      fromApprovalKey: isRepeat ? approvalKey : null,
      newEpochs: approval.hasNewEpoch ? 1 : 0,
      channels: issued.noticeChannels,
      ...eventValues(origin),
      ...guess,
    }),
  );
  return approvedRecord(row);
}

const rejectOpen = statement<{ userId: string; id: string; finalError: AuthenticationErrorCode | null } & EventValues>(
  'authentication_reject',
  (p) => sql`
  with clock as materialized (select db_now() as now),
  ${eventCte(p)},
  authentication as (
    update authentications a
    set updated_at = now,
        status = case when ${p.finalError}::text is not null or guesses >= ${maxGuesses} then 'rejected' else status end,
        error_code = coalesce(${p.finalError}, case when guesses >= ${maxGuesses} then 'authorization_rejected' else '' end)
    from clock
    where a.user_id = ${p.userId} and a.id = ${p.id} and a.status in ('created', 'pending')
    returning a.*)
  ${insertEvent(sql`'login.rejected'`)}`,
);

/**
 * Records a wrong answer. After the last guess the authentication is rejected.
 * @param finalError rejects it at once, with this error
 */
export async function rejectAuthentication(
  handle: Queryable,
  open: OpenAuthentication,
  origin: Origin,
  finalError: AuthenticationErrorCode | null = null,
): Promise<void> {
  await handle.query(rejectOpen({ userId: open.user_id, id: open.id, finalError, ...eventValues(origin) }));
}
