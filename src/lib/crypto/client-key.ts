import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../json-object.js';

/** The public key of a client, which signs its DPoP proofs. */
export interface ClientKey {
  readonly key: KeyObject;
  readonly curve: 'P-256' | 'Ed25519';
  /** The thumbprint of the key (RFC 7638) with SHA-256, in base64url. It identifies the key. */
  readonly thumbprint: string;
}

/** 32 bytes in base64url. The last character has two unused bits, which are zero: one value has one encoding. */
const coordinatePattern = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** The members of private and symmetric keys (RFC 7518, 6). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'r', 't', 'k'];

/**
 * Reads a public key (JWK, RFC 7517): EC with P-256, or OKP with Ed25519. Other members, such as `alg`, have no effect.
 * @returns undefined for any other value, a point that is not on the curve, and a key with a private member
 */
export function readClientKey(value: unknown): ClientKey | undefined {
  if (!isJsonObject(value) || privateMembers.some((member) => Object.hasOwn(value, member))) return undefined;
  const { kty, crv, x, y } = value;
  if (!isCoordinate(x)) return undefined;
  // The thumbprint is the digest of the required members in the order of their names.
  if (kty === 'EC' && crv === 'P-256' && isCoordinate(y)) return importKey('P-256', { crv, kty, x, y });
  if (kty === 'OKP' && crv === 'Ed25519' && y === undefined) return importKey('Ed25519', { crv, kty, x });
  return undefined;
}

const isCoordinate = (value: unknown): value is string => typeof value === 'string' && coordinatePattern.test(value);

function importKey(curve: ClientKey['curve'], jwk: JsonObject): ClientKey | undefined {
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    return { key, curve, thumbprint: hash('sha256', JSON.stringify(jwk), 'base64url') };
  } catch {
    // The point is not on the curve.
    return undefined;
  }
}
