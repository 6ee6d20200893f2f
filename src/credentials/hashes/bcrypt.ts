import { createHmac } from 'node:crypto';
import { randomBase64, readBcryptBase64 } from './base64.js';
import { checkLength, type HashFormat } from './password-hash.js';

/**
 * 22 characters of salt and 31 of hash, in bcrypt's own base64 alphabet. The last character of each has unused bits,
 * which must be 0 for the verifier. `2x` and `2` are refused on purpose: they mark old, broken implementations.
 */
const crypt = /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$([./A-Za-z0-9]{21}[.Oeu])([./A-Za-z0-9]{30}[.CGKOSWaeimquy26])$/;
const cryptLength = { min: 60, max: 60 };

/** bcrypt reads the first 72 bytes of its key: the password and a terminating zero byte. */
const keyBytes = 72;

interface Crypt {
  readonly logRounds: string;
  readonly salt: string;
  readonly output: string;
  /** Computes the output for a key, as text. */
  derive(key: string): Promise<Buffer>;
}

function parseCrypt(text: string): Crypt | undefined {
  if (/^\$2[aby]\$\d\d\$[./A-Za-z0-9]*$/.test(text)) checkLength('hash', text.length, cryptLength);
  const [, logRounds, salt = '', output = ''] = crypt.exec(text) ?? [];
  if (logRounds === undefined) return undefined;
  const derive = async (key: string) => {
    // Loaded only when there is such a hash.
    const { hash } = await import('@node-rs/bcrypt');
    return Buffer.from((await hash(key, Number(logRounds), readBcryptBase64(salt))).slice(-output.length));
  };
  return { logRounds, salt, output, derive };
}

/** An output of zeros: `.` is 0 in the base64 of bcrypt. */
const zeroOutput = '.'.repeat(31);

const randomCrypt = (separator: string) => {
  const characters = randomBase64(51).replaceAll('+', '.');
  return `${characters.slice(0, 21)}.${separator}${characters.slice(21, 51)}.`;
};

/** `$2b$12$salthash`. `2a`, `2b` and `2y` mean the same algorithm. */
export const bcrypt: HashFormat = {
  parse(text) {
    const parsed = parseCrypt(text);
    if (parsed === undefined) return undefined;
    const { logRounds, salt, output, derive } = parsed;
    const scheme = `$2b$${logRounds}`;
    return {
      algorithm: 'bcrypt',
      cost: { logRounds: Number(logRounds) },
      scheme,
      stored: text,
      maxPasswordBytes: keyBytes,
      withoutOutput: `${scheme}$${salt}${zeroOutput}`,
      output: Buffer.from(output),
      derive,
    };
  },
  dummyHash: (scheme) => `${scheme}$${randomCrypt('')}`,
};

/** WordPress hashes, and compares, passwords without the white space that PHP's `trim` removes. */
const trim = (password: string) => password.replace(/^[ \t\n\r\0\v]+|[ \t\n\r\0\v]+$/g, '');

/** `$wp$2y$10$salthash` of WordPress 6.8 and later: bcrypt of an HMAC in base64. It is stored as `$wp$10$salt$hash`. */
export const wordPress: HashFormat = {
  parse(text) {
    const [, crypt = ''] = /^\$wp(\$2y\$.*)$/.exec(text) ?? [];
    const parsed = parseCrypt(crypt || text.replace(/^\$wp\$(\d\d\$[^$]+)\$/, '$$2y$$$1'));
    if (parsed === undefined || !text.startsWith('$wp$')) return undefined;
    const { logRounds, salt, output, derive } = parsed;
    const scheme = `$wp$${logRounds}`;
    return {
      algorithm: 'bcrypt',
      cost: { logRounds: Number(logRounds) },
      scheme,
      stored: `${scheme}$${salt}$${output}`,
      withoutOutput: `${scheme}$${salt}$${zeroOutput}`,
      output: Buffer.from(output),
      derive: (password) => derive(createHmac('sha384', 'wp-sha384').update(trim(password)).digest('base64')),
    };
  },
  dummyHash: (scheme) => `${scheme}$${randomCrypt('$')}`,
};
