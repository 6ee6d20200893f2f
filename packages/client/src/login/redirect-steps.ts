import { CancelledError, isPosternError, isProblem, type PosternError } from '../errors.js';
import { onPageEvent } from '../platform.js';
import type { Authentication } from '../wire.js';
import type { CreateStep, LoginTools, Outcome, StartRequest } from './inputs.js';
import { beginRedirect, type Departure, findReturn, forget, type Return, refusesCookies } from './redirects.js';
import type { createSecretRequests } from './secret-requests.js';
import type { LoginRefused, LoginState, RedirectInput } from './states.js';

const noCookies =
  'This browser blocks cookies, so it could not come back from the provider. Allow cookies for this page.';

type SendSecret = ReturnType<typeof createSecretRequests>['sendSecret'];

/** A login that goes to a provider and comes back. */
export interface RedirectSteps {
  /** Sends the browser to the provider. @throws UsageError outside of a page without `redirectTo` and `open` */
  begin(authenticator: string, input: RedirectInput, signal: AbortSignal): Promise<Outcome>;
  /** Completes the login whose answer is in the address, if this browser began it. */
  resume(address: string): Promise<LoginState>;
}

export function createRedirectSteps(
  tools: LoginTools,
  sendSecret: SendSecret,
  sendStart: (body: object, signal: AbortSignal) => Promise<Authentication>,
): RedirectSteps {
  const { core, store, enter, start, restart } = tools;
  const resume = createReturns(tools, sendSecret, refuse);

  async function begin(authenticator: string, input: RedirectInput, signal: AbortSignal): Promise<Outcome> {
    const { loginHint, prompt, maxAge: max_age, ...options } = input;
    if (options.open === undefined && refusesCookies()) {
      return () => refuse(authenticator, input, 'no_cookies', noCookies);
    }
    const departure = await beginRedirect(core, 'login', authenticator, options, (body) =>
      sendStart({ authenticator, ...body, ...(loginHint && { login_hint: loginHint }), prompt, max_age }, signal),
    );
    if (signal.aborted) return store.current;
    const away = enter(awayStep(authenticator, departure));
    store.set(away);
    const isAway = () => store.current === away;
    // The user has come back without an answer, and the browser shows the page as it was.
    const end = onPageEvent('pageshow', ({ persisted }) => {
      if (!persisted) return;
      end();
      if (isAway()) restart();
    });
    try {
      const address = await departure.leave();
      if (typeof address === 'string') return await resume(address, input);
      if (address === null && isAway()) store.set(start({ kind: 'cancelled', message: new CancelledError().message }));
    } catch (error) {
      if (isAway()) restart();
      core.onError(error);
    }
    return store.current;
  }

  const awayStep =
    (authenticator: string, { id, url, expiresAt }: Departure): CreateStep =>
    () => ({
      step: 'redirect',
      authenticator,
      url,
      expiresAt,
      retry: null,
      cancel() {
        void forget(core, id);
        return restart();
      },
    });

  function refuse(
    authenticator: string,
    input: RedirectInput,
    reason: LoginRefused['reason'],
    message: string,
  ): LoginState {
    return enter((runInput) => ({
      step: 'refused',
      authenticator,
      reason,
      message,
      restart,
      retry: () => runInput('retry', (signal) => begin(authenticator, input, signal)),
    }));
  }

  return { begin, resume };
}

/** @returns a function that completes the login whose answer is in an address */
function createReturns(
  { core, store, enter, start, restart }: LoginTools,
  sendSecret: SendSecret,
  refuse: (authenticator: string, input: RedirectInput, reason: LoginRefused['reason'], message: string) => LoginState,
) {
  let resuming: { readonly address: string; readonly next: Promise<LoginState> } | undefined;

  function resume(address: string, input: RedirectInput = {}): Promise<LoginState> {
    if (resuming?.address === address) return resuming.next;
    const next = findReturn(core, 'login', address).then((found) => (found ? end(found, input) : store.current));
    resuming = { address, next };
    return next.finally(() => {
      resuming = undefined;
    });
  }

  function end(found: Return, input: RedirectInput): Promise<LoginState> {
    const { name: authenticator, expiresAt } = found;
    let retry: () => Promise<LoginState> = async () => store.current;
    const createStep: CreateStep = (runInput) => {
      retry = () => runInput('return', (signal) => complete(found, input, signal));
      return { step: 'redirect', authenticator, url: null, expiresAt, cancel: restart, retry };
    };
    store.set(enter(createStep));
    return retry();
  }

  async function complete(found: Return, input: RedirectInput, signal: AbortSignal): Promise<Outcome> {
    const { id, name: authenticator } = found;
    try {
      const begin: StartRequest = { authenticator, redirect: input };
      const outcome = await sendSecret({ id }, begin, found.secret(), undefined, signal);
      await forget(core, id);
      return outcome;
    } catch (error) {
      const next = isPosternError(error) ? afterRefusal(error, authenticator, input) : undefined;
      if (next === undefined) throw error;
      await forget(core, id);
      return next;
    }
  }

  /** The state after a definite refusal. Undefined: the same answer can be sent again. */
  function afterRefusal(
    error: PosternError,
    authenticator: string,
    input: RedirectInput,
  ): (() => LoginState) | undefined {
    const { message } = error;
    if (error.kind === 'cancelled') return () => start({ kind: 'cancelled', message });
    if (error.kind === 'provider') {
      const { code: reason } = error;
      if (reason === 'expired') return () => start({ kind: 'lapsed', message });
      return () => refuse(authenticator, input, reason, message);
    }
    if (!isProblem(error, 'authorization_rejected')) return undefined;
    if (!error.errors.some(({ code }) => code === 'not_linked')) return () => start({ kind: 'lapsed', message });
    return () => refuse(authenticator, input, 'not_linked', message);
  }

  return resume;
}
