import { describe, expect, it } from 'vitest';
import { echo, nearest } from '../../src/lib/nearest.js';

describe('nearest', () => {
  const words = ['created_at', 'updated_at', 'actor', 'actor_id'];

  it.each([
    ['create_at', 'created_at'],
    ['UPDATED_AT', 'updated_at'],
    ['acter', 'actor'],
    ['actorid', 'actor_id'],
  ])('offers for %s the word %s', (word, right) => {
    expect(nearest(word, words)).toBe(right);
  });

  it('offers the first of equally near words, and something even where nothing is near', () => {
    expect(nearest('xt', ['gt', 'lt'])).toBe('gt');
    expect(nearest('', words)).toBe('actor');
  });

  it('has nothing to offer without candidates', () => {
    expect(nearest('actor', [])).toBeUndefined();
  });
});

describe('echo', () => {
  it('cuts to 60 characters, never through a surrogate pair', () => {
    expect(echo('a'.repeat(61))).toBe('a'.repeat(60));
    expect(echo(`${'a'.repeat(59)}😀`)).toBe('a'.repeat(59));
    expect(echo(`${'a'.repeat(58)}😀b`)).toBe(`${'a'.repeat(58)}😀`);
  });
});
