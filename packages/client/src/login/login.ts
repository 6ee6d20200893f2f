import { coreOf } from '../core.js';
import { isPosternError, isProblem, type PosternError, UsageError } from '../errors.js';
import { createStore, type Store } from '../store.js';
import { loadPart } from '../transport.js';
import type { Postern } from '../types.js';
import type { Authentication, Identity } from '../wire.js';
import type { CreateStep, LoginTools, OpenLogin, RunInput, StartRequest, StepMembers } from './challenges.js';
import { type IdentityInput, identityOf } from './identity.js';
import type { LoginIssue, LoginStart, LoginState } from './states.js';

/** A login in progress. */
export interface Login extends Store<LoginState> {
  /** Cancels the login in progress and returns the first state. */
  readonly start: () => LoginStart;
}

export interface LoginOptions {
  /**
   * Whether a login that waits for a code survives a reload. The id of the login, which is no secret, is kept in the storage of
   * the client. False by default.
   */
  readonly resume?: boolean | undefined;
}

type Next = Promise<LoginState>;
const resumeKey = 'postern.open';
/** Few logins need more than a password or a code, so a page loads this code when it is used. */
const loadChallenges = () => loadPart(() => import('./challenges.js'));

/**
 * Creates a login: a state machine whose states have only the methods that you can call next. Their promises reject only with a
 * UsageError. What the user can correct is in `issue` of the next state.
 *
 * @example
 * ```ts
 * import { createLogin, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * let state = await createLogin(postern).start().sms({ identity: '+1 555 123 4567' });
 * if (state.step === 'code') state = await state.submit({ code: '271828', pin: '2468' });
 * if (state.step === 'done') console.log(`Hello ${state.user_id}`);
 * else console.log(state.issue?.message);
 * ```
 * @throws UsageError if the argument is not a client
 */
