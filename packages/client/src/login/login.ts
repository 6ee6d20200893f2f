import { coreOf } from '../core.js';
import { isPosternError, type PosternError } from '../errors.js';
import { createMachine } from '../machine.js';
import { once, platform } from '../platform.js';
import type { Store } from '../store.js';
import { loadPart } from '../transport.js';
import type { Postern } from '../types.js';
import type { LoginTools, Outcome, RunInput, StartInput, StepMembers } from './inputs.js';
import type { CodeInput, LoginIssue, LoginStart, LoginState, MailLinkInput } from './states.js';

/** A login in progress. */
export interface Login extends Store<LoginState> {
  /** Cancels the login in progress and returns the first state. */
  readonly start: () => LoginStart;
  /**
   * Sends the browser to a provider and back, to begin a login. `REDIRECT_URIS` of the service lists this page.
   *
   * @param authenticator such as `oidc:google`
   */
  readonly redirect: LoginStart['redirect'];
  /**
   * Completes a login at a provider after the browser has come back. Call it when the page loads. It does nothing if the address contains
   * no answer for a login that this browser began. It removes the answer from the address of the page.
   *
   * @param address in an app: the address with which the browser came back
   * @returns the next state. If it has the step `redirect` and an issue, the service did not answer: call `retry`
   */
  readonly resumeRedirect: (address?: string) => Promise<LoginState>;
}

export interface LoginOptions {
  /**
   * Whether a login that waits for a code survives a reload. The id of the login, which is no secret, is kept in the storage of
   * the client, or in `localStorage` if a backend keeps the login. False by default.
   */
  readonly resume?: boolean | undefined;
}

const resumeKey = 'postern.open';

/**
 * Creates a login: a state machine whose states have only the methods that you can call next. Their promises reject only with a UsageError.
 * If the user can correct the input, the next state has an `issue`.
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
  const { store, enter, reopen } = createMachine<LoginState>(startStep, afterError, () => {
    // A page that shows the first step needs the others soon.
    void loadSteps().catch(() => undefined);
    return () => undefined;
  });
  const tools: LoginTools = { core, store, enter, start, restart, resumeKey: resume ? resumeKey : undefined };
  /** The code that sends a login and leads through its steps, loaded when somebody looks at the login or uses it. */
  const loadSteps = once(async () => (await loadPart(() => import('./steps.js'))).createSteps(tools));
  if (resume) void reopen(async () => (await loadSteps()).reopen(resumeKey)).catch(core.onError);

  function start(issue?: LoginIssue): LoginStart {
    return enter(startStep, issue) as LoginStart;
  }
  function restart(): LoginStart {
    const first = start();
    if (resume) void core.marks.delete(resumeKey);
    store.set(first);
    return first;
  }

  function startStep(runInput: RunInput): StepMembers<LoginStart> {
    const begin = (input: StartInput) =>
      runInput(input, async (signal) => (await loadSteps()).begin(input, signal, undefined));
    const sendCode =
      (authenticator: string) =>
      ({ identity, pin, signUp, linkTo }: CodeInput & MailLinkInput) =>
        begin({ authenticator, identity, pin, sign_up: signUp || undefined, link_to: linkTo });
    return {
      step: 'start',
      password: ({ identity, password: secret, pin }) => begin({ authenticator: 'password', identity, secret, pin }),
      sms: sendCode('sms'),
      email: sendCode('email'),
      guest: () => begin({ authenticator: 'guest' }),
      oidc: (provider) => begin({ authenticator: `oidc:${provider}` }),
      redirect: (authenticator, input = {}) =>
        runInput([authenticator, input], async (signal) => (await loadSteps()).redirect(authenticator, input, signal)),
      custom: (authenticator, { identity, secret, pin }) => begin({ authenticator, identity, secret, pin }),
      passkey: (input = {}) =>
        runInput('passkey', async (signal) => (await loadSteps()).begin({ authenticator: 'passkey' }, signal, input)),
    };
  }

  async function afterError(error: PosternError, reenter: (issue?: LoginIssue) => LoginState): Promise<Outcome> {
    const { kind, message } = error;
    const isOffline = kind === 'network';
    const loaded = isOffline ? undefined : await loadSteps().catch(() => undefined);
    return () => loaded?.afterError(error, reenter) ?? reenter({ kind: 'offline', message });
  }

  const redirect: LoginStart['redirect'] = (...input) => {
    const { current } = store;
    return (current.step === 'start' ? current : restart()).redirect(...input);
  };
  async function resumeRedirect(address = platform().location?.href ?? ''): Promise<LoginState> {
    if (!address.includes('authentication_id=')) return store.current;
    try {
      return await (await loadSteps()).resumeRedirect(address);
    } catch (error) {
      if (!isPosternError(error) || error.kind === 'usage') throw error;
      // The code could not be loaded. The address is as it was, so a reload tries again.
      const state = start({ kind: 'offline', message: error.message });
      store.set(state);
      return state;
    }
  }

  return Object.assign(store, { start: restart, redirect, resumeRedirect });
}
