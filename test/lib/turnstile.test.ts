import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { createTurnstile } from '../../src/lib/turnstile.js';

afterEach(() => void vi.useRealTimers());

/** Tasks that a test ends one by one, in a turnstile that lets one in at a time; and those who have left it. */
function startTasks(count: number) {
  const enter = createTurnstile({ width: 1, length: count, company: { size: 3, patience: 40 } });
  const ends: (() => void)[] = [];
  const left: number[] = [];
  const begun: number[] = [];
  for (let task = 0; task < count; task += 1) {
    const ended = new Promise<void>((resolve) => ends.push(resolve));
    const leave = () => void left.push(task);
    enter(async () => {
      begun.push(task);
      await ended;
      if (task === 1) throw new Error('of the task');
    }).then(leave, leave);
  }
  return { end: (task: number) => ends[task]?.(), begun, left };
}

test('those who are done leave together while others wait, whatever came of it, and nobody begins later for it', async () => {
  // Nobody's patience ends here, however long the machine stands still.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { end, begun, left } = startTasks(9);
  const seen: number[][] = [];
  for (let task = 0; task < 9; task += 1) {
    end(task);
    await turn();
    seen.push(left.splice(0));
    expect(begun.at(-1)).toBe(Math.min(task + 1, 8));
  }
  expect(seen).toEqual([[], [], [0, 1, 2], [], [], [3, 4, 5], [6], [7], [8]]);
});

test('nobody waits for company for longer than its patience', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { end, left } = startTasks(9);
  end(0);
  await turn();
  vi.advanceTimersByTime(39);
  await turn();
  expect(left).toEqual([]);
  vi.advanceTimersByTime(1);
  await turn();
  expect(left).toEqual([0]);
  // The next one has company and time of its own.
  end(1);
  end(2);
  await turn();
  expect(left).toEqual([0]);
  end(3);
  await turn();
  expect(left).toEqual([0, 1, 2, 3]);
});
