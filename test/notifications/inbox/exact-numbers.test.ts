import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactNumbers } from '../../../src/notifications/inbox/exact-numbers.js';

const numberIn = (number: string) => exactNumbers(`{"user_id":"x","object_data_number":${number}}`);

describe('exactNumbers', () => {
  it.each(['0', '-1', '0.1', '123456789012345', '-12345678901.25', '0.0000000000001'])(
    'returns nothing for %s, which a parsed number holds exactly',
    (number) => {
      expect(numberIn(number)).toEqual([]);
    },
  );

  it.each([
    '1234567890123456',
    '-0.10000000000000000001',
    '1e400',
    '1E-7',
    '99999999999999.9',
    '0.000000000000001',
    '-1e+5',
  ])('keeps the text of %s', (number) => {
    expect(numberIn(number)).toEqual([number]);
    expect(numberIn(` \n${number} `)).toEqual([number]);
  });

  it('reads the numbers of an array by item, and ignores other and nested members', () => {
    const json = `[{"object_data_number":1e1},{"other":1e2},{"a":{"object_data_number":1e3}},[{"object_data_number":1e4}],
      {"object_data_number":"1e5"},7,null,{"__proto__":{"object_data_number":1e6}}]`;
    const texts = exactNumbers(json);
    expect([texts[0], texts[1], texts[2]]).toEqual(['1e1', undefined, undefined]);
    expect(texts.at(-1)).toBeUndefined();
  });

  it('takes the last of equal names, as JSON.parse does, however they are spelled', () => {
    expect(numberIn('1,"object_data_number":1e9')).toEqual(['1e9']);
    expect(numberIn('1e9,"\\u006fbject_data_number":20e0')).toEqual(['20e0']);
    expect(exactNumbers('{"object\\u005Fdata_number":1e7}')).toEqual(['1e7']);
  });

  it('ignores strings that look like a number', () => {
    for (const text of ['1e5', 'at 1e5', ':12345678901234567890', '"object_data_number":1e5', '\\",1e5', '[1e5']) {
      const [number] = exactNumbers(JSON.stringify([{ actor: text, object_data_number: 2, [text]: text }]));
      expect(number).toBeUndefined();
    }
    expect(exactNumbers(undefined)).toEqual([]);
  });

  it('reads the number next to any strings', () => {
    const strings = fc.array(fc.oneof(fc.string(), fc.stringMatching(/^["\\\d.eE:,[\]{} -]{0,20}$/)));
    fc.assert(
      fc.property(strings, strings, (before, after) => {
        const json = `{"before":${JSON.stringify(before)},"object_data_number":1e-7,"after":${JSON.stringify(after)}}`;
        expect(exactNumbers(json)).toEqual(['1e-7']);
      }),
    );
  });

  it('returns the text of every number that parsing changes', () => {
    const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][-+]?\d{1,3})?$/);
    const space = fc.constantFrom('', ' ', '\n', '\t');
    const name = fc.constantFrom('"object_data_number"', '"\\u006fbject_data_number"');
    fc.assert(
      fc.property(name, space, digits, space, space, (spelling, between, number, before, after) => {
        const [text] = exactNumbers(`[{${spelling}${between}:${before}${number}${after}}]`);
        // A number without a text has at most 15 characters of digits and point, and no exponent.
        expect(text ?? number).toBe(number);
        if (text === undefined) expect(number).toMatch(/^-?[\d.]{1,15}$/);
      }),
    );
  });
});
