import { passkeysOf } from './account/proofs.js';
import { type PendingCode, pendingCode, type StoredCode, sendCode } from './codes/sent-code.js';
import { coreOf } from './core.js';
import { deviceOf, loginDeviceOf } from './login/device.js';
import { type Identity, type IdentityInput, identityOf } from './login/identity.js';
import type { PinInput } from './login/states.js';
import { storeLogin } from './login/store-login.js';
import type { Abortable } from './platform.js';
import type { Postern } from './types.js';
import type { Account, Authentication, Recovered } from './wire.js';

export interface PendingRecovery<P extends 'password' | 'pin'> extends PendingCode {
  /**
   * Sets the new secret. Every login of the account ends, so the user then signs in as usual. A wrong or expired code rejects with
   * `code_rejected`.
   */
  readonly complete: (
    input: { readonly code: string } & { readonly [Secret in P]: string },
    options?: Abortable,
  ) => Promise<Recovered>;
}
type AddressInput = string | Identity<'email' | 'phone'>;

const paths = { recovery: '/v1/recoveries', registration: '/v1/registrations' } as const;

/**
 * Sends a code that lets the user choose a new password or PIN. The answer is the same if there is no such account.
 *
 * @example
 * ```ts
 * import { type Postern, startRecovery } from '@postern/client';
 * declare const postern: Postern;
 *
 * const pending = await startRecovery(postern, { identity: 'ada@example.com', purpose: 'password' });
 * await pending.complete({ code: '271828', password: 'the moon and back again' });
 * ```
 */
export async function startRecovery<P extends 'password' | 'pin'>(
  postern: Postern,
  { identity, purpose }: { readonly identity: AddressInput; readonly purpose: P },
  options: Abortable = {},
): Promise<PendingRecovery<P>> {
  return recoveryOf(postern, await sendRecoveryCode(postern, { identity, purpose }, options));
}

/** Sends the code of a recovery. */
export async function sendRecoveryCode(
  postern: Postern,
  { identity, purpose }: { readonly identity: IdentityInput; readonly purpose: 'password' | 'pin' },
  options: Abortable,
): Promise<StoredCode> {
  const { id } = await deviceOf(coreOf(postern));
  const request = { identity: identityOf(identity), purpose, ...(id && { device: { id } }) };
  return sendCode(postern, paths.recovery, request, options);
}

/** The recovery whose code was sent. */
export function recoveryOf<P extends 'password' | 'pin'>(postern: Postern, stored: StoredCode): PendingRecovery<P> {
  const { answer, ...pending } = pendingCode(postern, paths.recovery, stored);
  return { ...pending, complete: ({ code: secret, ...rest }, options) => answer({ secret, ...rest }, options) };
}

/**
 * Discards a recovered PIN that has not taken effect yet, with the code of the message about it. It needs no session.
 *
 * @example
 * ```ts
 * import { cancelPinRecovery, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * await cancelPinRecovery(postern, { identity: 'ada@example.com', code: '7k2m-9xqp-3fjd' });
 * ```
 */
export function cancelPinRecovery(
  postern: Postern,
  { identity, code: secret }: { readonly identity: AddressInput; readonly code: string },
  { signal }: Abortable = {},
): Promise<void> {
  const body = { identity: identityOf(identity as IdentityInput), secret };
  return coreOf(postern).send({ method: 'POST', path: '/v1/recovery-cancellations', body, signal });
}

export interface PendingRegistration extends PendingCode {
  /** Creates the account. If it rejects with `validation_failed` or `identity_taken`, the code is still valid. */
  readonly complete: (
    input: PinInput & {
      readonly code: string;
      readonly username?: string | undefined;
      readonly password?: string | undefined;
      readonly name?: string | undefined;
      readonly locale?: string | undefined;
      /** Asks the browser for a passkey first. The account then needs no password. */
      readonly passkey?: boolean | undefined;
      /** Also signs in, without a second code. If the service asks for a second factor first, nobody is signed in. */
      readonly signIn?: boolean | undefined;
    },
    options?: Abortable & {
      /** Called when the user is signed in, before the listeners of the client. */
      readonly onSignIn?: ((account: Account) => void) | undefined;
    },
  ) => Promise<Account>;
}

/**
 * Sends a code to an address, to create an account with it. Rejects with `registration_off` if the operator does not allow it.
 *
 * @example
 * ```ts
 * import { type Postern, startRegistration } from '@postern/client';
 * declare const postern: Postern;
 *
 * const pending = await startRegistration(postern, { identity: 'ada@example.com' });
 * await pending.complete({ code: '271828', passkey: true, signIn: true });
 * ```
 */
export async function startRegistration(
  postern: Postern,
  { identity, locale }: { readonly identity: AddressInput; readonly locale?: string | undefined },
  options: Abortable = {},
): Promise<PendingRegistration> {
  return registrationOf(postern, await sendRegistrationCode(postern, { identity, locale }, options));
}

/** Sends the code of a registration. */
export async function sendRegistrationCode(
  postern: Postern,
  { identity, locale }: { readonly identity: IdentityInput; readonly locale?: string | undefined },
  options: Abortable,
): Promise<StoredCode> {
  const request = { identity: identityOf(identity), ...(locale && { locale }) };
  return sendCode(postern, paths.registration, request, options);
}

/** The registration whose code was sent. */
export function registrationOf(postern: Postern, stored: StoredCode): PendingRegistration {
  const { answer, ...pending } = pendingCode(postern, paths.registration, stored);
  return {
    ...pending,
    async complete({ code: secret, pin, passkey, signIn, ...rest }, options = {}) {
      const core = coreOf(postern);
      const body = { secret, ...rest, ...(pin && { pin }) };
      const created = passkey && {
        passkey: await (await passkeysOf(core)).create(
          (await answer<{ options: object }>({ ...body, passkey: 'begin' }, options)).options,
          options,
        ),
      };
      const device = signIn && { device: await loginDeviceOf(core) };
      const registered = await answer<Account & { readonly authentication?: Authentication }>(
        { ...body, ...created, ...device },
        options,
      );
      const { authentication, ...account } = registered;
      if (authentication?.status === 'approved') {
        const { token, user_id = account.id, device_id, is_bound } = authentication;
        await storeLogin(core, { token, user_id, device_id, is_bound }, () => options.onSignIn?.(account));
      }
      return account;
    },
  };
}
