import type { ProofStart } from '../contract/account/proof.js';
import type { ChallengeState } from '../credentials/challenge.js';
import { codeDigest, codeLifetime, codeMatches, newCode } from '../credentials/codes.js';
import type { PasswordHasher } from '../credentials/passwords.js';
import type { Pins } from '../credentials/pins/pins.js';
import type { TestCodes } from '../credentials/test-identities/test-codes.js';
import type { AccountUser } from '../identities/accounts.js';
import { identityDigest } from '../identities/identity.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import type { AddressType, CodeSender } from './code-sender.js';
import type { OneStepProof, TwoStepProof } from './proofs.js';

/** Proves by the account's password. */
export function passwordProof(hasher: PasswordHasher): OneStepProof {
  return {
    type: 'password',
    steps: 1,
    verify: (user, secret, origin) => hasher.verify(user.passwordHash, secret, origin),
  };
}

/** Proves by the account's PIN. */
export function pinProof(pins: Pins): OneStepProof {
  return {
    type: 'pin',
    steps: 1,
    verify: (user, secret, origin) => pins.verify(user.pinHash, user.userId, secret, origin),
  };
}

const addressTypeOf: Readonly<Partial<Record<ProofStart, AddressType>>> = { sms: 'phone', email: 'email' };

/**
 * Proves by a code to an address of the account. The code is valid only while the account has that address. A test identity
 * takes its fixed code, as in a login.
 */
export function codeProof(parts: {
  readonly keys: SecretKeys;
  readonly codes: CodeSender;
  readonly testCodes: TestCodes;
}): TwoStepProof {
  const { keys, codes, testCodes } = parts;
  return {
    type: 'code',
    steps: 2,
    starts: ['sms', 'email'],
    async begin(user, { type: start }, id) {
      const type = addressTypeOf[start];
      const to = type === undefined ? undefined : user[type];
      if (type === undefined || to === undefined || !codes.supports(type)) return undefined;
      const code = newCode();
      const test = await testCodes.find(user, type);
      const state = {
        code: codeDigest(keys, id, code),
        addressType: type,
        address: digestOf(type, to),
        ...(test !== undefined && { testIdentityId: test.id }),
      };
      return { state, lifetime: codeLifetime, message: { type, to, code, isDropped: test !== undefined } };
    },
    async verify(user, { state, authenticationId: id, secret, origin }) {
      const { testIdentityId } = state;
      const use = { proof_id: id, proof: 'code' };
      const isFixedCode = await testCodes.accept(user, typeOf(state), { testIdentityId, secret, use, origin });
      const isSentCode = codeMatches(keys, id, secret, state.code ?? '');
      return hasAddress(user, state) && (testIdentityId === undefined ? isSentCode : isFixedCode);
    },
  };
}

const typeOf = ({ addressType }: ChallengeState): AddressType => (addressType === 'email' ? 'email' : 'phone');

function hasAddress(user: AccountUser, state: ChallengeState): boolean {
  const type = typeOf(state);
  const current = user[type];
  return current !== undefined && digestOf(type, current) === state.address;
}

const digestOf = (type: AddressType, canonical: string) => identityDigest({ type, canonical }).toString('hex');
