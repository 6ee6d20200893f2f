import { createHmac, hkdfSync } from 'node:crypto';
import { equalBytes } from '../../lib/crypto/secret-keys.js';

/** A secret key and its id. */
export interface SigningKey {
  readonly id: string;
  readonly key: string;
}

/** What the signature of an archive says about its origin. */
export type Origin = 'known' | 'unsigned' | 'forged' | { readonly missingKey: string };

/** The length of a signature: the id of the key, a space, 64 digits and a line feed. */
export const signatureBytes = 74;

/** Signs an archive (HMAC-SHA256). @param digest the SHA-256 of the archive, in hexadecimal digits */
export function signArchive({ id, key }: SigningKey, digest: string): string {
  return `${id} ${macOf(key, digest).toString('hex')}\n`;
}

/** Finds out whether one of the keys has signed an archive. */
export function originOf(keys: readonly SigningKey[], digest: string, signature: string | undefined): Origin {
  if (signature === undefined) return 'unsigned';
  const [, id = '', mac = ''] = /^([0-9a-f]{8}) ([0-9a-f]{64})\n$/.exec(signature) ?? [];
  if (id === '') return 'forged';
  const ofId = keys.filter((key) => key.id === id);
  if (ofId.length === 0) return { missingKey: id };
  return ofId.some(({ key }) => equalBytes(macOf(key, digest), Buffer.from(mac, 'hex'))) ? 'known' : 'forged';
}

/** The key of the HMAC is derived for this purpose only. Stored backups depend on this name. */
const macOf = (secret: string, digest: string) =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', secret, '', 'postern backup', 32)))
    .update(digest)
    .digest();
