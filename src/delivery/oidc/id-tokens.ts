import type { JWTPayload } from 'jose';
import { Problem } from '../../lib/problem.js';
import type { ExpectedToken } from '../../login/providers/provider.js';
import { type Discovered, type Discovery, isIssuerOfTenant, issuerFor, unavailable } from './discovery.js';
import { RedirectFailure } from './redirect-failure.js';

export interface IdTokenOptions {
  readonly discovery: Discovery;
  readonly clientIds: readonly string[];
  /** The tenants whose tokens are accepted. Undefined: any. */
  readonly tenants?: readonly string[] | undefined;
  /** The accepted algorithms. The algorithm that a token or a key names does not change this list (RFC 8725, 3.1). */
  readonly algorithms: readonly string[];
  /** The accepted values of `acr`. Undefined: any, also none. */
  readonly acrValues?: readonly string[] | undefined;
  /** The most seconds since `auth_time`. Undefined: any, also none. */
  readonly maxAge?: number | undefined;
}

/** The claims of a valid id_token. */
export type IdTokenClaims = JWTPayload & { readonly iss: string; readonly sub: string };

/**
 * Checks an id_token by OpenID Connect Core 1.0, 3.1.3.7, and what the configuration demands of the login at the provider.
 * @returns its claims
 * @throws RedirectFailure for an invalid token; Problem `authenticator_unavailable` if the provider's keys cannot be fetched
 */
export type ReadIdToken = (token: string, expected: ExpectedToken) => Promise<IdTokenClaims>;

/** How much the clocks may differ. */
const clockToleranceSeconds = 60;
/** The maximum age of a token in seconds: the lifetime of its challenge. */
const maxAgeSeconds = 600;

/** Creates the check of id_tokens of one provider (OpenID Connect Core 1.0, 3.1.3.7; RFC 8725). */
export function createIdTokenReader(options: IdTokenOptions): ReadIdToken {
  const { discovery, clientIds, tenants, algorithms, acrValues, maxAge } = options;

  async function verify(token: string, now: Date): Promise<JWTPayload> {
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
      if (isOther) throw invalid('typ');
      if (!isOfIssuer(discovered, payload, protectedHeader.kid)) throw invalid('iss');
      return payload;
    } catch (error) {
      if (error instanceof Problem || error instanceof RedirectFailure) throw error;
      // An invalid token proves nothing. An invalid key set is a failure of the provider.
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid)) {
        throw invalid(error instanceof errors.JWTClaimValidationFailed ? error.claim : error.message);
      }
      throw unavailable(error);
    }
  }

  /** OpenID Connect Core 1.0, 2: what the provider says about the login there (ASVS 5.0, 6.8.4). */
  function requireStrength({ acr, auth_time: time }: JWTPayload, { now, since }: ExpectedToken): void {
    if (acrValues !== undefined && !(typeof acr === 'string' && acrValues.includes(acr))) {
      throw new RedirectFailure('acr_missing', undefined, typeof acr === 'string' ? acr.slice(0, 100) : undefined);
    }
    const oldest = Math.max(since?.getTime() ?? 0, maxAge === undefined ? 0 : now.getTime() - maxAge * 1000);
    if (oldest === 0) return;
    const isRecent = typeof time === 'number' && time + clockToleranceSeconds >= oldest / 1000;
    if (!isRecent) throw new RedirectFailure('login_too_old', undefined);
  }

  return async (token, expected) => {
    const payload = await verify(token, expected.now);
    if (payload.nonce !== expected.nonce) throw invalid('nonce');
    if (!isForOurClient(payload, clientIds)) throw invalid('aud');
    const { iss, sub, tid } = payload;
    if (tenants !== undefined && !tenants.includes(String(tid))) {
      throw new RedirectFailure(
        'tenant_not_listed',
        undefined,
        typeof tid === 'string' ? tid.slice(0, 100) : undefined,
      );
    }
    // OpenID Connect Core 1.0, section 2: at most 255 ASCII characters.
    if (typeof sub !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(sub) || iss === undefined) throw invalid('sub');
    requireStrength(payload, expected);
    return { ...payload, iss, sub };
  };
}

/** @param what the name of the wrong claim, or of another wrong part */
const invalid = (what: string) =>
  new RedirectFailure('token_invalid', new Error(`the id_token is invalid: ${what}`), what);

/** Whether a token is of the provider. If the provider has tenants, the issuer must be the token's tenant, and the key must be for that tenant. */
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
