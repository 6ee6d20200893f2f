import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Challenge } from '../../credentials/challenge.js';
import type { Database } from '../../database/database.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import { parseId } from '../../lib/ids.js';
import { parseJsonObject } from '../../lib/json-object.js';
import { type FieldError, throwIfErrors } from '../../lib/problem.js';
import type { IdentityProvider, ProviderAccount, RedirectError } from './provider.js';
import {
  findRedirectLogin,
  lockRedirectLogin,
  type RedirectLogin,
  type RedirectRequest,
  type RedirectState,
  storeRedirectState,
  type Visit,
} from './redirect-state.js';
import { requireListed } from './redirect-uris.js';

/**
 * Logins that send a browser to a provider and back. The authentication of the login keeps their state. A user with a session
 * links an account in the same way. Four values protect
 * them: `state` finds the login and belongs to one visit; the cookie shows that the same browser comes back; the nonce and
 * PKCE bind the provider's answer to the visit; and the app's PKCE verifier shows that the app that began the login ends it.
 */
export interface Redirects {
  /**
   * Begins a login, or the link of an account to a user with a session.
   * @throws Problem `validation_failed`, `redirect_not_allowed`
   */
  begin(
    provider: IdentityProvider,
    id: string,
    request: RedirectRequest,
    /** The member or parameter of the request that names the provider. */
    field: 'authenticator' | 'name',
  ): RedirectChallenge;
  /** Sends a browser to the provider. @param browser the value of its cookie, if it has one */
  visit(id: string, browser: string | undefined): Promise<Visited>;
  /**
   * Ends the part of the provider, once for each visit. A repeat, also on another instance, gets the same result for 60 s.
   * @param answer the parameters with which the browser came back
   */
  callback(name: string, answer: URLSearchParams, browser: string | undefined): Promise<Returned>;
  /** Keeps an answer that the provider has posted, because a browser sends no cookie with it. */
  post(name: string, answer: URLSearchParams): Promise<Returned>;
  /** The account with which a login or a link by redirect ends. @param secret JSON text: `code` and `code_verifier` */
  accountOf(id: string, state: string, secret: string): Promise<ProviderAccount | undefined>;
}

export type RedirectChallenge = Challenge & Required<Pick<Challenge, 'clientChallenge'>>;

/** The next page of the browser, or why there is none. */
export type Visited = { readonly url: string; readonly browser?: string } | { readonly page: RedirectPage };
export type Returned = { readonly url: string } | { readonly page: RedirectPage };

/**
 * What a page says to a person whose browser cannot go on.
 * - `ended`: the login has ended, or it never existed.
 * - `other_browser`: the login began in another browser, or this one refuses cookies.
 */
export type RedirectPage = 'ended' | 'other_browser';

export interface RedirectsOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly providers: readonly IdentityProvider[];
  /** REDIRECT_URIS. */
  readonly redirectUris: readonly string[];
  /** Without a slash at the end. Undefined: no redirect can begin. */
  readonly publicUrl: string | undefined;
  /** A provider's answer that could not be used, for the log. @param id the login, or the link of an account */
  readonly onFailure: (provider: string, error: unknown, id: string) => void;
}

/** Seconds for the whole login. */
const lifetimeSeconds = 600;
const maxVisits = 5;
/** Milliseconds that a code, a posted answer and a result are kept. */
const shortly = 60_000;
/** Milliseconds in which an exchange with the provider ends, with its wait for a place. */
const exchangeMs = 22_000;
const pollMs = 100;

const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url');
const areEqual = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
const secretText = () => randomBytes(24).toString('base64url');

/** A text that finds its login: 32 hexadecimal digits of the id, and 192 random bits. */
const createState = (id: string) => `${id.replaceAll('-', '')}${secretText()}`;

