import { type Database, prepared } from '../database/database.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import type { SecretKeys } from '../lib/secret-keys.js';
import {
  type Account,
  type AccountUser,
  activeUser,
  getAccount,
  standInId,
  type UserRow,
  userColumns,
} from './accounts.js';
import { type Guess, type GuessBudget, type TriedGuess, takeGuessFor } from './guess-budget.js';
import type { Identity } from './identities/identity.js';
import { identityDigest } from './identities/identity-digest.js';
import { countRequest, type RequestLimits, refuseEarly } from './request-limits.js';
import type { NextPins } from './secrets/next-pin.js';

/**
 * How a login comes to its account, in two round trips: the request is counted and the identity looked up; then it is
 * counted against the account, and the user, the device and a guess are got together. The same for nobody as for users.
 */
export interface LoginEntry {
  /**
   * Counts a request against its address, and finds whom an identity names.
   * @returns the user's id; for an identity that names nobody the stand-in
   * @throws Problem `too_many_requests`
   */
  identify(identity: Identity, address: string | undefined): Promise<string>;
  /** Counts a request against its account, and finds the user and the device. @throws Problem `too_many_requests` */
  find(visit: Visit): Promise<AccountOnDevice>;
  /**
   * The same, and takes one of the guesses of the account and the kind of device.
   * @throws Problem also those of `GuessBudget.guess`
   */
  findToGuess(visit: Visit): Promise<AccountOnDevice & { readonly guess: Guess }>;
}

/** Who comes to which account. */
export interface Visit {
  /** Of a user, or a stand-in. */
  readonly userId: string;
  readonly deviceId: string;
  readonly origin: Origin;
}

/** An account with the device that a login comes from. */
export interface AccountOnDevice extends Account {
  /** The device's id when the user was approved on it before. */
  readonly knownDevice: string | undefined;
}

/** Its commit waits for no disk: what a crash then forgets is that requests of its last moment were counted (decision 52). */
const identify = prepared(
  'login_identify',
  `select ${countRequest('$2::bytea', '$3', '$4')} as wait,
          (select user_id from identities where digest = $1) as user_id,
          set_config('synchronous_commit', 'off', true) as flush`,
);

/** The parts come one after the other, each from the rows of the one before: whoever has to wait takes no guess. */
const enter = prepared(
  'login_enter',
  `with account as materialized (
     select a.id as user_id, d.id as known_device,
            ${countRequest('case when d.id is null then $3::bytea else $4::bytea end', '$5', '$6')} as wait
     from (select $1::uuid as id) a left join devices d on d.user_id = a.id and d.id = $2),
   guess as materialized (
     select g.* from account a cross join lateral ${takeGuessFor('a.user_id', 'a.known_device', 7)} g
     where a.wait is null and $7::uuid is not null)
   select a.known_device, a.wait, g.outcome, g.retry_after, ${userColumns}
   from account a left join guess g on true left join users u on u.id = a.user_id`,
);

type EnteredRow = UserRow & TriedGuess & { readonly known_device: string | null; readonly wait: number | null };

export function createLoginEntry(options: {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly limits: RequestLimits;
  readonly guesses: GuessBudget;
  readonly nextPins: NextPins;
}): LoginEntry {
  const { database, keys, limits, guesses, nextPins } = options;

  /** In the user's lane, for a guess may have to wait for the row of its budget. */
  async function visitWith(slot: string | undefined, { userId, deviceId }: Visit) {
    const [strangersKey, ...size] = limits.ofAccount(userId, undefined);
    const [devicesKey] = limits.ofAccount(userId, deviceId);
    const values = [userId, deviceId, strangersKey, devicesKey, ...size, ...guesses.parameters(slot)];
    const [row] = await database.lane(userId).query<EnteredRow>(enter, values);
    if (row === undefined) throw new Error('an account was not entered');
    refuseEarly(row.wait);
    const user = await withPinInPlace(userId, activeUser(row));
    return { row, account: { userId, user, knownDevice: row.known_device ?? undefined } };
  }

  /** A recovered PIN counts from its moment on, whenever the queue comes to it. */
  async function withPinInPlace(userId: string, user: AccountUser | undefined): Promise<AccountUser | undefined> {
    if (user?.nextPinIsDue !== true) return user;
    await nextPins.apply(userId);
    return (await getAccount(database.lane(userId), userId)).user;
  }

  return {
    async identify(identity, address) {
      const values = [identityDigest(identity), ...limits.ofAddress(address)];
      const [row] = await database.query<{ wait: number | null; user_id: string | null }>(identify, values);
      refuseEarly(row?.wait);
      return row?.user_id ?? standInId(keys, identity);
    },
    async find(visit) {
      return (await visitWith(undefined, visit)).account;
    },
    async findToGuess(visit) {
      const slot = newId();
      const { row, account } = await visitWith(slot, visit);
      const guess = await guesses.taken({ ...visit, knownDevice: account.knownDevice }, slot, row);
      return { ...account, guess };
    },
  };
}
