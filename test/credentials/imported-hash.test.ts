import { hash } from '@node-rs/argon2';
import { describe, expect, it } from 'vitest';
import { dummyHashFor } from '../../src/credentials/hashes/registry.js';
import { importedHashError } from '../../src/credentials/imported-hash.js';
import { createPasswordHasher } from '../../src/credentials/passwords.js';

const salt = 'c29tZS1zYWx0LTEyMzQ';
const output = Buffer.alloc(32, 7).toString('base64').replace('=', '');
const phc = (parameters: string, version = '19', kind = 'argon2id') =>
  `$${kind}$v=${version}$${parameters}$${salt}$${output}`;

describe('importedHashError', () => {
  it.each([
    [19_456, 2, 1],
    [65_536, 10, 4],
    [131_072, 2, 1],
    [8, 1, 1],
  ])('accepts argon2id with m=%d, t=%d, p=%d, and it can be verified', async (memoryCost, timeCost, parallelism) => {
    const text = await hash('a battery of horses', { algorithm: 2, memoryCost, timeCost, parallelism });
    expect(importedHashError(text)).toBeUndefined();
    expect(await createPasswordHasher().verify(text, 'a battery of horses', null)).toBe(true);
  });

  it.each([
    '$argon2i$v=19$m=131072,t=10,p=4',
    '$argon2d$v=19$m=131072,t=10,p=4',
    '$2b$04',
    '$2b$13',
    '$wp$10',
    '$phpass$13',
    '$5$rounds=5000',
    '$6$rounds=200000',
    '$ssha-sha1',
    '$ssha-sha384',
    '$fbscrypt$n=14,r=8,p=1',
    // Defaults of passlib and Node.js, and OWASP's recommendations
    '$scrypt$ln=17,r=8,p=1',
    '$scrypt$ln=16,r=8,p=1',
    '$scrypt$ln=14,r=8,p=1',
    '$scrypt$ln=15,r=8,p=3',
    '$scrypt$ln=14,r=8,p=5',
    '$scrypt$ln=13,r=8,p=10',
    // OWASP's recommendations, and the defaults of Django 6.0 and 6.1
    '$pbkdf2$1300000',
    '$pbkdf2-sha256$1500000',
    '$pbkdf2-sha256$600000',
    '$pbkdf2-sha256$1200000',
    '$pbkdf2-sha512$210000',
    '$pbkdf2-sha512$500000',
  ])('accepts %s', (scheme) => {
    expect(importedHashError(dummyHashFor(scheme) ?? '')).toBeUndefined();
  });

  it.each([
    '$argon2id$v=19$m=131073,t=2,p=1',
    '$argon2id$v=19$m=19456,t=11,p=1',
    '$argon2id$v=19$m=19456,t=2,p=5',
    '$argon2id$v=19$m=4294967295,t=1,p=1',
    '$argon2i$v=19$m=131073,t=2,p=1',
    '$argon2d$v=19$m=19456,t=11,p=1',
    '$2b$14',
    '$2b$31',
    '$wp$14',
    '$phpass$18',
    '$5$rounds=250001',
    '$6$rounds=999999999',
    '$fbscrypt$n=18,r=8,p=1',
    '$scrypt$ln=18,r=8,p=1',
    '$scrypt$ln=17,r=8,p=2',
    '$scrypt$ln=1,r=9999,p=9999',
    '$scrypt$ln=31,r=9999,p=1',
    '$pbkdf2$1500001',
    '$pbkdf2-sha256$1500001',
    '$pbkdf2-sha512$500001',
    '$pbkdf2-sha512$999999999',
  ])('refuses %s as too expensive', (scheme) => {
    const text = dummyHashFor(scheme);
    expect(text).toBeDefined();
    expect(importedHashError(text ?? '')).toMatchObject({ code: 'hash_too_expensive' });
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
    expect(importedHashError(text)?.code).toMatch(/^invalid_hash(_length)?$/);
  });

  it.each([
    ['plain', { code: 'invalid_hash' }],
    ['$2b$12$VGhpcyBpcyBhIHNhbHQgKeC9x3Yw6pQ2m0n1v4k8j7h5g3f2d1s', { part: 'hash', length: 58, min: 60, max: 60 }],
    ['$pbkdf2-sha256$27500$c2FsdHNhbHQ$aGFzaA', { part: 'hash', length: 4, min: 16, max: 512 }],
    ['$6$salt$abc', { part: 'hash', length: 3, min: 86, max: 86 }],
    ['$P$B123456789', { part: 'hash', length: 13, min: 34, max: 34 }],
    ['{SSHA}c2hvcnQ=', { part: 'hash', length: 5, min: 21, max: 84 }],
    [dummyHashFor('$2b$14') ?? '', { measure: 'log2(rounds)', value: 14, max: 13 }],
    [dummyHashFor('$pbkdf2-sha256$2000000') ?? '', { measure: 'rounds', value: 2_000_000, max: 1_500_000 }],
    [dummyHashFor('$argon2id$v=19$m=262144,t=2,p=1') ?? '', { measure: 'memory (KiB)', value: 262_144, max: 131_072 }],
  ])('says of %j whether the format, the length or the cost is wrong, with the figure', (text, expected) => {
    const error = importedHashError(text);
    expect(error?.params ?? error).toEqual(expected);
    if ('part' in expected) expect(error?.code).toBe('invalid_hash_length');
    if ('measure' in expected) expect(error?.code).toBe('hash_too_expensive');
  });
});
