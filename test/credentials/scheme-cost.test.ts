import { expect, it } from 'vitest';
import { schemeCost, totalSchemeCost } from '../../src/credentials/scheme-cost.js';

it.each([
  ['$argon2id$v=19$m=19456,t=2,p=1', 1],
  ['$argon2id$v=19$m=65536,t=10,p=1', 16.9],
  ['$argon2id$v=19$m=131072,t=2,p=1', 6.8],
  ['$2b$12', 24.1],
  ['$2b$13', 48.2],
  ['$wp$10', 6.1],
  ['$5$rounds=70000', 10],
  ['$6$rounds=200000', 25],
  ['$phpass$13', 0.7],
  ['$ssha-sha1', 0.1],
  ['$fbscrypt$n=14,r=8,p=1', 4],
  ['$scrypt$ln=15,r=8,p=3', 24],
  ['$pbkdf2$1300000', 27.7],
  ['$pbkdf2-sha256$1200000', 23.1],
  ['$pbkdf2-sha512$500000', 26.4],
])('%s costs %d verifications of Postern’s own hash', (scheme, cost) => {
  expect(schemeCost(scheme)).toBe(cost);
});

it('the cost of a scheme is at least a tenth, so that many cheap schemes count too', () => {
  expect([schemeCost('$pbkdf2$1'), schemeCost('$2b$04')]).toEqual([0.1, 0.1]);
});

it('the cost of an unreadable scheme is 1, since its dummy hash has the current scheme', () => {
  expect(schemeCost('$newer$x=1')).toBe(1);
});

it('costs add up exactly', () => {
  expect(totalSchemeCost(Array.from({ length: 8 }, () => '$pbkdf2$1'))).toBe(0.8);
});
