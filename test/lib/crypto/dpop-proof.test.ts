import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dpopAlgorithms, readDpopClaims, readDpopProof } from '../../../src/lib/crypto/dpop-proof.js';
import { newProofKey, signProof } from '../../support/dpop.js';

/** The proofs of RFC 9449, 5 and 7.1. */
const head =
  'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19';
const ofTokenRequest = `${head}.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg`;
const ofResourceRequest = `${head}.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA`;

const key = newProofKey();
const claims = { htm: 'POST', htu: 'https://a.example/v1/sessions', iat: 1, jti: 'a', ath: 'b' };
const proof = signProof(key, { claims });
const parts = proof.split('.');
const [signedHead = '', signedBody = '', signature = ''] = parts;
const flipped = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`;

describe('a DPoP proof', () => {
  test('is read from the examples of RFC 9449', () => {
    const thumbprint = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I';
    expect(readDpopProof(ofTokenRequest)).toEqual({
      thumbprint,
      claims: { jti: '-BwC3ESc6acc2lTc', htm: 'POST', htu: 'https://server.example.com/token', iat: 1562262616 },
    });
    expect(readDpopProof(ofResourceRequest)).toEqual({
      thumbprint,
      claims: {
        ...{ jti: 'e1j3V_bKic8-LAEB', htm: 'GET', htu: 'https://resource.example.org/protectedresource' },
        ...{ iat: 1562262618, ath: 'fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo' },
      },
    });
  });

  test.each(['P-256', 'Ed25519'] as const)('is read with a key on %s', (curve) => {
    const own = newProofKey(curve);
    expect(readDpopProof(signProof(own, { claims }))?.claims).toEqual(claims);
  });

  test('may name Ed25519 in both ways', () => {
    expect(dpopAlgorithms).toEqual(['ES256', 'EdDSA', 'Ed25519']);
    const own = newProofKey('Ed25519');
    expect(readDpopProof(signProof(own, { header: { alg: 'Ed25519' }, claims }))?.claims).toEqual(claims);
  });

  test('is refused with another type, algorithm or key than it was signed with', () => {
    const other = newProofKey();
    const ed = newProofKey('Ed25519');
    const headers = [
      ...[{ typ: 'JWT' }, { typ: undefined }, { typ: 'DPOP+JWT' }, { alg: 'none' }, { alg: 'HS256' }, { alg: 'RS256' }],
      ...[
        { alg: 'ES384' },
        { alg: 'es256' },
        { alg: 'EdDSA' },
        { alg: 'toString' },
        { alg: undefined },
        { alg: ['ES256'] },
      ],
      ...[{ jwk: other.jwk }, { jwk: ed.jwk }, { jwk: undefined }, { jwk: { ...key.jwk, d: 'AA' } }, { crit: ['exp'] }],
    ];
    for (const header of headers) {
      expect([header, readDpopProof(signProof(key, { header, claims }))]).toEqual([header, undefined]);
    }
    expect(readDpopProof(signProof(ed, { header: { alg: 'ES256' }, claims }))).toBeUndefined();
  });

  test('is refused without a signature, with one of another text, and with one by a shared secret', () => {
    const unsigned = Buffer.from(JSON.stringify({ typ: 'dpop+jwt', alg: 'none', jwk: key.jwk })).toString('base64url');
    const shared = Buffer.from(JSON.stringify({ typ: 'dpop+jwt', alg: 'HS256', jwk: key.jwk })).toString('base64url');
    const mac = createHmac('sha256', JSON.stringify(key.jwk)).update(`${shared}.${signedBody}`).digest('base64url');
    const bodyOfOther = signProof(key, { claims: { ...claims, htm: 'GET' } }).split('.')[1] ?? '';
    for (const text of [
      ...[`${unsigned}.${signedBody}.`, `${unsigned}.${signedBody}`, `${shared}.${signedBody}.${mac}`],
      ...[`${signedHead}.${signedBody}.${flipped}`, `${signedHead}.${bodyOfOther}.${signature}`],
      ...[`${proof}.`, `${proof}.${signature}`, `${proof}=`, ` ${proof}`, `${proof}, ${proof}`, '', '..', 'a.b.c'],
      // A signature in DER is longer, and a truncated one is shorter.
      ...[`${signedHead}.${signedBody}.${signature.slice(0, -4)}`, `${signedHead}.${signedBody}.${signature}AAAA`],
    ]) {
      expect([text, readDpopProof(text)]).toEqual([text, undefined]);
    }
  });

  test('is refused if it is longer than 4096 characters', () => {
    expect(readDpopProof(signProof(key, { claims: { ...claims, more: 'a'.repeat(2000) } }))).toBeDefined();
    expect(readDpopProof(signProof(key, { claims: { ...claims, more: 'a'.repeat(4000) } }))).toBeUndefined();
  });

  test('is refused without an exception for any text', () => {
    const part = fc.oneof(
      fc.string(),
      fc.json().map((json) => Buffer.from(json).toString('base64url')),
    );
    fc.assert(fc.property(part, part, part, (a, b, c) => readDpopProof(`${a}.${b}.${c}`) === undefined));
    fc.assert(fc.property(part, (body) => readDpopProof(`${signedHead}.${body}.${signature}`) === undefined));
  });
});

describe('the claims of a proof', () => {
  test('have their types, and the nonce may be missing', () => {
    expect(readDpopClaims(claims)).toEqual({ ...claims, nonce: undefined });
    expect(readDpopClaims({ ...claims, nonce: 'n', exp: 1 })).toEqual({ ...claims, nonce: 'n' });
  });

  test('are refused if one is missing or has another type', () => {
    for (const name of Object.keys(claims)) {
      for (const value of [undefined, null, true, ['a'], {}]) {
        expect([name, readDpopClaims({ ...claims, [name]: value })]).toEqual([name, undefined]);
      }
    }
    const wrong = [{ iat: '1' }, { iat: Number.NaN }, { jti: '' }, { jti: 'a'.repeat(256) }, { nonce: 1 }, { htm: 1 }];
    for (const some of wrong) expect([some, readDpopClaims({ ...claims, ...some })]).toEqual([some, undefined]);
  });
});
