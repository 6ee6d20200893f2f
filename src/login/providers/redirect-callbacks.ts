import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../database/database.js';
import type { IdentityProvider } from './provider.js';
import type { ProviderHealth } from './provider-health.js';
import type { RedirectPage, RedirectResults, Returned } from './redirect-results.js';
import { areEqual, digestOf, type RedirectSecrets, secretsOf, secretText, type Visit } from './redirect-secrets.js';
import {
  changeRedirectState,
  findRedirectLogin,
  type RedirectLogin,
  type RedirectState,
  type Return,
} from './redirect-state.js';

export interface RedirectCallbacks {
  /**
   * Ends the part of the provider, once for each visit. A repeat, also on another instance, gets the same result for 60 s.
   * @param answer the parameters with which the browser came back
   */
  callback(name: string, answer: URLSearchParams, browser: string | undefined): Promise<Returned>;
  /** Keeps an answer that the provider has posted, because a browser sends no cookie with it. */
  post(name: string, answer: URLSearchParams): Promise<Returned>;
}

export interface RedirectCallbacksOptions {
  readonly database: Database;
  readonly providers: readonly IdentityProvider[];
  /** Without a slash at the end. Undefined: no redirect can begin. */
  readonly publicUrl: string | undefined;
  readonly health: Pick<ProviderHealth, 'fail' | 'succeed'>;
  /** A provider's answer that could not be used, for the log. @param id the login, or the link of an account */
  readonly onFailure: (provider: string, error: unknown, id: string) => void;
}

/** Milliseconds that a code of a login or a link, a posted answer and a result are kept. */
const shortly = 60_000;
/** Milliseconds that the code of a proof is good, as those of other proofs are. Only the session's device can use it. */
const proofMs = 300_000;
/** Milliseconds in which an exchange with the provider ends, with its wait for a place. */
const exchangeMs = 22_000;
const pollMs = 100;

/** A visit that has come back, its login, and its provider. */
interface Found {
  readonly login: RedirectLogin;
  readonly visit: Visit;
  readonly provider: IdentityProvider;
}

/** Creates what ends the part of the provider when a browser comes back from there. */
export function createRedirectCallbacks(
  { database, providers, publicUrl = '', health, onFailure }: RedirectCallbacksOptions,
  secrets: RedirectSecrets,
  { blockerOf, reach, passed, repeated, expired, failed, toApp }: RedirectResults,
): RedirectCallbacks {
  const { encrypt } = secrets;

  async function post(name: string, answer: URLSearchParams): Promise<Returned> {
    const state = answer.get('state') ?? '';
    const found = await findVisit(name, state);
    if ('page' in found) return found;
    const { login } = found;
    await changeRedirectState(database, login, (current) =>
      withReturn(current, state, (one) =>
        one.posted === undefined
          ? { ...one, posted: { answer: encrypt(answer.toString(), login.id), until: current.now + shortly } }
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
    const answer = handle === null ? given : postedAnswer(secrets, login, known);
    if (answer === undefined) return expired(login);
    const isFirst = await changeRedirectState(database, login, (current) =>
      withReturn(current, state, (one) =>
        one.exchangedAt === undefined && current.isOpen ? { ...one, exchangedAt: current.now } : undefined,
      ),
    );
    return isFirst ? exchange({ login, visit, provider }, state, answer) : resultOfOther(login, state);
  }

  /** Asks the provider for the account, in no transaction. */
  async function exchange(
    { login, visit, provider }: Found,
    state: string,
    answer: URLSearchParams,
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
    const account = isFailure ? undefined : { digest: digestOf(code), encrypted: encrypt(result, login.id) };
    const isStored = await changeRedirectState(database, login, (current) =>
      withResult(current, state, encrypt(next, login.id), account),
    );
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

  /** The visit of a `state`, if its login belongs to the provider with this name; otherwise a page that says why not. */
  async function findVisit(name: string, state: string): Promise<Found | RedirectPage> {
    const named = providers.find((provider) => provider.name === name || provider.authenticator === name);
    if (named === undefined) return { page: 'not_configured', name };
    const { id, visit } = secrets.visitOf(state) ?? {};
    const login = id === undefined ? undefined : await findRedirectLogin(database, id);
    if (login === undefined || visit === undefined || login.authenticator !== named.authenticator) {
      health.fail(named.authenticator, 'unknown_state');
      return { page: 'ended' };
    }
    return blockerOf(login) ?? { login, visit, provider: named };
  }

  return { callback, post };
}

/** The return of a visit, by its `state`. */
export const returnOf = ({ returns }: RedirectState, state: string) => {
  const digest = digestOf(state);
  return returns.find((one) => areEqual(one.state, digest));
};

/** The state with one return changed, or a new one; undefined if `next` returns undefined. */
export function withReturn(
  { state: current }: RedirectLogin,
  state: string,
  next: (one: Return) => Return | undefined,
): RedirectState | undefined {
  const known = returnOf(current, state);
  const changed = next(known ?? { state: digestOf(state) });
  const others = current.returns.filter((one) => one !== known);
  return changed && { ...current, returns: [...others, changed] };
}

/**
 * The state with the result of one return; undefined if the login has ended or another return has completed it.
 * @param account what the app gets for its code. Undefined: the part of the provider has failed
 */
function withResult(
  login: RedirectLogin,
  state: string,
  next: string,
  account: { readonly digest: string; readonly encrypted: string } | undefined,
): RedirectState | undefined {
  const { isOpen, now, state: current } = login;
  if (account !== undefined && (!isOpen || current.code !== undefined)) return undefined;
  const until = now + shortly;
  const changed = withReturn(login, state, (one) => ({ ...one, result: { next, until } }));
  if (account === undefined || changed === undefined) return changed;
  const test = current.test && ({ step: 'account' } as const);
  const code = { digest: account.digest, until: current.isFresh ? now + proofMs : until };
  return { ...changed, test, code, account: account.encrypted };
}

/** The answer that the provider has posted, if it is still kept. */
function postedAnswer(
  { decrypt }: RedirectSecrets,
  { id, now }: RedirectLogin,
  one: Return | undefined,
): URLSearchParams | undefined {
  const posted = one?.posted;
  const kept = posted && posted.until > now ? decrypt<string>(posted.answer, id) : undefined;
  return kept === undefined ? undefined : new URLSearchParams(kept);
}
