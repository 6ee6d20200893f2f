import { hash } from '@node-rs/argon2';
import { describe, expect, it } from 'vitest';
import { dummyHashFor } from '../../src/credentials/hashes/registry.js';
import { isUsableHash } from '../../src/credentials/imported-hash.js';
import { createPasswordHasher } from '../../src/credentials/passwords.js';

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
    const text = await hash('a battery of horses', { algorithm: 2, memoryCost, timeCost, parallelism });
    expect(isUsableHash(text)).toBe(true);
    expect(await createPasswordHasher().verify(text, 'a battery of horses')).toBe(true);
  });

  it.each([
    '$argon2i$v=19$m=65536,t=10,p=4',
    '$argon2d$v=19$m=65536,t=10,p=4',
    '$2b$04',
    '$2b$12',
    // Defaults of passlib and Node.js, and OWASP's recommendations of at most 64 MiB
    '$scrypt$ln=16,r=8,p=1',
    '$scrypt$ln=14,r=8,p=1',
    '$scrypt$ln=15,r=8,p=3',
    '$scrypt$ln=14,r=8,p=5',
    '$scrypt$ln=13,r=8,p=10',
    // OWASP's recommendations and the defaults of Django 6.0
    '$pbkdf2$1300000',
    '$pbkdf2-sha256$600000',
    '$pbkdf2-sha256$1200000',
    '$pbkdf2-sha512$210000',
    '$pbkdf2-sha512$500000',
  ])('accepts %s', (scheme) => {
    expect(isUsableHash(dummyHashFor(scheme) ?? '')).toBe(true);
  });

  it.each([
    '$argon2id$v=19$m=65537,t=2,p=1',
    '$argon2id$v=19$m=19456,t=11,p=1',
    '$argon2id$v=19$m=19456,t=2,p=5',
    '$argon2id$v=19$m=4294967295,t=1,p=1',
    '$argon2i$v=19$m=65537,t=2,p=1',
    '$argon2d$v=19$m=19456,t=11,p=1',
    '$2b$13',
    '$2b$31',
    '$scrypt$ln=17,r=8,p=1',
    '$scrypt$ln=16,r=8,p=2',
    '$scrypt$ln=1,r=9999,p=9999',
    '$scrypt$ln=31,r=9999,p=1',
    '$pbkdf2$1300001',
    '$pbkdf2-sha256$1200001',
    '$pbkdf2-sha512$500001',
    '$pbkdf2-sha512$999999999',
  ])('refuses %s as too expensive', (scheme) => {
    const text = dummyHashFor(scheme);
    expect(text).toBeDefined();
    expect(isUsableHash(text ?? '')).toBe(false);
  });

  it.each([
    phc('m=19456,t=2,p=1', '16'),
    phc('m=19456,t=2,p=1', '19', 'argon2'),
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
    '',
  ])('refuses %j', (text) => {
    expect(isUsableHash(text)).toBe(false);
  });
});
