import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { Problem } from '../../lib/problem.js';
import type { ExpectedToken, IdTokens } from '../../login/authenticators/oidc.js';
import type { Outbound } from '../outbound.js';
import { createProviderKeys, type ProviderKeysOptions, unavailable } from './provider-keys.js';

export interface IdTokensOptions extends Omit<ProviderKeysOptions, 'outbound'> {
  readonly name: string;
  readonly clientIds: readonly string[];
  /**
   * The accepted algorithms. What a token or a key says about its algorithm does not change this list (RFC 8725, 3.1).
   */
  readonly algorithms: readonly string[];
  readonly outbound: Outbound;
}

/** How much the clocks may differ. */
const clockToleranceSeconds = 60;
/** The maximum age of a token in seconds: the lifetime of its challenge. */
const maxAgeSeconds = 600;

/** Creates the checks of id_tokens of one provider (OpenID Connect Core 1.0, 3.1.3.7; RFC 8725). */
export function createIdTokens(options: IdTokensOptions): IdTokens {
  const { name, issuer, clientIds, algorithms } = options;
  const keys = createProviderKeys(options);
  // Called only after the algorithm was accepted.
  const keyOf: JWTVerifyGetKey = async (header, token) => (await keys.current())(header, token);

  async function verify(token: string, now: Date): Promise<JWTPayload | undefined> {
    const { errors, jwtVerify } = await import('jose');
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keyOf, {
        issuer,
        audience: [...clientIds],
        algorithms: [...algorithms],
        currentDate: now,
        clockTolerance: clockToleranceSeconds,
        maxTokenAge: maxAgeSeconds,
        requiredClaims: ['exp', 'sub', 'nonce'],
      });
      // An access token is not an id_token, although the same key signs it (RFC 8725, 3.11; RFC 9068, 2.1).
      const isOther = protectedHeader.typ !== undefined && protectedHeader.typ.toUpperCase() !== 'JWT';
      return isOther ? undefined : payload;
    } catch (error) {
      if (error instanceof Problem) throw error;
      // An invalid token proves nothing. An invalid key set is a failure of the provider.
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid)) return undefined;
      throw unavailable(error);
    }
  }

  return {
    name,
    issuer,
    clientIds,
    async subjectOf(token: string, { nonce, now }: ExpectedToken) {
      const payload = await verify(token, now);
      if (payload === undefined || payload.nonce !== nonce || !isForOurClient(payload, clientIds)) return undefined;
      const { sub } = payload;
      // OpenID Connect Core 1.0, section 2: at most 255 ASCII characters.
      return typeof sub === 'string' && /^[\x20-\x7e]{1,255}$/.test(sub) ? sub : undefined;
    },
  };
}

/**
 * Every audience must be one of our client ids. With several, `azp` must be one too (OpenID Connect Core 1.0, 3.1.3.7).
 */
function isForOurClient({ aud, azp }: JWTPayload, clientIds: readonly string[]): boolean {
  const audiences = [aud].flat();
  if (!audiences.every((audience) => audience !== undefined && clientIds.includes(audience))) return false;
  return audiences.length === 1 || (typeof azp === 'string' && clientIds.includes(azp));
}
