import { expect, test } from 'vitest';
import { createBytePace, maxPaceMs, waitForPace } from '../../src/lib/byte-pace.js';

/** A pace of 1000 bytes a second with a burst of 500 bytes. */
function createPace() {
  const clock = { now: 10_000 };
  return { clock, pace: createBytePace({ rate: 1000, burst: 500, now: () => clock.now }) };
}

test('lets a burst through at once, and then as many bytes as the rate allows', () => {
  const { pace } = createPace();
  expect([500, 100, 200].map((bytes) => pace('a', bytes))).toEqual([0, 100, 300]);
});

test('is separate for each key', () => {
  const { pace } = createPace();
  expect(pace('a', 5000)).toBe(4500);
  expect(pace('b', 500)).toBe(0);
});

test('allows the burst again after a pause, and no more than one burst after a long one', () => {
  const { clock, pace } = createPace();
  expect(pace('a', 1000)).toBe(500);
  clock.now += 1000;
  expect(pace('a', 500)).toBe(0);
  clock.now += 1_000_000;
  expect([500, 100].map((bytes) => pace('a', bytes))).toEqual([0, 100]);
});

test('keeps what a key owes while very many other keys come and go', () => {
  const { clock, pace } = createPace();
  expect(pace('a', 10_000)).toBe(9500);
  for (let n = 0; n < 5000; n += 1) {
    clock.now += 1;
    pace(`other ${n}`, 1);
  }
  expect(pace('a', 1)).toBe(4501);
});

test('never makes a key wait longer than 15 seconds, however much was read for it', () => {
  const { clock, pace } = createPace();
  for (let n = 0; n < 100; n += 1) pace('a', 1_000_000);
  expect(pace('a', 1)).toBe(maxPaceMs);
  clock.now += maxPaceMs + 500;
  expect(pace('a', 500)).toBe(0);
});

test('a wait ends at once when the connection closes', async () => {
  const closing = new AbortController();
  const waiting = waitForPace(maxPaceMs, closing.signal);
  closing.abort();
  await expect(waiting).rejects.toThrow('abort');
});
