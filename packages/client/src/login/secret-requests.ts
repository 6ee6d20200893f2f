import { anySignal } from '../any-signal.js';
import type { Core } from '../core.js';
import { isProblem } from '../errors.js';
import type { Abortable } from '../platform.js';
import type { Authentication, AuthenticationState } from '../wire.js';
import type { Outcome, StartRequest } from './inputs.js';
import { browserPasskeys } from './passkeys.js';
import type { LoginIssue, LoginStart, PasskeyInput } from './states.js';

/** The requests of the steps after the first. @param follow called with the answer to a secret */
export function createSecretRequests(
  core: Core,
  start: (issue?: LoginIssue) => LoginStart,
  follow: (answer: Authentication, begin: StartRequest, signal: AbortSignal) => Promise<Outcome>,
) {
  let last: { readonly input: string; readonly key: string } | undefined;

  /** Sends the secret of a step. The same input has the same key, so that a repeat after a lost answer is not counted twice. */
  async function sendSecret(
    { id }: Pick<Authentication, 'id'>,
    begin: StartRequest,
    secret: string,
    pin: string | undefined,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const input = `${id} ${secret} ${pin}`;
    // Not of `crypto`, which React Native lacks. The key distinguishes the inputs of one login, and is no secret.
    if (last?.input !== input) last = { input, key: `${Date.now()}-${Math.random()}` };
    const headers = { 'idempotency-key': last.key };
    const path = `/v1/tokens/${id}/secret`;
    const body = { secret, ...(pin && { pin }) };
    try {
      const answer = await core.send<Authentication>({
        method: 'POST',
        path,
        body,
        headers,
        signal,
        expects: 'status',
      });
      // The same input again asks for something new, such as another code.
      last = undefined;
      return await follow(answer, begin, signal);
    } catch (error) {
      if (!isProblem(error, 'authorization_rejected') || (await isOpen(id, signal))) throw error;
      // The login has ended. Its step explains why, and begins another one.
      if (error.errors.some(({ code }) => code === 'not_linked')) throw error;
      return () => start({ kind: 'lapsed', message: error.detail });
    }
  }

  /** Asks the platform for a passkey, and sends its assertion. */
  async function sendAssertion(
    answer: Authentication,
    begin: StartRequest,
    options: object,
    { conditional = false, signal: callerSignal }: PasskeyInput,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const combinedSignal = anySignal(signal, callerSignal);
    const assertion = await (core.passkeys ?? browserPasskeys).get(options, { conditional, signal: combinedSignal });
    return sendSecret(answer, begin, JSON.stringify(assertion), undefined, signal);
  }

  /** Asks the platform for a new passkey, and sends it. */
  async function sendNewPasskey(
    answer: Authentication,
    begin: StartRequest,
    options: object,
    { signal: callerSignal }: Abortable,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const passkey = await (core.passkeys ?? browserPasskeys).create(options, {
      signal: anySignal(signal, callerSignal),
    });
    return sendSecret(answer, begin, JSON.stringify(passkey), undefined, signal);
  }

  /** Whether a login still waits for its second step. */
  async function isOpen(id: string, signal?: AbortSignal): Promise<boolean> {
    try {
      const { status } = await core.send<AuthenticationState>({ path: `/v1/tokens/${id}`, signal, expects: 'status' });
      return status === 'created' || status === 'pending';
    } catch (error) {
      if (isProblem(error, 'not_found')) return false;
      throw error;
    }
  }

  return { isOpen, sendSecret, sendAssertion, sendNewPasskey };
}
