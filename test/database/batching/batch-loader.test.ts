import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createBatchLoader } from '../../../src/database/batching/batch-loader.js';

interface Sent {
  readonly keys: readonly number[];
  answer(): void;
  fail(error: Error): void;
}

/** A loader whose queries wait until the test answers them. The result of each key is ten times the key. */
function createHeldLoader() {
  const sent: Sent[] = [];
  const lookUp = createBatchLoader(
    (keys: readonly number[]) =>
      new Promise<readonly number[]>((resolve, reject) => {
        sent.push({ keys, answer: () => resolve(keys.map((key) => key * 10)), fail: reject });
      }),
  );
  const waitForQueries = async (queries: number) => {
    while (sent.length < queries) await nextTurn();
  };
  return { sent, lookUp, waitForQueries };
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

describe('batched look-ups', () => {
  test('share one query if they begin in one turn of the event loop, and each gets its own result', async () => {
    const { sent, lookUp } = createHeldLoader();
    const results = [3, 1, 2, 1].map(lookUp);
    await nextTurn();
    expect(sent.map(({ keys }) => keys)).toEqual([[3, 1, 2, 1]]);
    sent[0]?.answer();
    expect(await Promise.all(results)).toEqual([30, 10, 20, 10]);
  });

  test('never join a query that was already sent, not even for the same key', async () => {
    const { sent, lookUp, waitForQueries } = createHeldLoader();
    const first = lookUp(1);
    await nextTurn();
    const second = lookUp(1);
    await waitForQueries(2);
    expect(sent.map(({ keys }) => keys)).toEqual([[1], [1]]);
    sent[1]?.answer();
    expect(await second).toBe(10);
    sent[0]?.answer();
    expect(await first).toBe(10);
  });

  test('wait while a query runs, and are sent when it ends', async () => {
    const { sent, lookUp } = createHeldLoader();
    const first = lookUp(1);
    await nextTurn();
    const gathered = [lookUp(2), lookUp(3)];
    await Promise.resolve();
    gathered.push(lookUp(4));
    sent[0]?.answer();
    await first;
    await nextTurn();
    sent[1]?.answer();
    expect(await Promise.all(gathered)).toEqual([20, 30, 40]);
    expect(sent.map(({ keys }) => keys)).toEqual([[1], [2, 3, 4]]);
  });

  test('wait only a short time for a slow query, and not at all when it counts as slow', async () => {
    const { sent, lookUp, waitForQueries } = createHeldLoader();
    lookUp(1);
    await nextTurn();
    const late = lookUp(2);
    await waitForQueries(2);
    sent[1]?.answer();
    expect(await late).toBe(20);
    const later = lookUp(3);
    await nextTurn();
    sent[2]?.answer();
    expect(await later).toBe(30);
  });

  test('are limited to 64 for each query and two queries at a time', async () => {
    const { sent, lookUp, waitForQueries } = createHeldLoader();
    const keys = range(0, 150);
    const results = keys.map(lookUp);
    await nextTurn();
    expect(sent.map(({ keys }) => keys.length)).toEqual([64, 64]);
    sent[1]?.answer();
    await waitForQueries(3);
    sent[2]?.answer();
    sent[0]?.answer();
    expect(sent.map(({ keys }) => keys.length)).toEqual([64, 64, 22]);
    expect(await Promise.all(results)).toEqual(keys.map((key) => key * 10));
  });

  test('do not wait for a running query when enough of them wait to fill a second one', async () => {
    const { sent, lookUp, waitForQueries } = createHeldLoader();
    const all = [lookUp(0)];
    await nextTurn();
    all.push(...range(1, 15).map(lookUp));
    await nextTurn();
    expect(sent).toHaveLength(1);
    all.push(lookUp(16));
    await waitForQueries(2);
    expect(sent.map(({ keys }) => keys.length)).toEqual([1, 16]);
    for (const { answer } of sent) answer();
    expect(await Promise.all(all)).toEqual(range(0, 17).map((key) => key * 10));
  });

  test('fail with their own query only', async () => {
    const { sent, lookUp, waitForQueries } = createHeldLoader();
    const failing = Promise.allSettled([1, 2].map(lookUp));
    await nextTurn();
    const other = lookUp(3);
    await waitForQueries(2);
    const failure = new Error('the connection broke');
    sent[0]?.fail(failure);
    expect(await failing).toEqual([1, 2].map(() => ({ status: 'rejected', reason: failure })));
    sent[1]?.answer();
    expect(await other).toBe(30);
    const next = lookUp(4);
    await nextTurn();
    sent[2]?.answer();
    expect(await next).toBe(40);
  });
});
