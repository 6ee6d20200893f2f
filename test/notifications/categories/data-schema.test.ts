import { describe, expect, test } from 'vitest';
import { createDataCheck, schemaErrors } from '../../../src/notifications/categories/data-schema.js';
import { leastCpuTime } from '../../support/cpu-time.js';

const errorsOf = (schema: object) => schemaErrors(schema as Record<string, unknown>, 'data_schema');
const codesOf = (schema: object) =>
  errorsOf(schema).map(({ field, params }) => [field, params?.reason, params?.suggestion]);

describe('schemaErrors', () => {
  test('accepts what an app needs', () => {
    const line = { type: 'object', properties: { name: { type: 'string', maxLength: 20 } }, required: ['name'] };
    expect(
      errorsOf({
        type: 'object',
        properties: { lines: { type: 'array', items: { $ref: '#/$defs/line' } }, sum: { type: ['number', 'null'] } },
        required: ['lines'],
        additionalProperties: false,
        $defs: { line },
      }),
    ).toEqual([]);
  });

  test('names each unknown keyword with its path and the nearest one', () => {
    expect(codesOf({ typ: 'object', properties: { a: { maxLenght: 3 } } })).toEqual([
      ['data_schema.typ', 'this keyword is not supported', 'type'],
      ['data_schema.properties.a.maxLenght', 'this keyword is not supported', 'maxLength'],
    ]);
  });

  test('refuses patterns, other names of schemas, and references to elsewhere or to nothing', () => {
    const refused = [
      { properties: { a: { pattern: '^(a+)+$' } } },
      { patternProperties: { '^(a+)+$': {} } },
      { $id: 'https://example.com/x' },
      { $ref: 'https://example.com/schema.json' },
      { $ref: 'other.json#/a' },
      { $ref: '#/definitions/none' },
      { $ref: 7 },
    ];
    for (const schema of refused) expect([schema, errorsOf(schema).length]).toEqual([schema, 1]);
  });

  test('refuses circles and references that multiply, which could take any time', () => {
    expect(codesOf({ anyOf: [{ properties: { a: { $ref: '#' } } }] })).toEqual([
      ['data_schema', 'references lead in a circle, or repeat too many parts', undefined],
    ]);
    const levels = Array.from({ length: 40 }, (_, n) => [
      `l${n}`,
      { allOf: [{ $ref: `#/$defs/l${n + 1}` }, { $ref: `#/$defs/l${n + 1}` }] },
    ]);
    const bomb = { $ref: '#/$defs/l0', $defs: { ...Object.fromEntries(levels), l40: { type: 'object' } } };
    expect(codesOf(bomb)).toHaveLength(1);
  });

  test('refuses what is no schema, and more than 16 KB', () => {
    expect(errorsOf({ type: 'objekt' })).toHaveLength(1);
    expect(errorsOf({ required: 'a' })).toHaveLength(1);
    expect(errorsOf({ description: 'x'.repeat(17_000) })).toEqual([
      { field: 'data_schema', code: 'too_many_bytes', params: { max: 16_384 } },
    ]);
  });
});

test('a check names each wrong member of data', () => {
  const check = createDataCheck({ type: 'object', properties: { sum: { type: 'number' } }, required: ['id'] });
  expect(check({ id: 1, sum: 2 }, 'data')).toEqual([]);
  expect(check({ sum: 'x' }, 'data')).toEqual([
    { field: 'data', code: 'data_invalid', params: { reason: "must have required property 'id'" } },
    { field: 'data.sum', code: 'data_invalid', params: { reason: 'must be number' } },
  ]);
  expect(check(null, 'data')).toHaveLength(1);
});

test('items are unique if no other one is equal, and a long list takes linear time', () => {
  const check = createDataCheck({ properties: { list: { type: 'array', uniqueItems: true } } });
  const codes = (list: readonly unknown[]) =>
    check({ list }, 'data').map(({ field, params }) => [field, params?.reason]);
  expect(codes([1, '1', [1], { a: 1 }, { a: 1, b: 2 }, null, 'null', {}, []])).toEqual([]);
  for (const list of [
    [1, 2, 1],
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    [null, null],
    [[{}], [{}]],
  ]) {
    expect(codes(list)).toEqual([['data.list', 'must NOT have duplicate items']]);
  }
  expect(createDataCheck({ properties: { list: { uniqueItems: false } } })({ list: [1, 1] }, 'data')).toEqual([]);

  const timeOf = (length: number) => {
    const list = Array.from({ length }, (_, index) => [index]);
    return leastCpuTime(() => expect(codes(list)).toEqual([]));
  };
  timeOf(20_000);
  // A hundred times the work of the short list if each item is compared with each other one.
  expect(timeOf(40_000) / timeOf(4000)).toBeLessThan(50);
});
