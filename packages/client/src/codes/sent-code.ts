import { coreOf } from '../core.js';
import type { Abortable } from '../platform.js';
import type { Postern } from '../types.js';
import type { SentCode } from '../wire.js';

/** A code of a registration or a recovery, as a page stores it while it waits: it holds no secret. */
export interface StoredCode {
  readonly id: string;
  /** The request that sent the code. Sending it again sends another one. */
  readonly request: object;
  readonly destination: string;
  /** Milliseconds since 1970 by the clock of the device, at most five minutes from the request. */
  readonly expiresAt: number;
  /** When another code may be requested, in the same unit. */
  readonly resendAt: number;
}

/** A code was sent, if there is such an account. */
export interface PendingCode {
  readonly id: string;
  /** A part of the address that gets the code, such as `a…@example.com`. */
  readonly destination: string;
  /** By the clock of the device, at most five minutes from now. */
  readonly expiresAt: Date;
  /** When another code may be requested, by the clock of the device. */
  readonly resendAt: Date;
  /** Checks the code, which counts as a guess. The code stays valid. Rejects with `code_rejected` if it is wrong. */
  readonly check: (code: string, options?: Abortable) => Promise<void>;
}

/** How long a code without a session is valid, in milliseconds. */
const codeLifetimeMs = 300_000;

/** Sends a code. @param path of the registrations or recoveries */
export async function sendCode(
  postern: Postern,
  path: string,
  request: object,
  { signal }: Abortable,
): Promise<StoredCode> {
  const answer = await coreOf(postern).send<SentCode>({ method: 'POST', path, body: request, signal, expects: 'id' });
  const { id, destination, expires_at, resend_at } = answer;
  const expiresAt = Date.now() + codeLifetimeMs;
  // The clocks of the service and of the device are never compared.
  const resendAt = expiresAt + Date.parse(resend_at) - Date.parse(expires_at);
  return { id, request, destination, expiresAt, resendAt };
}

/** The members of all codes without a session, and a function that sends one back. */
export function pendingCode(
  postern: Postern,
  path: string,
  { id, destination, expiresAt, resendAt }: StoredCode,
): PendingCode & { readonly answer: <T>(body: object, options?: Abortable) => Promise<T> } {
  const answer = <T>(body: object, { signal }: Abortable = {}) =>
    coreOf(postern).send<T>({ method: 'POST', path: `${path}/${id}`, body, signal });
  return {
    id,
    destination,
    expiresAt: new Date(expiresAt),
    resendAt: new Date(resendAt),
    answer,
    check: (secret, options) => answer({ secret, check: true }, options),
  };
}
