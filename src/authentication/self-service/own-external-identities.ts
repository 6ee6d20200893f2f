import type { Proof } from '../../contract/account.js';
import type { ExternalIdentity } from '../../contract/external-identity.js';
import { type Database, prepared } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import type { ShownChallenge } from '../authenticators/authenticator.js';
import { type IdTokens, oidcChallenge, provenSubject } from '../authenticators/oidc.js';
import {
  linkExternalIdentity,
  listExternalIdentities,
  unlinkExternalIdentity,
} from '../identities/external-identities.js';
import type { Notices } from '../messages/notices.js';
import type { RequestLimits } from '../request-limits.js';
import { type BegunChallenge, beginChallenge, endChallenge, takeChallengeGuess } from './challenges.js';
import { holdProver, type Proofs, type Prover, usualProofs } from './proofs.js';

/** One's own accounts at OpenID providers. A new one lets its owner in once an id_token has shown whose it is. */
export interface OwnExternalIdentities {
  list(userId: string): Promise<ExternalIdentity[]>;
  /** @throws Problem `not_found` for a provider that there is not; those of proofs */
  begin(prover: Prover, provider: string, proof: Proof): Promise<BegunChallenge & { challenge: ShownChallenge }>;
  /**
   * @throws Problem `external_identity_rejected`; `external_identity_taken`, told only to whose account there it is;
   * `authenticator_unavailable`
   */
  confirm(prover: Prover, provider: string, id: string | undefined, idToken: string): Promise<ExternalIdentity>;
  /** @throws Problem `not_found`, `last_way_in`; those of proofs */
  remove(prover: Prover, provider: string, id: string, proof: Proof): Promise<void>;
}

export interface OwnExternalIdentitiesOptions {
  readonly database: Database;
  readonly proofs: Proofs;
  readonly limits: Pick<RequestLimits, 'loginFrom' | 'loginTo'>;
  readonly notices: Pick<Notices, 'notify'>;
  readonly providers: readonly IdTokens[];
  /** Columns of users by which a login is possible. */
  readonly waysIn: readonly ('password_hash' | 'phone' | 'email')[];
}

const hasWay = prepared(
  'external_identity_other_ways',
  `select exists (select 1 from users u where u.id = $1
                  and (('password_hash' = any($3) and u.password_hash is not null)
                    or ('phone' = any($3) and u.phone is not null) or ('email' = any($3) and u.email is not null)))
       or exists (select 1 from passkeys p where p.user_id = $1)
       or exists (select 1 from external_identities e where e.user_id = $1 and e.id <> $2 and e.issuer = any($4)) as has`,
);

export function createOwnExternalIdentities(options: OwnExternalIdentitiesOptions): OwnExternalIdentities {
  const { database, proofs, limits, notices, providers, waysIn } = options;

  function providerOf(name: string): IdTokens {
    const provider = providers.find((one) => one.name === name);
    if (provider === undefined) throw new Problem('not_found');
    return provider;
  }

  async function begin(prover: Prover, name: string, proof: Proof) {
    const { kept, lifetime, shown } = oidcChallenge(providerOf(name));
    const proven = await proofs.check(prover, proof, usualProofs);
    const { userId, deviceId } = prover;
    const purpose = 'external_identity';
    const begun = await database.lane(userId).transaction(async (tx) => {
      await proven.use(tx);
      const asked = { ...kept, provider: name };
      return beginChallenge(tx, { userId, id: newId(), purpose, deviceId, lifetime, kept: asked });
    });
    return { ...begun, challenge: shown };
  }

  async function confirm(prover: Prover, name: string, id: string | undefined, idToken: string) {
    const provider = providerOf(name);
    const { userId, deviceId, origin } = prover;
    await limits.loginFrom(origin.address);
    await limits.loginTo(userId, deviceId);
    if (id === undefined) throw new Problem('external_identity_rejected');
    const address = { userId, id, purpose: 'external_identity', deviceId } as const;
    const kept = await takeChallengeGuess(database.lane(userId), address);
    if (kept?.provider !== name) throw new Problem('external_identity_rejected');
    const subject = await provenSubject(database, provider, kept.nonce, idToken);
    if (subject === undefined) throw new Problem('external_identity_rejected');
    return database.lane(userId).transaction(async (tx) => {
      await holdProver(tx, prover);
      if (!(await endChallenge(tx, { userId, id }))) throw new Problem('external_identity_rejected');
      return linkExternalIdentity(
        tx,
        userId,
        { provider: name, issuer: provider.issuer, subject },
        { origin, notices },
      );
    });
  }

  async function remove(prover: Prover, provider: string, id: string, proof: Proof) {
    const { userId, origin } = prover;
    const proven = await proofs.check(prover, proof, usualProofs);
    await database.lane(userId).transaction(async (tx) => {
      // Holds the user's row: of two that would be each other's last way, the second finds out.
      await proven.use(tx);
      await unlinkExternalIdentity(tx, userId, { id, provider }, { origin, notices });
      const issuers = providers.map(({ issuer }) => issuer);
      const [left] = await tx.query<{ has: boolean }>(hasWay, [userId, id, waysIn, issuers]);
      if (left?.has !== true) throw new Problem('last_way_in');
    });
  }

  return { list: (userId) => listExternalIdentities(database.lane(userId), userId), begin, confirm, remove };
}
