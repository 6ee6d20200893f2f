import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { qrCode } from '../../src/base/qr.js';

const digest = (text: string) => {
  const rows = qrCode(text)?.map((row) => row.map(Number).join('')) ?? [];
  return [rows.length, createHash('sha256').update(rows.join('\n')).digest('hex').slice(0, 16)];
};

/** The digests are those of the same codes by another encoder (uqr 0.1, mask 0). */
test.each([
  [10, 21, 'e8cd73f75a17026f'],
  [40, 29, '168cc399910086d2'],
  [65, 37, 'b95d608066fa1c5b'],
  [100, 41, '61029574ace2660d'],
  [120, 45, '6a84f2523f6b9ea9'],
  [150, 49, '9532ad4eaf373498'],
  [180, 53, 'fcabc4bb48e8f90a'],
  [213, 57, 'f7866b65118d83af'],
])('a text of %d bytes has the same modules as by another encoder', (length, size, expected) => {
  const text = 'otpauth://totp/Postern:ada?secret=JBSWY3DPEHPK3PXP&issuer=Postern'
    .padEnd(length, '0123456789')
    .slice(0, length);
  expect(digest(text)).toEqual([size, expected]);
});

test('a text that is too long has no code', () => {
  expect(qrCode('x'.repeat(214))).toBeNull();
});
