import type { Database } from '../../database/database.js';
import type { IdentityProvider } from './provider.js';
import { returnOf, withReturn } from './redirect-callbacks.js';
import type { RedirectPage, RedirectResults, Returned } from './redirect-results.js';
import { areEqual, digestOf, type RedirectSecrets, secretText } from './redirect-secrets.js';
import { changeRedirectState, findRedirectLogin, type RedirectLogin } from './redirect-state.js';
import { entryOf } from './redirect-uris.js';

/** Logins of apps at the pages of this service: what the pages know of them, and their answers. */
export interface RedirectPages {
  /**
   * A login that an app has begun.
   * @param state what the address of the page contains
   * @param browser the value of the browser's cookie
   * @returns the page that says why it cannot go on
   */
  readPageVisit(state: string, browser: string | undefined): Promise<PageVisit | RedirectPage>;
  /**
   * Answers the app, once. A repeat gets the same result for 60 s.
   * @param login the user's login at the pages; `refused` if the user has refused the app
   */
  answerPageVisit(state: string, browser: string | undefined, login: PageLogin | 'refused'): Promise<Returned>;
}

/** What an app has asked for. Times are milliseconds by the database's clock. */
export interface PageVisit {
  /** The entry of REDIRECT_URIS. */
  readonly app: string;
  readonly loginHint: string | undefined;
  readonly prompt: 'login' | undefined;
  /** Seconds. */
  readonly maxAge: number | undefined;
  readonly createdAt: number;
  readonly now: number;
  /** Whether this visit was answered, so that another answer gets the same result. */
  readonly isAnswered: boolean;
}

/** A login of the pages. */
export interface PageLogin {
  readonly userId: string;
  readonly id: string;
}

/** Milliseconds that a code and a result are kept. */
const shortly = 60_000;

/** The pages as the place where a login by redirect goes. They answer by `answerPageVisit`, and not by a callback. */
export const pageProvider = (publicUrl: string): IdentityProvider => ({
  name: 'page',
  authenticator: 'page',
  title: 'page',
  issuer: publicUrl,
  clientIds: [],
  signUp: false,
  hasIssuer: () => false,
  accountOf: undefined,
  redirect: {
    redirectUri: `${publicUrl}/sign-in`,
    authorizationUrl: async ({ state }) => `${publicUrl}/sign-in?${new URLSearchParams({ state })}`,
    exchange: async () => ({ error: 'failed', problem: 'unknown_state', detail: undefined, cause: undefined }),
  },
});

/** Creates what the pages ask about the login of an app, and what answers it. @param redirectUris REDIRECT_URIS */
export function createRedirectPages(
  { database, redirectUris }: { readonly database: Database; readonly redirectUris: readonly string[] },
  { encrypt, visitOf }: RedirectSecrets,
  { blockerOf, passed, repeated, toApp, ended }: RedirectResults,
): RedirectPages {
  async function find(state: string, browser: string | undefined): Promise<RedirectLogin | RedirectPage> {
    const { id, visit } = visitOf(state) ?? {};
    const login = id === undefined ? undefined : await findRedirectLogin(database, id);
    if (login === undefined || visit === undefined || login.authenticator !== 'page') return ended(undefined);
    if (browser === undefined || !areEqual(digestOf(browser), visit.browser)) return { page: 'other_browser' };
    return blockerOf(login) ?? login;
  }

  /** The result of an earlier answer to the same visit. */
  function resultOf(login: RedirectLogin, state: string): Returned | undefined {
    const result = returnOf(login.state, state)?.result;
    return result !== undefined && result.until > login.now ? repeated(login, result) : undefined;
  }

  return {
    async readPageVisit(state, browser) {
      const login = await find(state, browser);
      if ('page' in login) return login;
      const isAnswered = resultOf(login, state) !== undefined;
      const { to = '', code, loginHint, prompt, maxAge } = login.state;
      const app = entryOf(redirectUris, to);
      // An answer that is not kept any more cannot be repeated: then the app has its code already, or the login is over.
      if (app === undefined || (!isAnswered && (!login.isOpen || code !== undefined))) return ended(login);
      return { app, loginHint, prompt, maxAge, createdAt: login.createdAt, now: login.now, isAnswered };
    },
    async answerPageVisit(state, browser, answer) {
      const login = await find(state, browser);
      if ('page' in login) return login;
      const former = resultOf(login, state);
      if (former !== undefined) return former;
      const code = secretText();
      const isRefused = answer === 'refused';
      const next = isRefused ? toApp(login, { error: 'access_denied' }) : passed(login, code);
      // Where the function returns undefined, nothing changes and `isStored` is false.
      const isStored = await changeRedirectState(database, login, (current) => {
        if (!current.isOpen || current.state.code !== undefined) return;
        const until = current.now + shortly;
        const result = { next: encrypt(next, login.id), until };
        const changed = withReturn(current, state, (one) =>
          one.result === undefined ? { ...one, result } : undefined,
        );
        if (isRefused || changed === undefined) return changed;
        const account = encrypt(answer, login.id);
        return { ...changed, code: { digest: digestOf(code), until }, account, pageLogin: answer.id };
      });
      if (isStored) return next;
      // A parallel answer was first, or the login has ended meanwhile.
      const current = await find(state, browser);
      return 'page' in current ? current : (resultOf(current, state) ?? ended(current));
    },
  };
}
