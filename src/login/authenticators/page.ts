import type { Database } from '../../database/database.js';
import type { LoginPolicies } from '../../limits/login-policies.js';
import { findPageLogin } from '../pages/page-logins.js';
import type { Redirects } from '../providers/redirects.js';
import type { UserIdentifying } from './authenticator.js';

/** The name of logins at the pages of this service. */
const pageAuthenticatorName = 'page';

/**
 * A login at the pages of this service (PAGES), by redirect. The login of the pages has proven everything that the account asks for,
 * so nothing is asked a second time, except a second factor that the account has got since, or must have now. It must still be valid when the app ends its login.
 */
export function pageAuthenticator({
  database,
  redirects,
  policies,
}: {
  readonly database: Database;
  readonly policies: LoginPolicies;
  readonly redirects: Pick<Redirects, 'beginAtPage' | 'pageLoginOf'>;
}): UserIdentifying {
  return {
    name: pageAuthenticatorName,
    steps: 2,
    namesUser: true,
    begin: async (authenticationId, request) => redirects.beginAtPage(authenticationId, request),
    async identify({ state, secret, authenticationId }) {
      if (state.redirect === undefined) return undefined;
      const login = await redirects.pageLoginOf(authenticationId, state.redirect, secret);
      const held = login && (await findPageLogin(database, login, policies));
      return (
        held && { userId: held.userId, isMultiFactor: held.secondFactor !== null, secondFactor: held.secondFactor }
      );
    },
  };
}
