import { setTimeout as wait } from 'node:timers/promises';
import { type Database, isStorageFailure, prepared, type Queryable } from '../database/database.js';
import { idFromBytes, newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';
import { sha256 } from '../lib/sha256.js';
import { recordEvent } from './events/events.js';
import { noteRefusal, strangers } from './guess-locks.js';
import type { Notices } from './messages/notices.js';

/**
 * How many wrong secrets an account bears, whatever authenticator, step, PIN, alias or instance they come through.
 *
 * A guess is taken before anything is evaluated and settled afterwards, both in the database: so any number of parallel
 * wrong secrets gets at most as many evaluations as guesses are left, and any number of parallel right ones succeeds.
 * Nothing is locked while a secret is evaluated: a slow hash holds no transaction.
 */
export interface GuessBudget {
  /**
   * Evaluates one secret within the budget of the account and the kind of device. While others evaluate every guess that
   * is left, it waits, outside the database.
   * @returns what `evaluate` returned: see `Verdict`. When it throws, nothing counts, but see `isForeignFailure`.
   * @throws Problem `account_temporarily_locked` with the seconds left, `account_locked`, `too_many_requests` after 5 s.
   */
  guess(account: GuessedAccount, evaluate: () => Promise<Verdict>): Promise<Verdict>;
  /** The parameters of `takeGuessFor`: the guess's slot, and the limits. */
  parameters(slot: string | undefined): unknown[];
  /**
   * A guess at a login that another statement tried to take. If every guess that is left was being evaluated, it waits as
   * above. A lock's refusal is recorded: see `noteRefusal`.
   * @throws Problem as above
   */
  taken(account: GuessedAccount, slot: string, tried: TriedGuess): Promise<Guess>;
}

/** A guess that was taken: to be evaluated at once, for in 15 s it counts as wrong. */
export interface Guess {
  /**
   * Evaluates one secret. What came of it is settled when this returns, but for `right`: then `approve` has to follow.
   * When `work` throws, nothing counts, but see `isForeignFailure`.
   */
  evaluate(work: () => Promise<Verdict>): Promise<Verdict>;
  /** Settles a right guess by the statement that approves: it has `settleRightGuess` in it, with these parameters. */
  approve<T>(statement: (parameters: GuessParameters) => Promise<T>): Promise<T>;
}

/** A guess as a statement names it beside the user: its bucket and its slot. */
export type GuessParameters = readonly [bucket: string, slot: string];

/**
 * What became of a guess: `right` clears the budget, `wrong` counts. `halfway` does neither: a right first secret that
 * cleared the budget would give whoever knows it any number of guesses at the second.
 */
export type Verdict = 'right' | 'wrong' | 'halfway';

/** An account, known or not, and the device that a guess comes from. */
export interface GuessedAccount {
  readonly userId: string;
  readonly deviceId: string;
  /** The same id when the user was approved on the device before. */
  readonly knownDevice: string | undefined;
  /**
   * Instead of the device's: a bucket for what must work while the account is locked by guesses. It is never locked for
   * good, so what is guessed at must bear but a few guesses itself.
   */
  readonly bucket?: string;
  readonly origin: Origin;
}

/**
 * The bucket of codes that come without a session, recoveries and registrations: one for each known device that asked for
 * its code, so that a stranger's guessing does not shut the owner's phone out, and a fixed one for all others.
 */
export function sessionlessBucket(knownDevice: string | undefined): string {
  if (knownDevice === undefined) return '00000000-0000-0000-0000-000000000001';
  return idFromBytes(sha256(`without a session\n${knownDevice}`).subarray(0, 16));
}

export interface GuessLimits {
  /** Failures in a row until an account is locked for a time. */
  readonly limit: number;
  /** Failures since the last success until it is locked for good; 0: never. */
  readonly permanentLimit: number;
  /** Milliseconds of the first lock, doubled with each further one. */
  readonly lock: number;
  /** Milliseconds of the longest lock. */
  readonly lockMax: number;
}

/** What came of trying to take a guess. */
export type TriedGuess =
  | { readonly outcome: 'taken' | 'busy' | 'permanent'; readonly retry_after: null }
  | { readonly outcome: 'locked'; readonly retry_after: number };

const takeGuess = prepared('guess_take', 'select outcome, retry_after from take_guess($1, $2, $3, $4, $5, $6, $7)');
const settleGuess = prepared('guess_settle', 'select settle_guess($1, $2, $3, $4, $5, $6, $7, $8) as started_lock');

/** SQL of a table: tries to take a guess, with `GuessBudget.parameters` from `$first` on; a row `TriedGuess`. */
export const takeGuessFor = (userId: string, knownDevice: string, first: number) => {
  const [slot, ...limits] = [0, 1, 2, 3, 4].map((nth) => `$${first + nth}`);
  return `take_guess(${userId}, coalesce(${knownDevice}, '${strangers}'), ${slot}::uuid, ${limits.join(', ')})`;
};

/** SQL: settles a right guess, with `GuessParameters` from `$first` on. Of the limits only wrong ones need any. */
export const settleRightGuess = (userId: string, first: number) =>
  `select settle_guess(${userId}, $${first}::uuid, $${first + 1}::uuid, 'right', 1, 0, 0, 0)`;

/** Milliseconds: how long a guess waits for its turn, and how often it looks for what other instances settled. */
const longestWait = 5000;
const pause = 100;

export function createGuessBudget(
  database: Database,
  limits: GuessLimits,
  notices: Pick<Notices, 'notify'>,
): GuessBudget {
  const valuesOf = (bucket: string | undefined) => [
    ...[limits.limit, bucket === undefined ? limits.permanentLimit : 0, limits.lock / 1000, limits.lockMax / 1000],
  ];
  const bucketOf = ({ bucket, knownDevice }: GuessedAccount) => bucket ?? knownDevice ?? strangers;
  const line = createLine();

  async function tryOnce(account: GuessedAccount, slot: string): Promise<boolean> {
    const { userId, bucket } = account;
    const values = [userId, bucketOf(account), slot, ...valuesOf(bucket)];
    const [tried] = await database.lane(userId).query<TriedGuess>(takeGuess, values);
    return isTaken(tried);
  }

  /** Only the first in line asks the database again: a crowd at one account must not become a crowd at the database. */
  async function waitForTurn(account: GuessedAccount, slot: string): Promise<void> {
    const deadline = performance.now() + longestWait;
    await line.inTurn(account.userId, async () => {
      while (performance.now() < deadline) {
        if (await tryOnce(account, slot)) return;
        await line.pause(account.userId, pause);
      }
      throw new Problem('too_many_requests', { retryAfter: 1 });
    });
  }

  async function settle(account: GuessedAccount, slot: string, result: 'right' | 'wrong' | 'none'): Promise<void> {
    const { userId, deviceId, knownDevice, bucket, origin } = account;
    const settled = [userId, bucketOf(account), slot, result, ...valuesOf(bucket)];
    const [row] = await database.lane(userId).query<{ started_lock: boolean }>(settleGuess, settled);
    line.wake(userId);
    if (row?.started_lock !== true) return;
    const data = { device_id: deviceId, known_device: knownDevice !== undefined };
    const what = bucket === undefined ? data : { codes_without_session: true };
    await database.transaction(async (tx) => {
      await recordEvent(tx, { userId, type: 'account.locked_by_guesses', origin, data: what });
      await notices.notify(tx, { userId, kind: 'account_locked', origin });
    });
  }

  function guessOf(account: GuessedAccount, slot: string): Guess {
    /** After a failure. If this fails too, the slot runs out by itself and counts as wrong. */
    async function settleAfter(error: unknown, result: 'right' | 'wrong' | 'none'): Promise<never> {
      const settled = settle(account, slot, result).catch(() => undefined);
      if (!isStorageFailure(error)) await settled;
      throw error;
    }
    return {
      async evaluate(work) {
        const verdict = await work().catch((error: unknown) =>
          settleAfter(error, isForeignFailure(error) ? 'wrong' : 'none'),
        );
        if (verdict !== 'right') await settle(account, slot, verdict === 'halfway' ? 'none' : verdict);
        return verdict;
      },
      async approve(statement) {
        const approved = await statement([bucketOf(account), slot]).catch((error: unknown) =>
          settleAfter(error, 'right'),
        );
        line.wake(account.userId);
        return approved;
      },
    };
  }

  return {
    async guess(account, evaluate) {
      const slot = newId();
      if (!(await tryOnce(account, slot))) await waitForTurn(account, slot);
      const verdict = await guessOf(account, slot).evaluate(evaluate);
      if (verdict === 'right') await settle(account, slot, verdict);
      return verdict;
    },
    parameters: (slot) => [slot ?? null, ...valuesOf(undefined)],
    async taken(account, slot, tried) {
      try {
        if (!isTaken(tried)) await waitForTurn(account, slot);
      } catch (error) {
        if (isLock(error)) await noteRefusal(database.lane(account.userId), account, bucketOf(account));
        throw error;
      }
      return guessOf(account, slot);
    },
  };
}

/** @throws Problem of a lock. False: every guess that is left is being evaluated. */
function isTaken(tried: TriedGuess | undefined): boolean {
  if (tried?.outcome === 'permanent') throw new Problem('account_locked');
  if (tried?.outcome === 'locked') {
    throw new Problem('account_temporarily_locked', { retryAfter: Math.ceil(tried.retry_after) });
  }
  return tried?.outcome === 'taken';
}

function isLock(error: unknown): boolean {
  return error instanceof Problem && (error.code === 'account_locked' || error.code === 'account_temporarily_locked');
}

/**
 * Code of others that fails may fail for wrong secrets only; then a failure that does not count would let them be tried
 * for ever (decision 39).
 */
function isForeignFailure(error: unknown): boolean {
  return error instanceof Problem && error.code === 'authenticator_unavailable';
}

const clearBudgets = prepared('guess_clear', 'delete from guess_budgets where user_id = $1');

/** An operator's unlock: forgets every failure of the account, permanent locks too. */
export async function clearGuesses(tx: Queryable, userId: string): Promise<void> {
  await tx.query(clearBudgets, [userId]);
}

/**
 * A user's recovery ends permanent locks. Where something stands beside what was recovered, an authenticator app or a PIN,
 * the locks stay as long as they have become: who reads the user's messages would get any number of guesses at it, a
 * recovery for each few.
 */
const forgiveBudgets = prepared(
  'guess_forgive',
  `with beside as (
     select 1 from totp where user_id = $1
     union all select 1 from users where id = $1 and pin_hash is not null and $2 <> 'pin'),
   kept as (
     update guess_budgets set permanent = false, total_failures = greatest(failures, 1), updated_at = db_now()
     where user_id = $1 and exists (select 1 from beside))
   delete from guess_budgets where user_id = $1 and not exists (select 1 from beside)`,
);

export async function forgiveGuesses(tx: Queryable, userId: string, recovered: 'password' | 'pin'): Promise<void> {
  await tx.query(forgiveBudgets, [userId, recovered]);
}

/** Lets those who wait for the same account go one after the other, and the first of them know when to look again. */
function createLine() {
  const lasts = new Map<string, Promise<unknown>>();
  const firsts = new Map<string, AbortController>();
  return {
    async inTurn<T>(key: string, turn: () => Promise<T>): Promise<T> {
      const before = lasts.get(key) ?? Promise.resolve();
      const own = before.then(turn);
      const settled = own.catch(() => undefined);
      lasts.set(key, settled);
      try {
        return await own;
      } finally {
        if (lasts.get(key) === settled) lasts.delete(key);
      }
    },
    /** Until somebody wakes this account's line, at most so many milliseconds. */
    async pause(key: string, milliseconds: number): Promise<void> {
      const own = new AbortController();
      firsts.set(key, own);
      await wait(milliseconds, undefined, { signal: own.signal }).catch(() => undefined);
      firsts.delete(key);
    },
    wake(key: string): void {
      firsts.get(key)?.abort();
    },
  };
}
