import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { ExpectedToken, IdTokens } from '../../authentication/authenticators/oidc.js';
import { Problem } from '../../lib/problem.js';
import type { Outbound } from '../outbound.js';
import { createProviderKeys, type ProviderKeysOptions, unavailable } from './provider-keys.js';

export interface IdTokensOptions extends Omit<ProviderKeysOptions, 'outbound'> {
  readonly name: string;
  readonly clientIds: readonly string[];
  /** The only ones that are taken, whatever a token or a key says. */
  readonly algorithms: readonly string[];
  readonly outbound: Outbound;
}

/** Seconds that clocks may differ, and the oldest that a token may be: its challenge is no older. */
const leeway = 60;
const oldest = 600;

/** Checks id_tokens of one provider (OpenID Connect Core 1.0, 3.1.3.7; RFC 8725). */
export function createIdTokens(options: IdTokensOptions): IdTokens {
  const { name, issuer, clientIds, algorithms } = options;
  const keys = createProviderKeys(options);
  // Known only once the algorithm was found to be one of those that are taken.
  const keyOf: JWTVerifyGetKey = async (header, token) => (await keys.current())(header, token);

  async function verified(token: string, now: Date): Promise<JWTPayload | undefined> {
    const { errors, jwtVerify } = await import('jose');
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keyOf, {
        ...{ issuer, audience: [...clientIds], algorithms: [...algorithms], currentDate: now },
        ...{ clockTolerance: leeway, maxTokenAge: oldest, requiredClaims: ['exp', 'sub', 'nonce'] },
      });
      // An access token is no id_token, though the same key has signed it (RFC 8725, 3.11).
      const isOther = protectedHeader.typ !== undefined && protectedHeader.typ.toUpperCase() !== 'JWT';
      return isOther ? undefined : payload;
    } catch (error) {
      if (error instanceof Problem) throw error;
      // Of the token, which anybody may write; what is wrong with the keys is the provider's.
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid)) return undefined;
      throw unavailable(error);
    }
  }

  return {
    ...{ name, issuer, clientIds },
    async subjectOf(token: string, { nonce, now }: ExpectedToken) {
      const payload = await verified(token, now);
      if (payload === undefined || payload.nonce !== nonce || !isFor(payload, clientIds)) return undefined;
      const { sub } = payload;
      return typeof sub === 'string' && /^[\x20-\x7e]{1,255}$/.test(sub) ? sub : undefined;
    },
  };
}

/** Made for us alone: no audience is a stranger, and of several the one that asked for the token is ours. */
function isFor({ aud, azp }: JWTPayload, clientIds: readonly string[]): boolean {
  const audiences = [aud].flat();
  if (!audiences.every((audience) => audience !== undefined && clientIds.includes(audience))) return false;
  return audiences.length === 1 || (typeof azp === 'string' && clientIds.includes(azp));
}
