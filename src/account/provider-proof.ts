import { isNotAhead } from '../database/clock.js';
import type { Database } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import type { AccountUser } from '../identities/accounts.js';
import { type FieldError, throwIfErrors } from '../lib/problem.js';
import { authenticatedAt } from '../limits/login-policies.js';
import type { IdentityProvider } from '../login/providers/provider.js';
import type { Redirects } from '../login/providers/redirects.js';
import { findByExternalIdentity, listExternalIdentities } from '../users/external-identities.js';
import type { LoginAsProof, TwoStepProof } from './proofs.js';

interface ProviderProofParts {
  readonly database: Database;
  /** The providers whose logins are open. */
  readonly providers: readonly IdentityProvider[];
  readonly redirects: Pick<Redirects, 'begin' | 'accountOf'>;
  /** Whether a browser may return from a provider to some address. */
  readonly hasRedirectUris: boolean;
}

/**
 * Whether a provider can show that a person is present: only an id_token says when the person has logged in there. A provider
 * without id_tokens proves nothing (ASVS 5.0, 6.8.4).
 */
const provesPresence = ({ redirect, accountOf }: IdentityProvider) => redirect !== undefined && accountOf !== undefined;

/** The names of the providers with which a user can prove to be present. */
export function createProvingProviders({ database, providers, hasRedirectUris }: ProviderProofParts) {
  const usable = hasRedirectUris ? providers.filter(provesPresence) : [];
  return async ({ userId }: AccountUser): Promise<string[]> => {
    if (usable.length === 0) return [];
    const linked = await listExternalIdentities(database.user(userId), userId);
    return usable.flatMap(({ name, hasIssuer }) => (linked.some(({ issuer }) => hasIssuer(issuer)) ? [name] : []));
  };
}

interface FreshLogin {
  readonly authenticator: string;
  /** Whether the user is as new as the login can be. */
  readonly is_new_user: boolean;
}

const findFreshLogin = statement<{ userId: string; sessionId: string }, FreshLogin>(
  'account_fresh_login',
  (p) => sql`
  select a.authenticator, u.created_at >= db_now() - interval '10 minutes' and ${isNotAhead(sql`u.created_at`)} as is_new_user
  from sessions s join authentications a on a.user_id = s.user_id and a.id = s.authentication_id
    join users u on u.id = s.user_id
  where s.user_id = ${p.userId} and s.id = ${p.sessionId} and ${authenticatedAt} >= db_now() - interval '10 minutes'
    and ${isNotAhead(authenticatedAt)}`,
);

/**
 * Creates `LoginAsProof`: logins at a provider by a user who is new, or who cannot prove to be present by any provider. A new user
 * has nothing to lose yet.
 */
export function createLoginAsProof({
  providers,
  hasRedirectUris,
}: Pick<ProviderProofParts, 'providers' | 'hasRedirectUris'>): LoginAsProof {
  return async (handle, { userId, sessionId }) => {
    const [login] = await handle.query(findFreshLogin({ userId, sessionId }));
    const provider = providers.find(({ authenticator }) => authenticator === login?.authenticator);
    if (login === undefined || provider === undefined) return false;
    const linked = await listExternalIdentities(handle, userId);
    const isLinked = ({ hasIssuer }: IdentityProvider) => linked.some(({ issuer }) => hasIssuer(issuer));
    if (!isLinked(provider)) return false;
    if (login.is_new_user) return true;
    // With id_tokens, the user proves by a new login there. Without them, every login is a redirect.
    return (
      provider.accountOf === undefined &&
      !(hasRedirectUris && providers.some((one) => provesPresence(one) && isLinked(one)))
    );
  };
}

/** Proves by a new login at a provider whose account is linked to the user. */
export function providerProof(parts: ProviderProofParts): TwoStepProof {
  const { database, providers, redirects } = parts;
  const namesOf = createProvingProviders(parts);
  return {
    type: 'provider',
    steps: 2,
    starts: ['provider'],
    async begin(user, { provider: name, ...request }, id) {
      const errors: FieldError[] = name === undefined ? [{ field: 'provider', code: 'required' }] : [];
      throwIfErrors(errors);
      const provider = providers.find((one) => one.name === name);
      if (provider === undefined || !(await namesOf(user)).includes(provider.name)) return undefined;
      const { state, lifetime, clientChallenge } = redirects.begin(
        provider,
        id,
        { ...request, isFresh: true },
        'provider',
      );
      return { state: { ...state, authenticator: provider.authenticator }, lifetime, challenge: clientChallenge };
    },
    async verify({ userId }, { state: { redirect }, authenticationId: id, secret }) {
      const account = redirect === undefined ? undefined : await redirects.accountOf(id, redirect, secret);
      return account !== undefined && (await findByExternalIdentity(database, account)) === userId;
    },
  };
}
