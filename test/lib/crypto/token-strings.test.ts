import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newToken, parseToken, type TokenKind } from '../../../src/lib/crypto/token-strings.js';
import { anyText } from '../../support/any-text.js';

const kinds: readonly TokenKind[] = ['authentication', 'session', 'key'];
const make = (kind: TokenKind) => newToken(kind, kind === 'key' ? [randomUUID()] : [randomUUID(), randomUUID()]);

describe('a token string', () => {
  test('is parsed to the ids and the digest with which it was created', () => {
    const ids = [randomUUID(), randomUUID()];
    const { token, digest } = newToken('session', ids);
    const { ids: read, digest: found } = parseToken('session', token) ?? {};
    expect([read, found]).toEqual([ids, digest]);
  });

  test('has the published format', () => {
    expect(make('authentication').token).toMatch(/^psa_[A-Za-z0-9_-]{80}$/);
    expect(make('session').token).toMatch(/^pss_[A-Za-z0-9_-]{80}$/);
    expect(make('key').token).toMatch(/^psk_[A-Za-z0-9_-]{60}$/);
  });

  test('of one kind is not valid as another, not even with the other prefix', () => {
    for (const kind of kinds) {
      for (const otherKind of kinds.filter((other) => other !== kind)) {
        const { token } = make(kind);
        expect(parseToken(otherKind, token)).toBeUndefined();
        expect(parseToken(otherKind, make(otherKind).token.slice(0, 4) + token.slice(4))).toBeUndefined();
      }
    }
  });

  test('has one encoding: the checksum refuses any change of a character, case or length', () => {
    const { token } = make('session');
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...'ABCxyz019-_+/=. \u00e9'), (place, character) => {
        const changed = token.slice(0, place) + character + token.slice(place + 1);
        expect(parseToken('session', changed) === undefined).toBe(changed !== token);
      }),
    );
    for (const changed of [
      `${token}A`,
      token.slice(0, -1),
      ` ${token}`,
      `${token}=`,
      token.toUpperCase(),
      token.toLowerCase(),
    ]) {
      expect(parseToken('session', changed)).toBeUndefined();
    }
  });

  test('is never read from another text: the parser returns undefined and does not throw', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), anyText({ maxLength: 200 }), (kind, text) => {
        expect(parseToken(kind, text)).toBeUndefined();
        expect(parseToken(kind, `psa_${text}`)).toBeUndefined();
      }),
    );
  });
});
