import { expect, test } from 'vitest';
import type { Preferences } from '../../src/index.js';
import { withChanges } from '../../src/preferences/with-changes.js';

const off = { value: 'off', default: 'off', is_chosen: false } as const;
const on = { value: 'on', default: 'on', is_chosen: false } as const;
const category = (fields: object = {}) => ({
  ...{
    title: 'Bills',
    description: 'New bills',
    is_locked: false,
    has_digest: false,
    cells: { inbox: on, push: on, email: on, sms: off },
  },
  ...fields,
});
const preferences: Preferences = {
  ...{ time_zone: 'Europe/Madrid', quiet_hours: null, topics: {}, addresses: {} },
  channels: { push: 'on', email: 'off', sms: 'on' },
  categories: { billing: category(), alarm: category({ is_locked: true }) },
};

test('changes only the cells that are named, and null takes a choice back', () => {
  const chosen = withChanges(preferences, {
    channels: { push: 'off', email: null },
    categories: { billing: { inbox: 'off', push: 'off', sms: 'off' }, unknown: { push: 'off' } },
  });
  expect(chosen).toEqual({
    ...preferences,
    channels: { push: 'off', email: 'on', sms: 'on' },
    categories: {
      ...preferences.categories,
      billing: category({
        cells: {
          inbox: { ...on, value: 'off', is_chosen: true },
          push: { ...on, value: 'off', is_chosen: true },
          email: on,
          sms: { ...off, is_chosen: true },
        },
      }),
    },
  });
  expect(withChanges(chosen, { categories: { billing: { inbox: null, push: null, sms: null } } }).categories).toEqual(
    preferences.categories,
  );
});

test('changes the time zone, also to none', () => {
  expect(withChanges(preferences, {}).time_zone).toBe('Europe/Madrid');
  expect(withChanges(preferences, { time_zone: null }).time_zone).toBeNull();
});

test('leaves critical categories as they are', () => {
  const { alarm } = withChanges(preferences, { categories: { alarm: { push: 'off' } } }).categories;
  expect(alarm).toBe(preferences.categories.alarm);
});

test('a topic has an entry while anything is chosen for it', () => {
  const chosen = withChanges(preferences, { topics: { chess: { push: 'off', email: null }, go: { inbox: 'off' } } });
  expect(chosen.topics).toEqual({ chess: { push: 'off' }, go: { inbox: 'off' } });
  const fewer = withChanges(chosen, { topics: { chess: { push: null }, go: { sms: 'on' }, unknown: { push: null } } });
  expect(fewer.topics).toEqual({ go: { inbox: 'off', sms: 'on' } });
  expect(withChanges(chosen, {}).topics).toEqual(chosen.topics);
});
