import type { Account, Proof } from '../../contract/account.js';
import type { Database } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import { sha256 } from '../../lib/sha256.js';
import { recordEvent } from '../events/events.js';
import type { GuessBudget } from '../guess-budget.js';
import { canonicalIdentity, type Identity } from '../identities/identity.js';
import type { RequestLimits } from '../request-limits.js';
import { codeDigest, codeLifetime, codeMatches, newCode } from '../secrets/codes.js';
import type { Users } from '../users/users.js';
import { toAccount } from './account.js';
import { type BegunChallenge, beginChallenge, endChallenge, takeChallengeGuess } from './challenges.js';
import type { AddressType, CodeSending } from './code-sending.js';
import { holdProver, type Proofs, type Prover, usualProofs } from './proofs.js';

/** One's own mail address and phone number. A new one counts once a code that was sent to it comes back. */
export interface OwnAddresses {
  /**
   * Sends a code to the new address, whether or not somebody has it already.
   * @throws Problem `validation_failed`, `too_many_requests`; those of proofs
   */
  begin(prover: Prover, type: AddressType, value: string, proof: Proof): Promise<BegunChallenge>;
  /**
   * Makes the new address count; the account's old one stops to.
   * @throws Problem `code_rejected`; `identity_taken`, told only to who was reached by the address; locks by guesses
   */
  confirm(prover: Prover, type: AddressType, id: string | undefined, secret: string): Promise<Account>;
  /** @throws Problem `validation_failed` (`identity_required`); those of proofs */
  remove(prover: Prover, type: AddressType, proof: Proof): Promise<Account>;
}

export interface OwnAddressesOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly users: Users;
  readonly proofs: Proofs;
  readonly codes: CodeSending;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly defaultRegion: string | undefined;
}

export function createOwnAddresses(options: OwnAddressesOptions): OwnAddresses {
  const { database, keys, users, proofs, codes, guesses, limits } = options;

  function readAddress(type: AddressType, value: string): Identity {
    const identity = canonicalIdentity(type, value, options.defaultRegion);
    const code = identity === undefined ? 'invalid_identity' : 'not_supported';
    if (identity === undefined || !codes.reaches(type)) {
      throw new Problem('validation_failed', { errors: [{ field: type, code, params: { type } }] });
    }
    return identity;
  }

  /** No device of the user's counts for itself here: the address may be a stranger's, whom every account could write to. */
  async function admit({ userId, origin }: Prover, address: Identity): Promise<string | undefined> {
    await limits.messageOf(sha256(`new address\n${userId}`), undefined);
    const recipient = address.canonical;
    const asked = { userId, address, recipient, knownDevice: undefined, from: origin.address };
    return (await codes.admit(asked)) ? recipient : undefined;
  }

  async function begin(prover: Prover, type: AddressType, value: string, proof: Proof): Promise<BegunChallenge> {
    const address = readAddress(type, value);
    const proven = await proofs.check(prover, proof, usualProofs);
    const recipient = await admit(prover, address);
    const { userId, deviceId, origin } = prover;
    const id = newId();
    const code = newCode();
    return database.lane(userId).transaction(async (tx) => {
      await proven.use(tx);
      const begun = await beginChallenge(tx, {
        ...{ userId, id, purpose: type, deviceId, lifetime: codeLifetime },
        kept: { code: codeDigest(keys, id, code), address: address.canonical },
      });
      await codes.send(tx, { userId, type, kind: 'address_code', recipient, code });
      await recordEvent(tx, { userId, type: 'address.change_started', origin, data: { field: type } });
      return begun;
    });
  }

  async function confirm(prover: Prover, type: AddressType, id: string | undefined, secret: string): Promise<Account> {
    const { userId, deviceId, origin } = prover;
    await limits.loginFrom(origin.address);
    await limits.loginTo(userId, deviceId);
    if (id === undefined) throw new Problem('code_rejected');
    let address = '';
    const verdict = await guesses.guess({ userId, deviceId, knownDevice: deviceId, origin }, async () => {
      const kept = await takeChallengeGuess(database.lane(userId), { userId, id, purpose: type, deviceId });
      // Nothing was there to be guessed: it does not count.
      if (kept === undefined) throw new Problem('code_rejected');
      address = kept.address ?? '';
      // A right one does not clear the budget: anybody with a session has an address of their own to prove.
      return codeMatches(keys, id, secret, kept.code ?? '') ? 'halfway' : 'wrong';
    });
    if (verdict === 'wrong') {
      await recordEvent(database, { userId, type: 'address.change_rejected', origin, data: { field: type } });
      throw new Problem('code_rejected');
    }
    const ready = await users.prepareChange(userId, { [type]: address });
    const user = await database.lane(userId).transaction(async (tx) => {
      await holdProver(tx, prover);
      if (!(await endChallenge(tx, { userId, id }))) throw new Problem('code_rejected');
      return users.change(tx, userId, ready, origin);
    });
    return toAccount(user);
  }

  async function remove(prover: Prover, type: AddressType, proof: Proof): Promise<Account> {
    const { userId, origin } = prover;
    const proven = await proofs.check(prover, proof, usualProofs);
    const ready = await users.prepareChange(userId, { [type]: null });
    const user = await database.lane(userId).transaction(async (tx) => {
      await proven.use(tx);
      return users.change(tx, userId, ready, origin);
    });
    return toAccount(user);
  }

  return { begin, confirm, remove };
}
