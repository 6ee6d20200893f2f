// Adds the most frequent passwords of lists to src/credentials/common-password-digests.ts, which has their digests.
//   node scripts/common-passwords.mjs LIST…
// Each list is a text file with one password a line, the most frequent first, such as those of SecLists, zxcvbn and
// John the Ripper.
import { readFileSync, writeFileSync } from 'node:fs';
import { commonPasswordDigest, foldPassword } from '../dist/tools.js';

/** The first passwords of each list, for every minimum length that PASSWORD_MIN may have. */
const count = (/** @type {number} */ minimum) => (minimum === 8 ? 10_000 : 3500);
const longest = 32;
const digestBytes = 5;
const file = new URL('../src/credentials/common-password-digests.ts', import.meta.url);

const known = Buffer.from(readFileSync(file, 'utf8').replace(/^.*?`|`[^`]*$/gs, ''), 'base64');
const digests = new Set(
  Array.from({ length: known.length / digestBytes }, (_, at) =>
    known.toString('hex', at * digestBytes, (at + 1) * digestBytes),
  ),
);
for (const path of process.argv.slice(2)) {
  const passwords = readFileSync(path, 'utf8').split(/\r?\n/).filter(Boolean);
  for (let minimum = 8; minimum <= longest; minimum += 1) {
    const longEnough = passwords.filter((password) => [...password].length >= minimum);
    for (const password of longEnough.slice(0, count(minimum))) {
      digests.add(commonPasswordDigest(foldPassword(password)).toString('hex'));
    }
  }
}
const lines =
  Buffer.from([...digests].sort().join(''), 'hex')
    .toString('base64')
    .match(/.{1,120}/g) ?? [];
writeFileSync(
  file,
  `/** The first five bytes of SHA-256 of ${digests.size} frequent passwords, sorted. Written by scripts/common-passwords.mjs. */
export const digests = Buffer.from(
  \`${lines.join('\n')}\`,
  'base64',
);
`,
);
