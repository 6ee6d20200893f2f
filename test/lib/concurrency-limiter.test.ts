import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import {
  type ConcurrencyLimiterOptions,
  createConcurrencyLimiter,
  createKeyedLimiter,
} from '../../src/lib/concurrency-limiter.js';

afterEach(() => void vi.useRealTimers());

/** Tasks that a test ends one by one, and their results. */
function startTasks(count: number, options: ConcurrencyLimiterOptions) {
  const limit = createConcurrencyLimiter(options);
  const ends: (() => void)[] = [];
  const started: number[] = [];
  const outcomes = Array.from({ length: count }, async (_, task) => {
    const ended = new Promise<void>((resolve) => ends.push(resolve));
    try {
      await limit(async () => {
        started.push(task);
        await ended;
        if (task === 1) throw new Error('of the task');
      });
      return 'done';
    } catch (error) {
      return (error as Error).message;
    }
  });
  return { end: (task: number) => ends[task]?.(), started, outcomes };
}

test('the configured number of tasks runs at a time, in order of arrival, and a failed task frees its slot too', async () => {
  const { end, started, outcomes } = startTasks(4, { concurrency: 2, maxWaiting: 2 });
  expect(started).toEqual([0, 1]);
  end(1);
  await turn();
  expect(started).toEqual([0, 1, 2]);
  end(0);
  await turn();
  expect(started).toEqual([0, 1, 2, 3]);
  end(2);
  end(3);
  expect(await Promise.all(outcomes)).toEqual(['done', 'of the task', 'done', 'done']);
});

test('a task is refused if too many wait already', async () => {
  const { end, started, outcomes } = startTasks(3, { concurrency: 1, maxWaiting: 1 });
  expect(await outcomes[2]).toBe('overloaded');
  end(0);
  await turn();
  expect(started).toEqual([0, 1]);
});

test('a task is refused if it has waited for too long, and the next one runs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const limit = createConcurrencyLimiter({ concurrency: 1, maxWaiting: 2, timeoutMs: 40 });
  let end: () => void = () => undefined;
  const first = limit(() => new Promise<void>((resolve) => (end = resolve)));
  const late = limit(async () => 'late').catch((error: Error) => error.message);
  vi.advanceTimersByTime(39);
  const next = limit(async () => 'next');
  vi.advanceTimersByTime(1);
  expect(await late).toBe('overloaded');
  end();
  await first;
  expect(await next).toBe('next');
});

test('while tasks wait, a place rests for as many times as long as its task took; without a queue it does not', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const limit = createConcurrencyLimiter({ concurrency: 1, maxWaiting: 2, rest: 3 });
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const start = (task: number) =>
    limit(() => {
      started.push(task);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const first = start(1);
  const second = start(2);
  vi.advanceTimersByTime(10);
  ends[0]?.();
  await first;
  vi.advanceTimersByTime(29);
  await turn();
  expect(started).toEqual([1]);
  vi.advanceTimersByTime(1);
  await turn();
  expect(started).toEqual([1, 2]);
  vi.advanceTimersByTime(10);
  ends[1]?.();
  await second;
  void start(3);
  await turn();
  expect(started).toEqual([1, 2, 3]);
});

test('after a task that took long, a place rests for a second', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const limit = createConcurrencyLimiter({ concurrency: 1, maxWaiting: 1, rest: 3 });
  let end: () => void = () => undefined;
  const long = limit(() => new Promise<void>((resolve) => (end = resolve)));
  const next = limit(async () => 'next');
  vi.advanceTimersByTime(5000);
  end();
  await long;
  vi.advanceTimersByTime(999);
  expect(await Promise.race([next, turn('rests')])).toBe('rests');
  vi.advanceTimersByTime(1);
  expect(await next).toBe('next');
});

test('tasks with different keys do not wait for each other', async () => {
  const limits = createKeyedLimiter({ concurrency: 1, maxWaiting: 1 });
  const blocked = limits('a', () => new Promise<void>(() => undefined));
  expect(await limits('b', async () => 'b')).toBe('b');
  const second = limits('a', async () => 'a');
  expect(await Promise.race([second, blocked, turn('waits')])).toBe('waits');
});
