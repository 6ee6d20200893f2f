import { isNotAhead } from '../database/clock.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import type { ChallengeState } from './challenge.js';

/**
 * A row of `challenges`: a self-service action that an answer completes within minutes, such as a re-authentication or a
 * new address. Each answer is counted as a guess before it is checked, so parallel answers cannot exceed the limit.
 * The challenge ends in the transaction of the action, so only one of several parallel correct answers succeeds.
 */
export interface NewChallenge {
  /** The user, or the derived id of an identity without an account. */
  readonly userId: string;
  readonly id: string;
  /** An answer is accepted only for this purpose. */
  readonly purpose: ChallengePurpose;
  /** What the answer is checked against, and the parameters of the action. Never the secret itself. */
  readonly state: ChallengeState;
  /** Seconds. */
  readonly lifetime: number;
  /**
   * The only device that may answer: the device of the session or, without a session, the known device that started the
   * challenge.
   */
  readonly deviceId?: string | undefined;
}

export type ChallengePurpose =
  | 'proof'
  | 'email'
  | 'phone'
  | 'totp'
  | 'passkey'
  | 'recovery'
  | 'registration'
  | 'setup'
  | 'external_identity'
  | 'provider_address'
  | 'provider_test';

/** A challenge as the client sees it. */
export interface StartedChallenge {
  readonly id: string;
  readonly expires_at: string;
}

/** Identifies the challenge that an answer is for. */
export interface ChallengeRef {
  readonly userId: string;
  readonly id: string;
  readonly purpose: ChallengePurpose;
  readonly deviceId?: string | undefined;
}

/** Maximum number of guesses at one code (ASVS 5.0, 6.5). It is part of the SQL text, not a parameter. */
const maxGuesses = sql`5`;

interface NewChallengeValues extends Omit<NewChallenge, 'deviceId'> {
  readonly deviceId: string | null;
}

const insertChallenge = statement<NewChallengeValues, StartedChallenge>(
  'challenge_begin',
  (p) => sql`
    insert into challenges (user_id, id, purpose, kept, device_id, created_at, expires_at)
    select ${p.userId}, ${p.id}, ${p.purpose}, ${p.state}::jsonb, ${p.deviceId}, now,
           now + ${p.lifetime} * interval '1 second'
    from (select db_now() as now) clock
    returning id, expires_at`,
);

/** Inserts a challenge. */
export async function startChallenge(handle: Queryable, challenge: NewChallenge): Promise<StartedChallenge> {
  const [row] = await handle.query(insertChallenge({ ...challenge, deviceId: challenge.deviceId ?? null }));
  if (row === undefined) throw new Error('an insert returned no row');
  return row;
}

const selectRecent = statement<{ userId: string; purpose: ChallengePurpose; seconds: number }, { id: string }>(
  'challenge_recent',
  (p) => sql`
    select id from challenges
    where user_id = ${p.userId} and purpose = ${p.purpose} and ended_at is null
      and created_at > db_now() - ${p.seconds} * interval '1 second' and ${isNotAhead(sql`created_at`)}
    order by created_at desc limit 1`,
);

/** The open challenge that was started last, if that was less than these seconds ago. */
export async function findRecentChallenge(
  handle: Queryable,
  recent: { readonly userId: string; readonly purpose: ChallengePurpose; readonly seconds: number },
): Promise<string | undefined> {
  return (await handle.query(selectRecent(recent)))[0]?.id;
}

interface ChallengeKey extends Omit<ChallengeRef, 'deviceId'> {
  readonly deviceId: string | null;
}

const countGuess = statement<ChallengeKey, { state: ChallengeState }>(
  'challenge_take_guess',
  (p) => sql`
    update challenges set guesses = guesses + 1
    where user_id = ${p.userId} and id = ${p.id} and purpose = ${p.purpose} and device_id is not distinct from ${p.deviceId}
      and ended_at is null and guesses < ${maxGuesses} and expires_at > db_now()
      and ${isNotAhead(sql`created_at`)}
    returning kept as state`,
);

/**
 * Counts a guess at a challenge. Call it before you check the answer.
 * @returns the stored state; undefined if the challenge is unknown, another user's, for another purpose, expired, ended,
 *   or out of guesses
 */
export async function countChallengeGuess(
  handle: Queryable,
  challenge: ChallengeRef,
): Promise<ChallengeState | undefined> {
  const [row] = await handle.query(countGuess({ ...challenge, deviceId: challenge.deviceId ?? null }));
  return row?.state;
}

const findExpiry = statement<{ userId: string; id: string }, { expires_at: string }>(
  'challenge_expiry',
  (p) => sql`select expires_at from challenges where user_id = ${p.userId} and id = ${p.id}`,
);

/** When a challenge expires; undefined if it does not exist. */
export async function findChallengeExpiry(
  handle: Queryable,
  { userId, id }: Pick<ChallengeRef, 'userId' | 'id'>,
): Promise<string | undefined> {
  const [row] = await handle.query(findExpiry({ userId, id }));
  return row?.expires_at;
}

const endOne = statement<{ userId: string; id: string }>(
  'challenge_end',
  (p) => sql`
    update challenges set ended_at = db_now() where user_id = ${p.userId} and id = ${p.id} and ended_at is null
    returning id`,
);

/**
 * Ends an answered challenge. Call it in the transaction of the action.
 * @returns false if a parallel answer ended it first: then the action must not happen
 */
export async function endChallenge(tx: Queryable, { userId, id }: { userId: string; id: string }): Promise<boolean> {
  return (await tx.query(endOne({ userId, id }))).length > 0;
}

const endAll = statement<{ userId: string; purposes: readonly ChallengePurpose[] | null }>(
  'challenge_end_all',
  (p) => sql`
    update challenges set ended_at = db_now()
    where user_id = ${p.userId} and (${p.purposes}::text[] is null or purpose = any(${p.purposes})) and ended_at is null`,
);

/**
 * Ends the user's open challenges, because the proofs that started them are no longer sufficient. The caller must hold a
 * lock on the user's row: completing a challenge needs that lock too, so an answer that is being checked fails.
 * @param purposes undefined: all
 */
export async function endChallenges(
  tx: Queryable,
  userId: string,
  purposes?: readonly ChallengePurpose[],
): Promise<void> {
  await tx.query(endAll({ userId, purposes: purposes ?? null }));
}

const findOwner = statement<{ id: string }, { user_id: string; device_id: string | null }>(
  'challenge_owner',
  (p) => sql`select user_id, device_id from challenges where id = ${p.id}`,
);

/** Finds the user and the device of a challenge by its id alone, in any state: for answers without a session. */
export async function findChallengeOwner(
  handle: Queryable,
  id: string,
): Promise<Pick<ChallengeRef, 'userId' | 'deviceId'> | undefined> {
  const [row] = await handle.query(findOwner({ id }));
  return row === undefined ? undefined : { userId: row.user_id, deviceId: row.device_id ?? undefined };
}
