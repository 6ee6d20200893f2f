import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { expect } from 'vitest';

const pairs: KeyPairKeyObjectResult[] = [];
let file: string | undefined;
let calls = 0;

/**
 * An RSA key pair, another one at each call of a test file. It takes up to 0.5 s to generate one, so the files of a process share these:
 * each file begins with the first pair. A test whose point is a foreign key generates its own.
 */
export function rsaKeys(): KeyPairKeyObjectResult {
  const { testPath } = expect.getState();
  if (testPath !== file) calls = 0;
  file = testPath;
  const pair = pairs[calls] ?? generateKeyPairSync('rsa', { modulusLength: 2048 });
  pairs[calls] = pair;
  calls += 1;
  return pair;
}
