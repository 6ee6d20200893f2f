import type { ChallengeAnswer, NextChallenge } from '../../credentials/challenge.js';
import {
  countChallengeGuess,
  endChallenge,
  findRecentChallenge,
  startChallenge,
} from '../../credentials/challenges.js';
import { codeDigest, codeLifetime, codeMatches, newCode } from '../../credentials/codes.js';
import type { Database } from '../../database/database.js';
import { derivedProviderAccountId } from '../../identities/accounts.js';
import { type Identity, identityDigest, maskAddress } from '../../identities/identity.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import { newId } from '../../lib/ids.js';
import { type GuessBudget, sessionlessBucket } from '../../limits/guess-budget.js';
import type { HumanCheck } from '../../limits/human-check.js';
import type { ProviderAccount } from './provider.js';

/** The code to the mail address of an account at a provider, which proves that the person reads this mail. */
export interface AddressCode {
  /**
   * The same for addresses of users and for others. A second login of the account within a minute shares the code.
   * @param encrypted the account
   */
  ask(account: ProviderAccount, encrypted: string, address: Identity, answer: ChallengeAnswer): Promise<NextChallenge>;
  /** The address that an answer has proven. Undefined: it is wrong. */
  check(account: ProviderAccount, answer: ChallengeAnswer): Promise<Identity | undefined>;
}

export interface AddressCodeOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly guesses: GuessBudget;
  /** Undefined: there is none. */
  readonly humanCheck: HumanCheck | undefined;
}

const purpose = 'provider_address';
/** Seconds in which a repeated login of one account gets no second mail. */
const repeatSeconds = 60;

/** Creates the code. */
export function createAddressCode({ database, keys, guesses, humanCheck }: AddressCodeOptions): AddressCode {
  return {
    async ask({ issuer, subject }, encrypted, address, { humanCheck: token, deviceId, origin }) {
      const userId = derivedProviderAccountId(keys, issuer, subject);
      const handle = database.user(userId);
      const recent = await findRecentChallenge(handle, { userId, purpose, seconds: repeatSeconds });
      if (recent === undefined) {
        const identity = { ...address, digest: identityDigest(address) };
        const { clientAddress } = origin;
        await humanCheck?.pass({ purpose: 'login', token, identity, deviceId, clientAddress });
      }
      const id = recent ?? newId();
      const code = newCode();
      const { canonical } = address;
      if (recent === undefined) {
        const state = { code: codeDigest(keys, id, code), address: canonical };
        await startChallenge(handle, { userId, id, purpose, lifetime: codeLifetime, state });
      }
      const state = { step: 'code', challenge: id, account: encrypted };
      const destination = maskAddress({ type: 'email', canonical });
      const next = { state, lifetime: codeLifetime, clientChallenge: { type: 'code', destination } };
      if (recent !== undefined) return { next, isSameStep: false };
      const message = { channel: 'email', recipient: canonical, code } as const;
      return { next: { ...next, message }, recipient: { userId, identity: address }, isSameStep: false };
    },
    async check({ issuer, subject }, { state: { challenge: id = '' }, secret, origin }) {
      const userId = derivedProviderAccountId(keys, issuer, subject);
      const bucket = sessionlessBucket(undefined);
      let address: string | undefined;
      const guessed = { userId, deviceId: bucket, knownDevice: undefined, bucket, origin };
      const result = await guesses.guess(guessed, async () => {
        const state = await countChallengeGuess(database.user(userId), { userId, id, purpose });
        address = state?.address;
        if (state === undefined) return 'neutral';
        return codeMatches(keys, id, secret, state.code ?? '') ? 'right' : 'wrong';
      });
      if (result !== 'right' || address === undefined) return undefined;
      const isFirst = await endChallenge(database.user(userId), { userId, id });
      return isFirst ? { type: 'email', canonical: address } : undefined;
    },
  };
}
