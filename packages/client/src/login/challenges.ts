import { anySignal } from '../any-signal.js';
import type { Core } from '../core.js';
import { isProblem } from '../errors.js';
import type { Abortable } from '../platform.js';
import type { Authentication, AuthenticationState, Challenge, Identity } from '../wire.js';
import { browserPasskeys } from './passkeys.js';
import type { LoginStart, LoginState, PasskeyInput, PinInput } from './states.js';

type Next = Promise<LoginState>;
export type StepMembers<S> = S extends unknown ? Omit<S, 'busy' | 'issue'> : never;
/** Runs the work of an input, unless its step has ended or another input is in progress. */
export type RunInput = (input: unknown, work: (signal: AbortSignal) => Promise<() => LoginState>) => Next;
export type CreateStep = (runInput: RunInput) => StepMembers<LoginState>;

/** The request of step 1. */
export interface StartRequest {
  readonly authenticator: string;
  readonly identity?: Identity | undefined;
  readonly secret?: string | undefined;
  readonly pin?: string | undefined;
}
/** The members of the challenge of a provider or of a second factor. */
interface ChallengeMembers {
  readonly alternatives?: readonly string[];
  readonly passkey?: object;
  readonly issuer?: string;
  readonly client_ids?: readonly string[];
  readonly nonce?: string;
}

/** An open login, as the storage keeps it. Times are by the clock of the device. */
export interface OpenLogin {
  readonly id: string;
  readonly begin: StartRequest;
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
    begin: StartRequest,
    secret: string,
    pin: string | undefined,
    signal: AbortSignal,
  ) => Promise<() => LoginState>;
}

/** The state that asks for the answer to a challenge. */
export function challengeStep(
  tools: LoginTools,
  answer: Authentication,
  begin: StartRequest,
  expiresAt: number,
): CreateStep {
  return (runInput) => {
    const common = { expiresAt: new Date(expiresAt), cancel: tools.restart };
    const send = (secret: string, pin?: string) =>
      runInput([secret, pin], (signal) => tools.step2(answer, begin, secret, pin, signal));
    const askPasskey =
      (options: object) =>
      (input: Abortable = {}) =>
        runInput('passkey', (signal) => sendAssertion(tools, answer, begin, options, input, signal));
    const challenge = answer.challenge as Challenge & ChallengeMembers;
    const { type, alternatives = [], passkey, issuer = '', client_ids = [], nonce = '' } = challenge;
    const recoveryCode = alternatives.includes('recovery_code') ? (code: string) => send(code) : null;
    const submitCode = ({ code }: { readonly code: string }) => send(code);
    if (type === 'totp') {
      return {
        step: 'totp',
        ...common,
        submit: submitCode,
        passkey: passkey ? askPasskey(passkey) : null,
        recoveryCode,
      };
    }
    if (type === 'passkey') return { step: 'passkey', ...common, submit: askPasskey(challenge), recoveryCode };
    const { authenticator } = begin;
    if (type === 'oidc') {
      const provider = authenticator.slice('oidc:'.length);
      return { step: 'oidc', ...common, provider, issuer, client_ids, nonce, submit: ({ idToken }) => send(idToken) };
    }
    const submit = ({ secret, pin }: PinInput & { readonly secret: string }) => send(secret, pin);
    return { step: 'secret', ...common, authenticator, challenge: challenge, submit };
  };
}

/** Asks the platform for a passkey, and sends its assertion. */
export async function sendAssertion(
  { core, step2 }: LoginTools,
  answer: Pick<Authentication, 'id'>,
  begin: StartRequest,
  options: object,
  { conditional = false, signal: callerSignal }: PasskeyInput,
  signal: AbortSignal,
): Promise<() => LoginState> {
  const combinedSignal = anySignal(signal, callerSignal);
  const assertion = await (core.passkeys ?? browserPasskeys).get(options, { conditional, signal: combinedSignal });
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
export async function openLogin(tools: Pick<LoginTools, 'core'>, key: string): Promise<OpenLogin | undefined> {
  const open: OpenLogin | null = JSON.parse((await tools.core.storage.get(key)) ?? 'null');
  return open !== null && open.expiresAt > Date.now() && (await isOpen(tools, open.id)) ? open : undefined;
}
