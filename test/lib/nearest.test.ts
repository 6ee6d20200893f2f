import { describe, expect, it } from 'vitest';
import { nearest, truncateInput } from '../../src/lib/nearest.js';

describe('nearest', () => {
  const words = ['created_at', 'updated_at', 'actor', 'actor_id'];

  it.each([
    ['create_at', 'created_at'],
    ['UPDATED_AT', 'updated_at'],
    ['acter', 'actor'],
    ['actorid', 'actor_id'],
  ])('suggests for %s the word %s', (word, right) => {
    expect(nearest(word, words)).toBe(right);
  });

  it('returns the first of equally near words, and a word even if none is near', () => {
    expect(nearest('xt', ['gt', 'lt'])).toBe('gt');
    expect(nearest('', words)).toBe('actor');
  });

  it('returns undefined without candidates', () => {
    expect(nearest('actor', [])).toBeUndefined();
  });
});

describe('truncateInput', () => {
  it('cuts a text to 60 characters, but not within a surrogate pair', () => {
    expect(truncateInput('a'.repeat(61))).toBe('a'.repeat(60));
    expect(truncateInput(`${'a'.repeat(59)}😀`)).toBe('a'.repeat(59));
    expect(truncateInput(`${'a'.repeat(58)}😀b`)).toBe(`${'a'.repeat(58)}😀`);
  });
});
