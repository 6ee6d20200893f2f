import { providerProblems } from '../../contract/login-provider/problems.js';
import type { Database } from '../../database/database.js';
import type { FailedExchange, RedirectError } from './provider.js';
import type { ProviderHealth } from './provider-health.js';
import type { RedirectSecrets } from './redirect-secrets.js';
import { changeRedirectState, type RedirectLogin, type Return, type TestProgress } from './redirect-state.js';
import { isListed, shownUri } from './redirect-uris.js';

/** The next page of the browser, or why there is none. */
export type Visited = { readonly url: string; readonly browser?: string } | RedirectPage;
export type Returned = { readonly url: string } | RedirectPage;

/** What a page says to a person whose browser cannot go on, or to an operator whose test is over. */
export interface RedirectPage {
  /**
   * - `ended`: the login has ended, or it never existed.
   * - `other_browser`: the login began in another browser, or this one refuses cookies.
   * - `no_redirect`: the app has begun the login without an address to return to.
   * - `not_configured`: the provider is not configured here.
   * - `not_listed`: the app's address is not in REDIRECT_URIS.
   * - `test_passed`, `test_failed`: a test is over.
   */
  readonly page:
    | 'ended'
    | 'other_browser'
    | 'no_redirect'
    | 'not_configured'
    | 'not_listed'
    | 'test_passed'
    | 'test_failed';
  /** What the text names: the provider, or the address. */
  readonly name?: string;
  /** Why a test failed. */
  readonly problem?: TestProgress['problem'];
  /** Where the person can begin again: a listed address of the app, with `error=expired`. */
  readonly again?: string | undefined;
}

interface RedirectResultsOptions {
  readonly database: Database;
  /** REDIRECT_URIS. */
  readonly redirectUris: readonly string[];
  readonly publicUrl: string;
  readonly health: Pick<ProviderHealth, 'fail'>;
  readonly secrets: Pick<RedirectSecrets, 'decrypt'>;
}

export type RedirectResults = ReturnType<typeof createRedirectResults>;

/** Creates what decides where a browser goes next: back to the app, or to a page. A test also keeps how far it has got. */
export function createRedirectResults({ database, redirectUris, publicUrl, health, secrets }: RedirectResultsOptions) {
  /** A page in place of an address that is not, or no longer, allowed. */
  function blockerOf({ state: { to, test } }: RedirectLogin): RedirectPage | undefined {
    if (to === undefined) return test === undefined ? { page: 'no_redirect' } : undefined;
    return isListed(redirectUris, to) ? undefined : { page: 'not_listed', name: shownUri(to) };
  }

  /** Stores how far a test has got. Other logins need no such report. */
  async function reach(
    login: RedirectLogin,
    step: TestProgress['step'],
    problem?: Pick<NonNullable<TestProgress['problem']>, 'code' | 'detail'>,
  ): Promise<void> {
    if (login.state.test === undefined) return;
    await changeRedirectState(database, login, ({ state, isOpen, now: at }) =>
      isOpen && state.code === undefined
        ? { ...state, test: { step, problem: problem && { ...problem, at } } }
        : undefined,
    );
  }

  function expired(login: RedirectLogin): Returned {
    health.fail(login.authenticator, 'login_expired');
    return toApp(login, { error: 'expired' });
  }

  /** The result of an earlier callback of the same visit. */
  function repeated(login: RedirectLogin, { next, until }: NonNullable<Return['result']>): Returned {
    const result = until > login.now ? secrets.decrypt<Returned>(next, login.id) : undefined;
    return result ?? toApp(login, { error: 'expired' });
  }

  /** After a right login: back to the app with a code, or to the page of a test that has passed. */
  function passed(login: RedirectLogin, code: string): Returned {
    return login.state.test === undefined ? toApp(login, { code }) : { page: 'test_passed' };
  }

  /** @param step the step of a test at which it failed; undefined: the usual one of the problem */
  async function failed(
    login: RedirectLogin,
    failure: FailedExchange,
    step: TestProgress['step'] = providerProblems[failure.problem].step,
  ): Promise<Returned> {
    const { problem: code, detail, error } = failure;
    health.fail(login.authenticator, code, detail);
    await reach(login, step, { code, detail });
    if (login.state.test === undefined) return toApp(login, { error });
    return { page: 'test_failed', problem: { code, detail, at: login.now } };
  }

  /** Sends the browser back to the app, or ends a test. */
  function toApp(
    { id, state: { to } }: RedirectLogin,
    result: { readonly code: string } | { readonly error: RedirectError },
  ): Returned {
    if (to === undefined) return { page: 'ended' };
    const parameters = new URLSearchParams({ authentication_id: id, ...result, iss: publicUrl });
    return { url: `${to}${to.includes('?') ? '&' : '?'}${parameters}` };
  }

  /** The page of a login that has ended. From there a person gets back to the app, unless the app has its code already. */
  function ended(login: RedirectLogin | undefined): RedirectPage {
    const isUsed = login === undefined || login.state.code !== undefined || blockerOf(login) !== undefined;
    const back = isUsed ? undefined : toApp(login, { error: 'expired' });
    return { page: 'ended', again: back && 'url' in back && /^https?:/.test(back.url) ? back.url : undefined };
  }

  return { blockerOf, reach, passed, repeated, expired, failed, toApp, ended };
}
