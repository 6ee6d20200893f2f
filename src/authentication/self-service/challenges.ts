import { isNotAhead } from '../../database/clock.js';
import { prepared, type Queryable } from '../../database/database.js';
import type { ChallengeState } from '../authenticators/authenticator.js';

/**
 * The rows of `challenges`: whatever self-service begins and an answer completes within minutes, such as a fresh proof,
 * a new address, a recovery, or a new authenticator.
 *
 * A row goes through three statements. `beginChallenge` writes it; `takeChallengeGuess` takes one of its guesses before
 * anything is evaluated, so that any number of parallel answers gets no more evaluations than that; `endChallenge` ends
 * it in the transaction of what it brings about, so that of parallel right answers one wins.
 */
export interface NewChallenge {
  /** The user, or the stand-in of an identity that names nobody. */
  readonly userId: string;
  readonly id: string;
  /** What it is for: an answer counts for nothing else. */
  readonly purpose: ChallengePurpose;
  /** What the answer is checked against and what it brings about; never the secret itself. */
  readonly kept: ChallengeState;
  /** Seconds. */
  readonly lifetime: number;
  /** The device of the session that begins it, the only one that may answer; without a session, a known one that asked. */
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
  | 'external_identity';

/** A challenge as the client may see it. */
export interface BegunChallenge {
  readonly id: string;
  readonly expires_at: string;
}

/** Which challenge an answer is for. */
export interface ChallengeAddress {
  readonly userId: string;
  readonly id: string;
  readonly purpose: ChallengePurpose;
  readonly deviceId?: string | undefined;
}

/** Guesses at one code (ASVS 6.5). */
const maxGuesses = 5;

const begin = prepared(
  'challenge_begin',
  `insert into challenges (user_id, id, purpose, kept, device_id, created_at, expires_at)
   select $1, $2, $3, $4::jsonb, $5, now, now + $6 * interval '1 second' from (select db_now() as now) clock
   returning id, expires_at`,
);

export async function beginChallenge(handle: Queryable, challenge: NewChallenge): Promise<BegunChallenge> {
  const { userId, id, purpose, kept, deviceId, lifetime } = challenge;
  const values = [userId, id, purpose, kept, deviceId ?? null, lifetime];
  const [row] = await handle.query<BegunChallenge>(begin, values);
  if (row === undefined) throw new Error('an insert returned no row');
  return row;
}

const takeGuess = prepared(
  'challenge_take_guess',
  `update challenges set guesses = guesses + 1
   where user_id = $1 and id = $2 and purpose = $3 and device_id is not distinct from $4
     and ended_at is null and guesses < ${maxGuesses} and expires_at > db_now()
     and ${isNotAhead('created_at')}
   returning kept`,
);

/**
 * Takes one of a challenge's guesses, before anything is evaluated.
 * @returns what was kept; undefined: unknown, another's, for something else, lapsed, used up, or over.
 */
export async function takeChallengeGuess(
  handle: Queryable,
  { userId, id, purpose, deviceId }: ChallengeAddress,
): Promise<ChallengeState | undefined> {
  const [row] = await handle.query<{ kept: ChallengeState }>(takeGuess, [userId, id, purpose, deviceId ?? null]);
  return row?.kept;
}

const end = prepared(
  'challenge_end',
  'update challenges set ended_at = db_now() where user_id = $1 and id = $2 and ended_at is null returning id',
);

/**
 * Ends a challenge that was answered, in the transaction of what it brings about.
 * @returns false: another answer was first, so nothing may come of this one.
 */
export async function endChallenge(tx: Queryable, { userId, id }: { userId: string; id: string }): Promise<boolean> {
  return (await tx.query(end, [userId, id])).length > 0;
}

const endAll = prepared(
  'challenge_end_all',
  `update challenges set ended_at = db_now()
   where user_id = $1 and ($2::text[] is null or purpose = any($2)) and ended_at is null`,
);

/**
 * Ends what was begun and not answered: from now on it would need another proof. Whoever begins or completes a challenge
 * of a user holds the user's row, and so must the caller: no answer that is being evaluated overtakes this.
 * @param purposes undefined: all
 */
export async function endChallenges(
  tx: Queryable,
  userId: string,
  purposes?: readonly ChallengePurpose[],
): Promise<void> {
  await tx.query(endAll, [userId, purposes ?? null]);
}

const findOwner = prepared('challenge_owner', 'select user_id, device_id from challenges where id = $1');

/** Whose challenge it is, and of which device, by its id alone and whatever its state: for answers without a session. */
export async function findChallengeOwner(
  handle: Queryable,
  id: string,
): Promise<Pick<ChallengeAddress, 'userId' | 'deviceId'> | undefined> {
  const [row] = await handle.query<{ user_id: string; device_id: string | null }>(findOwner, [id]);
  return row === undefined ? undefined : { userId: row.user_id, deviceId: row.device_id ?? undefined };
}
