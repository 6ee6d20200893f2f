import { parseId } from '../../lib/ids.js';
import type { FailedExchange, IdentityProvider } from './provider.js';
import type { RedirectCallbacksOptions } from './redirect-callbacks.js';
import type { RedirectResults, Visited } from './redirect-results.js';
import { digestOf, type RedirectSecrets, secretsOf, secretText } from './redirect-secrets.js';
import { changeRedirectState, findRedirectLogin } from './redirect-state.js';

/** The first half of a login by redirect: the way to the provider. */
export interface RedirectVisits {
  /**
   * Sends a browser to the provider. It stores nothing, so it does not matter how often the address is opened, or who opens it.
   * @param browser the value of its cookie, if it has one
   */
  visit(id: string, browser: string | undefined): Promise<Visited>;
}

/** How often browsers may open the address of a login. Each visit comes back from the provider at most once. */
const maxVisits = 5;

/** @param page the provider that the pages of this service are for apps; undefined without PAGES */
export function createRedirectVisits(
  { database, providers, onFailure }: Pick<RedirectCallbacksOptions, 'database' | 'providers' | 'onFailure'>,
  secrets: RedirectSecrets,
  { blockerOf, reach, failed, ended }: RedirectResults,
  page: IdentityProvider | undefined,
): RedirectVisits {
  const usable = page === undefined ? providers : [...providers, page];

  async function visit(givenId: string, givenBrowser: string | undefined): Promise<Visited> {
    const id = parseId(givenId);
    const login = id === undefined ? undefined : await findRedirectLogin(database, id);
    if (login === undefined || !login.isOpen || login.state.code !== undefined) return ended(login);
    const blocker = blockerOf(login);
    if (blocker !== undefined) return blocker;
    const provider = usable.find(({ authenticator }) => authenticator === login.authenticator);
    if (provider?.redirect === undefined) return { page: 'not_configured', name: login.authenticator };
    const browser = /^[\w-]{32}$/.test(givenBrowser ?? '') ? (givenBrowser ?? '') : secretText();
    const made = { seed: secretText(), browser: digestOf(browser) };
    const { loginHint, isFresh = false } = login.state;
    const request = { ...secretsOf(made), state: secrets.stateOf(made, login.id), loginHint, isFresh };
    let url: string;
    try {
      url = await provider.redirect.authorizationUrl(request);
    } catch (error) {
      const failure = error as FailedExchange;
      onFailure(provider.name, failure.cause, login.id);
      return failed(login, failure, 'start');
    }
    const isCounted = await changeRedirectState(database, login, (current) => {
      const { visits = 0, code } = current.state;
      return current.isOpen && code === undefined && visits < maxVisits
        ? { ...current.state, visits: visits + 1 }
        : undefined;
    });
    if (!isCounted) return ended(login);
    await reach(login, 'login');
    return { url, browser };
  }

  return { visit };
}
