import { isProblem, type PosternError } from '../errors.js';
import { rememberGuest } from '../guests.js';
import { once } from '../platform.js';
import { loadPart } from '../transport.js';
import type { Authentication } from '../wire.js';
import { loginDeviceOf } from './device.js';
import { identityOf } from './identity.js';
import type { CreateStep, LoginTools, Outcome, StartInput, StartRequest } from './inputs.js';
import { issueOf } from './issues.js';
import { challengeStep, codeStep, type OpenLogin, type StepActions } from './second-steps.js';
import { createSecretRequests } from './secret-requests.js';
import type { LoginIssue, LoginState, PasskeyInput, RedirectInput } from './states.js';
import { storeLogin } from './store-login.js';

/** What a login does when somebody uses it. */
export interface Steps {
  /** Sends the input of step 1. @throws UsageError for an identity that is not valid */
  begin(input: StartInput, signal: AbortSignal, passkey: PasskeyInput | undefined): Promise<Outcome>;
  afterError(error: PosternError, reenter: (issue?: LoginIssue) => LoginState): LoginState;
  /** Sends the browser to a provider. */
  redirect(authenticator: string, input: RedirectInput, signal: AbortSignal): Promise<Outcome>;
  /** Completes the login after the browser has come back to an address. */
  resumeRedirect(address: string): Promise<LoginState>;
  /** The login that waited for a code when the page was closed, if it still waits. */
  reopen(key: string): Promise<CreateStep | undefined>;
}

export function createSteps(tools: LoginTools): Steps {
  const { core, store, enter, start, restart, resumeKey } = tools;
  const { isOpen, sendSecret, sendAssertion, sendNewPasskey } = createSecretRequests(core, start, follow);
  const actions: StepActions = { cancel: restart, sendSecret, sendAssertion, sendNewPasskey, sendAgain: send };

  /** Only logins at a provider load this code. */
  const loadRedirects = once(async () => {
    const { createRedirectSteps } = await loadPart(() => import('./redirect-steps.js'));
    return createRedirectSteps(tools, sendSecret, sendStart);
  });

  const sendStart = async (body: object, signal: AbortSignal) =>
    core.send<Authentication>({
      method: 'POST',
      path: '/v1/tokens',
      body: { ...body, device: await loginDeviceOf(core) },
      signal,
      expects: 'status',
    });

  async function send(request: StartRequest, signal: AbortSignal, passkey?: PasskeyInput): Promise<Outcome> {
    const { pin, redirect, asked: _, ...begin } = request;
    if (redirect !== undefined) return (await loadRedirects()).begin(begin.authenticator, redirect, signal);
    return follow(await sendStart({ ...begin, ...(pin && { pin }) }, signal), request, signal, passkey);
  }

  /** The state after an answer. */
  async function follow(
    answer: Authentication,
    begin: StartRequest,
    signal: AbortSignal,
    passkey?: PasskeyInput,
  ): Promise<Outcome> {
    const { status, error_message: message } = answer;
    if (status === 'rejected') return () => start({ kind: 'wrong', message });
    if (status === 'approved') return finish(answer, begin);
    if (passkey !== undefined) return sendAssertion(answer, begin, answer.challenge ?? {}, passkey, signal);
    return openSecondStep(answer, begin);
  }

  async function finish(
    { token, user_id = '', device_id, is_bound, recovery_codes }: Authentication,
    { authenticator }: StartRequest,
  ): Promise<LoginState> {
    if (resumeKey) await core.marks.delete(resumeKey);
    if (authenticator === 'guest') await rememberGuest(core, { user_id, token });
    let done = store.current;
    // The login ends before the client shows who is signed in, because a page may then remove the listeners of the login.
    await storeLogin(core, { token, user_id, device_id, is_bound }, () => {
      done = enter(() => ({ step: 'done', user_id, device_id, ...(recovery_codes && { recovery_codes }) }));
      store.set(done);
    });
    return done;
  }

  async function openSecondStep(answer: Authentication, begin: StartRequest): Promise<Outcome> {
    const expiresAt = localTime(answer, answer.expires_at);
    // A code to an address of the user, after the first secret.
    const isLaterCode = answer.challenge?.type === 'code';
    if (answer.challenge?.type === 'link') {
      const { linkStep } = await loadPart(() => import('./link-step.js'));
      const createStep = linkStep(answer, begin, expiresAt, core, actions);
      return () => enter(createStep);
    }
    if (answer.challenge !== undefined && !isLaterCode) {
      const createStep = challengeStep(answer, begin, expiresAt, actions);
      return () => enter(createStep);
    }
    const resendAt = localTime(answer, answer.resend_at ?? answer.created_at);
    const { destination = answer.challenge?.destination } = answer;
    const open = {
      id: answer.id,
      begin,
      expiresAt,
      resendAt,
      destination: typeof destination === 'string' ? destination : null,
    };
    if (isLaterCode) return () => enter(codeStep(open, actions, true));
    // Without the PIN, which is a secret.
    const { pin: _, ...storedRequest } = begin;
    if (resumeKey) await core.marks.set(resumeKey, JSON.stringify({ ...open, begin: storedRequest }));
    return () => enter(codeStep(open, actions));
  }

  return {
    begin: ({ identity, ...input }, signal, passkey) =>
      send({ ...input, ...(identity !== undefined && { identity: identityOf(identity) }) }, signal, passkey),

    redirect: async (...input) => (await loadRedirects()).begin(...input),
    resumeRedirect: async (address) => (await loadRedirects()).resume(address),

    afterError(error, reenter) {
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
        const issue: LoginIssue = { kind: 'failed', message, error };
        return enter(() => ({ step: 'locked', permanent: true, reason: error.code, restart }), issue);
      }
      return reenter(issueOf(error));
    },

    async reopen(key) {
      const open: OpenLogin | null = JSON.parse((await core.marks.get(key)) ?? 'null');
      const isWaiting = open !== null && open.expiresAt > Date.now() && (await isOpen(open.id));
      return isWaiting ? codeStep(open, actions) : undefined;
    },
  };
}

/** A time of the service by the clock of the device, as milliseconds. The two clocks are never compared. */
function localTime({ created_at }: Pick<Authentication, 'created_at'>, time: string): number {
  return Date.now() + Date.parse(time) - Date.parse(created_at);
}
