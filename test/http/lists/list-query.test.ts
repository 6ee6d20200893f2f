import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ListQuerySpec, parseListQuery, type QueryParameters } from '../../../src/http/lists/list-query.js';
import type { FieldError } from '../../../src/lib/problem.js';
import { Problem } from '../../../src/lib/problem.js';

const spec: ListQuerySpec<'created_at' | 'updated_at'> = {
  sortable: ['created_at', 'updated_at'],
  filterFields: { actor: { kind: 'string', like: true }, created_at: { kind: 'time' } },
};

function errorsOf(query: QueryParameters): readonly FieldError[] {
  try {
    parseListQuery(query, spec);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect(error.code).toBe('validation_failed');
    return error.options.errors ?? [];
  }
  return [];
}

const allowed = 'created_at, updated_at';
const maxPage = 1_000_000_000;
const invalidPage = { field: 'page', code: 'invalid_page', params: { max: maxPage } };
const invalidLimit = { field: 'limit', code: 'invalid_limit', params: { min: 1, max: 100 } };
const invalidSince = { field: 'since', code: 'invalid_since', params: { format: 'YYYY-MM-DD HH:MM:SS' } };

describe('parseListQuery', () => {
  it('fills in the defaults of the list', () => {
    expect(parseListQuery({}, spec)).toEqual({
      page: 1,
      limit: 20,
      sort: [{ field: 'created_at', direction: 'desc' }],
      filter: [],
      sentParameters: {},
    });
  });

  it('parses every parameter, and keeps the parameters as the client sent them', () => {
    const query = {
      page: '3',
      limit: '100',
      sort: 'updated_at:asc',
      since: '2020-01-01 10:00:00',
      filter: 'actor:like:ann',
    };
    expect(parseListQuery(query, spec)).toEqual({
      page: 3,
      limit: 100,
      sort: [{ field: 'updated_at', direction: 'asc' }],
      since: '2020-01-01T10:00:00.000000Z',
      filter: [{ name: 'actor', field: spec.filterFields.actor, operator: 'like', values: ['ann'] }],
      sentParameters: query,
    });
  });

  it('ignores unknown parameters, repeated or not', () => {
    const query = { offset: 'x', cursor: ['a', 'b'], envelope: undefined };
    expect(parseListQuery(query, spec)).toEqual(parseListQuery({}, spec));
  });

  const invalidNumbers = ['', '0', '-1', '+1', '01', '1.0', '1e1', ' 1', '1 ', '0x1', '١', 'one', '9'.repeat(400)];

  it.each([...invalidNumbers, String(maxPage + 1)])('refuses the page "%s"', (page) => {
    expect(errorsOf({ page })).toEqual([invalidPage]);
  });

  it.each([...invalidNumbers, '101'])('refuses the limit "%s"', (limit) => {
    expect(errorsOf({ limit })).toEqual([invalidLimit]);
  });

  it('accepts pages and limits up to their maximum', () => {
    expect(parseListQuery({ page: String(maxPage), limit: '100' }, spec)).toMatchObject({ page: maxPage, limit: 100 });
    expect(parseListQuery({ page: '1', limit: '1' }, spec)).toMatchObject({ page: 1, limit: 1 });
  });

  it.each(['', '2020-02-30 00:00:00', '2020-01-01', 'yesterday'])('refuses the time "%s" in since', (since) => {
    expect(errorsOf({ since })).toEqual([invalidSince]);
  });

  it('accepts an RFC 3339 time in since, also if the query string decoded its plus to a space', () => {
    const since = '2019-12-31T22:00:00.000000Z';
    expect(parseListQuery({ since: '2020-01-01T00:00:00+02:00' }, spec).since).toBe(since);
    expect(parseListQuery({ since: '2020-01-01T00:00:00 02:00' }, spec).since).toBe(since);
  });

  const sorts: readonly [string, { field: string; direction: string }[]][] = [
    ['created_at', [{ field: 'created_at', direction: 'desc' }]],
    ['created_at:asc', [{ field: 'created_at', direction: 'asc' }]],
    [
      'updated_at:desc,created_at:asc',
      [
        { field: 'updated_at', direction: 'desc' },
        { field: 'created_at', direction: 'asc' },
      ],
    ],
    [
      'updated_at:asc|created_at',
      [
        { field: 'updated_at', direction: 'asc' },
        { field: 'created_at', direction: 'desc' },
      ],
    ],
  ];

  it.each(sorts)('sorts by %s', (sort, keys) => {
    expect(parseListQuery({ sort }, spec).sort).toEqual(keys);
  });

  it.each([
    ['', '', 'created_at:desc'],
    ['create_at', 'create_at', 'created_at:desc'],
    ['updated:asc', 'updated:asc', 'updated_at:asc'],
    ['created_at:up', 'created_at:up', 'created_at:asc'],
    ['created_at:', 'created_at:', 'created_at:asc'],
    ['created_at:DESC', 'created_at:DESC', 'created_at:desc'],
    ['created_at:asc:desc', 'created_at:asc:desc', 'created_at:desc'],
    ['created_at,', '', 'created_at:desc'],
    ['created_at,created_at:asc', 'created_at:asc', 'created_at:desc'],
    ['-created_at', '-created_at', 'created_at:desc'],
  ])('refuses the sort "%s", reports "%s" and suggests "%s"', (sort, value, suggestion) => {
    expect(errorsOf({ sort })).toEqual([
      { field: 'sort', code: 'invalid_sort', params: { value, suggestion, allowed } },
    ]);
  });

  it('refuses an empty filter', () => {
    expect(errorsOf({ filter: '' })).toEqual([
      { field: 'filter', code: 'invalid_filter_syntax', params: { position: 1, expected: 'field:operator:value' } },
    ]);
  });

  it.each(['page', 'limit', 'sort', 'since', 'filter'])('refuses a repeated %s, even with equal values', (field) => {
    expect(errorsOf({ [field]: ['1', '1'] })).toEqual([{ field, code: 'repeated_parameter' }]);
  });

  it('reports all invalid parameters', () => {
    const errors = errorsOf({ page: '0', limit: '101', sort: 'x', since: 'x', filter: 'x:1,actor:x:1' });
    expect(errors.map(({ field, code }) => [field, code])).toEqual([
      ['page', 'invalid_page'],
      ['limit', 'invalid_limit'],
      ['sort', 'invalid_sort'],
      ['since', 'invalid_since'],
      ['filter', 'unknown_filter_field'],
      ['filter', 'unknown_filter_op'],
    ]);
  });

  it('returns for any query a list query within the limits, or errors of its parameters', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[-+0-9.e]{0,8}$/), fc.constantFrom('created_at', '1', '20'));
    const value = fc.option(fc.oneof(text, fc.array(text)), { nil: undefined });
    const queries = fc.record({ page: value, limit: value, sort: value, since: value, filter: value });
    fc.assert(
      fc.property(queries, (query) => {
        const errors = errorsOf(query);
        if (errors.length > 0) return;
        const list = parseListQuery(query, spec);
        expect(list.page).toSatisfy((page: number) => Number.isSafeInteger(page) && page >= 1 && page <= maxPage);
        expect(list.limit).toSatisfy((limit: number) => Number.isSafeInteger(limit) && limit >= 1 && limit <= 100);
      }),
    );
  });
});
