import type { ProblemHint } from '../../contract/errors/hints.js';
import { sha256 } from '../../lib/crypto/digests.js';
import { type ProofClaims, readClaims, readProof } from '../../lib/crypto/dpop-proof.js';
import type { ParsedToken } from '../../lib/crypto/token-strings.js';
import { parseUrl } from '../../lib/urls.js';
import type { ProofNonces } from './nonces.js';

/** The `DPoP` header of a request, and the request that it must be for. */
export interface PresentedProof {
  /** The values of all `DPoP` headers. */
  readonly headers: readonly string[];
  readonly method: string;
  /** The origin by which the client says that it called: from the headers `Host` and `X-Forwarded-…`. */
  readonly origin: string;
  readonly path: string;
}

/** The values of a proof that only the database can judge. */
export interface ProofValues {
  readonly thumbprint: string;
  /** Seconds since 1970. Null: the proof has no nonce of this service. */
  readonly nonceTime: number | null;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** Identifies the proof among those of its user. */
  readonly proofDigest: Buffer;
}

/** Why a proof cannot be valid. */
export interface ProofFault {
  readonly hint: ProblemHint;
  /** The thumbprint of the key that signed the proof. Undefined: there is no proof, or nobody signed it. */
  readonly thumbprint: string | undefined;
  /** The URL that the proof should contain, if it contains another one. */
  readonly url?: string;
}

/** A proof as far as it can be checked without the database (RFC 9449, 4.3). */
export type ReadProof = { readonly values: ProofValues } | { readonly fault: ProofFault };

/** What a service knows of itself to check proofs. */
export interface ProofService {
  readonly nonces: ProofNonces;
  /**
   * The URLs by which clients reach the service. The first one is named in errors. Empty: the service believes the
   * headers of the request, as a service without a known address must. A wrong server could then pass a proof on that
   * was made for it.
   */
  readonly urls: readonly string[];
}

/** Reads the proof of a request that sends this token. */
export function readPresentedProof(
  { nonces, urls }: ProofService,
  token: ParsedToken,
  { headers, method, origin, path }: PresentedProof,
): ReadProof {
  const ownUrls = urls.map((base) => `${base.replace(/\/+$/, '')}${path}`);
  const url = ownUrls[0] ?? `${origin}${path}`;
  const [header] = headers;
  if (header === undefined) return { fault: { hint: 'dpop_missing', thumbprint: undefined } };
  const proof = headers.length === 1 ? readProof(header) : undefined;
  if (proof === undefined) return { fault: { hint: 'dpop_unsigned', thumbprint: undefined } };
  const { thumbprint } = proof;
  const claims = readClaims(proof.claims);
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
  { jti, iat, nonce }: ProofClaims,
  thumbprint: string,
  nonces: ProofNonces,
  userId: string,
): ProofValues {
  return {
    thumbprint,
    nonceTime: (nonce === undefined ? undefined : nonces.timeOf(userId, nonce)) ?? null,
    issuedAt: iat,
    proofDigest: sha256(`${thumbprint} ${jti}`),
  };
}

/** Whether `htu`, without query and fragment, is one of these URLs (RFC 9449, 4.3). */
function isOneOf(htu: string, urls: readonly string[]): boolean {
  const proofUrl = parseUrl(htu);
  if (proofUrl === undefined) return false;
  return urls.some((url) => parseUrl(url)?.href === `${proofUrl.origin}${proofUrl.pathname}`);
}

/** Whether `htu` is the URL of the request. `http` and `https` count as equal: a proxy may speak TLS for the service. */
function isCalledUrl(htu: string, requestUrl: string): boolean {
  const [proofUrl, calledUrl] = [parseUrl(htu), parseUrl(requestUrl)];
  if (proofUrl === undefined || !/^https?:$/.test(proofUrl.protocol)) return false;
  return calledUrl?.host === proofUrl.host && calledUrl.pathname === proofUrl.pathname;
}
