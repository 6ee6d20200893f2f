import { hash } from '@node-rs/argon2';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUsableHash } from '../../src/authentication/imported-hash.js';
import { createPasswordHasher } from '../../src/authentication/passwords.js';

const salt = 'c29tZS1zYWx0LTEyMzQ';
const output = Buffer.alloc(32, 7).toString('base64').replace('=', '');
const phc = (parameters: string, version = '19', kind = 'argon2id') =>
  `$${kind}$v=${version}$${parameters}$${salt}$${output}`;

describe('isUsableHash', () => {
  it.each([
    [19_456, 2, 1],
    [65_536, 10, 4],
    [8, 1, 1],
  ])('accepts argon2id with m=%d, t=%d, p=%d, and it can be verified', async (memoryCost, timeCost, parallelism) => {
    const made = await hash('a battery of horses', { algorithm: 2, memoryCost, timeCost, parallelism });
    expect(isUsableHash(made)).toBe(true);
    expect(await createPasswordHasher().verify(made, 'a battery of horses')).toBe(true);
  });

  it.each(['m=65537,t=2,p=1', 'm=19456,t=11,p=1', 'm=19456,t=2,p=5', 'm=4294967295,t=1,p=1'])(
    'refuses %s as too dear',
    (parameters) => {
      expect(isUsableHash(phc('m=19456,t=2,p=1'))).toBe(true);
      expect(isUsableHash(phc(parameters))).toBe(false);
    },
  );

  it.each([
    phc('m=19456,t=2,p=1', '16'),
    phc('m=19456,t=2,p=1', '19', 'argon2i'),
    phc('m=19456,t=2,p=1', '19', 'argon2d'),
    phc('m=0,t=2,p=1'),
    phc('m=7,t=1,p=1'),
    phc('m=19456,t=0,p=1'),
    phc('m=019456,t=2,p=1'),
    phc('t=2,m=19456,p=1'),
    phc('m=19456,t=2,p=1,keyid=AAAA'),
    `${phc('m=19456,t=2,p=1')}\n`,
    phc('m=19456,t=2,p=1').replace(salt, 'c2hvcnQ'),
    phc('m=19456,t=2,p=1').replace(output, 'c2hvcnQ'),
    `${phc('m=19456,t=2,p=1').slice(0, -1)}/`,
    '$2b$12$C6UzMDM.H6dfI/f/IKcEeO7ZBx6nV0mB1rWkH6m3Qm9cVJY6X2mTe',
    '',
  ])('refuses %j', (text) => {
    expect(isUsableHash(text)).toBe(false);
  });

  it('accepts nothing that the verifier cannot read', async () => {
    const hasher = createPasswordHasher();
    const base64 = fc
      .uint8Array({ minLength: 1, maxLength: 70 })
      .map((bytes) => Buffer.from(bytes).toString('base64').replace(/=+$/, ''));
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 1, max: 5 }),
        base64,
        base64,
        async (m, p, saltText, outputText) => {
          const text = `$argon2id$v=19$m=${m},t=1,p=${p}$${saltText}$${outputText}`;
          if (isUsableHash(text)) await expect(hasher.verify(text, 'x')).resolves.toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });
});
