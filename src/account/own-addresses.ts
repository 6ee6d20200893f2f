import { recordEvent } from '../audit/events.js';
import type { Account } from '../contract/account/account.js';
import type { Proof } from '../contract/account/proof.js';
import { countChallengeGuess, type StartedChallenge, startChallenge } from '../credentials/challenges.js';
import { codeDigest, codeLifetime, codeMatches, newCode } from '../credentials/codes.js';
import type { Database } from '../database/database.js';
import { getAccount } from '../identities/accounts.js';
import { canonicalIdentity, type Identity, identityDigest } from '../identities/identity.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newId } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';
import type { GuessBudget } from '../limits/guess-budget.js';
import type { HumanCheck } from '../limits/human-check.js';
import type { RequestLimits } from '../limits/request-limits.js';
import type { Users } from '../users/users.js';
import { toAccount } from './account.js';
import type { AddressType, CodeSender } from './code-sender.js';
import {
  addressProofs,
  type CallingSession,
  completeChallenge,
  defaultProofs,
  hasOnlyProviders,
  type Proofs,
} from './proofs.js';

/** The user's own mail address and phone number. A new one takes effect when the user enters the code sent to it. */
export interface OwnAddresses {
  /**
   * Sends a code to the new address, even if another account has it.
   * @throws Problem `validation_failed`, `too_many_requests`, `human_check_required`; those of `Proofs.check`
   */
  begin(callingSession: CallingSession, type: AddressType, request: NewAddress): Promise<StartedChallenge>;
  /**
   * Replaces the account's old address with the new one.
   * @param id undefined: the client's id of the change was malformed
   * @throws Problem `code_rejected`; `identity_taken`, only after a correct code; `account_locked`,
   *   `account_temporarily_locked`
   */
  confirm(callingSession: CallingSession, type: AddressType, id: string | undefined, secret: string): Promise<Account>;
  /** @throws Problem `validation_failed` (`identity_required`); those of `Proofs.check` */
  remove(callingSession: CallingSession, type: AddressType, proof: Proof): Promise<Account>;
}

/** An address that a user wants to have. */
export interface NewAddress {
  /** The address as the user has typed it. */
  readonly value: string;
  /** Undefined: the user is a guest, or the login is the proof. */
  readonly proof: Proof | undefined;
  /** `human_check` of the request. */
  readonly humanCheck: string | undefined;
}

export interface OwnAddressesOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly users: Users;
  readonly proofs: Proofs;
  readonly codes: CodeSender;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly defaultRegion: string | undefined;
  /** Undefined: there is none. */
  readonly humanCheck: HumanCheck | undefined;
}

/** @throws Problem `validation_failed` */
function readAddress(
  { codes, defaultRegion }: Pick<OwnAddressesOptions, 'codes' | 'defaultRegion'>,
  type: AddressType,
  value: string,
): Identity {
  const identity = canonicalIdentity(type, value, defaultRegion);
  const code = identity === undefined ? 'invalid_identity' : 'not_supported';
  if (identity === undefined || !codes.supports(type)) {
    throw new Problem('validation_failed', { errors: [{ field: type, code, params: { type } }] });
  }
  return identity;
}

/**
 * For other codes, each known device has its own limit, so that other people cannot use up the limit of the owner of the
 * address. Not here: the new address may belong to a stranger, who would get more codes from each account and device.
 * @returns the recipient; undefined if a limit refuses the code. The client must not see the difference
 */
async function countCodeRequest(
  { limits, codes }: Pick<OwnAddressesOptions, 'limits' | 'codes'>,
  { userId, origin }: CallingSession,
  address: Identity,
): Promise<string | undefined> {
  // All new addresses of one user share the limit of one identity, which has no other requests.
  await limits.countNewAddress(userId);
  const recipient = address.canonical;
  const request = { userId, address, recipient, knownDevice: undefined, clientAddress: origin.clientAddress };
  return (await codes.countRequest(request)).recipient;
}

/** A change whose code was correct. */
interface CheckedChange {
  readonly id: string;
  readonly address: string;
  /** Whether the account may not have another address, because the login was the proof for its first one. */
  readonly isOnlyFirst: boolean;
}

