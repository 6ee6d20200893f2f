import type { PendingPins } from '../credentials/pins/pending-pin.js';
import type { Database } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import {
  type Account,
  type AccountRow,
  type AccountUser,
  accountColumns,
  activeUser,
  derivedUserId,
  getAccount,
} from '../identities/accounts.js';
import { type Identity, identityDigest } from '../identities/identity.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import {
  type Guess,
  type GuessAttempt,
  type GuessBudget,
  type GuessLimitValues,
  takeGuessFor,
} from '../limits/guess-budget.js';
import { network, type RequestCount } from '../limits/limit-counts.js';
import { countRequest, type RequestLimits, refuseOverLimit } from '../limits/request-limits.js';

/**
 * Finds the account of a login in two statements. The first counts the request toward the limit of the client's address,
 * and looks up the identity. The second counts the request toward the limit of the account, finds the user and the
 * device, and takes a guess. Both do the same work for unknown identities (decision 8).
 */
export interface AccountLookup {
  /**
   * Counts a request toward the limit of the client's address, and looks up an identity.
   * @returns the user's id; for an unknown identity its derived id
   * @throws Problem `too_many_requests`
   */
  identify(identity: Identity, address: string | undefined): Promise<string>;
  /** Counts a request toward the limit of its account, and finds the user and the device. @throws Problem `too_many_requests` */
  find(attempt: LoginAttempt): Promise<AccountOnDevice>;
  /**
   * Does the same as `find`, and takes a guess from the guess budget: that of the known device, or that of all unknown
   * devices of the account.
   * @throws Problem also those of `GuessBudget.guess`
   */
  findToGuess(attempt: LoginAttempt): Promise<AccountOnDevice & { readonly guess: Guess }>;
}

/** A request that logs in to an account. */
export interface LoginAttempt {
  /** The id of a user, or a derived id. */
  readonly userId: string;
  readonly deviceId: string;
  readonly origin: Origin;
  readonly authenticator?: string;
}

/** An account with the device of a login. */
export interface AccountOnDevice extends Account {
  /** The device's id, if a login of the user was approved on it before. */
  readonly knownDevice: string | undefined;
}

/** `set_config` lets the commit not wait for the disk. A crash loses only the counts of the last half second (decision 8). */
const identifyAccount = statement<
  RequestCount & { digest: Buffer },
  { readonly wait: number | null; readonly user_id: string | null }
>(
  'login_identify',
  (p) => sql`
  select ${countRequest({ key: p.limitKey, size: p.limitSize, window: p.limitWindow })} as wait,
         (select user_id from identities where digest = ${p.digest}) as user_id,
         set_config('synchronous_commit', 'off', true) as flush`,
);

interface LookupValues extends GuessLimitValues {
  readonly userId: string;
  readonly deviceId: string;
  /** The key of the request limit that all unknown devices of the account share. Null: no limit. */
  readonly unknownDeviceKey: Buffer | null;
  /** The key of the request limit of this device, if the user has logged in on it before. */
  readonly knownDeviceKey: Buffer | null;
  readonly limitSize: number;
  readonly limitWindow: number;
  /** The id under which to take a guess. Null: take no guess. */
  readonly reservation: string | null;
}

type LookupRow = AccountRow & GuessAttempt & { readonly known_device: string | null; readonly wait: number | null };

/**
 * Locks the row of the request limit, and then that of the guess budget. Each CTE reads the rows of the CTE before it,
 * so a request over its limit (`wait` is not null) takes no guess.
 */
const lookUpAccount = statement<LookupValues, LookupRow>(
  'login_enter',
  (p) => sql`
  with account as materialized (
    select a.id as user_id, d.id as known_device, ${countRequest({
      key: sql`case when d.id is null then ${p.unknownDeviceKey}::bytea else ${p.knownDeviceKey}::bytea end`,
      size: p.limitSize,
      window: p.limitWindow,
    })} as wait
    from (select ${p.userId}::uuid as id) a left join devices d on d.user_id = a.id and d.id = ${p.deviceId}),
  guess as materialized (
    select g.* from account a
    cross join lateral ${takeGuessFor({ userId: sql`a.user_id`, knownDevice: sql`a.known_device`, reservation: p.reservation, limits: p })} g
    where a.wait is null and ${p.reservation}::uuid is not null)
  select a.known_device, a.wait, g.outcome, g.retry_after, ${accountColumns}
  from account a left join guess g on true left join users u on u.id = a.user_id`,
);

/** Creates the look-up that both steps of a login use. */
export function createAccountLookup(options: {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly limits: RequestLimits;
  readonly guesses: GuessBudget;
  readonly nextPins: PendingPins;
}): AccountLookup {
  const { database, keys, limits, guesses, nextPins } = options;

  /** Runs in the user's queue, because a guess may have to wait for the row of its budget. */
  async function lookUp(reservation: string | null, { userId, deviceId }: LoginAttempt) {
    const ofUnknownDevices = limits.loginCountByAccount(userId, undefined);
    const [row] = await database.user(userId).query(
      lookUpAccount({
        userId,
        deviceId,
        unknownDeviceKey: ofUnknownDevices.limitKey,
        knownDeviceKey: limits.loginCountByAccount(userId, deviceId).limitKey,
        limitSize: ofUnknownDevices.limitSize,
        limitWindow: ofUnknownDevices.limitWindow,
        reservation,
        ...guesses.limitValues,
      }),
    );
    if (row === undefined) throw new Error('login_enter returned no row');
    refuseOverLimit(row.wait);
    const user = await withCurrentPin(userId, activeUser(row));
    return { row, account: { userId, user, knownDevice: row.known_device ?? undefined } };
  }

  /** Applies a recovered PIN whose delay is over, if the queue has not done so yet. */
  async function withCurrentPin(userId: string, user: AccountUser | undefined): Promise<AccountUser | undefined> {
    if (user?.nextPinIsDue !== true) return user;
    await nextPins.apply(userId);
    return (await getAccount(database.user(userId), userId)).user;
  }

  return {
    async identify(identity, address) {
      const values = { ...limits.loginCountByAddress(address), digest: identityDigest(identity) };
      // The network takes the place of a user: its requests lock the same row, so they share a queue of a fifth of the connections.
      const [row] = await database.user(network(address)).query(identifyAccount(values));
      refuseOverLimit(row?.wait);
      return row?.user_id ?? derivedUserId(keys, identity);
    },
    async find(attempt) {
      return (await lookUp(null, attempt)).account;
    },
    async findToGuess(attempt) {
      const reservation = newId();
      const { row, account } = await lookUp(reservation, attempt);
      const guess = await guesses.continueGuess({ ...attempt, knownDevice: account.knownDevice }, reservation, row);
      return { ...account, guess };
    },
  };
}
