import type { ProblemHint } from '../../contract/errors/hints.js';
import { sha256 } from '../../lib/crypto/digests.js';
import { type DpopClaims, readDpopClaims, readDpopProof } from '../../lib/crypto/dpop-proof.js';
import type { ParsedToken } from '../../lib/crypto/token-strings.js';
import { parseUrl } from '../../lib/urls.js';
import type { DpopNonces } from './nonces.js';

/** The `DPoP` header of a request, and the request that it must be for. */
export interface PresentedDpopProof {
  /** The values of all `DPoP` headers. */
  readonly headers: readonly string[];
  readonly method: string;
  /** The origin by which the client says that it called: from the headers `Host` and `X-Forwarded-…`. */
  readonly origin: string;
  readonly path: string;
}

/** The values of a DPoP proof that only the database can judge. */
export interface DpopProofValues {
  readonly thumbprint: string;
  /** Seconds since 1970. Null: the DPoP proof has no nonce of this service. */
  readonly nonceTime: number | null;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** Identifies the DPoP proof among those of its user. */
  readonly dpopDigest: Buffer;
}

/** Why a DPoP proof cannot be valid. */
export interface DpopProofFault {
  readonly hint: ProblemHint;
  /** The thumbprint of the key that signed the DPoP proof. Undefined: there is no DPoP proof, or nobody signed it. */
  readonly thumbprint: string | undefined;
  /** The URL that the DPoP proof should contain, if it contains another one. */
  readonly url?: string;
}

/** A DPoP proof as far as it can be checked without the database (RFC 9449, 4.3). */
export type ReadDpopProof = { readonly values: DpopProofValues } | { readonly fault: DpopProofFault };

/** What a service knows of itself to check DPoP proofs. */
export interface DpopService {
  readonly nonces: DpopNonces;
  /**
   * The URLs by which clients reach the service. The first one is named in errors. Empty: the service believes the
   * headers of the request, as a service without a known address must. A wrong server could then pass a DPoP proof on
   * that was made for it.
   */
  readonly urls: readonly string[];
}

/** Reads the DPoP proof of a request that sends this token. */
export function readPresentedDpopProof(
  { nonces, urls }: DpopService,
  token: ParsedToken,
  { headers, method, origin, path }: PresentedDpopProof,
): ReadDpopProof {
  const ownUrls = urls.map((base) => `${base.replace(/\/+$/, '')}${path}`);
  const url = ownUrls[0] ?? `${origin}${path}`;
  const [header] = headers;
  if (header === undefined) return { fault: { hint: 'dpop_missing', thumbprint: undefined } };
  const proof = headers.length === 1 ? readDpopProof(header) : undefined;
  if (proof === undefined) return { fault: { hint: 'dpop_unsigned', thumbprint: undefined } };
  const { thumbprint } = proof;
  const claims = readDpopClaims(proof.claims);
  if (claims === undefined) return { fault: { hint: 'dpop_claims', thumbprint } };
  const isOwn = ownUrls.length > 0 ? isOneOf(claims.htu, ownUrls) : isCalledUrl(claims.htu, url);
  if (claims.htm !== method || !isOwn) {
    return { fault: { hint: 'dpop_target', thumbprint, url } };
  }
  // `ath` is the SHA-256 of the token, as the stored digest is.
  if (claims.ath !== token.digest.toString('base64url')) return { fault: { hint: 'dpop_token', thumbprint } };
  return { values: valuesOf(claims, thumbprint, nonces, token.ids[0] ?? '') };
}

function valuesOf(
  { jti, iat, nonce }: DpopClaims,
  thumbprint: string,
  nonces: DpopNonces,
  userId: string,
): DpopProofValues {
  return {
    thumbprint,
    nonceTime: (nonce === undefined ? undefined : nonces.timeOf(userId, nonce)) ?? null,
    issuedAt: iat,
    dpopDigest: sha256(`${thumbprint} ${jti}`),
  };
}

/** Whether `htu`, without query and fragment, is one of these URLs (RFC 9449, 4.3). */
function isOneOf(htu: string, urls: readonly string[]): boolean {
  const claimedUrl = parseUrl(htu);
  if (claimedUrl === undefined) return false;
  return urls.some((url) => parseUrl(url)?.href === `${claimedUrl.origin}${claimedUrl.pathname}`);
}

/** Whether `htu` is the URL of the request. `http` and `https` count as equal: a proxy may speak TLS for the service. */
function isCalledUrl(htu: string, requestUrl: string): boolean {
  const [claimedUrl, calledUrl] = [parseUrl(htu), parseUrl(requestUrl)];
  if (claimedUrl === undefined || !/^https?:$/.test(claimedUrl.protocol)) return false;
  return calledUrl?.host === claimedUrl.host && calledUrl.pathname === claimedUrl.pathname;
}
