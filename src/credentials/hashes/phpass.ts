import { hash as digest } from 'node:crypto';
import { randomCryptText, writeCryptBase64 } from './base64.js';
import { iterate, maxIteratedBytes } from './iterate.js';
import { checkLength, type HashFormat } from './password-hash.js';

/** The binary logarithm of the rounds is one character: 7 to 30, in the alphabet of crypt(3). */
const logCharacters = '56789ABCDEFGHIJKLMNOPQRS';
const minLog = 7;
const portable = /^\$[PH]\$([5-9A-S])([!-#%-~]{8})([./A-Za-z0-9]{21}[./01])$/;
const stored = /^\$phpass\$([7-9]|[12]\d|30)\$([!-#%-~]{8})\$([./A-Za-z0-9]{21}[./01])$/;
const textLength = { min: 34, max: 34 };

/**
 * The portable hashes of phpass: iterated MD5, as in WordPress before 6.8, phpBB (`$H$`) and Drupal 6. They are stored as
 * `$phpass$13$salt$hash`, where 13 is the binary logarithm of the rounds.
 */
export const phpass: HashFormat = {
  parse(text) {
    if (/^\$[PH]\$[5-9A-S][!-#%-~]*$/.test(text)) checkLength('hash', text.length, textLength);
    const [, character = '', portableSalt = '', portableOutput = ''] = portable.exec(text) ?? [];
    const [, number, storedSalt = '', storedOutput = ''] = stored.exec(text) ?? [];
    if (character === '' && number === undefined) return undefined;
    const log = number === undefined ? logCharacters.indexOf(character) + minLog : Number(number);
    const salt = portableSalt || storedSalt;
    const output = portableOutput || storedOutput;
    const scheme = `$phpass$${log}`;
    return {
      algorithm: 'phpass',
      cost: { logRounds: log },
      scheme,
      stored: `${scheme}$${salt}$${output}`,
      withoutOutput: `${scheme}$${salt}$${'.'.repeat(output.length)}`,
      output: Buffer.from(output),
      async derive(password) {
        const key = Buffer.from(password).subarray(0, maxIteratedBytes);
        let value = digest('md5', Buffer.concat([Buffer.from(salt), key]), 'buffer');
        await iterate(2 ** log, () => {
          value = digest('md5', Buffer.concat([value, key]), 'buffer');
        });
        return Buffer.from(Buffer.byteLength(password) > maxIteratedBytes ? '' : writeCryptBase64(value));
      },
    };
  },
  dummyHash: (scheme) => `${scheme}$${randomCryptText(8)}$${randomCryptText(21)}.`,
};
