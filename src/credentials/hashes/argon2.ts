import { hashRaw } from '@node-rs/argon2';
import { randomBase64, readBase64, zeroBase64 } from './base64.js';
import type { HashFormat } from './password-hash.js';

/** KiB (RFC 9106, section 3.1). */
const minMemoryPerLane = 8;
/** The numbers of the variants in the library. */
const variants: Readonly<Record<string, number>> = { argon2d: 0, argon2i: 1, argon2id: 2 };
const saltLength = { min: 8, max: 48 };
const outputLength = { min: 16, max: 64 };

const phc =
  /^(\$(argon2(?:id|i|d))\$v=19\$m=([1-9]\d{0,9}),t=([1-9]\d{0,9}),p=([1-9]\d{0,9}))\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** argon2id, argon2i and argon2d, version 1.3 (RFC 9106), as PHC strings: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`. */
export const argon2: HashFormat = {
  parse(text) {
    const [, scheme, algorithm = '', m, t, p, salt = '', output = ''] = phc.exec(text) ?? [];
    if (scheme === undefined) return undefined;
    const cost = { kibibytes: Number(m), passes: Number(t), lanes: Number(p) };
    const saltBytes = readBase64(salt, 'salt', saltLength);
    const outputBytes = readBase64(output, 'hash', outputLength);
    if (saltBytes === undefined || outputBytes === undefined) return undefined;
    if (cost.kibibytes < minMemoryPerLane * cost.lanes) return undefined;
    const options = {
      algorithm: variants[algorithm] ?? 2,
      memoryCost: cost.kibibytes,
      timeCost: cost.passes,
      parallelism: cost.lanes,
      salt: saltBytes,
      outputLen: outputBytes.length,
    };
    return {
      algorithm,
      cost,
      scheme,
      stored: text,
      withoutOutput: `${scheme}$${salt}$${zeroBase64(outputBytes.length)}`,
      output: outputBytes,
      derive: (password) => hashRaw(password, options),
    };
  },
  dummyHash: (scheme) => `${scheme}$${randomBase64(16)}$${randomBase64(32)}`,
};
