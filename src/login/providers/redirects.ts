import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { providerProblems } from '../../contract/login-provider/problems.js';
import type { Challenge } from '../../credentials/challenge.js';
import type { Database } from '../../database/database.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import { parseId } from '../../lib/ids.js';
import { parseJsonObject } from '../../lib/json-object.js';
import { type FieldError, throwIfErrors } from '../../lib/problem.js';
import type { FailedExchange, IdentityProvider, ProviderAccount, RedirectError } from './provider.js';
import type { ProviderHealth } from './provider-health.js';
import {
  findRedirectLogin,
  lockRedirectLogin,
  type RedirectLogin,
  type RedirectRequest,
  type RedirectState,
  type Return,
  storeRedirectState,
  type TestProgress,
} from './redirect-state.js';
import { isListed, requireListed } from './redirect-uris.js';

/**
 * Logins that send a browser to a provider and back. The authentication of the login keeps their state. A user with a session
 * links an account, or proves to own it, in the same way, and operators test a provider so. Four values protect
 * them: `state` finds the login and belongs to one visit of one browser; the cookie shows that the same browser comes back; the
 * nonce and PKCE bind the provider's answer to the visit; and the app's PKCE verifier shows that the app that began the login
 * ends it.
 */
export interface Redirects {
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
  /**
   * Sends a browser to the provider. It stores nothing, so it does not matter how often the address is opened, or who opens it.
   * @param browser the value of its cookie, if it has one
   */
  visit(id: string, browser: string | undefined): Promise<Visited>;
  /**
   * Ends the part of the provider, once for each visit. A repeat, also on another instance, gets the same result for 60 s.
   * @param answer the parameters with which the browser came back
   */
  callback(name: string, answer: URLSearchParams, browser: string | undefined): Promise<Returned>;
  /** Keeps an answer that the provider has posted, because a browser sends no cookie with it. */
  post(name: string, answer: URLSearchParams): Promise<Returned>;
  /** The account with which a login, link or proof by redirect ends. @param secret JSON text: `code` and `code_verifier` */
  accountOf(id: string, state: string, secret: string): Promise<ProviderAccount | undefined>;
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
}

export interface RedirectsOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly providers: readonly IdentityProvider[];
  /** REDIRECT_URIS. */
  readonly redirectUris: readonly string[];
  /** Without a slash at the end. Undefined: no redirect can begin. */
  readonly publicUrl: string | undefined;
  readonly health: Pick<ProviderHealth, 'fail' | 'succeed'>;
  /** A provider's answer that could not be used, for the log. @param id the login, or the link of an account */
  readonly onFailure: (provider: string, error: unknown, id: string) => void;
}

/** Seconds for the whole login. */
const lifetimeSeconds = 600;
/** How often browsers may open the address of a login. Each visit comes back from the provider at most once. */
const maxVisits = 5;
/** Milliseconds that a code of a login or a link, a posted answer and a result are kept. */
const shortly = 60_000;
/** Milliseconds that the code of a proof is good, as those of other proofs are. Only the session's device can use it. */
const proofMs = 300_000;
/** Milliseconds in which an exchange with the provider ends, with its wait for a place. */
const exchangeMs = 22_000;
const pollMs = 100;

const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url');
const areEqual = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
const secretText = () => randomBytes(24).toString('base64url');

/** One visit of a browser at the provider. `state` contains it, encrypted. */
interface Visit {
  /** 192 random bits. */
  readonly seed: string;
  /** The digest of the browser's cookie. */
  readonly browser: string;
}

/** The nonce and the PKCE verifier of a visit. */
const secretsOf = ({ seed }: Visit) => ({
  nonce: digestOf(`nonce ${seed}`).slice(0, 32),
  codeVerifier: digestOf(`verifier ${seed}`),
});

