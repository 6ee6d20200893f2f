import type { JWTPayload } from 'jose';
import { Problem } from '../../lib/problem.js';
import type { ExpectedToken } from '../../login/providers/provider.js';
import { type Discovered, type Discovery, isIssuerOfTenant, issuerFor, unavailable } from './discovery.js';

export interface IdTokenOptions {
  readonly discovery: Discovery;
  readonly clientIds: readonly string[];
  /** The tenants whose tokens are accepted. Undefined: any. */
  readonly tenants?: readonly string[] | undefined;
  /**
   * The accepted algorithms. What a token or a key says about its algorithm does not change this list (RFC 8725, 3.1).
   */
  readonly algorithms: readonly string[];
}

/** The claims of a valid id_token. */
export type IdTokenClaims = JWTPayload & { readonly iss: string; readonly sub: string };

/**
 * Checks an id_token by OpenID Connect Core 1.0, 3.1.3.7.
 * @returns its claims; undefined for an invalid token
 * @throws Problem `authenticator_unavailable` if the provider's keys cannot be fetched
 */
export type ReadIdToken = (token: string, expected: ExpectedToken) => Promise<IdTokenClaims | undefined>;

/** How much the clocks may differ. */
const clockToleranceSeconds = 60;
/** The maximum age of a token in seconds: the lifetime of its challenge. */
const maxAgeSeconds = 600;

/** Creates the check of id_tokens of one provider (OpenID Connect Core 1.0, 3.1.3.7; RFC 8725). */
export function createIdTokenReader({ discovery, clientIds, tenants, algorithms }: IdTokenOptions): ReadIdToken {
  async function verify(token: string, now: Date): Promise<JWTPayload | undefined> {
    const { errors, jwtVerify } = await import('jose');
    let discovered: Discovered | undefined;
    try {
      const { payload, protectedHeader } = await jwtVerify(
        token,
        // Called only after the algorithm was accepted.
        async (header, flattened) => {
          discovered = await discovery.current();
          return discovered.keyOf(header, flattened);
        },
        {
          audience: [...clientIds],
          algorithms: [...algorithms],
          currentDate: now,
          clockTolerance: clockToleranceSeconds,
          maxTokenAge: maxAgeSeconds,
          requiredClaims: ['iss', 'exp', 'sub', 'nonce'],
        },
      );
      // An access token is not an id_token, although the same key signs it (RFC 8725, 3.11; RFC 9068, 2.1).
      const isOther = protectedHeader.typ !== undefined && protectedHeader.typ.toUpperCase() !== 'JWT';
      return isOther || !isOfIssuer(discovered, payload, protectedHeader.kid) ? undefined : payload;
    } catch (error) {
      if (error instanceof Problem) throw error;
      // An invalid token proves nothing. An invalid key set is a failure of the provider.
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid)) return undefined;
      throw unavailable(error);
    }
  }

  return async (token, { nonce, now }) => {
    const payload = await verify(token, now);
    if (payload === undefined || payload.nonce !== nonce || !isForOurClient(payload, clientIds)) return undefined;
    if (tenants !== undefined && !tenants.includes(String(payload.tid))) return undefined;
    const { iss, sub } = payload;
    // OpenID Connect Core 1.0, section 2: at most 255 ASCII characters.
    const isSubject = typeof sub === 'string' && /^[\x20-\x7e]{1,255}$/.test(sub);
    return isSubject && iss !== undefined ? { ...payload, iss, sub } : undefined;
  };
}

/** Whether a token is of the provider: for a provider with tenants, of the token's tenant, and with a key for that tenant. */
function isOfIssuer(discovered: Discovered | undefined, { iss, tid }: JWTPayload, keyId: string | undefined): boolean {
  if (discovered === undefined || iss === undefined || iss !== issuerFor(discovered.issuer, tid)) return false;
  const ofKey = discovered.issuerOfKey(keyId);
  return ofKey === undefined || ofKey === iss || isIssuerOfTenant(ofKey, iss);
}

/**
 * Every audience must be one of our client ids. With several, `azp` must be one too (OpenID Connect Core 1.0, 3.1.3.7).
 */
function isForOurClient({ aud, azp }: JWTPayload, clientIds: readonly string[]): boolean {
  const audiences = [aud].flat();
  if (!audiences.every((audience) => audience !== undefined && clientIds.includes(audience))) return false;
  return audiences.length === 1 || (typeof azp === 'string' && clientIds.includes(azp));
}
