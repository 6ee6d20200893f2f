import { randomBytes } from 'node:crypto';
import { type Database, sql } from '../../database/database.js';
import { findByExternalIdentity } from '../identities/external-identities.js';
import type { Challenge, SelfNaming } from './authenticator.js';

/** An OpenID provider whose id_tokens are taken. What reads them lies where the calls to other hosts are. */
export interface IdTokens {
  /** Without `oidc:`. */
  readonly name: string;
  /** As it stands in `iss`. */
  readonly issuer: string;
  readonly clientIds: readonly string[];
  /**
   * Checks a token by OpenID Connect Core 1.0, 3.1.3.7.
   * @returns its `sub`; undefined: it proves nothing
   * @throws Problem `authenticator_unavailable` when the provider's keys cannot be had
   */
  subjectOf(token: string, expected: ExpectedToken): Promise<string | undefined>;
}

export interface ExpectedToken {
  readonly nonce: string;
  /** By the clock that decides rights. */
  readonly now: Date;
}

/** Seconds: as long as a login is open. */
const lifetime = 600;

/** What a client hands to its library for the provider, so that the token is made for this challenge and no other. */
export function oidcChallenge({ issuer, clientIds }: IdTokens): Challenge & Required<Pick<Challenge, 'shown'>> {
  const nonce = randomBytes(32).toString('base64url');
  return { kept: { nonce }, lifetime, shown: { type: 'oidc', issuer, client_ids: clientIds, nonce } };
}

const readClock = sql('select (extract(epoch from db_now()) * 1000)::float8 as now');

/** The subject that a token proves for a challenge. */
export async function provenSubject(
  database: Database,
  idTokens: IdTokens,
  nonce: string | undefined,
  token: string,
): Promise<string | undefined> {
  const [clock] = await database.query<{ now: number }>(readClock);
  if (nonce === undefined || clock === undefined) return undefined;
  return idTokens.subjectOf(token, { nonce, now: new Date(clock.now) });
}

/**
 * An id_token of an OpenID provider. The account is the pair of issuer and subject that was linked to it, and never the
 * mail address: providers let people have addresses that are not theirs, or no longer.
 */
export function oidcAuthenticator(database: Database, idTokens: IdTokens): SelfNaming {
  return {
    name: `oidc:${idTokens.name}`,
    steps: 2,
    namesUser: true,
    begin: async () => oidcChallenge(idTokens),
    async identify({ kept, secret }) {
      const subject = await provenSubject(database, idTokens, kept.nonce, secret);
      const userId =
        subject === undefined ? undefined : await findByExternalIdentity(database, idTokens.issuer, subject);
      return userId === undefined ? undefined : { userId, isMultiFactor: false };
    },
  };
}
