import { describe, expect, it } from 'vitest';
import { parsePositionQuery } from '../../../src/http/lists/position-query.js';
import type { FieldError } from '../../../src/lib/problem.js';

const parse = (query: Record<string, string | string[]>) => {
  const errors: FieldError[] = [];
  return { position: parsePositionQuery(query, errors), errors };
};

describe('parsePositionQuery', () => {
  it('reads one or two numbers, and starts at the beginning without any', () => {
    expect(parse({})).toEqual({ position: { first: 0, limit: 100 }, errors: [] });
    expect(parse({ after: '42', limit: '7' })).toEqual({ position: { first: 42, limit: 7 }, errors: [] });
    expect(parse({ after: '7-42' }).position).toEqual({ first: 7, second: 42, limit: 100 });
  });

  it.each(['', 'x', '-1', '1-', '-', '1.5', '1-2-3', '9'.repeat(16), ' 1', '1e3'])(
    'refuses the position %j',
    (after) => {
      expect(parse({ after }).errors).toEqual([{ field: 'after', code: 'invalid_format' }]);
    },
  );

  it.each(['', '0', '-1', '1001', '1e2', '01', 'x'])('refuses the limit %j', (limit) => {
    expect(parse({ limit }).errors).toMatchObject([{ field: 'limit', code: 'invalid_limit' }]);
  });

  it('refuses a parameter that is repeated, and names all errors', () => {
    expect(parse({ after: ['1', '2'], limit: '0' }).errors).toMatchObject([
      { field: 'after', code: 'repeated_parameter' },
      { field: 'limit', code: 'invalid_limit' },
    ]);
  });
});
