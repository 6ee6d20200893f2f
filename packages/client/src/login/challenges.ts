import type { Core } from '../core.js';
import { isProblem } from '../errors.js';
import type { Abortable } from '../platform.js';
import type { Authentication, AuthenticationState, Challenge, Identity } from '../wire.js';
import { browserPasskeys } from './passkeys.js';
import type { LoginStart, LoginState, PasskeyInput, PinInput } from './states.js';

type Next = Promise<LoginState>;
export type Own<S> = S extends unknown ? Omit<S, 'busy' | 'issue'> : never;
/** Runs the work of an input, unless its step has ended or another input is in progress. */
export type Act = (input: unknown, work: (signal: AbortSignal) => Promise<() => LoginState>) => Next;
export type Make = (act: Act) => Own<LoginState>;

/** The request of step 1. */
export interface Begin {
  readonly authenticator: string;
  readonly identity?: Identity | undefined;
  readonly secret?: string | undefined;
  readonly pin?: string | undefined;
}
/** The members of the challenge of a provider or of a second factor. */
interface Shown {
  readonly alternatives?: readonly string[];
  readonly passkey?: object;
  readonly issuer?: string;
  readonly client_ids?: readonly string[];
  readonly nonce?: string;
}

/** An open login, as the storage keeps it. Times are in the clock of the device. */
export interface Open {
  readonly id: string;
  readonly begin: Begin;
  readonly destination: string | null;
  readonly expiresAt: number;
  readonly resendAt: number;
}

/** The parts of a login that its steps use. */
export interface LoginTools {
  readonly core: Core;
  readonly restart: () => LoginStart;
  /** Sends the secret of a step. The result makes the next state. */
  readonly step2: (
    answer: Pick<Authentication, 'id'>,
    begin: Begin,
    secret: string,
    pin: string | undefined,
    signal: AbortSignal,
  ) => Promise<() => LoginState>;
}

/** The state that asks for what a challenge needs. */
export function challenged(tools: LoginTools, answer: Authentication, begin: Begin, expiresAt: number): Make {
  return (act) => {
    const common = { expiresAt: new Date(expiresAt), cancel: tools.restart };
    const send = (secret: string, pin?: string) =>
      act([secret, pin], (signal) => tools.step2(answer, begin, secret, pin, signal));
    const ask =
      (options: object) =>
      (input: Abortable = {}) =>
        act('passkey', (signal) => assert(tools, answer, begin, options, input, signal));
    const shown = answer.challenge as Challenge & Shown;
    const { type, alternatives = [], passkey, issuer = '', client_ids = [], nonce = '' } = shown;
    const recoveryCode = alternatives.includes('recovery_code') ? (code: string) => send(code) : null;
    const submitCode = ({ code }: { readonly code: string }) => send(code);
    if (type === 'totp') {
      return { step: 'totp', ...common, submit: submitCode, passkey: passkey ? ask(passkey) : null, recoveryCode };
    }
    if (type === 'passkey') return { step: 'passkey', ...common, submit: ask(shown), recoveryCode };
    const { authenticator } = begin;
    if (type === 'oidc') {
      const provider = authenticator.slice('oidc:'.length);
      return { step: 'oidc', ...common, provider, issuer, client_ids, nonce, submit: ({ idToken }) => send(idToken) };
    }
    const submit = ({ secret, pin }: PinInput & { readonly secret: string }) => send(secret, pin);
    return { step: 'secret', ...common, authenticator, challenge: shown, submit };
  };
}

/** Asks the platform for a passkey, and sends its assertion. */
export async function assert(
  { core, step2 }: LoginTools,
  answer: Pick<Authentication, 'id'>,
  begin: Begin,
  options: object,
  { conditional = false, signal: own }: PasskeyInput,
  signal: AbortSignal,
): Promise<() => LoginState> {
  const both = own ? AbortSignal.any([signal, own]) : signal;
  const assertion = await (core.passkeys ?? browserPasskeys).get(options, { conditional, signal: both });
  return step2(answer, begin, JSON.stringify(assertion), undefined, signal);
}

/** Whether a login still waits for its second step. */
export async function isOpen({ core }: Pick<LoginTools, 'core'>, id: string, signal?: AbortSignal): Promise<boolean> {
  try {
    const { status } = await core.send<AuthenticationState>({ path: `/v1/tokens/${id}`, signal });
    return status === 'created' || status === 'pending';
  } catch (error) {
    if (isProblem(error, 'not_found')) return false;
    throw error;
  }
}

/** The login that waited for a code when the page was closed, if it still waits. */
export async function openLogin(tools: Pick<LoginTools, 'core'>, key: string): Promise<Open | undefined> {
  const open: Open | null = JSON.parse((await tools.core.storage.get(key)) ?? 'null');
  return open !== null && open.expiresAt > Date.now() && (await isOpen(tools, open.id)) ? open : undefined;
}
