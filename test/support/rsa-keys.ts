import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';

/** More than any test uses together: providers beside each other, before and after a rotation. */
const count = 6;
const pairs: KeyPairKeyObjectResult[] = [];
let calls = 0;

/**
 * An RSA key pair, another one than in the five calls before. It takes up to 0.5 s to generate one, so the files of a process
 * share these. A test whose point is a foreign key generates its own.
 */
export function rsaKeys(): KeyPairKeyObjectResult {
  const place = calls % count;
  calls += 1;
  const pair = pairs[place] ?? generateKeyPairSync('rsa', { modulusLength: 2048 });
  pairs[place] = pair;
  return pair;
}
