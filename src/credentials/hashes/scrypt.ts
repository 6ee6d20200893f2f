import { type ScryptOptions, scrypt as scryptWithCallback, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { randomBase64, readBase64 } from './base64.js';
import type { HashFormat } from './password-hash.js';

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scryptWithCallback);

const saltLength = { min: 8, max: 48 };
const outputLength = { min: 16, max: 64 };

const phc =
  /^(\$scrypt\$ln=([1-9]|[12]\d|3[01]),r=([1-9]\d{0,3}),p=([1-9]\d{0,3}))\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** scrypt (RFC 7914) in passlib's format: `$scrypt$ln=16,r=8,p=1$salt$hash`, where `ln` is log2(N). */
export const scrypt: HashFormat = {
  parse(text) {
    const [, scheme = '', ln, r, p, saltText = '', outputText = ''] = phc.exec(text) ?? [];
    const salt = readBase64(saltText, saltLength);
    const output = readBase64(outputText, outputLength);
    if (salt === undefined || output === undefined) return undefined;
    const N = 2 ** Number(ln);
    const blockSize = Number(r);
    const parallelization = Number(p);
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
  dummyHash: (scheme) => `${scheme}$${randomBase64(16)}$${randomBase64(32)}`,
};
