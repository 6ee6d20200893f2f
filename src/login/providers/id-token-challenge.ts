import { randomBytes } from 'node:crypto';
import type { Challenge } from '../../credentials/challenge.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import type { IdentityProvider, ProviderAccount } from './provider.js';

/** Seconds: as long as a login waits for its secret. */
const lifetimeSeconds = 600;

/** The challenge that a client passes to the provider's library. Its nonce binds the token to this challenge. */
export function idTokenChallenge({
  issuer,
  clientIds,
}: IdentityProvider): Challenge & Required<Pick<Challenge, 'clientChallenge'>> {
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

/** The account that an id_token proves for a challenge; undefined for an invalid token. */
export async function accountOfIdToken(
  handle: Queryable,
  provider: IdentityProvider,
  nonce: string | undefined,
  token: string,
): Promise<ProviderAccount | undefined> {
  const [clock] = await handle.query(readClock({}));
  if (nonce === undefined || clock === undefined) return undefined;
  return provider.accountOf?.(token, { nonce, now: new Date(clock.now) });
}