/** The id of a login in a `state`: its first 32 characters are the hexadecimal digits of the id. */
function idOf(state: string): string | undefined {
  const digits = /^([0-9a-f]{32})[\w-]{100,300}$/.exec(state)?.[1];
  return digits === undefined ? undefined : parseId(digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
}

/** Creates the logins by redirect. */
export function createRedirects(options: RedirectsOptions): Redirects {
  const { database, keys, providers, redirectUris, publicUrl = '', health, onFailure } = options;

  const seal = (value: unknown, id: string) => keys.encrypt(JSON.stringify(value), `redirect ${id}`).toString('base64');
  function open<T>(text: string, id: string): T | undefined {
    const plain = keys.decrypt(Buffer.from(text, 'base64'), `redirect ${id}`);
    return plain === undefined ? undefined : JSON.parse(plain);
  }

  /** A text that finds its login and its visit. Nobody else can make or read it. */
  const stateOf = ({ seed, browser }: Visit, id: string) =>
    id.replaceAll('-', '') + keys.encrypt(`${seed} ${browser}`, `visit ${id}`).toString('base64url');
  function visitOf(state: string, id: string): Visit | undefined {
    const plain = keys.decrypt(Buffer.from(state.slice(32), 'base64url'), `visit ${id}`);
    const [seed, browser] = plain?.split(' ') ?? [];
    return seed === undefined || browser === undefined ? undefined : { seed, browser };
  }

  const challengeOf = (state: RedirectState, id: string): RedirectChallenge => ({
    state: { redirect: JSON.stringify(state) },
    lifetime: lifetimeSeconds,
    clientChallenge: { type: 'redirect', url: `${publicUrl}/redirects/${id}` },
    showsExpiry: true,
  });

  const begin: Redirects['begin'] = (provider, id, request, field) => {
    const { redirect_to: to, code_challenge: codeChallenge, login_hint: loginHint, isFresh } = request;
    const errors: FieldError[] = [];
    if (to === undefined) errors.push({ field: 'redirect_to', code: 'required' });
    if (codeChallenge === undefined) errors.push({ field: 'code_challenge', code: 'required' });
    throwIfErrors(errors);
    if (to === undefined || codeChallenge === undefined) throw new Error('unreachable: the error was thrown above');
    if (provider.redirect === undefined || publicUrl === '') {
      throwIfErrors([{ field, code: 'no_redirect_client', params: { name: provider.name } }]);
    }
    if (!isListed(redirectUris, to)) health.fail(provider.authenticator, 'redirect_not_allowed', shown(to));
    requireListed(redirectUris, 'redirect_to', to);
    return challengeOf({ to, codeChallenge, loginHint, isFresh, returns: [] }, id);
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
      account: account === undefined ? undefined : open(account, id),
    };
  }

  async function visit(givenId: string, givenBrowser: string | undefined): Promise<Visited> {
    const id = parseId(givenId);
    const login = id === undefined ? undefined : await findRedirectLogin(database, id);
    if (login === undefined || !login.isOpen || login.state.code !== undefined) return { page: 'ended' };
    const page = blockerOf(login);
    if (page !== undefined) return page;
    const provider = providerOf(login);
    if (provider?.redirect === undefined) return { page: 'not_configured', name: login.authenticator };
    const browser = /^[\w-]{32}$/.test(givenBrowser ?? '') ? (givenBrowser ?? '') : secretText();
    const made: Visit = { seed: secretText(), browser: digestOf(browser) };
    const { loginHint, isFresh = false } = login.state;
    const request = { ...secretsOf(made), state: stateOf(made, login.id), loginHint, isFresh };
    let url: string;
    try {
      url = await provider.redirect.authorizationUrl(request);
    } catch (error) {
      const failure = error as FailedExchange;
      onFailure(provider.name, failure.cause, login.id);
      return failed(login, failure, 'start');
    }
    const isCounted = await change(login, (current) => {
      const { visits = 0, code } = current.state;
      return current.isOpen && code === undefined && visits < maxVisits
        ? { ...current.state, visits: visits + 1 }
        : undefined;
    });
    if (!isCounted) return { page: 'ended' };
    await reach(login, 'login');
    return { url, browser };
  }

  async function post(name: string, answer: URLSearchParams): Promise<Returned> {
    const state = answer.get('state') ?? '';
    const found = await findVisit(name, state);
    if ('page' in found) return found;
    const { login } = found;
    await change(login, (current) =>
      withReturn(current, state, (one) =>
        one.posted === undefined
          ? { ...one, posted: { answer: seal(answer.toString(), login.id), until: current.now + shortly } }
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
    if ('page' in found) return found;
    const { login, visit, provider } = found;
    if (browser === undefined || !areEqual(digestOf(browser), visit.browser)) {
      health.fail(provider.authenticator, 'other_browser');
      await reach(login, 'return', { code: 'other_browser', detail: undefined });
      return { page: 'other_browser' };
    }
    const known = returnOf(login.state, state);
    if (known?.result !== undefined) return repeated(login, known.result);
    if (!login.isOpen) return expired(login);
    const answer = handle === null ? given : postedAnswer(login, known);
    if (answer === undefined) return expired(login);
    const isFirst = await change(login, (current) =>
      withReturn(current, state, (one) =>
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
    const { authenticator, redirect } = provider;
    const since = login.state.isFresh ? new Date(login.createdAt) : undefined;
    const expected = { ...secretsOf(visit), state, now: new Date(login.now), since };
    const result = await redirect?.exchange(answer, expected);
    if (result === undefined) return { page: 'not_configured', name: authenticator };
    const isFailure = 'error' in result;
    if (isFailure) onFailure(provider.name, result.cause, login.id);
    else health.succeed(authenticator);
    const code = secretText();
    const next = isFailure ? await failed(login, result) : passed(login, code);
    const isStored = await change(login, (current) => {
      if (!isFailure && (!current.isOpen || current.state.code !== undefined)) return;
      const until = current.now + shortly;
      const changed = withReturn(current, state, (one) => ({ ...one, result: { next: seal(next, login.id), until } }));
      if (isFailure) return changed;
      const test = current.state.test && ({ step: 'account' } as const);
      const codeUntil = current.state.isFresh ? current.now + proofMs : until;
      const digest = digestOf(code);
      return changed && { ...changed, test, code: { digest, until: codeUntil }, account: seal(result, login.id) };
    });
    return isStored ? next : expired(login);
  }

  /** Waits for the result of a parallel callback, which may run on another instance. */
  async function resultOfOther(login: RedirectLogin, state: string): Promise<Returned> {
    const end = performance.now() + exchangeMs;
    while (performance.now() < end) {
      const current = await findRedirectLogin(database, login.id);
      const one = current && returnOf(current.state, state);
      if (current === undefined || one === undefined) return expired(login);
      if (one.result !== undefined) return repeated(current, one.result);
      // Its process has ended.
      if (current.now - (one.exchangedAt ?? 0) > exchangeMs) break;
      await wait(pollMs);
    }
    return toApp(login, { error: 'failed' });
  }

  function repeated(login: RedirectLogin, { next, until }: NonNullable<Return['result']>): Returned {
    const result = until > login.now ? open<Returned>(next, login.id) : undefined;
    return result ?? toApp(login, { error: 'expired' });
  }

  function expired(login: RedirectLogin): Returned {
    health.fail(login.authenticator, 'login_expired');
    return toApp(login, { error: 'expired' });
  }

  function postedAnswer(login: RedirectLogin, one: Return | undefined): URLSearchParams | undefined {
    const posted = one?.posted;
    const kept = posted && posted.until > login.now ? open<string>(posted.answer, login.id) : undefined;
    return kept === undefined ? undefined : new URLSearchParams(kept);
  }

  async function accountOf(id: string, text: string, secret: string): Promise<ProviderAccount | undefined> {
    const { code, code_verifier: verifier } = parseJsonObject(secret) ?? {};
    const state: RedirectState = JSON.parse(text);
    const login = await findRedirectLogin(database, id);
    if (typeof code !== 'string' || typeof verifier !== 'string' || state.code === undefined) return undefined;
    // RFC 7636, 4.1 and 4.6.
    const isVerifier = /^[\w.~-]{43,128}$/.test(verifier) && areEqual(digestOf(verifier), state.codeChallenge ?? '');
    const isCode = areEqual(digestOf(code), state.code.digest) && login !== undefined && login.now < state.code.until;
    return isCode && isVerifier && state.account !== undefined ? open(state.account, id) : undefined;
  }

  interface Found {
    readonly visit: Visit;
    readonly provider: IdentityProvider;
  }

  /** The visit of a `state`, if its login belongs to the provider with this name; otherwise a page that says why not. */
  async function findVisit(
    name: string,
    state: string,
  ): Promise<(Found & { readonly login: RedirectLogin }) | RedirectPage> {
    const named = providers.find((provider) => provider.name === name || provider.authenticator === name);
    if (named === undefined) return { page: 'not_configured', name };
    const id = idOf(state);
    const visit = id === undefined ? undefined : visitOf(state, id);
    const login = id === undefined || visit === undefined ? undefined : await findRedirectLogin(database, id);
    if (login === undefined || visit === undefined || login.authenticator !== named.authenticator) {
      health.fail(named.authenticator, 'unknown_state');
      return { page: 'ended' };
    }
    return blockerOf(login) ?? { login, visit, provider: named };
  }

  /** A page in place of an address that is not, or no longer, allowed. */
  function blockerOf({ state: { to, test } }: RedirectLogin): RedirectPage | undefined {
    if (to === undefined) return test === undefined ? { page: 'no_redirect' } : undefined;
    return isListed(redirectUris, to) ? undefined : { page: 'not_listed', name: shown(to) };
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

  /** Stores how far a test has got. Other logins need no such report. */
  async function reach(
    login: RedirectLogin,
    step: TestProgress['step'],
    problem?: Pick<NonNullable<TestProgress['problem']>, 'code' | 'detail'>,
  ): Promise<void> {
    if (login.state.test === undefined) return;
    await change(login, ({ state, isOpen, now: at }) =>
      isOpen && state.code === undefined
        ? { ...state, test: { step, problem: problem && { ...problem, at } } }
        : undefined,
    );
  }

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

  return { begin, beginTest, readTest, visit, callback, post, accountOf };
}

/** An address of an app for people, without what it may carry. */
const shown = (uri: string) => uri.replace(/[?#].*$/, '?…').replace(/\/\/[^/]*@/, '//…@');

const returnOf = ({ returns }: RedirectState, state: string) => {
  const digest = digestOf(state);
  return returns.find((one) => areEqual(one.state, digest));
};

/** The state with one return changed, or a new one; undefined if `next` returns undefined. */
function withReturn(
  { state: current }: RedirectLogin,
  state: string,
  next: (one: Return) => Return | undefined,
): RedirectState | undefined {
  const known = returnOf(current, state);
  const changed = next(known ?? { state: digestOf(state) });
  const others = current.returns.filter((one) => one !== known);
  return changed && { ...current, returns: [...others, changed] };
}
