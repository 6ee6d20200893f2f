import { expect, test } from 'vitest';
import { partOf, stateAfter } from '../../../src/inbox/states/apply-states.js';
import type { ItemState, StatefulNotification } from '../../../src/index.js';

const untouched: ItemState = { read: false, archived: false, snoozed_until: null, action: null };
const rowOf = (sequence: number, state: Partial<ItemState> = {}) =>
  ({ sequence, extra: { state: { ...untouched, ...state } } }) as StatefulNotification;
const positions = (read: number, archived = 0) => ({
  marker: { last_read_sequence: read },
  archived_through: archived,
});

test.each<[string, number, Partial<ItemState>, Partial<ItemState>]>([
  ['that a position has passed is read and archived', 3, {}, { read: true, archived: true }],
  ['that was marked as unread below the former position stays unread', 1, {}, {}],
  ['above the position stays as it is', 9, { read: true }, { read: true }],
  [
    'keeps its action',
    3,
    { action: { key: 'a', acted_at: '' } },
    { read: true, archived: true, action: { key: 'a', acted_at: '' } },
  ],
])('a notification %s', (_, sequence, before, after) => {
  expect(stateAfter(rowOf(sequence, before), undefined, positions(2, 2), positions(5, 4))).toEqual({
    ...untouched,
    ...after,
  });
});

test('what was marked on its own is in the answer, and the first answer decides about all', () => {
  const listed = { ...untouched, id: 'x', sequence: 3, archived: true };
  expect(stateAfter(rowOf(3, { read: true }), listed, positions(0), positions(5))).toEqual({
    ...untouched,
    archived: true,
  });
  expect(stateAfter(rowOf(3, { archived: true }), undefined, null, positions(5, 2))).toEqual({
    ...untouched,
    read: true,
  });
});

test('a state that stays the same is the same object', () => {
  const row = rowOf(9);
  expect(stateAfter(row, undefined, positions(1), positions(2))).toBe(row.extra.state);
});

test.each<[string, Partial<ItemState>, string | null, string | null]>([
  ['is in the inbox', {}, null, 'inbox'],
  ['is snoozed until its time', { snoozed_until: '2026-01-02T00:00:00Z' }, null, 'snoozed'],
  ['is in the inbox after its snooze', { snoozed_until: '2025-12-31T00:00:00Z' }, null, 'inbox'],
  [
    'is archived, also if it is snoozed or has expired',
    { archived: true, snoozed_until: '2026-01-02T00:00:00Z' },
    '2025-01-01T00:00:00Z',
    'archived',
  ],
  ['is in no part after it has expired', {}, '2026-01-01T00:00:00Z', null],
])('a notification %s', (_, state, expiresAt, part) => {
  const extra = { state: { ...untouched, ...state }, expires_at: expiresAt };
  expect(partOf({ extra }, Date.parse('2026-01-01T00:00:00Z'))).toBe(part);
});