/** The id of a login in a text of `createState`. */
function idOf(state: string): string | undefined {
  const digits = /^([0-9a-f]{32})[\w-]{32}$/.exec(state)?.[1];
  return digits === undefined ? undefined : parseId(digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
}

/** Creates the logins by redirect. */
export function createRedirects(options: RedirectsOptions): Redirects {
  const { database, keys, providers, redirectUris, publicUrl = '', onFailure } = options;

  const seal = (value: unknown, id: string) => keys.encrypt(JSON.stringify(value), `redirect ${id}`).toString('base64');
  function open<T>(text: string, id: string): T | undefined {
    const plain = keys.decrypt(Buffer.from(text, 'base64'), `redirect ${id}`);
    return plain === undefined ? undefined : JSON.parse(plain);
  }

  const begin: Redirects['begin'] = (provider, id, request, field) => {
    const { redirect_to: to, code_challenge: codeChallenge, login_hint: loginHint } = request;
    const errors: FieldError[] = [];
    if (to === undefined) errors.push({ field: 'redirect_to', code: 'required' });
    if (codeChallenge === undefined) errors.push({ field: 'code_challenge', code: 'required' });
    throwIfErrors(errors);
    if (to === undefined || codeChallenge === undefined) throw new Error('unreachable: the error was thrown above');
    if (provider.redirect === undefined || publicUrl === '') {
      throwIfErrors([{ field, code: 'no_redirect_client', params: { name: provider.name } }]);
    }
    requireListed(redirectUris, 'redirect_to', to);
    const state: RedirectState = { to, codeChallenge, loginHint, visits: [] };
    return {
      state: { redirect: JSON.stringify(state) },
      lifetime: lifetimeSeconds,
      clientChallenge: { type: 'redirect', url: `${publicUrl}/redirects/${id}` },
      showsExpiry: true,
    };
  };

  async function visit(givenId: string, givenBrowser: string | undefined): Promise<Visited> {
    const id = parseId(givenId);
    const login = id === undefined ? undefined : await findRedirectLogin(database, id);
    const provider = login && providerOf(login);
    if (login === undefined || provider?.redirect === undefined || !login.isOpen) return { page: 'ended' };
    const browser = /^[\w-]{32}$/.test(givenBrowser ?? '') ? (givenBrowser ?? '') : secretText();
    const state = createState(login.id);
    const [nonce, codeVerifier] = [secretText(), randomBytes(32).toString('base64url')];
    const { loginHint } = login.state;
    let url: string;
    try {
      url = await provider.redirect.authorizationUrl({ state, nonce, codeVerifier, loginHint });
    } catch (error) {
      onFailure(provider.name, error, login.id);
      return { url: errorUrl(login, 'provider_unavailable') };
    }
    const made: Visit = {
      state: digestOf(state),
      browser: digestOf(browser),
      secrets: seal({ nonce, codeVerifier }, login.id),
    };
    const isStored = await change(login, (current) => {
      if (!current.isOpen || current.state.visits.length >= maxVisits || current.state.code !== undefined) return;
      return { ...current.state, visits: [...current.state.visits, made] };
    });
    return isStored ? { url, browser } : { page: 'ended' };
  }

  async function post(name: string, answer: URLSearchParams): Promise<Returned> {
    const state = answer.get('state') ?? '';
    const found = await findVisit(name, state);
    if (found === undefined) return { page: 'ended' };
    const { login } = found;
    await change(login, (current) =>
      withVisit(current, state, (visit) =>
        visit.posted === undefined
          ? { ...visit, posted: { answer: seal(answer.toString(), login.id), until: current.now + shortly } }
          : undefined,
      ),
    );
    // The state is as random as a handle, and only this provider and this browser know it. A second answer changes nothing.
    return { url: `${publicUrl}/callback/${encodeURIComponent(name)}?${new URLSearchParams({ handle: state })}` };
  }

  async function callback(name: string, given: URLSearchParams, browser: string | undefined): Promise<Returned> {
    const handle = given.get('handle');
    const state = handle ?? given.get('state') ?? '';
    const found = await findVisit(name, state);
    if (found === undefined) return { page: 'ended' };
    const { login, visit, provider } = found;
    if (browser === undefined || !areEqual(digestOf(browser), visit.browser)) return { page: 'other_browser' };
    if (visit.result !== undefined) return repeated(login, visit.result);
    if (!login.isOpen) return { url: errorUrl(login, 'expired') };
    const answer = handle === null ? given : postedAnswer(login, visit);
    if (answer === undefined) return { url: errorUrl(login, 'expired') };
    const isFirst = await change(login, (current) =>
      withVisit(current, state, (one) =>
        one.exchangedAt === undefined && current.isOpen ? { ...one, exchangedAt: current.now } : undefined,
      ),
    );
    return isFirst ? exchange(login, { state, visit, provider, answer }) : resultOfOther(login, state);
  }

  /** Asks the provider for the account, in no transaction. */
  async function exchange(
    login: RedirectLogin,
    { state, visit, provider, answer }: Found & { readonly state: string; readonly answer: URLSearchParams },
  ): Promise<Returned> {
    const secrets = open<{ nonce: string; codeVerifier: string }>(visit.secrets, login.id);
    const expected = secrets && { ...secrets, state, now: new Date(login.now) };
    const result = expected && (await provider.redirect?.exchange(answer, expected));
    const failure = result === undefined ? ({ error: 'failed', cause: 'unreadable' } as const) : result;
    if ('error' in failure) onFailure(provider.name, failure.cause, login.id);
    const account = 'error' in failure ? undefined : failure;
    const code = secretText();
    const url = 'error' in failure ? errorUrl(login, failure.error) : codeUrl(login, code);
    const isStored = await change(login, (current) => {
      if (account !== undefined && (!current.isOpen || current.state.code !== undefined)) return;
      const until = current.now + shortly;
      const changed = withVisit(current, state, (one) => ({ ...one, result: { url: seal(url, login.id), until } }));
      if (account === undefined) return changed;
      return changed && { ...changed, code: { digest: digestOf(code), until }, account: seal(account, login.id) };
    });
    return { url: isStored ? url : errorUrl(login, 'expired') };
  }

  /** Waits for the result of a parallel callback, which may run on another instance. */
  async function resultOfOther(login: RedirectLogin, state: string): Promise<Returned> {
    const end = performance.now() + exchangeMs;
    while (performance.now() < end) {
      const current = await findRedirectLogin(database, login.id);
      const visit = current && visitOf(current.state, state);
      if (current === undefined || visit === undefined) break;
      if (visit.result !== undefined) return repeated(current, visit.result);
      // Its process has ended.
      if (current.now - (visit.exchangedAt ?? 0) > exchangeMs) break;
      await wait(pollMs);
    }
    return { url: errorUrl(login, 'failed') };
  }

  function repeated(login: RedirectLogin, { url, until }: NonNullable<Visit['result']>): Returned {
    const result = until > login.now ? open<string>(url, login.id) : undefined;
    return { url: result ?? errorUrl(login, 'expired') };
  }

  function postedAnswer(login: RedirectLogin, { posted }: Visit): URLSearchParams | undefined {
    const kept = posted && posted.until > login.now ? open<string>(posted.answer, login.id) : undefined;
    return kept === undefined ? undefined : new URLSearchParams(kept);
  }

  async function accountOf(id: string, text: string, secret: string): Promise<ProviderAccount | undefined> {
    const { code, code_verifier: verifier } = parseJsonObject(secret) ?? {};
    const state: RedirectState = JSON.parse(text);
    const login = await findRedirectLogin(database, id);
    if (typeof code !== 'string' || typeof verifier !== 'string' || state.code === undefined) return undefined;
    // RFC 7636, 4.1 and 4.6.
    const isVerifier = /^[\w.~-]{43,128}$/.test(verifier) && areEqual(digestOf(verifier), state.codeChallenge);
    const isCode = areEqual(digestOf(code), state.code.digest) && login !== undefined && login.now < state.code.until;
    return isCode && isVerifier && state.account !== undefined ? open(state.account, id) : undefined;
  }

  interface Found {
    readonly visit: Visit;
    readonly provider: IdentityProvider;
  }

  /** The visit of a `state`, if its login belongs to the provider with this name. */
  async function findVisit(name: string, state: string): Promise<(Found & { login: RedirectLogin }) | undefined> {
    const id = idOf(state);
    const login = id === undefined ? undefined : await findRedirectLogin(database, id);
    const provider = login && providerOf(login);
    const visit = login && visitOf(login.state, state);
    if (login === undefined || visit === undefined || provider === undefined) return undefined;
    return provider.name === name || provider.authenticator === name ? { login, visit, provider } : undefined;
  }

  const providerOf = ({ authenticator }: RedirectLogin) =>
    providers.find((provider) => provider.authenticator === authenticator);

  /** Changes the state of a login, unless `next` returns undefined. @returns whether it changed */
  function change(login: RedirectLogin, next: (current: RedirectLogin) => RedirectState | undefined): Promise<boolean> {
    return database.user(login.userId).transaction(async (tx) => {
      const current = await lockRedirectLogin(tx, login);
      const state = current && next(current);
      if (state !== undefined) await storeRedirectState(tx, login, state);
      return state !== undefined;
    });
  }

  const returnUrl = ({ id, state: { to } }: RedirectLogin, result: Record<string, string>) =>
    `${to}${to.includes('?') ? '&' : '?'}${new URLSearchParams({ authentication_id: id, ...result, iss: publicUrl })}`;
  const codeUrl = (login: RedirectLogin, code: string) => returnUrl(login, { code });
  const errorUrl = (login: RedirectLogin, error: RedirectError) => returnUrl(login, { error });

  return { begin, visit, callback, post, accountOf };
}

const visitOf = ({ visits }: RedirectState, state: string) => {
  const digest = digestOf(state);
  return visits.find((visit) => areEqual(visit.state, digest));
};

/** The state with one visit changed; undefined if `next` returns undefined or there is no such visit. */
function withVisit(
  { state: current }: RedirectLogin,
  state: string,
  next: (visit: Visit) => Visit | undefined,
): RedirectState | undefined {
  const visit = visitOf(current, state);
  const changed = visit && next(visit);
  return changed && { ...current, visits: current.visits.map((one) => (one === visit ? changed : one)) };
}
