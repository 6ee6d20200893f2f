import { isUtf8 } from 'node:buffer';
import { verify } from 'node:crypto';
import { type JsonObject, parseJsonObject } from '../json-object.js';
import { type ClientKey, readClientKey } from './client-key.js';

/** A DPoP proof that the key in its header has signed. Its claims are not checked yet. */
export interface SignedDpopProof {
  /** The thumbprint of the key. */
  readonly thumbprint: string;
  readonly claims: JsonObject;
}

/** The claims of a DPoP proof with their types. */
export interface DpopClaims {
  readonly htm: string;
  readonly htu: string;
  /** Seconds since 1970. */
  readonly iat: number;
  readonly jti: string;
  readonly ath: string;
  readonly nonce: string | undefined;
}

/** The maximum length of a DPoP proof in characters. A DPoP proof with an EC key has about 600. */
const maxLength = 4096;
const maxIdLength = 255;

/** The accepted algorithms (RFC 7518, 3.1; RFC 8037, 3.1; RFC 9864, 2.2), and the curves of their keys. */
const curves: Readonly<Record<string, ClientKey['curve']>> = { ES256: 'P-256', EdDSA: 'Ed25519', Ed25519: 'Ed25519' };
export const dpopAlgorithms: readonly string[] = Object.keys(curves);

/**
 * Reads a DPoP proof (RFC 9449, 4.2) and verifies its signature with the key in its header.
 * @returns undefined for any other text
 */
export function readDpopProof(text: string): SignedDpopProof | undefined {
  if (text.length > maxLength) return undefined;
  const [head = '', body = '', signature = '', ...rest] = text.split('.');
  const header = decodeJson(head);
  const claims = decodeJson(body);
  const signatureBytes = decodeBase64Url(signature);
  if (rest.length > 0 || header === undefined || claims === undefined || signatureBytes === undefined) return undefined;
  const { typ, alg, jwk, crit } = header;
  // `crit` names extensions that a reader must understand, and there are none (RFC 7515, 4.1.11).
  if (typ !== 'dpop+jwt' || typeof alg !== 'string' || !Object.hasOwn(curves, alg) || crit !== undefined) {
    return undefined;
  }
  const clientKey = readClientKey(jwk);
  if (clientKey === undefined || clientKey.curve !== curves[alg]) return undefined;
  const { key, curve, thumbprint } = clientKey;
  const digest = curve === 'P-256' ? 'sha256' : null;
  const isValid = verify(digest, Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' }, signatureBytes);
  return isValid ? { thumbprint, claims } : undefined;
}

/** The claims of a DPoP proof; undefined if one is missing or has another type. */
export function readDpopClaims({ htm, htu, iat, jti, ath, nonce }: JsonObject): DpopClaims | undefined {
  if (typeof htm !== 'string' || typeof htu !== 'string' || typeof ath !== 'string') return undefined;
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return undefined;
  if (typeof jti !== 'string' || jti === '' || jti.length > maxIdLength) return undefined;
  if (nonce !== undefined && typeof nonce !== 'string') return undefined;
  return { htm, htu, iat, jti, ath, nonce };
}

function decodeJson(part: string): JsonObject | undefined {
  const bytes = decodeBase64Url(part);
  return bytes !== undefined && isUtf8(bytes) ? parseJsonObject(bytes.toString('utf8')) : undefined;
}

/** Strict base64url: Buffer skips other characters, and accepts padding and unused bits. */
function decodeBase64Url(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return bytes.length > 0 && bytes.toString('base64url') === part ? bytes : undefined;
}
