import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { idFromHex, idToBytes } from '../ids.js';
import { sha256, sha256Hex } from './digests.js';

/**
 * Token strings: `psa_`, `pss_` or `psk_`, then base64url of routing ids, random bytes and a CRC-32.
 *
 * The routing ids name the rows to look up. The checksum refuses invalid tokens without the database, and helps secret
 * scanners (`ps[as]_[A-Za-z0-9_-]{80}`, `psk_[A-Za-z0-9_-]{60}`). The byte lengths are multiples of three, so one token
 * has exactly one encoding. Only its SHA-256 is stored (decision 13).
 */
const kinds = {
  authentication: { prefix: 'psa_', prefixChecksum: crc32('psa_'), ids: 2, random: 24 },
  session: { prefix: 'pss_', prefixChecksum: crc32('pss_'), ids: 2, random: 24 },
  key: { prefix: 'psk_', prefixChecksum: crc32('psk_'), ids: 1, random: 25 },
} as const;
export type TokenKind = keyof typeof kinds;

const checksumBytes = 4;

export interface NewToken {
  /** The string, which its holder gets once. */
  readonly token: string;
  /** SHA-256 of the string, which is stored. A fast hash is sufficient: the string has at least 192 random bits. */
  readonly digest: Buffer;
}

/** A token that was read. Most checks need no query, so the values for a query are computed on demand. */
export class ParsedToken {
  /**
   * @param routing the routing ids in their order, `[user id, id]` or `[key id]`, as 32 hexadecimal digits each
   * @param sha256 SHA-256 of the string, in hexadecimal digits
   */
  constructor(
    readonly routing: string,
    readonly sha256: string,
  ) {}

  get ids(): readonly string[] {
    const ids: string[] = [];
    for (let offset = 0; offset < this.routing.length; offset += 32)
      ids.push(idFromHex(this.routing.slice(offset, offset + 32)));
    return ids;
  }

  get digest(): Buffer {
    return Buffer.from(this.sha256, 'hex');
  }
}

/** Creates a token. `ids` are its routing ids: user id and authentication or session id; for keys the key id. */
export function newToken(kind: TokenKind, ids: readonly string[]): NewToken {
  const { prefix, random, prefixChecksum } = kinds[kind];
  const payload = Buffer.concat([...ids.map(idToBytes), randomBytes(random)]);
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32BE(crc32(payload, prefixChecksum));
  const token = prefix + Buffer.concat([payload, checksum]).toString('base64url');
  return { token, digest: sha256(token) };
}

/** Reads a token of this kind, without the database. Undefined for any other text. */
export function parseToken(kind: TokenKind, token: string): ParsedToken | undefined {
  const { prefix, ids, random, prefixChecksum } = kinds[kind];
  const size = ids * 16 + random + checksumBytes;
  if (token.length !== prefix.length + (size / 3) * 4 || !token.startsWith(prefix)) return undefined;
  const encoded = token.slice(prefix.length);
  // Buffer skips other characters, and accepts + and / of the standard alphabet.
  if (!/^[A-Za-z0-9_-]+$/.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, 'base64url');
  const payload = bytes.subarray(0, size - checksumBytes);
  if (bytes.readUInt32BE(size - checksumBytes) !== crc32(payload, prefixChecksum)) return undefined;
  return new ParsedToken(bytes.toString('hex', 0, ids * 16), sha256Hex(token));
}
