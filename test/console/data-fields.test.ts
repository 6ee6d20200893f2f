import { expect, test } from 'vitest';
import {
  dataFaults,
  dataOf,
  dataOfJson,
  exampleOf,
  fieldsOf,
} from '../../console/src/pages/notifications/data-fields.js';

const schema = {
  type: 'object',
  required: ['sum', 'code'],
  properties: {
    sum: { type: 'number', title: 'Amount', description: 'In the currency of the bill' },
    code: { enum: ['EUR', 'USD'] },
    level: { enum: [1, 2] },
    note: { type: 'string' },
    urgent: { type: 'boolean' },
    lines: { type: 'array', items: { type: 'string' } },
    any: true,
  },
};
const fields = fieldsOf(schema) ?? [];

test('each member of a schema is a field of its type', () => {
  expect(fields.map(({ name, label, type, isRequired }) => [name, label, type, isRequired])).toEqual([
    ['sum', 'Amount', 'number', true],
    ['code', 'code', 'choice', true],
    ['level', 'level', 'choice', false],
    ['note', 'note', 'text', false],
    ['urgent', 'urgent', 'switch', false],
    ['lines', 'lines', 'json', false],
    ['any', 'any', 'json', false],
  ]);
  expect(fields[0]?.hint).toBe('In the currency of the bill');
});

test('a schema that names no members has no fields', () => {
  for (const none of [null, undefined, {}, { properties: {} }, { properties: [] }, { type: 'array' }])
    expect(fieldsOf(none as never)).toBeUndefined();
});

test('what is typed becomes values of the types, and what is empty is left out', () => {
  const typed = { sum: '12.50', code: 'EUR', level: '2', note: ' 007 ', urgent: 'false', lines: '["a"]', any: '' };
  expect(dataFaults(fields, typed)).toEqual({});
  expect(dataOf(fields, typed)).toEqual({
    ...{ sum: 12.5, code: 'EUR', level: 2, note: ' 007 ', urgent: false, lines: ['a'] },
  });
  expect(dataOf(fields, {})).toBeUndefined();
});

test('missing members, texts for numbers and broken JSON are faults at their fields', () => {
  expect(dataFaults(fields, { sum: '12,50', lines: '[', any: 'x' })).toEqual({
    ...{ sum: 'notNumber', code: 'missing', lines: 'notJson', any: 'notJson' },
  });
  expect(dataFaults(fields, { sum: '"12"', code: 'GBP' })).toEqual({ sum: 'notNumber', code: 'missing' });
});

test('data without a schema are a JSON object', () => {
  expect(dataOfJson('{"sum": 1}')).toEqual({ sum: 1 });
  for (const none of ['', ' ', '[1]', '1', 'null', '{']) expect(dataOfJson(none)).toBeUndefined();
});

test('an example has a value for each member that is required', () => {
  expect(exampleOf(fields)).toEqual({ sum: '12.5', code: 'EUR' });
  const given = {
    required: ['a', 'b', 'c', 'd', 'e'],
    properties: {
      ...{ a: { type: 'string', examples: ['Ada'] }, b: { type: 'integer', default: 7 }, c: { type: 'array' } },
      ...{ d: { type: 'boolean' }, e: {} },
    },
  };
  const all = fieldsOf(given) ?? [];
  expect(exampleOf(all)).toEqual({ a: 'Ada', b: '7', c: '[]', d: 'true', e: '{}' });
  expect(dataFaults(all, exampleOf(all))).toEqual({});
});
