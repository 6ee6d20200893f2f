// Writes src/credentials/common-password-digests.ts: digests of the most frequent passwords of lists.
//   node scripts/common-passwords.mjs LIST…
// Each list is a text file with one password a line, the most frequent first, such as those of SecLists, zxcvbn and
// John the Ripper.
import { readFileSync, writeFileSync } from 'node:fs';
import { commonPasswordDigest, foldPassword } from '../dist/tools.js';

/** The first passwords of each list, for every minimum length that PASSWORD_MIN may have. */
const count = (/** @type {number} */ minimum) => (minimum === 8 ? 10_000 : 3500);
const longest = 32;

const folded = new Set();
for (const path of process.argv.slice(2)) {
  const passwords = readFileSync(path, 'utf8').split(/\r?\n/).filter(Boolean);
  for (let minimum = 8; minimum <= longest; minimum += 1) {
    const longEnough = passwords.filter((password) => [...password].length >= minimum);
    for (const password of longEnough.slice(0, count(minimum))) folded.add(foldPassword(password));
  }
}
const digests = [...folded].map((text) => commonPasswordDigest(text)).sort(Buffer.compare);
const lines =
  Buffer.concat(digests)
    .toString('base64')
    .match(/.{1,120}/g) ?? [];
writeFileSync(
  new URL('../src/credentials/common-password-digests.ts', import.meta.url),
  `/** The first five bytes of SHA-256 of ${digests.length} frequent passwords, sorted, in base64. Written by scripts/common-passwords.mjs. */
export const digests =
  \`${lines.join('\n')}\`;
`,
);
