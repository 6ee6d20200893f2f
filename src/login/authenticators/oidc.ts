import { randomBytes } from 'node:crypto';
import type { Challenge } from '../../credentials/challenge.js';
import type { Database, Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { findByExternalIdentity, listExternalIdentities } from '../../users/external-identities.js';
import type { UserIdentifying } from './authenticator.js';

/** An OpenID provider whose id_tokens are accepted. `delivery/oidc` implements it. */
export interface IdTokens {
  /** The name without `oidc:`. */
  readonly name: string;
  /** The value of `iss`. */
  readonly issuer: string;
  readonly clientIds: readonly string[];
  /**
   * Checks a token by OpenID Connect Core 1.0, 3.1.3.7.
   * @returns its `sub`; undefined for an invalid token
   * @throws Problem `authenticator_unavailable` if the provider's keys cannot be fetched
   */
  subjectOf(token: string, expected: ExpectedToken): Promise<string | undefined>;
}

export interface ExpectedToken {
  readonly nonce: string;
  /** The time by the database's clock. */
  readonly now: Date;
}

/** Seconds: as long as a login waits for its secret. */
const lifetimeSeconds = 600;

/** The challenge that a client passes to the provider's library. Its nonce binds the token to this challenge. */
export function oidcChallenge({
  issuer,
  clientIds,
}: IdTokens): Challenge & Required<Pick<Challenge, 'clientChallenge'>> {
  const nonce = randomBytes(32).toString('base64url');
  return {
    state: { nonce },
    lifetime: lifetimeSeconds,
    clientChallenge: { type: 'oidc', issuer, client_ids: clientIds, nonce },
  };
}

const readClock = statement<object, { now: number }>(
  'oidc_clock',
  () => sql`select (extract(epoch from db_now()) * 1000)::float8 as now`,
);

/** The subject that an id_token proves for a challenge; undefined for an invalid token. */
export async function provenSubject(
  handle: Queryable,
  idTokens: IdTokens,
  nonce: string | undefined,
  token: string,
): Promise<string | undefined> {
  const [clock] = await handle.query(readClock({}));
  if (nonce === undefined || clock === undefined) return undefined;
  return idTokens.subjectOf(token, { nonce, now: new Date(clock.now) });
}

/**
 * An id_token of an OpenID provider. The linked pair of issuer and subject identifies the account, never the mail address:
 * providers allow addresses that do not belong to the user, or no longer do.
 */
export function oidcAuthenticator(database: Database, idTokens: IdTokens): UserIdentifying {
  return {
    name: `oidc:${idTokens.name}`,
    steps: 2,
    namesUser: true,
    async findMissing({ userId }) {
      const linked = await listExternalIdentities(database, userId);
      return linked.some(({ issuer }) => issuer === idTokens.issuer) ? undefined : 'external_identity';
    },
    begin: async () => oidcChallenge(idTokens),
    async identify({ state, secret }) {
      const subject = await provenSubject(database, idTokens, state.nonce, secret);
      const userId =
        subject === undefined ? undefined : await findByExternalIdentity(database, idTokens.issuer, subject);
      return userId === undefined ? undefined : { userId, isMultiFactor: false };
    },
  };
}
