import { expect, test } from 'vitest';
import { createKeyedCoalescer } from '../../../src/database/batching/keyed-coalescer.js';
import { Problem } from '../../../src/lib/problem.js';

interface TestRequest {
  readonly key: string;
  readonly value: number;
}

const requestOf = (value: number, key = 'a'): TestRequest => ({ key, value });

test('requests for one key share the next statement, in their order', async () => {
  const groups: number[][] = [];
  const share = createKeyedCoalescer(
    ({ key }: TestRequest) => key,
    async (requests) => {
      groups.push(requests.map(({ value }) => value));
      return requests.map(({ value }) => value * 10);
    },
  );
  const results = await Promise.all([1, 2, 3].map((value) => share(requestOf(value))));
  expect(results).toEqual([10, 20, 30]);
  expect(groups).toEqual([[1], [2, 3]]);
  expect(await share(requestOf(4))).toBe(40);
});

test('requests for different keys do not wait for each other', async () => {
  const begun: string[] = [];
  let finish: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const share = createKeyedCoalescer(
    ({ key }: TestRequest) => key,
    async (requests) => {
      begun.push(requests[0]?.key ?? '');
      if (requests[0]?.key === 'a') await held;
      return requests.map(({ value }) => value);
    },
  );
  const slow = share(requestOf(1, 'a'));
  expect(await share(requestOf(2, 'b'))).toBe(2);
  finish();
  expect(await slow).toBe(1);
  expect(begun).toEqual(['a', 'b']);
});

test('an error that one request causes fails only that request', async () => {
  const share = createKeyedCoalescer(
    ({ key }: TestRequest) => key,
    async (requests) => {
      if (requests.some(({ value }) => value === 3)) throw new Error('three');
      return requests.map(({ value }) => value);
    },
  );
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map((value) => share(requestOf(value))));
  expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason)))).toEqual([
    ...[1, 2, 'Error: three', 4],
  ]);
});

test('after a storage failure, all requests of the statement fail, and it is not repeated', async () => {
  let calls = 0;
  const share = createKeyedCoalescer(
    ({ key }: TestRequest) => key,
    async () => {
      calls += 1;
      throw new Problem('storage_unavailable');
    },
  );
  const outcomes = await Promise.allSettled([1, 2, 3].map((value) => share(requestOf(value))));
  expect(outcomes).toMatchObject([1, 2, 3].map(() => ({ reason: { code: 'storage_unavailable' } })));
  expect(calls).toBe(2);
});

test('a thousand requests may wait, and further ones are refused', async () => {
  const share = createKeyedCoalescer(
    ({ key }: TestRequest) => key,
    async (requests) => requests.map(({ value }) => value),
  );
  const outcomes = await Promise.allSettled(Array.from({ length: 1002 }, (_, value) => share(requestOf(value))));
  const refused = outcomes.flatMap((outcome, index) => (outcome.status === 'rejected' ? [index] : []));
  expect(refused).toEqual([1001]);
});
