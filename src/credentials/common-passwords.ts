import { createHash } from 'node:crypto';

/** Bytes of a digest in the list. With 40 bits, one of 27 million other passwords is refused by mistake. */
const digestBytes = 5;
/** The shortest text that is compared without the digits at its end: `a` must not refuse `a83749274923`. */
const minBase = 4;
/** The shortest run of a pattern. */
const minRun = 3;

/** The rows of the keyboards QWERTY, QWERTZ and AZERTY. A key touches its neighbours in its row and in the rows beside it. */
const keyboards: readonly (readonly string[])[] = [
  ['1234567890-=', 'qwertyuiop[]', "asdfghjkl;'", 'zxcvbnm,./'],
  ['1234567890', 'qwertzuiopü', 'asdfghjklöä', 'yxcvbnm,.-'],
  ['1234567890', 'azertyuiop', 'qsdfghjklm', 'wxcvbn'],
];
const shifted = new Map([...'!@#$%^&*()'].map((sign, at) => [sign, '1234567890'.charAt(at)]));

/**
 * A password as attackers' lists are compared: without case, spaces and digits at the end.
 *
 * @public for the script that makes the list
 */
export function foldPassword(password: string): string {
  const text = password.normalize('NFC').toLowerCase().replaceAll(/\s/gu, '');
  const base = text.replace(/\p{Nd}+$/u, '');
  return base.length >= minBase ? base : text;
}

/**
 * The digest of a folded password, as the list stores it.
 *
 * @public for the script that makes the list
 */
export const commonPasswordDigest = (folded: string): Buffer =>
  createHash('sha256').update(folded).digest().subarray(0, digestBytes);

/** Whether a password is in the list of the most frequent ones, compared without case, spaces and digits at the end. */
export async function isFrequent(password: string): Promise<boolean> {
  // Loaded when a password is first set: checking a password does not need it.
  const { digests } = await import('./common-password-digests.js');
  const wanted = commonPasswordDigest(foldPassword(password));
  let [low, high] = [0, digests.length / digestBytes];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = wanted.compare(digests, middle * digestBytes, (middle + 1) * digestBytes);
    if (order === 0) return true;
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return false;
}

/**
 * Whether a text consists only of patterns: repeated characters, rows of the alphabet or of digits, and keys side by side, in
 * runs of three or more, such as `abcdef123`, `qwerty4321` and `1qaz2wsx`.
 */
export function isPattern(text: string): boolean {
  const keys = [...text.toLowerCase()].map((key) => shifted.get(key) ?? key);
  let run = 1;
  for (const [at, key] of keys.entries()) {
    if (at === 0) continue;
    if (isNext(keys[at - 1] ?? '', key)) run += 1;
    else if (run < minRun) return false;
    else run = 1;
  }
  return run >= minRun;
}

function isNext(former: string, key: string): boolean {
  if (former + key === '90' || former + key === '09') return true;
  const [code, nextCode] = [former.codePointAt(0) ?? 0, key.codePointAt(0) ?? 0];
  return Math.abs(code - nextCode) <= 1 || keyboards.some((rows) => areNeighbours(rows, former, key));
}

function areNeighbours(rows: readonly string[], former: string, key: string): boolean {
  const [row, nextRow] = [
    rows.findIndex((keys) => keys.includes(former)),
    rows.findIndex((keys) => keys.includes(key)),
  ];
  if (row < 0 || nextRow < 0 || Math.abs(row - nextRow) > 1) return false;
  const distance = (rows[nextRow] ?? '').indexOf(key) - (rows[row] ?? '').indexOf(former);
  // A key of a lower row lies between its column and the next one of the row above.
  return row === nextRow ? Math.abs(distance) === 1 : distance === 0 || distance === row - nextRow;
}
