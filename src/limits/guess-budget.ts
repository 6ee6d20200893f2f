import { recordEvent } from '../audit/events.js';
import { type Database, isStorageFailure, type Queryable } from '../database/database.js';
import { type Parameters, type Sql, type SqlPart, sql, statement } from '../database/sql.js';
import { sha256 } from '../lib/crypto/digests.js';
import { idFromBytes, newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';
import type { Notices } from '../messages/notices.js';
import type { Counters } from '../statistics/counters.js';
import { bucketOfDevice, recordRefusal, unknownDevices } from './guess-locks.js';
import { createTurnQueues } from './turn-queues.js';

/**
 * Limits the wrong secrets of an account, across all authenticators, steps, identities and instances. Each known device
 * of an account has its own bucket of guesses, and all other devices share one bucket. A guess is taken in the database
 * before a secret is evaluated, and settled afterwards. So parallel requests cannot evaluate more wrong secrets than
 * there are guesses left, and a slow hash holds no transaction (decision 10).
 */
export interface GuessBudget {
  /**
   * Evaluates one secret, if the bucket of the account and the device has a guess left. If other requests are using all guesses that are
   * left, it waits and holds no connection.
   * @returns the result of `evaluate`. If `evaluate` throws, no guess counts, unless the code of a plug-in has failed.
   * @throws Problem `account_temporarily_locked` with the seconds left, `account_locked`, `too_many_requests` after five seconds.
   */
  guess(account: GuessedAccount, evaluate: () => Promise<GuessResult>): Promise<GuessResult>;
  /** Values for a statement that uses `takeGuessFor`. */
  readonly limitValues: GuessLimitValues;
  /**
   * Continues a login whose guess another statement has taken or tried to take. If other requests are using all guesses that are left, it
   * waits as `guess` does. If a lock refuses the login, it records that: see `recordRefusal`.
   * @param reservation the id of the guess that the other statement has tried to take
   * @throws Problem as `guess`
   */
  continueGuess(account: GuessedAccount, reservation: string, attempt: GuessAttempt): Promise<Guess>;
}

/** A guess that was taken. Evaluate it at once: after 15 s it counts as wrong. */
export interface Guess {
  /**
   * Evaluates one secret. The result is settled when this returns, except for `right`: then call `approve`. If `work`
   * throws, no guess counts, unless the code of a plug-in has failed.
   */
  evaluate(work: () => Promise<GuessResult>): Promise<GuessResult>;
  /** Settles a right guess. The statement that approves the login must contain `settleRightGuess` with these values. */
  approve<T>(statement: (guess: TakenGuess) => Promise<T>): Promise<T>;
}

/** The values that, with the user id, identify a guess. */
export interface TakenGuess {
  readonly guessBucket: string;
  readonly guessReservation: string;
}

/**
 * The result of a guess. `right` resets the count of failures, `wrong` raises it, and `neutral` leaves it as it is: a right
 * first secret, after which a second one is still needed. If it reset the count, an attacker who knows the first secret
 * could guess the second one without limit.
 */
export type GuessResult = 'right' | 'wrong' | 'neutral';

/** An account, known or not, and the device of the request. */
export interface GuessedAccount {
  readonly userId: string;
  readonly deviceId: string;
  /** The same as `deviceId`, if a login of the user was approved on the device before; otherwise undefined. */
  readonly knownDevice: string | undefined;
  /**
   * A bucket that replaces the bucket of the device, for requests that must work while guesses have locked the account.
   * This bucket is never locked permanently. So the secret that is guessed (such as a code) must itself limit the guesses.
   */
  readonly bucket?: string;
  readonly origin: Origin;
  /** The authenticator of a login, for the metrics. */
  readonly authenticator?: string;
}

/**
 * The bucket for the codes of recoveries and registrations, which need no session. There is one bucket for each known device that
 * requested a code, so that wrong guesses of other people do not lock out the phone of the account's owner. All other devices share
 * one bucket.
 */
export function sessionlessBucket(knownDevice: string | undefined): string {
  if (knownDevice === undefined) return '00000000-0000-0000-0000-000000000001';
  return idFromBytes(sha256(`without a session\n${knownDevice}`).subarray(0, 16));
}

export interface GuessLimits {
  /** Failures in a row until an account is locked for a time. */
  readonly failureLimit: number;
  /** Failures since the last success until the account is locked permanently; 0: never. */
  readonly permanentLimit: number;
  /** Milliseconds of the first lock. Each further lock takes twice as long. */
  readonly lockMs: number;
  /** Milliseconds of the longest lock. */
  readonly maxLockMs: number;
}

/** The limits as values of a statement. */
export interface GuessLimitValues {
  readonly failureLimit: number;
  readonly permanentLimit: number;
  readonly lockSeconds: number;
  readonly maxLockSeconds: number;
}

/** The result of an attempt to take a guess. */
export type GuessAttempt =
  | { readonly outcome: 'taken' | 'busy' | 'permanent'; readonly retry_after: null }
  | { readonly outcome: 'locked'; readonly retry_after: number };

/** SQL: the limits, in the order in which `take_guess`, `settle_guess` and `guess_failed` take them. */
export const limitArguments = (p: Parameters<GuessLimitValues>): Sql =>
  sql`${p.failureLimit}, ${p.permanentLimit}, ${p.lockSeconds}, ${p.maxLockSeconds}`;

const takeGuess = statement<{ userId: string; bucket: string; reservation: string } & GuessLimitValues, GuessAttempt>(
  'guess_take',
  (p) =>
    sql`select outcome, retry_after from take_guess(${p.userId}, ${p.bucket}, ${p.reservation}, ${limitArguments(p)})`,
);

const settleGuess = statement<
  { userId: string; bucket: string; reservation: string; result: 'right' | 'wrong' | 'none' } & GuessLimitValues,
  { started_lock: boolean }
>(
  'guess_settle',
  (p) => sql`
  select settle_guess(${p.userId}, ${p.bucket}, ${p.reservation}, ${p.result}, ${limitArguments(p)}) as started_lock`,
);

/** SQL: a table expression that tries to take a guess of an account for a device. It has one row, a `GuessAttempt`. */
export function takeGuessFor(guess: {
  readonly userId: SqlPart;
  /** The id of a known device. Null: an unknown device. */
  readonly knownDevice: SqlPart;
  readonly reservation: SqlPart;
  readonly limits: Parameters<GuessLimitValues>;
}): Sql {
  const { userId, knownDevice, reservation, limits } = guess;
  return sql`take_guess(${userId}, ${bucketOfDevice(knownDevice)}, ${reservation}::uuid, ${limitArguments(limits)})`;
}

/** SQL: settles a right guess. Only wrong guesses need the limits, so constants replace the limits here. */
export function settleRightGuess(userId: SqlPart, guess: Parameters<TakenGuess>): Sql {
  return sql`select settle_guess(${userId}, ${guess.guessBucket}::uuid, ${guess.guessReservation}::uuid, 'right', 1, 0, 0, 0)`;
}

/** The maximum number of milliseconds that a guess waits for its turn. */
const maxWaitMs = 5000;
/** Milliseconds between two checks whether other instances have settled guesses. */
const pollIntervalMs = 100;

interface GuessBudgetOptions {
  readonly notices: Pick<Notices, 'notify'>;
  readonly counters: Counters;
}

/** The guesses that the database stores. */
interface StoredGuesses {
  valuesOf(account: GuessedAccount, reservation: string): { readonly bucket: string };
  /**
   * @returns false while other requests are using all guesses that are left
   * @throws Problem of a lock
   */
  tryToTake(account: GuessedAccount, reservation: string): Promise<boolean>;
  /** Takes a guess when other requests have settled theirs. @throws Problem `too_many_requests`, or of a lock */
  waitForTurn(account: GuessedAccount, reservation: string): Promise<void>;
  /** Settles a guess. A lock that starts is recorded as an event and reported to the user. */
  settle(account: GuessedAccount, reservation: string, result: 'right' | 'wrong' | 'none'): Promise<void>;
  /** Wakes a request that waits for a guess of this user. */
  wake(userId: string): void;
}

function createStoredGuesses(
  database: Database,
  limitValues: GuessLimitValues,
  { notices, counters }: GuessBudgetOptions,
): StoredGuesses {
  const valuesOf = ({ userId, bucket, knownDevice }: GuessedAccount, reservation: string) => ({
    userId,
    bucket: bucket ?? knownDevice ?? unknownDevices,
    reservation,
    ...limitValues,
    ...(bucket !== undefined && { permanentLimit: 0 }),
  });
  const queues = createTurnQueues();

  async function tryToTake(account: GuessedAccount, reservation: string): Promise<boolean> {
    const [attempt] = await database.user(account.userId).query(takeGuess(valuesOf(account, reservation)));
    return isTaken(attempt);
  }

  /**
   * Of the waiting requests for an account, only the first one queries the database again, so that there are few
   * queries.
   */
  async function waitForTurn(account: GuessedAccount, reservation: string): Promise<void> {
    const deadline = performance.now() + maxWaitMs;
    await queues.inTurn(account.userId, async () => {
      while (performance.now() < deadline) {
        if (await tryToTake(account, reservation)) return;
        await queues.pause(account.userId, pollIntervalMs);
      }
      throw new Problem('too_many_requests', { retryAfter: 1 });
    });
  }

  async function settle(
    account: GuessedAccount,
    reservation: string,
    result: 'right' | 'wrong' | 'none',
  ): Promise<void> {
    const { userId } = account;
    const [row] = await database.user(userId).query(settleGuess({ ...valuesOf(account, reservation), result }));
    queues.wake(userId);
    if (row?.started_lock === true) await recordLock(account);
  }

  async function recordLock({ userId, deviceId, knownDevice, bucket, origin }: GuessedAccount): Promise<void> {
    const data =
      bucket === undefined
        ? { device_id: deviceId, known_device: knownDevice !== undefined }
        : { codes_without_session: true };
    await database.user(userId).transaction(async (tx) => {
      await recordEvent(tx, { userId, type: 'account.locked_by_guesses', origin, data });
      await notices.notify(tx, { userId, kind: 'account_locked', origin });
      tx.onCommit(() => counters.add('locks', 'guesses'));
    });
  }

  return { valuesOf, tryToTake, waitForTurn, settle, wake: queues.wake };
}

/** Creates the guess budget. */
export function createGuessBudget(database: Database, limits: GuessLimits, options: GuessBudgetOptions): GuessBudget {
  const limitValues: GuessLimitValues = {
    failureLimit: limits.failureLimit,
    permanentLimit: limits.permanentLimit,
    lockSeconds: limits.lockMs / 1000,
    maxLockSeconds: limits.maxLockMs / 1000,
  };
  const { counters } = options;
  const { valuesOf, tryToTake, waitForTurn, settle, wake } = createStoredGuesses(database, limitValues, options);

  function guessOf(account: GuessedAccount, reservation: string): Guess {
    /** Settles after a failure. If this fails too, the guess expires by itself and counts as wrong. */
    async function settleAfter(error: unknown, result: 'right' | 'wrong' | 'none'): Promise<never> {
      const settled = settle(account, reservation, result).catch(() => undefined);
      if (!isStorageFailure(error)) await settled;
      throw error;
    }
    return {
      async evaluate(work) {
        const result = await work().catch((error: unknown) =>
          settleAfter(error, isAuthenticatorFailure(error) ? 'wrong' : 'none'),
        );
        if (result !== 'right') await settle(account, reservation, result === 'neutral' ? 'none' : result);
        return result;
      },
      async approve(statement) {
        const { bucket } = valuesOf(account, reservation);
        const approved = await statement({ guessBucket: bucket, guessReservation: reservation }).catch(
          (error: unknown) => settleAfter(error, 'right'),
        );
        wake(account.userId);
        return approved;
      },
    };
  }

  return {
    limitValues,
    async guess(account, evaluate) {
      const reservation = newId();
      if (!(await tryToTake(account, reservation))) await waitForTurn(account, reservation);
      const result = await guessOf(account, reservation).evaluate(evaluate);
      if (result === 'right') await settle(account, reservation, result);
      return result;
    },
    async continueGuess(account, reservation, attempt) {
      try {
        if (!isTaken(attempt)) await waitForTurn(account, reservation);
      } catch (error) {
        const { bucket } = valuesOf(account, reservation);
        if (isLock(error)) counters.add('logins.failed', 'locked_by_guesses', 1, account.authenticator);
        if (isLock(error)) await recordRefusal(database.user(account.userId), account, bucket);
        throw error;
      }
      return guessOf(account, reservation);
    },
  };
}

/** The refusal of a guess lock; undefined if no lock refuses the guess. */
export function guessLockProblem(attempt: GuessAttempt | undefined): Problem | undefined {
  if (attempt?.outcome === 'permanent') return new Problem('account_locked');
  if (attempt?.outcome !== 'locked') return undefined;
  return new Problem('account_temporarily_locked', { retryAfter: Math.ceil(attempt.retry_after) });
}

/**
 * @returns false while other requests are using all guesses that are left
 * @throws Problem of a lock
 */
function isTaken(attempt: GuessAttempt | undefined): boolean {
  const refusal = guessLockProblem(attempt);
  if (refusal !== undefined) throw refusal;
  return attempt?.outcome === 'taken';
}

function isLock(error: unknown): boolean {
  return error instanceof Problem && (error.code === 'account_locked' || error.code === 'account_temporarily_locked');
}

/**
 * Whether a custom authenticator failed. Some fail only for wrong secrets. If such a failure did not count, it would
 * allow guesses without limit (decision 18).
 */
function isAuthenticatorFailure(error: unknown): boolean {
  return error instanceof Problem && error.code === 'authenticator_unavailable';
}

const clearBudgets = statement<{ userId: string }>(
  'guess_clear',
  (p) => sql`delete from guess_budgets where user_id = ${p.userId}`,
);

/** Removes all failures and locks of an account, permanent ones too: an operator's unlock. */
export async function clearGuesses(tx: Queryable, userId: string): Promise<void> {
  await tx.query(clearBudgets({ userId }));
}

/**
 * Ends permanent locks after a user's recovery. If an authenticator app or a PIN also protects the account, temporary
 * locks stay. Otherwise an attacker who reads the user's messages could guess the code of the app or the PIN without
 * limit, by a recovery after every few guesses.
 */
const forgiveBudgets = statement<{ userId: string; recovered: 'password' | 'pin' }>(
  'guess_forgive',
  (p) => sql`
  with other_factor as (
    select 1 from totp where user_id = ${p.userId}
    union all select 1 from users where id = ${p.userId} and pin_hash is not null and ${p.recovered} <> 'pin'),
  reduced as (
    update guess_budgets set permanent = false, total_failures = greatest(failures, 1), updated_at = db_now()
    where user_id = ${p.userId} and exists (select 1 from other_factor))
  delete from guess_budgets where user_id = ${p.userId} and not exists (select 1 from other_factor)`,
);

/**
 * Clears the guess budget after a recovery of a password or PIN, as far as the other factors of the account allow it.
 */
export async function forgiveGuesses(tx: Queryable, userId: string, recovered: 'password' | 'pin'): Promise<void> {
  await tx.query(forgiveBudgets({ userId, recovered }));
}
