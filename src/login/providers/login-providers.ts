import type { ProviderGap } from '../../contract/login-provider/problems.js';
import { type StartedChallenge, startChallenge } from '../../credentials/challenges.js';
import type { Database } from '../../database/database.js';
import { newId, parseId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import type { IdentityProvider } from './provider.js';
import { currentFault, type ProviderHealth, type ProviderHistory } from './provider-health.js';
import type { Redirects, TestReport } from './redirects.js';
import type { ForeseenLogin, SignUp } from './sign-up.js';

/** The configured providers, as operators see them. */
export interface LoginProviders {
  list(): Promise<ListedProvider[]>;
  /**
   * Starts a test that goes through the whole login, and logs nobody in.
   * @param owner the operator; undefined for an API key
   * @throws Problem `not_found`, `provider_incomplete`
   */
  startTest(name: string, owner: string | undefined): Promise<StartedChallenge & { readonly url: string }>;
  /** @throws Problem `not_found` */
  readTest(name: string, id: string): Promise<TestReport & { readonly foreseen: ForeseenLogin | undefined }>;
}

/** A provider, what is missing in its configuration, and what happened in its logins. */
export interface ListedProvider extends ProviderHistory {
  readonly provider: IdentityProvider;
  readonly state: 'works' | 'fails' | 'unused' | 'incomplete';
  readonly missing: readonly ProviderGap[];
}

export interface LoginProvidersOptions {
  readonly database: Database;
  readonly providers: readonly IdentityProvider[];
  readonly redirects: Pick<Redirects, 'beginTest' | 'readTest'>;
  readonly health: Pick<ProviderHealth, 'read'>;
  readonly foresee: SignUp['foresee'];
  readonly hasPublicUrl: boolean;
  readonly hasRedirectUris: boolean;
  /** Whether LOGIN_METHODS opens logins of this name. */
  readonly isOpenLogin: (name: string) => boolean;
}

const nothing: ProviderHistory = { workedAt: null, problems: [] };

/** Creates the service behind the page of the providers. */
export function createLoginProviders(options: LoginProvidersOptions): LoginProviders {
  const { database, providers, redirects, health, foresee } = options;

  function gapsOf({ authenticator, redirect }: IdentityProvider): ProviderGap[] {
    const { hasPublicUrl, hasRedirectUris, isOpenLogin } = options;
    return [
      ...(hasPublicUrl ? [] : ['public_url' as const]),
      ...(hasPublicUrl && redirect === undefined ? ['client_id' as const] : []),
      ...(hasRedirectUris ? [] : ['redirect_uris' as const]),
      ...(isOpenLogin(authenticator) ? [] : ['login_methods' as const]),
    ];
  }

  function stateOf(history: ProviderHistory, missing: readonly ProviderGap[]): ListedProvider['state'] {
    if (missing.length > 0) return 'incomplete';
    if (currentFault(history) !== undefined) return 'fails';
    return history.workedAt === null ? 'unused' : 'works';
  }

  function providerOf(name: string): IdentityProvider {
    const provider = providers.find((one) => one.name === name);
    if (provider === undefined) throw new Problem('not_found');
    return provider;
  }

  return {
    async list() {
      const histories = await health.read();
      return providers.map((provider) => {
        const history = histories.get(provider.authenticator) ?? nothing;
        const missing = gapsOf(provider);
        return { provider, ...history, missing, state: stateOf(history, missing) };
      });
    },
    async startTest(name, owner) {
      const provider = providerOf(name);
      const id = newId();
      const challenge = redirects.beginTest(provider, id);
      if (challenge === undefined) throw new Problem('provider_incomplete', { params: { name } });
      const userId = owner ?? id;
      const state = { ...challenge.state, authenticator: provider.authenticator };
      const { lifetime } = challenge;
      const started = { userId, id, purpose: 'provider_test', lifetime, state } as const;
      const stored = await startChallenge(database.user(userId), started);
      return { ...stored, url: String(challenge.clientChallenge.url) };
    },
    async readTest(name, givenId) {
      const provider = providerOf(name);
      const id = parseId(givenId);
      const report = id === undefined ? undefined : await redirects.readTest(id);
      if (report?.authenticator !== provider.authenticator) throw new Problem('not_found');
      return { ...report, foreseen: report.account && (await foresee(provider, report.account)) };
    },
  };
}
