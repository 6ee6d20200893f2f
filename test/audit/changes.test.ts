import { expect, test } from 'vitest';
import { changeOf, changesBetween, memberChanges, secretChange } from '../../src/audit/changes.js';

test('a change has both values, and an absent value is null', () => {
  expect(changeOf('email', undefined, 'ada@example.org')).toEqual([
    { field: 'email', before: null, after: 'ada@example.org', withheld: false },
  ]);
});

test('an equal value is no change', () => {
  expect(changeOf('lock', { permanent: true }, { permanent: true })).toEqual([]);
  expect(changeOf('name', undefined, null)).toEqual([]);
});

test('a long value is withheld', () => {
  expect(changeOf('metadata.notes', 'short', 'x'.repeat(1000))).toEqual([secretChange('metadata.notes')]);
  expect(changeOf('metadata.notes', 'short', 'x'.repeat(998))).toMatchObject([{ withheld: false }]);
});

test('a field without a new value is unchanged, and the changes contain only the listed fields', () => {
  const before = { name: 'Ada', locale: 'en', secret: 'a' };
  expect(changesBetween(['name', 'locale'], before, { locale: 'es', secret: 'b' } as typeof before)).toEqual([
    { field: 'locale', before: 'en', after: 'es', withheld: false },
  ]);
});

test('an object is compared member by member', () => {
  expect(
    memberChanges('metadata', { plan: 'free', seats: 1, team: 'a' }, { plan: 'paid', seats: 1, note: 'new' }),
  ).toEqual([
    { field: 'metadata.plan', before: 'free', after: 'paid', withheld: false },
    { field: 'metadata.team', before: 'a', after: null, withheld: false },
    { field: 'metadata.note', before: null, after: 'new', withheld: false },
  ]);
});

test('a member may have the name of a method', () => {
  expect(memberChanges('metadata', {}, { toString: 'x' })).toEqual([
    { field: 'metadata.toString', before: null, after: 'x', withheld: false },
  ]);
});
