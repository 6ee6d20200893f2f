import { describe, expect, test } from 'vitest';
import { base32, stepOfCode, totpCode } from '../../../src/lib/crypto/totp.js';
import { fromBase32 } from '../../support/factors.js';

/** RFC 6238, appendix B: SHA-1, eight digits. */
const secret = Buffer.from('12345678901234567890');
const vectors: readonly [seconds: number, code: string][] = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
];

describe('TOTP codes', () => {
  test.each(vectors)('match RFC 6238 at %d s', (seconds, code) => {
    const step = Math.floor(seconds / 30);
    expect(totpCode(secret, step, 8)).toBe(code);
    expect(totpCode(secret, step)).toBe(code.slice(2));
  });

  test('are accepted for this step, the one before and the one after, and for no other', () => {
    expect(stepOfCode(secret, totpCode(secret, 1000), 1000)).toBe(1000);
    expect(stepOfCode(secret, totpCode(secret, 999), 1000)).toBe(999);
    expect(stepOfCode(secret, totpCode(secret, 998), 1000)).toBeUndefined();
    expect(stepOfCode(secret, totpCode(secret, 1001), 1000)).toBe(1001);
    expect(stepOfCode(secret, totpCode(secret, 1002), 1000)).toBeUndefined();
    expect(stepOfCode(secret, '', 1000)).toBeUndefined();
  });
});

test('secrets are encoded as base32 (RFC 4648)', () => {
  const vectors = {
    '': '',
    f: 'MY',
    fo: 'MZXQ',
    foo: 'MZXW6',
    foob: 'MZXW6YQ',
    fooba: 'MZXW6YTB',
    foobar: 'MZXW6YTBOI',
  };
  for (const [text, encoded] of Object.entries(vectors)) {
    expect(base32(Buffer.from(text))).toBe(encoded);
    expect(fromBase32(encoded).toString()).toBe(text);
  }
});
