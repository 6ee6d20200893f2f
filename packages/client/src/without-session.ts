import { coreOf } from './core.js';
import { deviceOf } from './login/device.js';
import { type Identity, type IdentityInput, identityOf } from './login/identity.js';
import type { PinInput } from './login/states.js';
import type { Abortable } from './platform.js';
import type { Postern } from './types.js';
import type { Account, LoginOptions as OfferedLogins, Recovered, StartedChallenge } from './wire.js';

/**
 * What the service offers without a session: the ways to log in, the rules for PINs and passwords, registration.
 *
 * @example
 * ```ts
 * import { offeredLogins, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const { logins, registration } = await offeredLogins(postern);
 * const hasPasskeys = logins.some(({ authenticator }) => authenticator === 'passkey');
 * console.log(hasPasskeys, registration.is_on);
 * ```
 */
export function offeredLogins(postern: Postern, { signal }: Abortable = {}): Promise<OfferedLogins> {
  return coreOf(postern).send({ path: '/v1/login-options', signal });
}

/** A code was sent, if there is such an account. */
export interface PendingCode {
  readonly id: string;
  /** By the clock of the device, at most five minutes from now. */
  readonly expiresAt: Date;
}
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

/** How long a code without a session is valid, in milliseconds. */
const codeLifetimeMs = 300_000;
const pending = ({ id }: StartedChallenge): PendingCode => ({ id, expiresAt: new Date(Date.now() + codeLifetimeMs) });

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
  { signal }: Abortable = {},
): Promise<PendingRecovery<P>> {
  const core = coreOf(postern);
  const { id } = await deviceOf(core);
  const body = { identity: identityOf(identity as IdentityInput), purpose, ...(id && { device: { id } }) };
  const started = pending(
    await core.send<StartedChallenge>({ method: 'POST', path: '/v1/recoveries', body, signal, expects: 'id' }),
  );
  return {
    ...started,
    complete: ({ code: secret, ...rest }, options = {}) => {
      const path = `/v1/recoveries/${started.id}`;
      return core.send({ method: 'POST', path, body: { secret, ...rest }, signal: options.signal });
    },
  };
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
    },
    options?: Abortable,
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
 * await pending.complete({ code: '271828', username: 'ada', password: 'the moon and back again' });
 * ```
 */
export async function startRegistration(
  postern: Postern,
  { identity, locale }: { readonly identity: AddressInput; readonly locale?: string | undefined },
  { signal }: Abortable = {},
): Promise<PendingRegistration> {
  const core = coreOf(postern);
  const body = { identity: identityOf(identity as IdentityInput), ...(locale && { locale }) };
  const started = pending(
    await core.send<StartedChallenge>({ method: 'POST', path: '/v1/registrations', body, signal, expects: 'id' }),
  );
  return {
    ...started,
    complete: ({ code: secret, pin, ...rest }, options = {}) => {
      const path = `/v1/registrations/${started.id}`;
      return core.send({
        method: 'POST',
        path,
        body: { secret, ...rest, ...(pin && { pin }) },
        signal: options.signal,
      });
    },
  };
}
