import { expect, test } from 'vitest';
import { createBytePace } from '../../src/lib/byte-pace.js';

/** A pace of 1000 bytes a second with a burst of 500 bytes, and the waits that it has demanded. */
function createPace() {
  const clock = { now: 10_000 };
  const waits: number[] = [];
  const sleep = async (ms: number) => void waits.push(ms);
  return { clock, waits, pace: createBytePace({ rate: 1000, burst: 500, now: () => clock.now, sleep }) };
}

test('lets a burst through at once, and then as many bytes as the rate allows', async () => {
  const { pace, waits } = createPace();
  expect(pace('a', 500)).toBeUndefined();
  await pace('a', 100);
  await pace('a', 200);
  expect(waits).toEqual([100, 300]);
});

test('is separate for each key', () => {
  const { pace, waits } = createPace();
  void pace('a', 5000);
  expect(pace('b', 500)).toBeUndefined();
  expect(waits).toEqual([4500]);
});

test('allows the burst again after a pause, and no more than one burst after a long one', async () => {
  const { clock, pace, waits } = createPace();
  await pace('a', 1000);
  clock.now += 1000;
  expect(pace('a', 500)).toBeUndefined();
  clock.now += 1_000_000;
  expect(pace('a', 500)).toBeUndefined();
  await pace('a', 100);
  expect(waits).toEqual([500, 100]);
});

test('keeps what a key owes while very many other keys come and go', async () => {
  const { clock, pace, waits } = createPace();
  void pace('a', 100_000);
  for (let n = 0; n < 5000; n += 1) {
    clock.now += 1;
    void pace(`other ${n}`, 1);
  }
  await pace('a', 1);
  expect(waits).toEqual([99_500, 94_501]);
});