/** Takes a guess and checks the code that was sent to a new address. @throws Problem `code_rejected` and those of guesses */
async function checkCode(
  { database, keys, guesses, limits }: OwnAddressesOptions,
  { userId, deviceId, origin }: CallingSession,
  type: AddressType,
  id: string | undefined,
  secret: string,
): Promise<CheckedChange> {
  await limits.countLoginByAddress(origin.clientAddress);
  await limits.countLoginByAccount(userId, deviceId);
  if (id === undefined) throw new Problem('code_rejected');
  let address = '';
  let isOnlyFirst = false;
  const result = await guesses.guess({ userId, deviceId, knownDevice: deviceId, origin }, async () => {
    const state = await countChallengeGuess(database.user(userId), { userId, id, purpose: type, deviceId });
    // There is no code to guess, so this is not counted as a wrong guess.
    if (state === undefined) throw new Problem('code_rejected');
    address = state.address ?? '';
    isOnlyFirst = state.only === 'first';
    // A correct code does not reset the budget: an attacker with a session could reset it with an address of the attacker.
    return codeMatches(keys, id, secret, state.code ?? '') ? 'neutral' : 'wrong';
  });
  if (result === 'wrong') {
    const event = { userId, type: 'address.change_rejected', origin, data: { field: type } } as const;
    await recordEvent(database.user(userId), event);
    throw new Problem('code_rejected');
  }
  return { id, address, isOnlyFirst };
}

/** Creates self-service for mail addresses and phone numbers. */
export function createOwnAddresses(options: OwnAddressesOptions): OwnAddresses {
  const { database, keys, users, proofs, codes } = options;

  async function begin(
    callingSession: CallingSession,
    type: AddressType,
    { value, proof, humanCheck: token }: NewAddress,
  ): Promise<StartedChallenge> {
    const address = readAddress(options, type, value);
    const proven = await proofs.check(callingSession, proof, addressProofs);
    if (proven.type === 'none') {
      // Everybody can be a guest, so the codes of guests cost as much work as those of strangers.
      await options.humanCheck?.pass({
        ...({ purpose: 'address', token, sendsSms: type === 'phone' } as const),
        identity: { ...address, digest: identityDigest(address) },
        clientAddress: callingSession.origin.clientAddress,
      });
    }
    const recipient = await countCodeRequest(options, callingSession, address);
    const { userId, deviceId, origin } = callingSession;
    const id = newId();
    const code = newCode();
    const state = {
      code: codeDigest(keys, id, code),
      address: address.canonical,
      ...(proven.type === 'login' && { only: 'first' }),
    };
    return database.user(userId).transaction(async (tx) => {
      await proven.consume(tx);
      const challenge = await startChallenge(tx, {
        userId,
        id,
        purpose: type,
        deviceId,
        lifetime: codeLifetime,
        state,
      });
      await codes.send(tx, { userId, type, kind: 'address_code', recipient, code });
      await recordEvent(tx, { userId, type: 'address.change_started', origin, data: { field: type } });
      return challenge;
    });
  }

  async function confirm(
    callingSession: CallingSession,
    type: AddressType,
    challengeId: string | undefined,
    secret: string,
  ): Promise<Account> {
    const { userId, origin } = callingSession;
    const { address, isOnlyFirst, id } = await checkCode(options, callingSession, type, challengeId, secret);
    const prepared = await users.prepareChange(
      userId,
      { [type]: address, [`${type}_verified`]: true },
      { client: origin },
    );
    const user = await database.user(userId).transaction(async (tx) => {
      await completeChallenge(tx, callingSession, id, 'code_rejected');
      // The login was the proof for a first address only. A change that ran in parallel may have added one.
      const now = isOnlyFirst ? (await getAccount(tx, userId)).user : undefined;
      if (isOnlyFirst && (now === undefined || !hasOnlyProviders(now))) throw new Problem('code_rejected');
      const changedUser = await users.change(tx, userId, prepared, origin);
      await recordEvent(tx, { userId, type: 'identity.verified', origin, data: { field: type } });
      return changedUser;
    });
    return toAccount(user);
  }

  async function remove(callingSession: CallingSession, type: AddressType, proof: Proof): Promise<Account> {
    const { userId, origin } = callingSession;
    const proven = await proofs.check(callingSession, proof, defaultProofs);
    const prepared = await users.prepareChange(userId, { [type]: null }, { client: origin });
    const user = await database.user(userId).transaction(async (tx) => {
      await proven.consume(tx);
      return users.change(tx, userId, prepared, origin);
    });
    return toAccount(user);
  }

  return { begin, confirm, remove };
}
