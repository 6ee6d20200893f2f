import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readClientKey } from '../../../src/lib/crypto/client-key.js';
import { newProofKey } from '../../support/dpop.js';

/** The key of RFC 9449, and the key of RFC 8037, appendix A. */
const p256 = {
  kty: 'EC',
  x: 'l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs',
  y: '9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA',
  crv: 'P-256',
};
const ed25519 = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };

describe('a public key of a client', () => {
  test('has the thumbprint of the examples in RFC 9449 and RFC 8037', () => {
    expect(readClientKey(p256)?.thumbprint).toBe('0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I');
    expect(readClientKey(ed25519)?.thumbprint).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  });

  test('has the same thumbprint with other members and in another order', () => {
    const { thumbprint } = readClientKey(p256) ?? {};
    const { y, ...rest } = p256;
    expect(readClientKey({ y, ext: true, key_ops: ['verify'], alg: 'ES256', kid: 'a', ...rest })?.thumbprint).toBe(
      thumbprint,
    );
    expect(readClientKey(newProofKey().jwk)?.thumbprint).not.toBe(thumbprint);
  });

  test.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])('is refused with the private member %s', (member) => {
    expect(readClientKey({ ...p256, [member]: 'AA' })).toBeUndefined();
  });

  test('is refused with another type or curve, a missing or extra coordinate, and off the curve', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
    const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });
    const x25519 = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' });
    const { y, ...withoutY } = p256;
    const others = [
      ...[undefined, null, '', 1, [], [p256], {}, rsa, p384, x25519, { kty: 'oct', k: 'AA' }],
      ...[withoutY, { ...ed25519, y }, { ...p256, kty: 'OKP' }, { ...p256, crv: 'Ed25519' }],
      ...[
        { ...p256, x: `${p256.x}=` },
        { ...p256, x: p256.x.replace('-', '+') },
        { ...p256, x: p256.x.slice(1) },
      ],
      // Unused bits, and a point that is not on the curve.
      ...[
        { ...ed25519, x: `${ed25519.x.slice(0, -1)}p` },
        { ...p256, y: p256.x },
        { ...p256, x: 'A'.repeat(43) },
      ],
    ];
    for (const other of others) expect([other, readClientKey(other)]).toEqual([other, undefined]);
  });

  test('is refused without an exception for any JSON', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => readClientKey(value) === undefined));
    const members = { kty: fc.jsonValue(), crv: fc.jsonValue(), x: fc.jsonValue(), y: fc.jsonValue() };
    fc.assert(fc.property(fc.record(members), (value) => readClientKey(value) === undefined));
  });
});
