import { afterEach, expect, test, vi } from 'vitest';
import { createExpensiveReadLimit } from '../../../src/notifications/inbox/expensive-reads.js';

afterEach(() => void vi.useRealTimers());

/** A limit whose clock the test sets. Each read advances this clock by some milliseconds. */
function createLimit(connections = 20) {
  const clock = { time: 0 };
  const share = createExpensiveReadLimit({ connections, now: () => clock.time });
  const read = (user: string, milliseconds: number) =>
    share(user, async () => {
      clock.time += milliseconds;
    });
  return { clock, share, read };
}

/** Reads that run until the test ends them, and the users whose reads have started. */
function createHangingReads(connections: number) {
  const { share } = createLimit(connections);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const read = (user: string) =>
    share(user, () => {
      begun.push(user);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  return { read, begun, ends };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const stopClock = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });

test('one read of a user runs at a time, independently of other users', async () => {
  stopClock();
  const { read, begun, ends } = createHangingReads(20);
  const reads = ['a', 'a', 'a', 'b'].map(read);
  await settled();
  expect(begun).toEqual(['a', 'b']);
  for (let round = 0; round < 2; round += 1) {
    for (const end of ends.splice(0)) end();
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(begun).toEqual(['a', 'b', 'a', 'a']);
  ends[0]?.();
  await Promise.all(reads);
});

test('while reads of a user wait, the user rests three times as long as the last one took', async () => {
  stopClock();
  const { read, begun, ends } = createHangingReads(20);
  const reads = ['a', 'a'].map(read);
  await vi.advanceTimersByTimeAsync(100);
  ends.splice(0)[0]?.();
  await vi.advanceTimersByTimeAsync(299);
  expect(begun).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(['a', 'a']);
  ends[0]?.();
  await Promise.all(reads);
});

test('the reads of all users together use at most half of the connections', async () => {
  const { read, begun, ends } = createHangingReads(6);
  const reads = ['a', 'b', 'c', 'd'].map(read);
  await settled();
  expect(begun).toEqual(['a', 'b', 'c']);
  for (let round = 0; round < 2; round += 1) {
    for (const end of ends.splice(0)) end();
    await settled();
  }
  await Promise.all(reads);
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});

test('a read that has waited for its user for two seconds is refused with a time to retry after', async () => {
  stopClock();
  const { read, begun, ends } = createHangingReads(20);
  const [first, second] = ['a', 'a'].map(read);
  const refusal = expect(second).rejects.toMatchObject({ code: 'too_many_requests', options: { retryAfter: 1 } });
  await vi.advanceTimersByTimeAsync(2000);
  await refusal;
  for (const end of ends) end();
  await first;
  expect(begun).toEqual(['a']);
});

test('at most a hundred reads of one user wait', async () => {
  stopClock();
  const { read, ends } = createHangingReads(20);
  const reads = Array.from({ length: 102 }, () => read('a'));
  await expect(reads[101]).rejects.toMatchObject({ code: 'too_many_requests' });
  const others = Promise.all(reads.slice(0, 101));
  for (let round = 0; round < 101; round += 1) {
    await vi.advanceTimersByTimeAsync(0);
    for (const end of ends.splice(0)) end();
  }
  await others;
});

test('a user who has used up the allowance is refused until some of it is refilled, and other users are not', async () => {
  const { clock, read } = createLimit();
  for (let nth = 0; nth < 3; nth += 1) await read('a', 5000);
  // 15 s, minus what was refilled during the second and the third read: 0.2 of 10 s.
  const excess = 15_000 - 2000 - 10_000;
  const retryAfter = Math.ceil((excess + 1) / 0.2 / 1000);
  await expect(read('a', 1)).rejects.toMatchObject({ code: 'too_many_requests', options: { retryAfter } });
  await read('b', 1);
  clock.time += retryAfter * 1000;
  await read('a', 1);
});

test('quick reads are never refused: their time is refilled as fast as it is used', async () => {
  const { clock, read } = createLimit();
  for (let nth = 0; nth < 10_000; nth += 1) {
    await read('a', 5);
    clock.time += 20;
  }
});

test('the caller gets the error of a read', async () => {
  const { share } = createLimit();
  await expect(share('a', () => Promise.reject(new Error('of the read')))).rejects.toThrow('of the read');
});
