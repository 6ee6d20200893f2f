import { expect, test } from 'vitest';
import { createPacer, mapWithPauses, type Pace } from '../../src/lib/pacing.js';

/** A pacer whose clock moves by a millisecond with each step, and whose turns are counted. */
function createCountingPacer(slice: number) {
  const counted = { time: 0, turns: 0 };
  const pacer = createPacer({
    slice,
    now: () => counted.time,
    turn: async () => {
      counted.turns += 1;
    },
  });
  return { counted, pacer };
}

async function walk(pace: Pace, steps: number, step: () => void): Promise<void> {
  for (let done = 0; done < steps; done += 1) {
    await pace();
    step();
  }
}

test('a loop waits for the next turn when it has used its time slice, and not before', async () => {
  const { counted, pacer } = createCountingPacer(5);
  const pace = pacer.begin();
  const waits: number[] = [];
  for (let step = 0; step <= 20; step += 1) {
    const pause = pace();
    if (pause !== undefined) waits.push(step);
    await pause;
    counted.time += 1;
  }
  expect(waits).toEqual([5, 10, 15, 20]);
  expect(counted.turns).toBeGreaterThanOrEqual(4);
});

test('within its time slice a loop does not wait', () => {
  const { counted, pacer } = createCountingPacer(5);
  const pace = pacer.begin();
  counted.time += 4;
  expect(pace()).toBeUndefined();
  counted.time += 1;
  expect(pace()).toBeInstanceOf(Promise);
});

test('one of several loops continues in each turn, in the order of arrival', async () => {
  const { counted, pacer } = createCountingPacer(1);
  const steps: { loop: number; turn: number }[] = [];
  const loops = [0, 1, 2].map((loop) => ({ loop, pace: pacer.begin() }));
  counted.time += 1;
  await Promise.all(
    loops.map(({ loop, pace }) =>
      walk(pace, 4, () => {
        steps.push({ loop, turn: counted.turns });
        counted.time += 1;
      }),
    ),
  );
  expect(new Set(steps.map(({ turn }) => turn)).size).toBe(steps.length);
  expect(steps.slice(0, 6).map(({ loop }) => loop)).toEqual([0, 1, 2, 0, 1, 2]);
});

test('mapWithPauses keeps the order', async () => {
  const { counted, pacer } = createCountingPacer(2);
  const results = await mapWithPauses(pacer.begin(), [1, 2, 3, 4, 5, 6], (item) => {
    counted.time += 1;
    return item * 10;
  });
  expect(results).toEqual([10, 20, 30, 40, 50, 60]);
  expect(counted.turns).toBeGreaterThanOrEqual(2);
});
