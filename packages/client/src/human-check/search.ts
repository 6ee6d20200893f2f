import { sha256 } from '../sha256.js';

/** Find the number below `end` whose SHA-256, after the salt, is `target`. */
export interface Work {
  readonly salt: string;
  /** In hexadecimal. */
  readonly target: string;
  readonly end: number;
}

const hex = (digest: Int32Array) => [...digest].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');

/** Tries the numbers from `start` to `end`. Undefined if none of them is right. */
export function search({ salt, target, end }: Work, start: number): number | undefined {
  const first = Number.parseInt(target.slice(0, 8), 16) | 0;
  for (let number = start; number < end; number += 1) {
    const digest = sha256(`${salt}${number}`);
    if (digest[0] === first && hex(digest) === target) return number;
  }
  return undefined;
}
