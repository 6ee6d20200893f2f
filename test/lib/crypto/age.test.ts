import { describe, expect, it } from 'vitest';
import { decryptAge, encryptAge } from '../../../src/lib/crypto/age.js';

const passphrase = 'correct horse battery';
/** Written by the program `age` 1.1.1. */
const foreign = Buffer.from(
  'YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBuYTVzYWpuUUQraFFDc01QWVEwVEdBIDE4CkplZUNSbUdhdnV1SWl0UE9MOStOeW1BdWZp' +
    'TVpvSnNaRVpiZE1WNTNMTUEKLS0tIEs2VzdRRi9RWEZaRE9pdk1IU1RkVGV3V2JJb2t4ajJQRXVlajhvcjlnckEKy4OvYVrUiBlKKmpdjSqACeKF' +
    'uoIcNXlyjOlwnxFqHIxb+VcPgSH7Mj6SPY2+RVU=',
  'base64',
);

async function* inParts(bytes: Buffer, partBytes = 7000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes);
}

async function whole(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}

const encrypted = (plain: Buffer) => whole(encryptAge(passphrase, inParts(plain), 8));
const decrypted = (file: Buffer, words = passphrase) => whole(decryptAge(words, inParts(file)));

describe('the format of age', () => {
  it('a file of the program age is decrypted', async () => {
    expect((await decrypted(foreign)).toString()).toBe('hello from age\n');
  });

  it.each([0, 1, 65_535, 65_536, 65_537, 200_000])(
    '%d bytes are the same after encryption and decryption',
    async (size) => {
      const plain = Buffer.alloc(size, 'plain');
      const file = await encrypted(plain);
      expect(file.includes('plainplain')).toBe(false);
      expect((await decrypted(file)).equals(plain)).toBe(true);
    },
  );

  it('a wrong passphrase is refused with an error of its own', async () => {
    const file = await encrypted(Buffer.from('text'));
    await expect(decrypted(file, 'another passphrase')).rejects.toMatchObject({ code: 'passphrase' });
  });

  it('a file that was cut, extended or changed anywhere is refused', async () => {
    const file = await encrypted(Buffer.alloc(2 * 65_536, 'x'));
    const header = file.indexOf('\n---') + 1 + 48;
    const cuts = [10, header, header + 10, header + 16, header + 16 + 65_552, file.length - 1];
    for (const length of cuts) {
      await expect(decrypted(file.subarray(0, length)), `cut at ${length}`).rejects.toMatchObject({ code: 'damaged' });
    }
    for (const at of [header - 3, header + 2, header + 20, header + 70_000, file.length - 1]) {
      const flipped = Buffer.from(file);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      await expect(decrypted(flipped), `changed at ${at}`).rejects.toMatchObject({ code: 'damaged' });
    }
    await expect(decrypted(Buffer.concat([file, Buffer.from('more')]))).rejects.toMatchObject({ code: 'damaged' });
  });

  it('a file that asks for a costly key is refused before the key is computed', async () => {
    const costly = Buffer.from(foreign.toString('latin1').replace(' 18\n', ' 40\n'), 'latin1');
    await expect(decrypted(costly)).rejects.toMatchObject({ code: 'damaged' });
  });
});
