import { describe, expect, test } from 'vitest';
import { newCode, newLongCode, normalizeCode, normalizeLongCode } from '../../src/credentials/codes.js';

describe('a new code', () => {
  const many = <T>(make: () => T) => Array.from({ length: 2000 }, make);

  test('has six digits, of which each occurs at each place', () => {
    const codes = many(newCode);
    for (const code of codes) expect(code).toMatch(/^\d{6}$/);
    for (let place = 0; place < 6; place += 1) expect(new Set(codes.map((code) => code[place])).size).toBe(10);
  });

  test('of the long kind has 60 random bits: twelve characters of 32, each at each place', () => {
    const codes = many(newLongCode).map((code) => code.replaceAll('-', ''));
    expect(new Set(codes).size).toBe(codes.length);
    for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{12}$/);
    for (let place = 0; place < 12; place += 1) expect(new Set(codes.map((code) => code[place])).size).toBe(32);
  });
});

describe('a typed code of six digits', () => {
  test.each([
    ['a space in the middle', '123 456'],
    ['spaces and a line end around it', '  123456\r\n'],
    ['a no-break space, a narrow space and a tab', '12\u00a034\u202f5\t6'],
    ['a hyphen', '123-456'],
    ['dashes and a minus', '12\u201334\u221256'],
    ['a full stop, as phones make of two spaces', '123. 456'],
    ['quotes and brackets', '“(123456)”'],
    ['invisible marks', '\ufeff\u200e123\u200b456\u2069\u00ad'],
    ['full-width digits', '１２３４５６'],
    ['Arabic digits', '١٢٣٤٥٦'],
    ['Persian digits', '۱۲۳۴۵۶'],
    ['Devanagari digits', '१२३४५६'],
    ['digits outside the basic plane', '𝟙𝟚𝟛𝟜𝟝𝟞'],
    ['keycap emojis', '1\ufe0f\u20e32\ufe0f\u20e33\ufe0f\u20e3456'],
  ])('may have %s', (_what, typed) => {
    expect(normalizeCode(typed)).toBe('123456');
  });

  test.each(['12345', '1234567', '12345a', 'O12345', '{"a":123456}', '', '½', '123456 7'])('is not %j', (typed) => {
    expect(normalizeCode(typed)).toBe(typed);
  });
});

test.each([
  'AB1O-22MN-9XYZ',
  ' ab1o22mn9xyz\r\n',
  'ａｂ１o 22mn 9xyz',
  'ab1o\u201122mn\u20139xyz',
  '\u200eab1o\u200b22mn-9xyz\ufeff',
  'ab1o-٢٢mn-9xyz',
  '"abIo-22mn-9xyz".',
])('a typed long code %j means what it shows', (typed) => {
  expect(normalizeLongCode(typed)).toBe('ab1022mn9xyz');
});
