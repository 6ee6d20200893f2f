import type { Database } from '../../database/database.js';
import { findByExternalIdentity, listExternalIdentities } from '../../users/external-identities.js';
import { accountOfIdToken, idTokenChallenge } from '../providers/id-token-challenge.js';
import type { IdentityProvider } from '../providers/provider.js';
import type { ProviderHealth } from '../providers/provider-health.js';
import type { Redirects } from '../providers/redirects.js';
import type { Outcome, SignUp } from '../providers/sign-up.js';
import type { UserIdentifying } from './authenticator.js';

/**
 * A login with an account at a provider: by an id_token, or by redirect. The linked pair of issuer and subject identifies the
 * user, never the mail address: providers allow addresses that do not belong to the user, or no longer do.
 */
export function providerAuthenticator(
  {
    database,
    redirects,
    signUp,
    health,
  }: {
    readonly database: Database;
    readonly redirects: Redirects;
    readonly signUp: SignUp;
    readonly health: Pick<ProviderHealth, 'fail'>;
  },
  provider: IdentityProvider,
): UserIdentifying {
  return {
    name: provider.authenticator,
    steps: 2,
    namesUser: true,
    signsUp: provider.signUp,
    async findMissing({ userId }) {
      const linked = await listExternalIdentities(database, userId);
      return linked.some(({ issuer }) => provider.hasIssuer(issuer)) ? undefined : 'external_identity';
    },
    begin: async (authenticationId, request) =>
      request.redirect_to === undefined && request.code_challenge === undefined && provider.accountOf !== undefined
        ? idTokenChallenge(provider)
        : redirects.begin(provider, authenticationId, request, 'authenticator'),
    async identify(answer) {
      const { state, secret, authenticationId } = answer;
      if (state.step !== undefined) return userOf(await signUp.answer(answer));
      const account =
        state.redirect === undefined
          ? await accountOfIdToken(database, provider, state.nonce, secret)
          : await redirects.accountOf(authenticationId, state.redirect, secret);
      if (account === undefined) return undefined;
      const userId = await findByExternalIdentity(database, account);
      if (userId !== undefined) return userOf({ userId });
      const outcome = provider.signUp ? await signUp.continueWith(account, answer) : 'not_linked';
      if (outcome === 'not_linked') health.fail(provider.authenticator, 'not_linked');
      return userOf(outcome);
    },
  };
}

/** An account at a provider is one factor. */
function userOf(outcome: Outcome | undefined) {
  return typeof outcome === 'object' && 'userId' in outcome ? { ...outcome, isMultiFactor: false } : outcome;
}
