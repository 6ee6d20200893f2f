import type { ProofOption } from '../contract/account/proof.js';
import type { AccountUser } from '../identities/accounts.js';
import { maskAddress } from '../identities/identity.js';
import type { AddressType } from './code-sender.js';

/** The rules of this installation that decide which proofs are accepted. */
export interface ProofRules {
  readonly hasSecondFactor: (user: AccountUser) => boolean;
  /** Whether this installation can send codes to addresses of this type. */
  readonly supports: (type: AddressType) => boolean;
  /** The providers with which the user can prove to be present. */
  readonly providers: readonly string[];
}

type Reason = NonNullable<ProofOption['reason']>;

/** Every type of proof, with the changes that it is accepted for now, or the reason why it is accepted for none. */
export function proofOptions(user: AccountUser, rules: ProofRules): ProofOption[] {
  const { hasSecondFactor, supports, providers } = rules;
  const needsFactor = hasSecondFactor(user);
  const { onlyPinChangesPin, pinHash } = user;
  const hasPin = pinHash !== undefined;

  function option(
    base: Pick<ProofOption, 'type' | 'start' | 'destination' | 'provider'>,
    missing: Reason | undefined,
    changesPin: boolean,
  ): ProofOption {
    const isFactor = base.type === 'totp' || base.type === 'passkey';
    const reason = missing ?? (needsFactor && !isFactor ? 'second_factor_required' : null);
    const pin = changesPin && !onlyPinChangesPin;
    return { ...base, accepted_for: reason === null ? (pin ? ['account', 'pin'] : ['account']) : [], reason };
  }
  function code(start: 'sms' | 'email', type: AddressType): ProofOption {
    const address = user[type];
    const destination = address === undefined ? null : maskAddress({ type, canonical: address });
    const missing = supports(type) ? (address === undefined ? 'not_set' : undefined) : 'not_offered';
    return option({ type: 'code', start, destination }, missing, !hasPin);
  }
  const oneStep = { start: null, destination: null };
  return [
    option({ type: 'password', ...oneStep }, user.passwordHash === undefined ? 'not_set' : undefined, true),
    code('sms', 'phone'),
    code('email', 'email'),
    option({ type: 'passkey', start: 'passkey', destination: null }, user.hasPasskey ? undefined : 'not_set', true),
    option({ type: 'totp', ...oneStep }, user.hasTotp ? undefined : 'not_set', needsFactor),
    pinOption(),
    ...providers.map((provider) =>
      option({ type: 'provider', start: 'provider', provider, destination: null }, undefined, !hasPin),
    ),
  ];

  /** The PIN is accepted only for changes of the PIN. For a time after a proof with a code, it is the only one accepted. */
  function pinOption(): ProofOption {
    const base = { type: 'pin', ...oneStep } as const;
    if (!hasPin) return { ...base, accepted_for: [], reason: 'not_set' };
    if (needsFactor && !onlyPinChangesPin) return { ...base, accepted_for: [], reason: 'second_factor_required' };
    return { ...base, accepted_for: ['pin'], reason: null };
  }
}
