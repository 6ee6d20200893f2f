import { expect, it } from 'vitest';
import { isWeak } from '../../../src/credentials/hashes/minimum-cost.js';
import { dummyHashFor, parseHash } from '../../../src/credentials/hashes/registry.js';
import { createPasswordHasher, schemeOf, schemeToStore } from '../../../src/credentials/passwords.js';
import { fastHashes } from '../../support/fast-hashes.js';

/** For each algorithm, the settings at OWASP's smallest cost, and the ones directly below. */
const atTheLimit = [
  ['$argon2id$v=19$m=47104,t=1,p=1', '$argon2id$v=19$m=47103,t=1,p=1'],
  ['$argon2id$v=19$m=19457,t=2,p=1', '$argon2id$v=19$m=19455,t=2,p=1'],
  ['$argon2id$v=19$m=12288,t=3,p=1', '$argon2id$v=19$m=12287,t=3,p=1'],
  ['$argon2id$v=19$m=9216,t=4,p=1', '$argon2id$v=19$m=9215,t=4,p=1'],
  ['$argon2id$v=19$m=7168,t=5,p=1', '$argon2id$v=19$m=7167,t=5,p=1'],
  ['$2b$10', '$2b$09'],
  ['$wp$10', '$wp$09'],
  ['$scrypt$ln=17,r=8,p=1', '$scrypt$ln=16,r=8,p=1'],
  ['$scrypt$ln=15,r=8,p=3', '$scrypt$ln=15,r=8,p=2'],
  ['$scrypt$ln=14,r=8,p=5', '$scrypt$ln=14,r=8,p=4'],
  ['$scrypt$ln=13,r=8,p=10', '$scrypt$ln=12,r=8,p=20'],
  ['$fbscrypt$n=14,r=8,p=5', '$fbscrypt$n=14,r=8,p=1'],
  ['$pbkdf2$1300000', '$pbkdf2$1299999'],
  ['$pbkdf2-sha256$600000', '$pbkdf2-sha256$599999'],
  ['$pbkdf2-sha512$210000', '$pbkdf2-sha512$209999'],
] as const;
/** OWASP recommends none of these, whatever they cost. */
const alwaysWeak = [
  '$argon2i$v=19$m=131072,t=10,p=1',
  '$argon2d$v=19$m=131072,t=10,p=1',
  '$5$rounds=250000',
  '$6$rounds=200000',
  '$phpass$17',
  '$ssha-sha1',
  '$ssha-sha256',
  '$ssha-sha384',
  '$ssha-sha512',
];

const hasher = createPasswordHasher({ threads: fastHashes });
const hashWith = (scheme: string) => dummyHashFor(scheme) ?? '';

it.each(atTheLimit)('%s is stored as it is, and %s is wrapped', async (strong, weak) => {
  const imported = hashWith(strong);
  expect(await hasher.toStored(imported)).toBe(imported);
  const stored = await hasher.toStored(hashWith(weak));
  expect([schemeOf(stored), schemeToStore(hashWith(weak))]).toEqual(Array(2).fill(`$argon2id(m=19456,t=2,p=1)${weak}`));
  expect([strong, weak].map((scheme) => isWeak(parseHash(hashWith(scheme)) ?? { algorithm: '', cost: {} }))).toEqual([
    false,
    true,
  ]);
});

it.each(alwaysWeak)('%s is always wrapped', async (scheme) => {
  const imported = hashWith(scheme);
  const stored = await hasher.toStored(imported);
  expect(schemeOf(stored)).toBe(`$argon2id(m=19456,t=2,p=1)${scheme}`);
  expect(stored).not.toContain(imported.slice(imported.lastIndexOf('$')));
});

it('a hash that is wrapped already is not wrapped again', async () => {
  const stored = await hasher.toStored(hashWith('$ssha-sha1'));
  expect(await hasher.toStored(stored)).toBe(stored);
});
