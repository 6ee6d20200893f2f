import { type ScryptOptions, scrypt as scryptWithCallback, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { randomBase64, readBase64 } from './base64.js';
import type { HashKind } from './password-hash.js';

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scryptWithCallback);

const saltLength = { min: 8, max: 48 };
const outputLength = { min: 16, max: 64 };

const phc =
  /^(\$scrypt\$ln=([1-9]|[12]\d|3[01]),r=([1-9]\d{0,3}),p=([1-9]\d{0,3}))\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** scrypt (RFC 7914) as passlib writes it: `$scrypt$ln=16,r=8,p=1$salt$hash`, where ln is the binary logarithm of N. */
export const scrypt: HashKind = {
  parse(text) {
    const [, scheme = '', ln, r, p, saltText = '', outputText = ''] = phc.exec(text) ?? [];
    const [salt, output] = [readBase64(saltText, saltLength), readBase64(outputText, outputLength)];
    if (salt === undefined || output === undefined) return undefined;
    const [N, blockSize, parallelization] = [2 ** Number(ln), Number(r), Number(p)];
    const bytes = 128 * blockSize * (N + parallelization + 2);
    return {
      algorithm: 'scrypt',
      cost: { kibibytes: (128 * N * blockSize) / 1024, blocks: N * blockSize * parallelization },
      scheme,
      async verify(password) {
        const options = { N, r: blockSize, p: parallelization, maxmem: bytes };
        return timingSafeEqual(await derive(password, salt, output.length, options), output);
      },
    };
  },
  standIn: (scheme) => `${scheme}$${randomBase64(16)}$${randomBase64(32)}`,
};
