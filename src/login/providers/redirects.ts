import type { Challenge } from '../../credentials/challenge.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import { parseJsonObject } from '../../lib/json-object.js';
import { type FieldError, throwIfErrors } from '../../lib/problem.js';
import type { IdentityProvider, ProviderAccount } from './provider.js';
import {
  createRedirectCallbacks,
  type RedirectCallbacks,
  type RedirectCallbacksOptions,
} from './redirect-callbacks.js';
import { createRedirectPages, type PageLogin, pageProvider, type RedirectPages } from './redirect-pages.js';
import { createRedirectResults } from './redirect-results.js';
import { areEqual, createRedirectSecrets, digestOf } from './redirect-secrets.js';
import { findRedirectLogin, type RedirectRequest, type RedirectState, type TestProgress } from './redirect-state.js';
import { isListed, requireListed, shownUri } from './redirect-uris.js';
import { createRedirectVisits, type RedirectVisits } from './redirect-visits.js';

/**
 * Logins that send a browser to a provider and back. The authentication of the login keeps their state. A user with a session
 * links an account, or proves to own it, in the same way, and operators test a provider so. Four values protect
 * them: `state` finds the login and belongs to one visit of one browser; the cookie shows that the same browser comes back; the
 * nonce and PKCE bind the provider's answer to the visit; and the app's PKCE verifier shows that the app that began the login
 * ends it.
 */
export interface Redirects extends RedirectVisits, RedirectCallbacks, RedirectPages {
  /**
   * Begins a login, or the link or proof of an account of a user with a session.
   * @throws Problem `validation_failed`, `redirect_not_allowed`
   */
  begin(
    provider: IdentityProvider,
    id: string,
    request: RedirectRequest & {
      /** Whether the person has to log in at the provider again. */
      readonly isFresh?: boolean;
    },
    /** The member or parameter of the request that names the provider. */
    field: 'authenticator' | 'name' | 'provider',
  ): RedirectChallenge;
  /** Begins a test, which ends with a page and a report. Undefined: this installation has no client at the provider. */
  beginTest(provider: IdentityProvider, id: string): RedirectChallenge | undefined;
  /** Where a test has got to, and its account. Undefined: there is no such test. */
  readTest(id: string): Promise<TestReport | undefined>;
  /** The account with which a login, link or proof by redirect ends. @param secret JSON text: `code` and `code_verifier` */
  accountOf(id: string, state: string, secret: string): Promise<ProviderAccount | undefined>;
  /** Begins a login at the pages of this service. @throws Problem as `begin` */
  beginAtPage(id: string, request: RedirectRequest): RedirectChallenge;
  /** The login of the pages with which a login ends. @param secret as in `accountOf` */
  pageLoginOf(id: string, state: string, secret: string): Promise<PageLogin | undefined>;
}

export type RedirectChallenge = Challenge & Required<Pick<Challenge, 'clientChallenge'>>;

/** What a test has found out. */
export interface TestReport {
  readonly authenticator: string;
  readonly isOpen: boolean;
  readonly expiresAt: string;
  readonly progress: TestProgress;
  readonly account: ProviderAccount | undefined;
}

export interface RedirectsOptions extends RedirectCallbacksOptions {
  readonly keys: SecretKeys;
  /** REDIRECT_URIS. */
  readonly redirectUris: readonly string[];
  /** PAGES: then logins at providers may also return to the pages. */
  readonly hasPages: boolean;
}

/** Seconds for the whole login. */
const lifetimeSeconds = 600;

/** Creates the logins by redirect. */
export function createRedirects(options: RedirectsOptions): Redirects {
  const { database, redirectUris: apps, hasPages, publicUrl = '', health } = options;
  const secrets = createRedirectSecrets(options.keys);
  const page = pageProvider(publicUrl);
  const redirectUris = hasPages ? [...apps, `${publicUrl}/sign-in`, `${publicUrl}/account`] : apps;
  const results = createRedirectResults({ database, redirectUris, publicUrl, health, secrets });

  const challengeOf = (state: RedirectState, id: string): RedirectChallenge => ({
    state: { redirect: JSON.stringify(state) },
    lifetime: lifetimeSeconds,
    clientChallenge: { type: 'redirect', url: `${publicUrl}/redirects/${id}` },
    showsExpiry: true,
  });

  const begin: Redirects['begin'] = (provider, id, request, field) => {
    const { redirect_to: to, code_challenge: codeChallenge, login_hint: loginHint, isFresh } = request;
    const isPage = provider === page;
    const errors: FieldError[] = [];
    if (to === undefined) errors.push({ field: 'redirect_to', code: 'required' });
    if (codeChallenge === undefined) errors.push({ field: 'code_challenge', code: 'required' });
    throwIfErrors(errors);
    if (to === undefined || codeChallenge === undefined) throw new Error('unreachable: the error was thrown above');
    if (provider.redirect === undefined || publicUrl === '') {
      throwIfErrors([{ field, code: 'no_redirect_client', params: { name: provider.name } }]);
    }
    const listed = isPage ? apps : redirectUris;
    if (!isPage && !isListed(listed, to)) health.fail(provider.authenticator, 'redirect_not_allowed', shownUri(to));
    requireListed(listed, 'redirect_to', to);
    const { prompt, max_age: maxAge } = request;
    return challengeOf({ to, codeChallenge, loginHint, isFresh, prompt, maxAge, returns: [] }, id);
  };

  const beginTest: Redirects['beginTest'] = (provider, id) =>
    provider.redirect === undefined || publicUrl === ''
      ? undefined
      : challengeOf({ returns: [], test: { step: 'start' } }, id);

  async function readTest(id: string): Promise<TestReport | undefined> {
    const login = await findRedirectLogin(database, id);
    const { test: progress, account } = login?.state ?? {};
    if (login === undefined || progress === undefined) return undefined;
    const { authenticator, isOpen, expiresAt } = login;
    return {
      authenticator,
      isOpen,
      expiresAt,
      progress,
      account: account === undefined ? undefined : secrets.decrypt(account, id),
    };
  }

  async function keptAccount<T>(id: string, text: string, secret: string): Promise<T | undefined> {
    const { code, code_verifier: verifier } = parseJsonObject(secret) ?? {};
    const state: RedirectState = JSON.parse(text);
    const login = await findRedirectLogin(database, id);
    if (typeof code !== 'string' || typeof verifier !== 'string' || state.code === undefined) return undefined;
    // RFC 7636, 4.1 and 4.6.
    const isVerifier = /^[\w.~-]{43,128}$/.test(verifier) && areEqual(digestOf(verifier), state.codeChallenge ?? '');
    const isCode = areEqual(digestOf(code), state.code.digest) && login !== undefined && login.now < state.code.until;
    return isCode && isVerifier && state.account !== undefined ? secrets.decrypt(state.account, id) : undefined;
  }

  const visits = createRedirectVisits(options, secrets, results, hasPages ? page : undefined);
  const callbacks = createRedirectCallbacks(options, secrets, results);
  const pages = createRedirectPages({ database, redirectUris: apps }, secrets, results);
  return {
    begin,
    beginTest,
    readTest,
    ...visits,
    ...callbacks,
    ...pages,
    accountOf: keptAccount<ProviderAccount>,
    beginAtPage: (id, request) => begin(page, id, request, 'authenticator'),
    pageLoginOf: keptAccount<PageLogin>,
  };
}
