import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FilterClause, kinds } from '../../../src/lib/filter/fields.js';
import { collectFilter, parseFilter } from '../../../src/lib/filter/parse.js';
import { type FieldError, Problem } from '../../../src/lib/problem.js';
import { anyText } from '../../support/any-text.js';
import { runs } from '../../support/rounds.js';
import { clauses, fields, valueGenerators } from './arbitraries.js';

const allowed = Object.keys(fields).join(', ');
const types = fields.type?.values?.join(', ') ?? '';

const id = '582a5abb-1335-4794-4855-11e067b8c55e';
const otherId = '00000000-0000-0000-0000-000000000000';

/** Each clause as `[field, operator, ...values]`. */
function parsed(text: string): string[][] {
  return parseFilter(text, fields).map((clause) => [clause.name, clause.operator, ...clause.values]);
}

function errorsOf(text: string): readonly FieldError[] {
  try {
    parseFilter(text, fields);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect(error.code).toBe('validation_failed');
    return error.options.errors ?? [];
  }
  return [];
}

function expected(code: FieldError['code'], position: number, params: FieldError['params'] = {}) {
  return { field: 'filter', code, params: { position, ...params } };
}

describe('parseFilter', () => {
  it.each([
    ['actor:eq:Ann', [['actor', 'eq', 'Ann']]],
    ['actor:Ann', [['actor', 'eq', 'Ann']]],
    ['actor:neq:Ann', [['actor', 'neq', 'Ann']]],
    ['actor:like:nn', [['actor', 'like', 'nn']]],
    ['amount:gt:1', [['amount', 'gt', '1']]],
    ['amount:gte:1', [['amount', 'gte', '1']]],
    ['amount:lt:1', [['amount', 'lt', '1']]],
    ['amount:lte:1', [['amount', 'lte', '1']]],
    [
      'type:pool,actor:Ann|sequence:gt:7',
      [
        ['type', 'eq', 'pool'],
        ['actor', 'eq', 'Ann'],
        ['sequence', 'gt', '7'],
      ],
    ],
  ])('parses %s', (text, expected) => {
    expect(parsed(text)).toEqual(expected);
  });

  it('adds the definition of its field to each clause', () => {
    expect(parseFilter('make:x', fields)).toEqual([
      { name: 'make', field: { kind: 'string' }, operator: 'eq', values: ['x'] },
    ]);
  });

  it.each([
    ['type:in:pool;payment', ['type', 'eq', 'pool', 'payment']],
    ['type:in:[pool;payment]', ['type', 'eq', 'pool', 'payment']],
    ['type:in:pool:payment', ['type', 'eq', 'pool', 'payment']],
    ['type:in:pool', ['type', 'eq', 'pool']],
    ['type:eq:pool:payment', ['type', 'eq', 'pool', 'payment']],
    ['type:neq:pool:payment', ['type', 'neq', 'pool', 'payment']],
    [`id:eq:${id}:${otherId}`, ['id', 'eq', id, otherId]],
    ['key:eq:a:b', ['key', 'eq', 'a', 'b']],
    ['amount:eq:1:2.5', ['amount', 'eq', '1', '2.5']],
    ['sequence:neq:1:2', ['sequence', 'neq', '1', '2']],
    ['actor:in:a:b;c', ['actor', 'eq', 'a:b', 'c']],
    ['actor:in:a;;b', ['actor', 'eq', 'a', '', 'b']],
    [
      'created_at:in:[2020-01-01 10:00:00;2021-01-01 10:00:00]',
      ['created_at', 'eq', '2020-01-01T10:00:00.000000Z', '2021-01-01T10:00:00.000000Z'],
    ],
  ])('parses the values of %s', (text, clause) => {
    expect(parsed(text)).toEqual([clause]);
  });

  it.each([
    ['actor:eq:a:b', ['actor', 'eq', 'a:b']],
    ['actor:eq::', ['actor', 'eq', ':']],
    ['actor:like:10:30', ['actor', 'like', '10:30']],
    ['actor:eq:a;[b]', ['actor', 'eq', 'a;[b]']],
    ['created_at:gt:2020-01-01 10:00:00', ['created_at', 'gt', '2020-01-01T10:00:00.000000Z']],
    ['created_at:eq:2020-01-01T12:00:00.5+02:00', ['created_at', 'eq', '2020-01-01T10:00:00.500000Z']],
    ['created_at:2020-01-01 10\\:00\\:00', ['created_at', 'eq', '2020-01-01T10:00:00.000000Z']],
  ])('treats colons, semicolons and brackets as literal if only one value is possible: %s', (text, clause) => {
    expect(parsed(text)).toEqual([clause]);
  });

  it.each([
    ['actor:eq:a\\,b\\|c\\:d\\;e\\[f\\]g\\\\h', ['actor', 'eq', 'a,b|c:d;e[f]g\\h']],
    ['actor:a\\:b', ['actor', 'eq', 'a:b']],
    ['actor:in:[\\[a\\];b\\;c]', ['actor', 'eq', '[a]', 'b;c']],
    ['key:eq:a\\:b:c', ['key', 'eq', 'a:b', 'c']],
    ['actor:eq:\\\\,type:pool', ['actor', 'eq', '\\'], ['type', 'eq', 'pool']],
  ])('treats an escaped separator as literal: %s', (text, ...expected) => {
    expect(parsed(text)).toEqual(expected);
  });

  it('treats two pieces as the short form, even if the value is the name of an operator', () => {
    expect(parsed('actor:like')).toEqual([['actor', 'eq', 'like']]);
    expect(parsed('key:in')).toEqual([['key', 'eq', 'in']]);
  });

  it('treats an empty value of a string as the empty string', () => {
    for (const text of ['actor:eq:', 'actor:', 'actor:in:']) expect(parsed(text)).toEqual([['actor', 'eq', '']]);
  });

  it.each(['id', 'type', 'key', 'amount', 'sequence', 'created_at'])('refuses an empty value of %s', (name) => {
    expect(errorsOf(`${name}:eq:`)).toMatchObject([
      { code: 'invalid_filter_value', params: { position: name.length + 5, value: '' } },
    ]);
  });

  it('accepts any hexadecimal id, and returns it in lower case', () => {
    expect(parsed(`id:${id.toUpperCase()}`)).toEqual([['id', 'eq', id]]);
  });

  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['-0.50', '-0.5'],
    ['1.500000000000000000', '1.5'],
    ['123456789.012345', '123456789.012345'],
    ['0.000000000123456789012345', '1.23456789012345e-10'],
    ['1000000000000000000', '1000000000000000000'],
    ['1e-7', '1e-7'],
    ['1.5E3', '1500'],
    ['0.0e9', '0'],
  ])('parses the number %s as %s', (text, value) => {
    expect(parsed(`amount:${text}`)).toEqual([['amount', 'eq', value]]);
  });

  it.each([
    '1234567890.123456',
    '1e400',
    '1e-301',
    '1e9999',
    'NaN',
    'Infinity',
    '0x1',
    '1.',
    '.5',
    '+1',
    '01',
    ' 1',
    '--1',
  ])('refuses the number "%s"', (text) => {
    const params = { value: text, expected: '123.45' };
    expect(errorsOf(`amount:${text}`)).toEqual([expected('invalid_filter_value', 8, params)]);
  });

  it('accepts only integers that a number holds exactly', () => {
    expect(parsed('sequence:9007199254740991')).toEqual([['sequence', 'eq', '9007199254740991']]);
    for (const value of ['9007199254740992', '99999999999999999999', '1.0', '1e3']) {
      expect(errorsOf(`sequence:${value}`)).toEqual([expected('invalid_filter_value', 10, { value, expected: '123' })]);
    }
  });

  it.each([
    ['actr:eq:a', expected('unknown_filter_field', 1, { value: 'actr', suggestion: 'actor', allowed })],
    [
      'type:pool,craeted_at:x',
      expected('unknown_filter_field', 11, { value: 'craeted_at', suggestion: 'created_at', allowed }),
    ],
    ['constructor:x', expected('unknown_filter_field', 1, { value: 'constructor', suggestion: 'actor', allowed })],
    ['__proto__:x', expected('unknown_filter_field', 1, { value: '__proto__', suggestion: 'actor', allowed })],
    [' actor:x', expected('unknown_filter_field', 1, { value: ' actor', suggestion: 'actor', allowed })],
    [':x', expected('unknown_filter_field', 1, { value: '', suggestion: 'id', allowed })],
    ['type:ne:pool', expected('unknown_filter_op', 6, { value: 'ne', suggestion: 'neq', allowed: 'eq, neq, in' })],
    ['type::pool', expected('unknown_filter_op', 6, { value: '', suggestion: 'eq', allowed: 'eq, neq, in' })],
    ['id:gt:x', expected('unknown_filter_op', 4, { value: 'gt', suggestion: 'eq', allowed: 'eq, neq, in' })],
    ['make:like:x', expected('unknown_filter_op', 6, { value: 'like', suggestion: 'in', allowed: 'eq, neq, in' })],
    [
      'actor:LIKE:x',
      expected('unknown_filter_op', 7, { value: 'LIKE', suggestion: 'like', allowed: 'eq, neq, in, like' }),
    ],
    [
      'created_at:2020-01-01 10:00:00',
      expected('unknown_filter_op', 12, {
        value: '2020-01-01 10',
        suggestion: 'eq',
        allowed: 'eq, neq, gt, gte, lt, lte, in',
      }),
    ],
    ['type:poll', expected('invalid_filter_value', 6, { value: 'poll', expected: types })],
    ['type:eq:pool:paymnet', expected('invalid_filter_value', 14, { value: 'paymnet', expected: types })],
    ['type:eq:toString', expected('invalid_filter_value', 9, { value: 'toString', expected: types })],
    ['type:in:[pool;]', expected('invalid_filter_value', 15, { value: '', expected: types })],
    ['id:1', expected('invalid_filter_value', 4, { value: '1', expected: 'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx' })],
    ['amount:gt:1:2', expected('invalid_filter_value', 11, { value: '1:2', expected: '123.45' })],
    [
      'created_at:gt:2020-02-30 10:00:00',
      expected('invalid_filter_value', 15, { value: '2020-02-30 10:00:00', expected: 'YYYY-MM-DD HH:MM:SS' }),
    ],
    ['', expected('invalid_filter_syntax', 1, { expected: 'field:operator:value' })],
    ['actor', expected('invalid_filter_syntax', 1, { expected: 'field:operator:value' })],
    ['actor:x,', expected('invalid_filter_syntax', 9, { expected: 'field:operator:value' })],
    ['actor:in:[a;b', expected('invalid_filter_syntax', 10, { expected: '[a;b]' })],
    ['actor:in:a;b]', expected('invalid_filter_syntax', 13, { expected: '[a;b]' })],
    ['actor:in:[[a]]', expected('invalid_filter_syntax', 10, { expected: '[a;b]' })],
    ['actor:in:[a[', expected('invalid_filter_syntax', 10, { expected: '[a;b]' })],
    ['actor:in:[]', expected('invalid_filter_syntax', 10, { expected: '[a;b]' })],
    ['actor:a\\', expected('invalid_filter_syntax', 8, { expected: '\\, \\| \\: \\; \\[ \\] \\\\' })],
    ['actor:a\\bc', expected('invalid_filter_syntax', 8, { expected: '\\, \\| \\: \\; \\[ \\] \\\\' })],
    ['actor:a\0', expected('invalid_characters', 8)],
    ['actor:\ud800', expected('invalid_characters', 7)],
    ['actor:\udc00\ud800', expected('invalid_characters', 7)],
  ])('refuses %j, with the position and the expected form', (text, expected) => {
    expect(errorsOf(text)).toEqual([expected]);
  });

  it('reports the first error of every clause', () => {
    expect(errorsOf('actr:x,type:poll:x,actor:ok,type:eq:a:b').map(({ code }) => code)).toEqual([
      'unknown_filter_field',
      'unknown_filter_op',
      'invalid_filter_value',
    ]);
  });

  it('repeats at most 60 characters of the input', () => {
    const [first] = errorsOf(`type:${'x'.repeat(100)}`);
    expect(first?.params?.value).toBe('x'.repeat(60));
  });

  it('accepts up to 20 clauses', () => {
    const clauseList = Array.from({ length: 20 }, () => 'actor:a');
    expect(parsed(clauseList.join(','))).toHaveLength(20);
    expect(errorsOf([...clauseList, 'x'].join(','))).toEqual([expected('too_many_filters', 161, { max: 20 })]);
  });

  it('accepts up to 100 values of a clause', () => {
    const many = Array.from({ length: 100 }, (_, index) => String(index));
    expect(parsed(`sequence:in:${many.join(';')}`)).toEqual([['sequence', 'eq', ...many]]);
    expect(errorsOf(`sequence:eq:${many.join(':')}:x`)).toEqual([expected('too_many_items', 303, { max: 100 })]);
  });

  it('accepts up to 2000 characters', () => {
    const longest = `actor:${'x'.repeat(1994)}`;
    expect(parsed(longest)).toEqual([['actor', 'eq', 'x'.repeat(1994)]]);
    expect(errorsOf(`${longest}x`)).toEqual([expected('too_long', 2001, { max: 2000 })]);
  });

  it('reports errors with the parameter of the caller', () => {
    const errors: FieldError[] = [];
    collectFilter('actr:x', fields, errors, 'mutes.0.filter');
    expect(errors.map(({ field }) => field)).toEqual(['mutes.0.filter']);
  });

  it('parses clauses in any of their forms', () => {
    const written = fc
      .array(fc.tuple(clauses(valueGenerators), fc.nat(), fc.constantFrom(',', '|')), { minLength: 1, maxLength: 4 })
      .map((list) => ({
        expected: list.map(([clause]) => clause),
        text: list.map(([clause, style, join], index) => (index === 0 ? '' : join) + write(clause, style)).join(''),
      }))
      .filter(({ text }) => text.length <= 2000);
    fc.assert(
      fc.property(written, ({ text, expected }) => {
        expect(parseFilter(text, fields)).toEqual(expected);
      }),
      { numRuns: runs(200, 500) },
    );
  });

  it('returns for any text clauses within the limits, or errors at positions in the text', () => {
    const hostile = fc.array(
      fc.oneof(
        fc.constantFrom(...',|:;[]\\', ...Object.keys(fields), 'eq', 'neq', 'gt', 'in', 'like', 'pool', '1', id, '\0'),
        anyText({ maxLength: 5 }),
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(hostile, (pieces) => {
        const text = pieces.join('');
        const errors = errorsOf(text);
        for (const { params } of errors) {
          expect(params?.position).toBeGreaterThanOrEqual(1);
          expect(params?.position).toBeLessThanOrEqual(text.length + 1);
        }
        if (errors.length > 0) return;
        for (const clause of parseFilter(text, fields)) expect(clause.values.length).toBeGreaterThan(0);
      }),
      { numRuns: runs(400, 1000) },
    );
  });

  it.each([
    ['separators', ':'],
    ['escapes', '\\:'],
    ['brackets', '['],
    ['empty values', ';'],
    ['digits', '1'],
    ['zeros', '0'],
  ])('takes linear time for a filter of only %s', (_, unit) => {
    const cost = (length: number): number => {
      const texts = ['actor:in:', 'amount:eq:', 'key:eq:', ''].map(
        (head) => head + unit.repeat((length - 10) / unit.length),
      );
      const started = process.cpuUsage();
      for (let round = 0; round < 20; round++) for (const text of texts) errorsOf(text);
      const { user, system } = process.cpuUsage(started);
      return user + system;
    };
    cost(250);
    // The smallest of several ratios, each of two measurements one after the other: other threads and processes share the machine.
    const ratios = Array.from({ length: 7 }, () => cost(2000) / Math.max(100, cost(250)));
    // With quadratic time, this would be 64. Exponential time would not end.
    expect(Math.min(...ratios)).toBeLessThan(32);
  });
});

/** One of the equivalent forms of the clause. */
function write({ name, field, operator, values: list }: FilterClause, style: number): string {
  const escaped = list.map((value) => value.replace(/[,|:;[\]\\]/g, '\\$&'));
  const forms = [];
  if (operator === 'eq') {
    const joined = escaped.join(';');
    forms.push(`${name}:in:${joined}`);
    // Empty brackets are refused: they could mean no value or the empty value.
    if (joined !== '') forms.push(`${name}:in:[${joined}]`);
    if (escaped.length === 1) forms.push(`${name}:${escaped[0]}`);
  }
  if (escaped.length === 1 || kinds[field.kind].separatedByColon)
    forms.push(`${name}:${operator}:${escaped.join(':')}`);
  return forms[style % forms.length] ?? '';
}