export function createLogin(postern: Postern, { resume = false }: LoginOptions = {}): Login {
  const core = coreOf(postern);
  /** The number of the current step. The methods of a state work only while its step is the current one. */
  let currentStep = 0;
  let pending: { readonly key: string; readonly next: Next; readonly abort: AbortController } | undefined;
  const store = createStore<LoginState>(start());
  if (resume) void reopen().catch(core.onError);

  function enter(createStep: CreateStep, issue: LoginIssue | null = null): LoginState {
    pending?.abort.abort();
    pending = undefined;
    currentStep += 1;
    const step = currentStep;
    const runInput: RunInput = (input, work) => {
      const key = JSON.stringify(input);
      if (step !== currentStep) return refuse('This state of the login has ended. Use `current` of the login.');
      if (pending !== undefined) {
        return pending.key === key
          ? pending.next
          : refuse('The login is busy. Wait for the promise of the earlier call.');
      }
      const abort = new AbortController();
      const reenter = (issue?: LoginIssue) => enter(createStep, issue);
      const next = work(abort.signal)
        .catch((error: unknown) => {
          // The user has left this step in the meantime.
          if (step !== currentStep) return () => store.current;
          if (isPosternError(error) && error.kind !== 'usage') return () => afterError(error, reenter);
          reenter();
          throw error;
        })
        .then((nextState) => {
          if (step !== currentStep) return store.current;
          const state = nextState();
          store.set(state);
          return state;
        });
      pending = { key, next, abort };
      store.set({ ...store.current, busy: true, issue: null } as LoginState);
      return next;
    };
    return { ...createStep(runInput), busy: false, issue } as LoginState;
  }

  function start(issue?: LoginIssue): LoginStart {
    return enter(startStep, issue) as LoginStart;
  }
  function restart(): LoginStart {
    const first = start();
    if (resume) void core.storage.delete(resumeKey);
    store.set(first);
    return first;
  }

  function startStep(runInput: RunInput): StepMembers<LoginStart> {
    const begin = (input: Omit<StartRequest, 'identity'> & { readonly identity?: IdentityInput | undefined }) =>
      runInput(input, async (signal) => {
        const { identity } = input;
        return startLogin({ ...input, identity: identity === undefined ? undefined : identityOf(identity) }, signal);
      });
    return {
      step: 'start',
      password: ({ identity, password: secret, pin }) => begin({ authenticator: 'password', identity, secret, pin }),
      sms: ({ identity, pin }) => begin({ authenticator: 'sms', identity, pin }),
      email: ({ identity, pin }) => begin({ authenticator: 'email', identity, pin }),
      oidc: (provider) => begin({ authenticator: `oidc:${provider}` }),
      custom: (authenticator, { identity, secret, pin }) => begin({ authenticator, identity, secret, pin }),
      passkey: (input = {}) =>
        runInput('passkey', async (signal) => {
          const request = { authenticator: 'passkey' };
          const [answer, { sendAssertion }] = await Promise.all([step1(request, signal), loadChallenges()]);
          return sendAssertion(tools, answer, request, answer.challenge ?? {}, input, signal);
        }),
    };
  }

  async function step1({ pin, ...begin }: StartRequest, signal: AbortSignal): Promise<Authentication> {
    const body = { ...begin, ...(pin && { pin }), device: await core.loginDevice() };
    return core.send<Authentication>({ method: 'POST', path: '/v1/tokens', body, signal });
  }
  const startLogin = async (begin: StartRequest, signal: AbortSignal) => follow(await step1(begin, signal), begin);

  /** Step 2. The same input has the same key, so that a repeat after a lost answer is not counted twice. */
  let lastSecret: { readonly input: string; readonly key: string } | undefined;
  const step2: LoginTools['step2'] = async ({ id }, begin, secret, pin, signal) => {
    const input = `${id} ${secret} ${pin}`;
    // Not of `crypto`, which React Native lacks. The key tells the inputs of one login apart, and is no secret.
    if (lastSecret?.input !== input) lastSecret = { input, key: `${Date.now()}-${Math.random()}` };
    const headers = { 'idempotency-key': lastSecret.key };
    const path = `/v1/tokens/${id}/secret`;
    const body = { secret, ...(pin && { pin }) };
    try {
      return await follow(await core.send({ method: 'POST', path, body, headers, signal }), begin);
    } catch (error) {
      if (!isProblem(error, 'authorization_rejected')) throw error;
      const { isOpen } = await loadChallenges();
      if (await isOpen(tools, id, signal)) throw error;
      return () => start({ kind: 'lapsed', message: error.detail });
    }
  };
  const tools: LoginTools = { core, step2, restart };
  /** The step that an answer leads to. */
  async function follow(answer: Authentication, begin: StartRequest): Promise<() => LoginState> {
    const { status, user_id = '', device_id, error_message: message } = answer;
    if (status === 'rejected') return () => start({ kind: 'wrong', message });
    if (status === 'approved') {
      await core.signIn({ token: answer.token, user_id, device_id, is_bound: answer.is_bound });
      if (resume) await core.storage.delete(resumeKey);
      return () => enter(() => ({ step: 'done', user_id, device_id }));
    }
    const expiresAt = localTime(answer, answer.expires_at);
    if (answer.challenge !== undefined) {
      const { challengeStep } = await loadChallenges();
      const createStep = challengeStep(tools, answer, begin, expiresAt);
      return () => enter(createStep);
    }
    const resendAt = localTime(answer, answer.resend_at ?? answer.created_at);
    const open = { id: answer.id, begin, destination: answer.destination ?? null, expiresAt, resendAt };
    // Without the PIN, which is a secret.
    const { pin: _, ...storedRequest } = begin;
    if (resume) await core.storage.set(resumeKey, JSON.stringify({ ...open, begin: storedRequest }));
    return () => enter(codeStep(open));
  }

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

  function afterError(error: PosternError, reenter: (issue?: LoginIssue) => LoginState): LoginState {
    const { message } = error;
    if (isProblem(error, 'account_temporarily_locked') && error.retry !== null) {
      const back = () => {
        const state = reenter();
        const next = 'expiresAt' in state && state.expiresAt.getTime() <= Date.now() ? start() : state;
        store.set(next);
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
  }

  async function reopen(): Promise<void> {
    const firstStep = currentStep;
    const open = await (await loadChallenges()).openLogin(tools, resumeKey);
    // The user may have started another login already.
    if (open !== undefined && currentStep === firstStep && pending === undefined) store.set(enter(codeStep(open)));
  }

  return Object.assign(store, { start: restart });
}

const refuse = (message: string) => Promise.reject(new UsageError(message));

/** A time of the service by the clock of the device, as milliseconds. The two clocks are never compared. */
function localTime({ created_at }: Pick<Authentication, 'created_at'>, time: string): number {
  return Date.now() + Date.parse(time) - Date.parse(created_at);
}

function issueOf(error: PosternError): LoginIssue {
  const { message } = error;
  switch (error.kind) {
    case 'network':
    case 'foreign_answer':
      return { kind: 'offline', message };
    case 'cancelled':
    case 'unsupported':
      return { kind: error.kind, message };
    case 'problem': {
      if (error.code === 'authorization_rejected') return { kind: 'wrong', message };
      if (error.code === 'validation_failed') return { kind: 'invalid', message, errors: error.errors };
      if (error.retry !== null) return { kind: 'wait', message, ...error.retry };
    }
  }
  return { kind: 'failed', message, error };
}
