import type { ProofStart } from '../../contract/account.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import type { AccountUser } from '../accounts.js';
import { identityDigest } from '../identities/identity-digest.js';
import { codeDigest, codeLifetime, codeMatches, newCode } from '../secrets/codes.js';
import type { PasswordHasher } from '../secrets/passwords.js';
import type { Pins } from '../secrets/pins.js';
import type { AddressType, CodeSending } from './code-sending.js';
import type { BegunProof, InstantProof } from './proofs.js';

export function passwordProof(hasher: PasswordHasher): InstantProof {
  return { type: 'password', steps: 1, verify: (user, secret) => hasher.verify(user.passwordHash, secret) };
}

export function pinProof(pins: Pins): InstantProof {
  return { type: 'pin', steps: 1, verify: (user, secret) => pins.verify(user.pinHash, user.userId, secret) };
}

const addressTypes: Readonly<Partial<Record<ProofStart, AddressType>>> = { sms: 'phone', email: 'email' };

/** A code to an address that the account has. It counts for as long as the account has that address. */
export function codeProof(keys: SecretKeys, codes: CodeSending): BegunProof {
  return {
    type: 'code',
    steps: 2,
    starts: ['sms', 'email'],
    async begin(user, start, id) {
      const type = addressTypes[start];
      const to = type === undefined ? undefined : user[type];
      if (type === undefined || to === undefined || !codes.reaches(type)) return undefined;
      const code = newCode();
      const kept = { code: codeDigest(keys, id, code), addressType: type, address: digestOf(type, to) };
      return { kept, lifetime: codeLifetime, message: { type, to, code } };
    },
    async verify(user, { kept, authenticationId: id, secret }) {
      return hasAddress(user, kept) && codeMatches(keys, id, secret, kept.code ?? '');
    },
  };
}

function hasAddress(user: AccountUser, { addressType, address }: Readonly<Record<string, string>>): boolean {
  const type = addressType === 'email' ? 'email' : 'phone';
  const current = user[type];
  return current !== undefined && digestOf(type, current) === address;
}

const digestOf = (type: AddressType, canonical: string) => identityDigest({ type, canonical }).toString('hex');
