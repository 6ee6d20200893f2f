import { expect, test } from 'vitest';
import { orderedId, orderedIds, parseId } from '../../src/lib/ids.js';

test('ordered ids are different UUIDs of version 7 that begin with the time', () => {
  const before = Date.now();
  const ids = [...Array.from({ length: 5000 }, orderedId), ...orderedIds(5000)];
  const after = Date.now();
  expect(new Set(ids).size).toBe(10_000);
  for (const id of ids) {
    expect(parseId(id)).toBe(id);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const time = Number.parseInt(id.slice(0, 13).replace('-', ''), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(after);
  }
});

test.each([
  ['one by one', () => Array.from({ length: 5000 }, orderedId)],
  ['together', () => orderedIds(5000)],
])('ordered ids that are created %s are random in every digit after the version', (_, make) => {
  const ids = make();
  const digitsAt = (place: number) => [...new Set(ids.map((id) => id[place]))].sort().join('');
  const places = [15, 16, 17, 20, 21, 22, ...Array.from({ length: 12 }, (_, nth) => 24 + nth)];
  expect(places.map(digitsAt)).toEqual(places.map(() => '0123456789abcdef'));
  expect(digitsAt(19)).toBe('89ab');
});
