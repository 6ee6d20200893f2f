import type { Proof } from '../contract/account/proof.js';
import type { ExternalIdentity } from '../contract/external-identity.js';
import type { ClientChallenge } from '../credentials/challenge.js';
import { countChallengeGuess, type StartedChallenge, startChallenge } from '../credentials/challenges.js';
import type { Database } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { newId } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';
import type { RequestLimits } from '../limits/request-limits.js';
import { accountOfIdToken, idTokenChallenge } from '../login/providers/id-token-challenge.js';
import type { IdentityProvider } from '../login/providers/provider.js';
import type { RedirectRequest } from '../login/providers/redirect-state.js';
import type { RedirectChallenge, Redirects } from '../login/providers/redirects.js';
import type { Notices } from '../messages/notices.js';
import { linkExternalIdentity, listExternalIdentities, unlinkExternalIdentity } from '../users/external-identities.js';
import { type CallingSession, completeChallenge, defaultProofs, firstCredentialProofs, type Proofs } from './proofs.js';

/** The user's own accounts at providers. A new one can be used to log in once the provider has shown that it is the user's. */
export interface OwnExternalIdentities {
  list(userId: string): Promise<ExternalIdentity[]>;
  /**
   * @param redirect where a browser returns to, and the client's PKCE challenge; empty for an id_token
   * @throws Problem `not_found` for an unknown provider; those of `Redirects.begin` and `Proofs.check`
   */
  begin(
    callingSession: CallingSession,
    provider: string,
    proof: Proof | undefined,
    redirect: LinkRedirect,
  ): Promise<StartedChallenge & { challenge: ClientChallenge }>;
  /**
   * @param secret the id_token, or the JSON text that ends a redirect
   * @throws Problem `external_identity_rejected`; `external_identity_taken`, only after a valid secret; `authenticator_unavailable`
   */
  confirm(
    callingSession: CallingSession,
    provider: string,
    id: string | undefined,
    secret: string,
  ): Promise<ExternalIdentity>;
  /** @throws Problem `not_found`, `last_way_in`; those of `Proofs.check` */
  remove(callingSession: CallingSession, provider: string, id: string, proof: Proof): Promise<void>;
}

export type LinkRedirect = Pick<RedirectRequest, 'redirect_to' | 'code_challenge'>;

export interface OwnExternalIdentitiesOptions {
  readonly database: Database;
  readonly proofs: Proofs;
  readonly limits: Pick<RequestLimits, 'countLoginByAddress' | 'countLoginByAccount'>;
  readonly notices: Pick<Notices, 'notify'>;
  readonly providers: readonly IdentityProvider[];
  readonly redirects: Pick<Redirects, 'begin' | 'accountOf'>;
  /** The ways to log in that are stored here: columns of `users`, and passkeys. */
  readonly loginColumns: readonly ('password_hash' | 'phone' | 'email' | 'passkey')[];
  /** Whether logins of this name are open, such as `oidc:google`. */
  readonly isOpenLogin: (name: string) => boolean;
}

interface OtherLogins {
  readonly userId: string;
  readonly loginColumns: readonly string[];
}

const hasOtherLogin = statement<OtherLogins, { has: boolean }>(
  'external_identity_other_ways',
  (p) => sql`
    select exists (select 1 from users u where u.id = ${p.userId}
                   and (('password_hash' = any(${p.loginColumns}) and u.password_hash is not null)
                     or ('phone' = any(${p.loginColumns}) and u.phone is not null and u.phone_verified)
                     or ('email' = any(${p.loginColumns}) and u.email is not null and u.email_verified)))
        or ('passkey' = any(${p.loginColumns}) and exists (select 1 from passkeys p where p.user_id = ${p.userId})) as has`,
);

/** Creates self-service for accounts at providers. */
export function createOwnExternalIdentities(options: OwnExternalIdentitiesOptions): OwnExternalIdentities {
  const { database, proofs, limits, notices, providers, redirects, loginColumns, isOpenLogin } = options;

  function providerOf(name: string): IdentityProvider {
    const provider = providers.find((one) => one.name === name);
    if (provider === undefined) throw new Problem('not_found');
    return provider;
  }

  /** As in a login: a redirect if the request asks for one, or if the provider issues no id_tokens. */
  function challengeOf(provider: IdentityProvider, id: string, redirect: LinkRedirect): RedirectChallenge {
    const isRedirect = redirect.redirect_to !== undefined || redirect.code_challenge !== undefined;
    return isRedirect || provider.accountOf === undefined
      ? redirects.begin(provider, id, redirect, 'name')
      : idTokenChallenge(provider);
  }

  async function begin(callingSession: CallingSession, name: string, proof: Proof | undefined, redirect: LinkRedirect) {
    const provider = providerOf(name);
    const id = newId();
    const { state, lifetime, clientChallenge, showsExpiry } = challengeOf(provider, id, redirect);
    const proven = await proofs.check(callingSession, proof, firstCredentialProofs);
    const { userId, deviceId } = callingSession;
    const purpose = 'external_identity';
    const challenge = await database.user(userId).transaction(async (tx) => {
      await proven.consume(tx);
      const challengeState = { ...state, provider: name, authenticator: provider.authenticator };
      return startChallenge(tx, { userId, id, purpose, deviceId, lifetime, state: challengeState });
    });
    const shown = showsExpiry ? { ...clientChallenge, expires_at: challenge.expires_at } : clientChallenge;
    return { ...challenge, challenge: shown };
  }

  async function confirm(callingSession: CallingSession, name: string, id: string | undefined, secret: string) {
    const provider = providerOf(name);
    const { userId, deviceId, origin } = callingSession;
    await limits.countLoginByAddress(origin.clientAddress);
    await limits.countLoginByAccount(userId, deviceId);
    if (id === undefined) throw new Problem('external_identity_rejected');
    const address = { userId, id, purpose: 'external_identity', deviceId } as const;
    const state = await countChallengeGuess(database.user(userId), address);
    if (state?.provider !== name) throw new Problem('external_identity_rejected');
    const proven =
      state.redirect === undefined
        ? await accountOfIdToken(database, provider, state.nonce, secret)
        : await redirects.accountOf(id, state.redirect, secret);
    if (proven === undefined) throw new Problem('external_identity_rejected');
    const account = { ...proven, provider: name };
    return database.user(userId).transaction(async (tx) => {
      await completeChallenge(tx, callingSession, id, 'external_identity_rejected');
      return linkExternalIdentity(tx, userId, account, { origin, notices });
    });
  }

  async function remove(callingSession: CallingSession, provider: string, id: string, proof: Proof) {
    const { userId, origin } = callingSession;
    const proven = await proofs.check(callingSession, proof, defaultProofs);
    await database.user(userId).transaction(async (tx) => {
      // Locks the user's row. So if two removals run in parallel, the second one sees that it would remove the last way
      // to log in.
      await proven.consume(tx);
      await unlinkExternalIdentity(tx, userId, { id, provider }, { origin, notices });
      const others = await listExternalIdentities(tx, userId);
      const open = providers.filter(({ authenticator }) => isOpenLogin(authenticator));
      if (others.some(({ issuer }) => open.some(({ hasIssuer }) => hasIssuer(issuer)))) return;
      const [left] = await tx.query(hasOtherLogin({ userId, loginColumns }));
      if (left?.has !== true) throw new Problem('last_way_in');
    });
  }

  return { list: (userId) => listExternalIdentities(database, userId), begin, confirm, remove };
}
