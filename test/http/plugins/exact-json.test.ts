import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inexactParts } from '../../../src/http/plugins/exact-json.js';

const found = (json: string) => inexactParts(`{"name":"x","metadata":${json}}`, ['metadata']);
const fields = (json: string) => found(json).map(({ field, code }) => `${field} ${code}`);

describe('the parts of a JSON text that do not come back equal', () => {
  test.each([
    '12345678901234567890',
    '9007199254740993',
    '1e400',
    '-1e400',
    '1e-400',
    '-0',
    '-0.0',
    '-0e5',
    '0.1234567890123456789',
    '1e99999999999999999999',
  ])('are numbers such as %s', (number) => {
    expect(fields(`{"a":[1,${number}]}`)).toEqual(['metadata.a.1 inexact_number']);
  });

  test.each([
    '0',
    '0.0',
    '0e9',
    '1',
    '-1',
    '1.50',
    '1e2',
    '1E+2',
    '100e-2',
    '9007199254740992',
    '1.7976931348623157e308',
    '5e-324',
    '0.30000000000000004',
  ])('are not numbers such as %s', (number) => {
    expect(found(`{"a":${number}}`)).toEqual([]);
  });

  test('are names that occur twice, and those that a parser drops, however they are written', () => {
    expect(fields('{"a":1,"\\u0061":2}')).toEqual(['metadata.a duplicate_member']);
    expect(fields('{"a":{"b":1},"c":[{"b":1},{"b":1,"b":1}]}')).toEqual(['metadata.c.1.b duplicate_member']);
    expect(fields('{"__proto__":1}')).toEqual(['metadata.__proto__ reserved_member']);
    expect(fields('{"x":{"__pr\\u006fto__":{}}}')).toEqual(['metadata.x.__proto__ reserved_member']);
    expect(fields('{"constructor":{"prototype":{}}}')).toEqual(['metadata.constructor.prototype reserved_member']);
    expect(fields('{"constructor":"Acme","prototype":"b","metadata":"x","text":"{\\"a\\":1e400}"}')).toEqual([]);
  });

  test('are looked for in members with these names only', () => {
    const names = ['metadata', 'claims'];
    expect(inexactParts('{"a":1e400,"a":1,"b":{"__proto__":1},"metadata":{}}', names)).toEqual([]);
    expect(inexactParts('[{"changes":{"metadata":{"a":-0},"claims":{"b":1e400}}}]', names)).toHaveLength(2);
  });

  test('do not exist in what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('__proto__') && !text.includes('"prototype"'));
        expect(found(text)).toEqual([]);
      }),
    );
  });
});
