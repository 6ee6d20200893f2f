import { randomBase64 } from './base64.js';
import type { HashKind } from './password-hash.js';

/**
 * 22 characters of salt and 31 of hash, in an alphabet of bcrypt's own. The last of each has spare bits, which the verifier
 * wants to be 0. `2x` and `2` are missing on purpose: they name faulty versions of long ago.
 */
const crypt = /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;

/** bcrypt reads 72 bytes of a key, to which a shorter password's end belongs. */
const keyBytes = 72;

/** `$2b$12$salthash`; `2a`, `2b` and `2y` are one and the same. */
export const bcrypt: HashKind = {
  parse(text) {
    const [, rounds] = crypt.exec(text) ?? [];
    if (rounds === undefined) return undefined;
    return {
      algorithm: 'bcrypt',
      cost: { logRounds: Number(rounds) },
      scheme: `$2b$${rounds}`,
      readsBytes: keyBytes,
      async verify(password) {
        // Loaded when there is such a hash.
        const { verify } = await import('@node-rs/bcrypt');
        return verify(password, text);
      },
    };
  },
  standIn(scheme) {
    const characters = randomBase64(51).replaceAll('+', '.');
    return `${scheme}$${characters.slice(0, 21)}.${characters.slice(21, 51)}.`;
  },
};
