import type { ProofType } from '../wire.js';

export type { ProofType } from '../wire.js';

// `Symbol.for`: all copies of this package share it. A member with a symbol is not in JSON, so a log shows no secret.
const contentKey = Symbol.for('@postern/client.proof');

interface ProofBody {
  readonly type: ProofType;
  readonly id?: string | undefined;
  readonly secret: string;
}

/** Proves that the user is present. Valid for one operation. Only functions of this package create proofs. */
export interface Proof<T extends ProofType = ProofType> {
  readonly type: T;
  readonly [contentKey]: ProofBody & { readonly type: T };
}

export const proofOf = <T extends ProofType>(type: T, secret: string, id?: string): Proof<T> => ({
  type,
  [contentKey]: { type, secret, ...(id !== undefined && { id }) },
});
/** The member `proof` of a request. */
export const bodyOf = (proof: Proof): ProofBody => proof[contentKey];
/** Whether a function of this package created the value. */
export const isProof = (value: unknown): value is Proof =>
  typeof value === 'object' && value !== null && contentKey in value;

/**
 * A proof with the password of the account.
 *
 * @example
 * ```ts
 * import { createAccount, passwordProof, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * await createAccount(postern).setUsername('ada', { proof: passwordProof('the moon and back again') });
 * ```
 */
export const passwordProof = (password: string): Proof<'password'> => proofOf('password', password);

/**
 * A proof with the six digits of the authenticator app, or with a recovery code.
 *
 * @example
 * ```ts
 * import { createAccount, type Postern, totpProof } from '@postern/client';
 * declare const postern: Postern;
 *
 * await createAccount(postern).removeTotp({ proof: totpProof('271828') });
 * ```
 */
export const totpProof = (code: string): Proof<'totp'> => proofOf('totp', code);

/**
 * A proof with the PIN. Only changes of the PIN accept it.
 *
 * @example
 * ```ts
 * import { createAccount, pinProof, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * await createAccount(postern).setPin('1357', { proof: pinProof('2468') });
 * ```
 */
export const pinProof = (pin: string): Proof<'pin'> => proofOf('pin', pin);

type CommonProof = 'password' | 'code' | 'passkey' | 'totp' | 'provider';
type ProofWithoutCode = 'password' | 'passkey' | 'totp';

/** The proofs that each operation accepts. */
export interface AccountOperations {
  readonly set_username: CommonProof;
  readonly set_password: CommonProof;
  readonly set_email: CommonProof;
  readonly remove_email: CommonProof;
  readonly set_phone: CommonProof;
  readonly remove_phone: CommonProof;
  /** A code and a provider set only the first PIN. */
  readonly set_pin: CommonProof | 'pin';
  readonly remove_pin: ProofWithoutCode | 'pin';
  readonly enrol_totp: CommonProof;
  readonly remove_totp: ProofWithoutCode;
  readonly renew_recovery_codes: ProofWithoutCode;
  readonly add_passkey: CommonProof;
  readonly remove_passkey: CommonProof;
  readonly link_identity: CommonProof;
  readonly unlink_identity: CommonProof;
  readonly delete_account: CommonProof;
  /** No change: see `stepUp`. */
  readonly step_up: CommonProof;
}
export type AccountOperation = keyof AccountOperations;
/** A proof that an operation accepts. */
export type ProofFor<O extends AccountOperation> = { [T in AccountOperations[O]]: Proof<T> }[AccountOperations[O]];
