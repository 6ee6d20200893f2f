import { describe, expect, it } from 'vitest';
import { matches } from '../../../src/lib/filter/match.js';
import { parseFilter } from '../../../src/lib/filter/parse.js';
import { fields } from './arbitraries.js';

const record = {
  id: '582a5abb-1335-4794-4855-11e067b8c55e',
  actor: 'Ann 100% Éva_',
  make: '',
  type: 'pool',
  key: null,
  amount: 12.5,
  sequence: 7,
  created_at: '2020-01-01T10:00:00.000001Z',
};

const isMatch = (filter: string) => matches(parseFilter(filter, fields), record);

describe('matches', () => {
  it('matches every record with an empty filter', () => {
    expect(matches([], record)).toBe(true);
  });

  it.each([
    'id:582A5ABB-1335-4794-4855-11E067B8C55E',
    'type:eq:payment:pool',
    'type:neq:payment:request',
    'make:eq:',
    'actor:like:ANN',
    'actor:like:éVA',
    'actor:like:100%',
    'actor:like:a_',
    'actor:like:',
    'amount:eq:12.50',
    'amount:gt:9',
    'amount:lte:12.5',
    'sequence:gte:7',
    'created_at:gt:2020-01-01 10:00:00',
    'created_at:lt:2020-01-01 10:00:00.000002',
    'created_at:eq:2020-01-01T12:00:00.000001+02:00',
    'type:pool,sequence:7',
  ])('matches %s', (filter) => {
    expect(isMatch(filter)).toBe(true);
  });

  it.each([
    'type:payment',
    'type:neq:pool:payment',
    'actor:eq:ann 100% éva_',
    'actor:like:A%a',
    'actor:like:A_n',
    'amount:lt:9',
    'amount:gt:12.5',
    'sequence:gt:10',
    'created_at:gt:2020-01-01 10:00:00.000001',
    'type:pool,sequence:8',
  ])('does not match %s', (filter) => {
    expect(isMatch(filter)).toBe(false);
  });

  it('matches a missing value with neq only', () => {
    expect(isMatch('key:neq:a')).toBe(true);
    expect(isMatch('key:neq:a:b')).toBe(true);
    expect(isMatch('key:eq:a')).toBe(false);
    for (const filter of ['amount:lt:1', 'amount:gte:1', 'actor:like:', 'actor:eq:']) {
      expect(matches(parseFilter(filter, fields), { amount: null })).toBe(false);
    }
  });
});
