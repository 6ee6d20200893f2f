import { expect, test } from 'vitest';
import { identityOf } from '../../src/login/identity.js';

/** As other apps copy them: isolated, with marks of direction, a byte order mark, or spaces of any kind. */
const surroundings: readonly (readonly [string, string])[] = [
  ['\u202a', '\u202c'],
  ['\u2068', '\u2069'],
  ['\ufeff', '\u200b'],
  ['\u200e', '\u200f'],
  ['\u00a0\u2009', '\r\n\t'],
  ['\u2060\u00ad', ' \u061c '],
];

test.each(surroundings)('what is pasted between %j and %j means what it shows', (before, after) => {
  for (const [shown, type] of [
    ['+52 1 55 1234 5678', 'phone'],
    ['ada@example.com', 'email'],
    ['ada', 'username'],
  ] as const) {
    expect(identityOf(`${before}${shown}${after}`)).toEqual({ type, value: shown });
  }
});

test('an invisible mark in a phone number does not make a username of it, nor does a typographic hyphen', () => {
  expect(identityOf('+49\u200b 30 1234567')).toEqual({ type: 'phone', value: '+49 30 1234567' });
  expect(identityOf('+49 30\u2011123\u20134567').type).toBe('phone');
});

test('a right-to-left override is left to the service, which refuses it', () => {
  expect(identityOf('\u202emoc.elpmaxe@ada').value).toBe('\u202emoc.elpmaxe@ada');
});

test('an identity with a type is sent as it is', () => {
  expect(identityOf({ type: 'username', value: ' ada ' })).toEqual({ type: 'username', value: ' ada ' });
});
