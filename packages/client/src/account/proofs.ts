import type { Core } from '../core.js';
import type { Problem } from '../errors.js';
import type { RedirectOptions } from '../login/redirects.js';
import type { Abortable } from '../platform.js';
import type { OidcProvider } from '../registered.js';
import { type Call, loadPart } from '../transport.js';
import type { PasskeyAdapter } from '../types.js';
import type { AccountDetails, ProofOption, ProofStart, ProofType, StartedProof } from '../wire.js';
import {
  type AccountOperation,
  type AccountOperations,
  type Proof,
  type ProofFor,
  passwordProof,
  pinProof,
  proofOf,
  totpProof,
} from './proof.js';

/** A code was sent. */
export interface SentCode {
  /** By the clock of the device. */
  readonly expiresAt: Date;
  /** When another code may be requested, by the clock of the device. */
  readonly resendAt: Date;
  readonly prove: (code: string) => Proof<'code'>;
}
interface ProofChoices {
  readonly password: { readonly type: 'password'; readonly prove: (password: string) => Proof<'password'> };
  readonly code: {
    readonly type: 'code';
    readonly channel: 'sms' | 'email';
    /** A part of the address that gets the code, such as `+15…67`. */
    readonly to: string;
    readonly send: (options?: Abortable) => Promise<SentCode>;
  };
  readonly passkey: { readonly type: 'passkey'; readonly prove: (options?: Abortable) => Promise<Proof<'passkey'>> };
  /** A code of the authenticator app, or a recovery code. */
  readonly totp: { readonly type: 'totp'; readonly prove: (code: string) => Proof<'totp'> };
  readonly pin: { readonly type: 'pin'; readonly prove: (pin: string) => Proof<'pin'> };
  /** A new login at a provider whose account is linked. */
  readonly provider: {
    readonly type: 'provider';
    /** The name of the provider in `OIDC_PROVIDERS`, such as `google`. */
    readonly provider: OidcProvider;
    /**
     * Sends the browser to the provider and back. Returns null if the browser leaves this page: when it loads again, call `resumeProof` of
     * the account. Returns the proof only in an app whose `open` returns the address. Rejects with a CancelledError if the user closes it,
     * and with a ProviderError if the provider did not confirm it.
     */
    readonly prove: (options?: RedirectOptions & Abortable) => Promise<Proof<'provider'> | null>;
  };
}
/** A proof that the operation accepts and that this user can give. */
export type ProofChoice<T extends ProofType = ProofType> = T extends ProofType ? ProofChoices[T] : never;

/** What your dialog shows. */
export interface ProofRequest<O extends AccountOperation = AccountOperation> {
  readonly operation: O;
  /** Empty if the operation accepts none of the proofs that this user can give. */
  readonly choices: readonly ProofChoice<AccountOperations[O]>[];
  /** Why `prove` is called again: the last proof was wrong, or wrong secrets have locked the account for a time. */
  readonly problem: Problem<'proof_rejected' | 'account_temporarily_locked'> | null;
  /** Only of `step_up`: aborts when the proof was accepted, or is not needed any more. Close your dialog then. */
  readonly signal?: AbortSignal | undefined;
}
/** Asks the user for a proof. Return null if the user refuses: the operation then rejects with a CancelledError. */
export type Prover<O extends AccountOperation = AccountOperation> = (
  request: ProofRequest<O>,
) => Promise<ProofFor<O> | null>;

/** How long a started proof is valid, in milliseconds. */
const lifetimeMs = 300_000;

/** The proofs that the user can give for an operation. */
export async function choicesFor<O extends AccountOperation>(
  core: Core,
  operation: O,
  { signal, owner }: Pick<Call, 'signal' | 'owner'> = {},
): Promise<ProofRequest<O>['choices']> {
  const { proofs } = await core.call<AccountDetails>({ path: '/v1/account', signal, owner, expects: 'proofs' });
  const purpose = operation.endsWith('_pin') ? 'pin' : 'account';
  // Neither a code nor a provider alone removes another secret.
  const isRemoval = ['remove_pin', 'remove_totp', 'renew_recovery_codes'].includes(operation);
  const isAccepted = (choice: ProofChoice): choice is ProofChoice<AccountOperations[O]> =>
    !(isRemoval && /^(code|provider)$/.test(choice.type));
  return proofs
    .filter(({ accepted_for }) => accepted_for.includes(purpose))
    .flatMap((option) => choiceOf(core, operation, option) ?? [])
    .filter(isAccepted);
}

/** The passkeys of the app, otherwise those of the browser. Their code is loaded when it is used. */
export const passkeysOf = async ({ passkeys }: Core): Promise<PasskeyAdapter> =>
  passkeys ?? (await loadPart(() => import('../login/passkeys.js'))).browserPasskeys;

/** Undefined for a type that this version does not know. */
function choiceOf(
  core: Core,
  operation: AccountOperation,
  { type, start, destination, provider = '' }: ProofOption,
): ProofChoice | undefined {
  const begin = (type: ProofStart, { signal }: Abortable = {}) =>
    core.call<StartedProof>({ method: 'POST', path: '/v1/account/proofs', body: { type }, signal, expects: 'id' });
  switch (type) {
    case 'password':
      return { type, prove: passwordProof };
    case 'totp':
      return { type, prove: totpProof };
    case 'pin':
      return { type, prove: pinProof };
    case 'passkey':
      return {
        type,
        async prove({ signal } = {}) {
          const passkeys = await passkeysOf(core);
          const { id, challenge = {} } = await begin('passkey', { signal });
          return proofOf(type, JSON.stringify(await passkeys.get(challenge, { conditional: false, signal })), id);
        },
      };
    case 'code':
      return {
        type,
        channel: start === 'email' ? 'email' : 'sms',
        to: destination ?? '',
        async send(options) {
          const { id, expires_at, resend_at = expires_at } = await begin(start ?? 'sms', options);
          const expiresAt = Date.now() + lifetimeMs;
          const resendAt = new Date(expiresAt + Date.parse(resend_at) - Date.parse(expires_at));
          return { expiresAt: new Date(expiresAt), resendAt, prove: (code) => proofOf(type, code, id) };
        },
      };
    case 'provider':
      return {
        type,
        // The types of an app contain the names of its providers.
        provider: provider as OidcProvider,
        prove: async (options?: RedirectOptions & Abortable) =>
          (await loadPart(() => import('./redirects.js'))).proveAt(core, operation, provider, options),
      };
    default:
      return undefined;
  }
}
