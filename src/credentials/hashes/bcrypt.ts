import { randomBase64 } from './base64.js';
import type { HashFormat } from './password-hash.js';

/**
 * 22 characters of salt and 31 of hash, in bcrypt's own base64 alphabet. The last character of each has unused bits,
 * which must be 0 for the verifier. `2x` and `2` are refused on purpose: they mark old, broken implementations.
 */
const crypt = /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;

/** bcrypt reads the first 72 bytes of its key: the password and a terminating zero byte. */
const keyBytes = 72;

/** `$2b$12$salthash`. `2a`, `2b` and `2y` mean the same algorithm. */
export const bcrypt: HashFormat = {
  parse(text) {
    const [, rounds] = crypt.exec(text) ?? [];
    if (rounds === undefined) return undefined;
    return {
      algorithm: 'bcrypt',
      cost: { logRounds: Number(rounds) },
      scheme: `$2b$${rounds}`,
      maxPasswordBytes: keyBytes,
      async verify(password) {
        // Loaded only when there is such a hash.
        const { verify } = await import('@node-rs/bcrypt');
        return verify(password, text);
      },
    };
  },
  dummyHash(scheme) {
    const characters = randomBase64(51).replaceAll('+', '.');
    return `${scheme}$${characters.slice(0, 21)}.${characters.slice(21, 51)}.`;
  },
};
