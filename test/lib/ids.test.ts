import { expect, test } from 'vitest';
import { orderedId, orderedIds, parseId } from '../../src/lib/ids.js';

test('ordered ids are UUIDs of version 7 that begin with the time of their making, and are all different', () => {
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
