import type { Database } from '../../database/database.js';
import { parseToken } from '../../lib/crypto/token-strings.js';
import type { LoginPolicies } from '../../limits/login-policies.js';
import type { PageVisit, RedirectPages } from '../providers/redirect-pages.js';
import type { RedirectPage, Returned } from '../providers/redirect-results.js';
import type { PageApps } from './page-apps.js';
import { findPageLogin, type HeldPageLogin } from './page-logins.js';

/** The pages of this service: an app sends its users there, and gets their login back. */
export interface Pages {
  /** What a login of an app needs next. @returns the page that says why it cannot go on */
  read(request: PageRequest): Promise<PageFlow | RedirectPage>;
  /**
   * Answers the app.
   * @param answer `allow`: the user has agreed, or has just signed in on the page that names the app. `refuse`: the app gets `access_denied`. Undefined: nobody was asked
   * @returns where the browser goes; or what is needed before
   */
  answer(request: PageRequest, answer: 'allow' | 'refuse' | undefined): Promise<Returned | PageFlow>;
}

/** What a browser sends. */
export interface PageRequest {
  /** From the address of the page. */
  readonly state: string;
  /** The value of the cookie of redirects. */
  readonly browser: string | undefined;
  /** The authentication token of the login of the pages. */
  readonly token: string | undefined;
}

/** What the page shows for a login of an app. */
export interface PageFlow {
  /**
   * - `sign_in`: nobody is signed in, or the app asks for a newer login.
   * - `ask`: the user has not used this app yet, or its address is not https. The user says whether to go on.
   * - `go`: nothing is missing.
   */
  readonly next: 'sign_in' | 'ask' | 'go';
  /** The entry of REDIRECT_URIS. */
  readonly app: string;
  readonly login_hint: string | null;
  /** The name of who is signed in. Null: nobody is, or the user has no name. */
  readonly user: string | null;
}

/** Creates the pages' part of logins. */
export function createPages({
  database,
  redirects,
  apps,
  policies,
}: {
  readonly database: Database;
  readonly policies: LoginPolicies;
  readonly redirects: RedirectPages;
  readonly apps: Pick<PageApps, 'has' | 'allow'>;
}): Pages {
  async function held(text: string | undefined): Promise<HeldPageLogin | undefined> {
    const token = parseToken('authentication', text ?? '');
    return token && findPageLogin(database, token, policies);
  }

  async function nextOf(visit: PageVisit, login: HeldPageLogin | undefined): Promise<PageFlow['next']> {
    if (visit.isAnswered) return 'go';
    if (login === undefined || !isFreshEnough(visit, login)) return 'sign_in';
    // Any program of the device can take a scheme or a port, and open the page: only a click shows that the user wants it (RFC 8252, 8.6).
    return visit.app.startsWith('https:') && (await apps.has(login.userId, visit.app)) ? 'go' : 'ask';
  }

  const flowOf = (
    next: PageFlow['next'],
    { app, loginHint }: PageVisit,
    login: HeldPageLogin | undefined,
  ): PageFlow => ({ next, app, login_hint: loginHint ?? null, user: login?.name ?? null });

  return {
    async read({ state, browser, token }) {
      const visit = await redirects.readPageVisit(state, browser);
      if ('page' in visit) return visit;
      const login = await held(token);
      return flowOf(await nextOf(visit, login), visit, login);
    },
    async answer({ state, browser, token }, answer) {
      const visit = await redirects.readPageVisit(state, browser);
      if ('page' in visit) return visit;
      if (answer === 'refuse') return redirects.answerPageVisit(state, browser, 'refused');
      const login = await held(token);
      const next = await nextOf(visit, login);
      // After an answer, the login is not needed: the browser gets the same result.
      const { userId = '', id = '' } = login ?? {};
      if (visit.isAnswered) return redirects.answerPageVisit(state, browser, { userId, id });
      if (login === undefined || (next !== 'go' && !(next === 'ask' && answer === 'allow'))) {
        return flowOf(next, visit, login);
      }
      await apps.allow(userId, visit.app);
      return redirects.answerPageVisit(state, browser, { userId, id });
    },
  };
}

/** Whether the login of the pages was made for this visit. */
const isMadeFor = ({ createdAt }: PageVisit, { authenticatedAt }: HeldPageLogin) => authenticatedAt >= createdAt;

/** Whether the login of the pages is as new as the app wants. A login of the future, after a step of the clock, is not new. */
function isFreshEnough(visit: PageVisit, login: HeldPageLogin): boolean {
  const { prompt, maxAge, now } = visit;
  const age = now - login.authenticatedAt;
  const isNewEnough = maxAge === undefined || (age >= 0 && age <= maxAge * 1000) || isMadeFor(visit, login);
  return isNewEnough && (prompt === undefined || isMadeFor(visit, login));
}
