import { anySignal } from '../any-signal.js';
import type { Core } from '../core.js';
import { isProblem, type PosternError } from '../errors.js';
import type { Abortable } from '../platform.js';
import type { Authentication, AuthenticationState, Challenge, Identity } from '../wire.js';
import { browserPasskeys } from './passkeys.js';
import type { LoginIssue, LoginStart, LoginState, PasskeyInput, PinInput } from './states.js';

type Next = Promise<LoginState>;
export type StepMembers<S> = S extends unknown ? Omit<S, 'busy' | 'issue'> : never;
/** What an input leads to: a state to enter, or the state that the login has entered already. */
export type Outcome = LoginState | (() => LoginState);
/** Runs the work of an input, unless its step has ended or another input is in progress. */
export type RunInput = (input: unknown, work: (signal: AbortSignal) => Promise<Outcome>) => Next;
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
interface OpenLogin {
  readonly id: string;
  readonly begin: StartRequest;
  readonly destination: string | null;
  readonly expiresAt: number;
  readonly resendAt: number;
}

/** The parts of a login that its steps use. */
export interface LoginTools {
  readonly core: Core;
  readonly enter: (createStep: CreateStep, issue?: LoginIssue) => LoginState;
  readonly start: (issue?: LoginIssue) => LoginStart;
  readonly restart: () => LoginStart;
  readonly set: (state: LoginState) => void;
  readonly startLogin: (begin: StartRequest, signal: AbortSignal) => Promise<Outcome>;
  readonly follow: (answer: Authentication, begin: StartRequest, signal: AbortSignal) => Promise<Outcome>;
  /** Where an open login is stored; undefined if it is not. */
  readonly resumeKey: string | undefined;
}

/** The steps after the first one. */
export interface Steps {
  /** The step that an answer to step 1 leads to. */
  next(
    answer: Authentication,
    begin: StartRequest,
    signal: AbortSignal,
    passkey: PasskeyInput | undefined,
  ): Promise<Outcome>;
  afterError(error: PosternError, reenter: (issue?: LoginIssue) => LoginState): LoginState;
  /** The login that waited for a code when the page was closed, if it still waits. */
  reopen(key: string): Promise<CreateStep | undefined>;
}

export function createSteps({ core, enter, start, restart, set, startLogin, follow, resumeKey }: LoginTools): Steps {
  let lastSecret: { readonly input: string; readonly key: string } | undefined;
  /** Sends the secret of a step. The same input has the same key, so that a repeat after a lost answer is not counted twice. */
  async function step2(
    { id }: Pick<Authentication, 'id'>,
    begin: StartRequest,
    secret: string,
    pin: string | undefined,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const input = `${id} ${secret} ${pin}`;
    // Not of `crypto`, which React Native lacks. The key tells the inputs of one login apart, and is no secret.
    if (lastSecret?.input !== input) lastSecret = { input, key: `${Date.now()}-${Math.random()}` };
    const headers = { 'idempotency-key': lastSecret.key };
    const path = `/v1/tokens/${id}/secret`;
    const body = { secret, ...(pin && { pin }) };
    try {
      return await follow(
        await core.send({ method: 'POST', path, body, headers, signal, expects: 'status' }),
        begin,
        signal,
      );
    } catch (error) {
      if (!isProblem(error, 'authorization_rejected') || (await isOpen(id, signal))) throw error;
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
    return step2(answer, begin, JSON.stringify(assertion), undefined, signal);
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

  /** The state that asks for the answer to a challenge. */
  const challengeStep =
    (answer: Authentication, begin: StartRequest, expiresAt: number): CreateStep =>
    (runInput) => {
      const common = { expiresAt: new Date(expiresAt), cancel: restart };
      const send = (secret: string, pin?: string) =>
        runInput([secret, pin], (signal) => step2(answer, begin, secret, pin, signal));
      const askPasskey =
        (options: object) =>
        (input: Abortable = {}) =>
          runInput('passkey', (signal) => sendAssertion(answer, begin, options, input, signal));
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

  const codeStep =
    ({ id, begin, destination, expiresAt, resendAt }: OpenLogin): CreateStep =>
    (runInput) => ({
      step: 'code',
      channel: begin.authenticator === 'email' ? 'email' : 'sms',
      identity: begin.identity as Identity,
      destination,
      expiresAt: new Date(expiresAt),
      resendAt: new Date(resendAt),
      cancel: restart,
      submit: ({ code, pin = begin.pin }) => runInput([code, pin], (signal) => step2({ id }, begin, code, pin, signal)),
      resend: () => runInput('resend', (signal) => startLogin(begin, signal)),
    });

  return {
    async next(answer, begin, signal, passkey) {
      if (passkey !== undefined) return sendAssertion(answer, begin, answer.challenge ?? {}, passkey, signal);
      const expiresAt = localTime(answer, answer.expires_at);
      if (answer.challenge !== undefined) {
        const createStep = challengeStep(answer, begin, expiresAt);
        return () => enter(createStep);
      }
      const resendAt = localTime(answer, answer.resend_at ?? answer.created_at);
      const open = { id: answer.id, begin, destination: answer.destination ?? null, expiresAt, resendAt };
      // Without the PIN, which is a secret.
      const { pin: _, ...storedRequest } = begin;
      if (resumeKey) await core.storage.set(resumeKey, JSON.stringify({ ...open, begin: storedRequest }));
      return () => enter(codeStep(open));
    },

    afterError(error, reenter) {
      const { message } = error;
      if (isProblem(error, 'account_temporarily_locked') && error.retry !== null) {
        const back = () => {
          const state = reenter();
          const next = 'expiresAt' in state && state.expiresAt.getTime() <= Date.now() ? start() : state;
          set(next);
          return next;
        };
        const { retry } = error;
        return enter(() => ({ ...retry, step: 'locked', permanent: false, back }), { kind: 'wait', message, ...retry });
      }
      if (isProblem(error, 'account_locked', 'account_unusable')) {
        return enter(() => ({ step: 'locked', permanent: true, reason: error.code, restart }), {
          kind: 'failed',
          message,
          error,
        });
      }
      return reenter(issueOf(error));
    },

    async reopen(key) {
      const open: OpenLogin | null = JSON.parse((await core.storage.get(key)) ?? 'null');
      return open !== null && open.expiresAt > Date.now() && (await isOpen(open.id)) ? codeStep(open) : undefined;
    },
  };
}

/** A time of the service by the clock of the device, as milliseconds. The two clocks are never compared. */
function localTime({ created_at }: Pick<Authentication, 'created_at'>, time: string): number {
  return Date.now() + Date.parse(time) - Date.parse(created_at);
}

function issueOf(error: PosternError): LoginIssue {
  const { message } = error;
  if (error.kind === 'cancelled' || error.kind === 'unsupported') return { kind: error.kind, message };
  if (error.kind === 'problem') {
    if (error.code === 'authorization_rejected') {
      const used = error.errors.find(({ code }) => code === 'code_used');
      return used === undefined
        ? { kind: 'wrong', message }
        : { kind: 'invalid', message: used.message, errors: error.errors };
    }
    if (error.code === 'validation_failed') return { kind: 'invalid', message, errors: error.errors };
    if (error.retry !== null) return { kind: 'wait', message, ...error.retry };
  }
  return { kind: 'failed', message, error };
}
