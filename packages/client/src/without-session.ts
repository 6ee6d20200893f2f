import { passkeysOf } from './account/proofs.js';
import { coreOf } from './core.js';
import { deviceOf, loginDeviceOf } from './login/device.js';
import { type Identity, type IdentityInput, identityOf } from './login/identity.js';
import type { PinInput } from './login/states.js';
import type { Abortable } from './platform.js';
import type { Postern } from './types.js';
import type { Account, Authentication, MergedGuest, Recovered, SentCode } from './wire.js';

/** What a page may store while it waits for a code, as JSON: it holds no secret. */
export interface StoredCode {
  readonly id: string;
  /** The request that sent the code. `sendAgain` repeats it. */
  readonly request: object;
  /** A part of the address that gets the code, such as `a…@example.com`. */
  readonly destination: string;
  /** Milliseconds since 1970 by the clock of the device, at most five minutes from the request. */
  readonly expiresAt: number;
  /** When another code may be requested, in the same unit. */
  readonly resendAt: number;
}

/** A code was sent, if there is such an account. */
export interface PendingCode<Pending> {
  readonly id: string;
  /** A part of the address that gets the code, such as `a…@example.com`. */
  readonly destination: string;
  /** By the clock of the device, at most five minutes from now. */
  readonly expiresAt: Date;
  /** When another code may be requested, by the clock of the device. */
  readonly resendAt: Date;
  /** Store it to go on after a reload of the page: see `resumeRecovery` and `resumeRegistration`. */
  readonly stored: StoredCode;
  /** Whether the code is right. It counts as a guess, and uses nothing up. Rejects with `code_rejected` for a wrong code. */
  readonly check: (code: string, options?: Abortable) => Promise<void>;
  /** Sends another code, which replaces this one. Rejects with `too_many_requests` before `resendAt`. */
  readonly sendAgain: (options?: Abortable) => Promise<Pending>;
}

export interface PendingRecovery<P extends 'password' | 'pin'> extends PendingCode<PendingRecovery<P>> {
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

/** The request that sends a code. */
async function send(postern: Postern, path: string, request: object, { signal }: Abortable): Promise<StoredCode> {
  const answer = await coreOf(postern).send<SentCode>({ method: 'POST', path, body: request, signal, expects: 'id' });
  const { id, destination, expires_at, resend_at } = answer;
  const expiresAt = Date.now() + codeLifetimeMs;
  // The clocks of the service and of the device are never compared.
  const resendAt = expiresAt + Date.parse(resend_at) - Date.parse(expires_at);
  return { id, request, destination, expiresAt, resendAt };
}

/** What all codes without a session have. */
function pendingCode<Pending>(
  postern: Postern,
  path: string,
  stored: StoredCode,
  resume: (stored: StoredCode) => Pending,
): PendingCode<Pending> & { readonly answer: <T>(body: object, options?: Abortable) => Promise<T> } {
  const { id, request, destination, expiresAt, resendAt } = stored;
  const answer = <T>(body: object, { signal }: Abortable = {}) =>
    coreOf(postern).send<T>({ method: 'POST', path: `${path}/${id}`, body, signal });
  return {
    ...{ id, destination, stored, expiresAt: new Date(expiresAt), resendAt: new Date(resendAt), answer },
    check: (secret, options) => answer({ secret, check: true }, options),
    sendAgain: async (options = {}) => resume(await send(postern, path, request, options)),
  };
}

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
  const { id } = await deviceOf(coreOf(postern));
  const request = { identity: identityOf(identity as IdentityInput), purpose, ...(id && { device: { id } }) };
  return resumeRecovery(postern, await send(postern, '/v1/recoveries', request, options));
}

/**
 * Goes on with a recovery after a reload of the page. It sends no request.
 *
 * @example
 * ```ts
 * import { type Postern, resumeRecovery, startRecovery } from '@postern/client';
 * declare const postern: Postern;
 *
 * const { stored } = await startRecovery(postern, { identity: 'ada@example.com', purpose: 'password' });
 * // Keep `stored` as JSON in the storage of the page. After a reload:
 * await resumeRecovery(postern, stored).check('271828');
 * ```
 */
export function resumeRecovery<P extends 'password' | 'pin'>(postern: Postern, stored: StoredCode): PendingRecovery<P> {
  const { answer, ...pending } = pendingCode(postern, '/v1/recoveries', stored, (next) =>
    resumeRecovery<P>(postern, next),
  );
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

export interface PendingRegistration extends PendingCode<PendingRegistration> {
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
  const request = { identity: identityOf(identity as IdentityInput), ...(locale && { locale }) };
  return resumeRegistration(postern, await send(postern, '/v1/registrations', request, options));
}

/**
 * Goes on with a registration after a reload of the page. It sends no request.
 *
 * @example
 * ```ts
 * import { type Postern, resumeRegistration, type StoredCode } from '@postern/client';
 * declare const postern: Postern;
 * declare const stored: StoredCode;
 *
 * await resumeRegistration(postern, stored).complete({ code: '271828', username: 'ada', signIn: true });
 * ```
 */
export function resumeRegistration(postern: Postern, stored: StoredCode): PendingRegistration {
  const { answer, ...pending } = pendingCode(postern, '/v1/registrations', stored, (next) =>
    resumeRegistration(postern, next),
  );
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
        await core.signIn({ token, user_id, device_id, is_bound }, () => options.onSignIn?.(account));
      }
      return account;
    },
  };
}

/** A guest who is signed in. */
export interface SignedInGuest {
  readonly user_id: string;
  /**
   * The authentication token. Keep it if the guest may log in to an account later: `mergeGuest` needs it then. Undefined if a backend
   * keeps the login.
   */
  readonly token: string | undefined;
}

/**
 * Makes a guest, a user without credentials, and signs in (`GUESTS=on`). The first mail address, passkey or account at a provider
 * makes the guest a user with the same id. It needs no proof.
 *
 * @example
 * ```ts
 * import { type Postern, signInAsGuest } from '@postern/client';
 * declare const postern: Postern;
 *
 * const { user_id } = await signInAsGuest(postern);
 * console.log(user_id);
 * ```
 */
export async function signInAsGuest(postern: Postern, { signal }: Abortable = {}): Promise<SignedInGuest> {
  const core = coreOf(postern);
  const body = { authenticator: 'guest', device: await loginDeviceOf(core) };
  const answer = await core.send<Authentication>({
    method: 'POST',
    path: '/v1/tokens',
    body,
    signal,
    expects: 'user_id',
  });
  const { token, user_id = '', device_id, is_bound } = answer;
  await core.signIn({ token, user_id, device_id, is_bound }, () => {});
  return { user_id, token };
}

/**
 * Moves the notifications of a guest into the account that is signed in now, and deletes the guest.
 *
 * @example
 * ```ts
 * import { createLogin, mergeGuest, type Postern, signInAsGuest } from '@postern/client';
 * declare const postern: Postern;
 *
 * const guest = await signInAsGuest(postern);
 * const { step } = await createLogin(postern).start().password({ identity: 'ada', password: 'the moon and back again' });
 * if (step === 'done' && guest.token) await mergeGuest(postern, guest.token);
 * ```
 */
export function mergeGuest(postern: Postern, token: string, { signal }: Abortable = {}): Promise<MergedGuest> {
  return coreOf(postern).call({ method: 'PUT', path: '/v1/account/guest', body: { token }, signal, expects: 'id' });
}
