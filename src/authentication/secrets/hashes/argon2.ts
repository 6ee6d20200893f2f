import { verify } from '@node-rs/argon2';
import { randomBase64, readBase64 } from './base64.js';
import type { HashKind } from './password-hash.js';

/** RFC 9106, section 3.1: at least 8 KiB for each lane. */
const leastMemoryPerLane = 8;
const saltLength = { min: 8, max: 48 };
const outputLength = { min: 16, max: 64 };

const phc =
  /^(\$(argon2(?:id|i|d))\$v=19\$m=([1-9]\d{0,9}),t=([1-9]\d{0,9}),p=([1-9]\d{0,9}))\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** argon2id, argon2i and argon2d in version 1.3 as PHC strings: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`. */
export const argon2: HashKind = {
  parse(text) {
    const [, scheme = '', algorithm = '', m, t, p, salt = '', output = ''] = phc.exec(text) ?? [];
    const cost = { kibibytes: Number(m), passes: Number(t), lanes: Number(p) };
    if (!readBase64(salt, saltLength) || !readBase64(output, outputLength)) return undefined;
    if (cost.kibibytes < leastMemoryPerLane * cost.lanes) return undefined;
    return { algorithm, cost, scheme, verify: (password) => verify(text, password) };
  },
  standIn: (scheme) => `${scheme}$${randomBase64(16)}$${randomBase64(32)}`,
};
