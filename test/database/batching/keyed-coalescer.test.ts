import { expect, test } from 'vitest';
import { createKeyedCoalescer } from '../../../src/database/batching/keyed-coalescer.js';
import { Problem } from '../../../src/lib/problem.js';

interface Asked {
  readonly key: string;
  readonly value: number;
}

const ask = (value: number, key = 'a'): Asked => ({ key, value });

test('requests for one key share the next statement, in their order', async () => {
  const groups: number[][] = [];
  const share = createKeyedCoalescer(
    ({ key }: Asked) => key,
    async (asked) => {
      groups.push(asked.map(({ value }) => value));
      return asked.map(({ value }) => value * 10);
    },
  );
  const done = await Promise.all([1, 2, 3].map((value) => share(ask(value))));
  expect(done).toEqual([10, 20, 30]);
  expect(groups).toEqual([[1], [2, 3]]);
  expect(await share(ask(4))).toBe(40);
});

test('requests for different keys do not wait for each other', async () => {
  const begun: string[] = [];
  let finish: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const share = createKeyedCoalescer(
    ({ key }: Asked) => key,
    async (asked) => {
      begun.push(asked[0]?.key ?? '');
      if (asked[0]?.key === 'a') await held;
      return asked.map(({ value }) => value);
    },
  );
  const slow = share(ask(1, 'a'));
  expect(await share(ask(2, 'b'))).toBe(2);
  finish();
  expect(await slow).toBe(1);
  expect(begun).toEqual(['a', 'b']);
});

test('an error that one request causes fails only that request', async () => {
  const share = createKeyedCoalescer(
    ({ key }: Asked) => key,
    async (asked) => {
      if (asked.some(({ value }) => value === 3)) throw new Error('three');
      return asked.map(({ value }) => value);
    },
  );
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map((value) => share(ask(value))));
  expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason)))).toEqual([
    ...[1, 2, 'Error: three', 4],
  ]);
});

test('after a storage failure, all requests of the statement fail, and it is not repeated', async () => {
  let calls = 0;
  const share = createKeyedCoalescer(
    ({ key }: Asked) => key,
    async () => {
      calls += 1;
      throw new Problem('storage_unavailable');
    },
  );
  const outcomes = await Promise.allSettled([1, 2, 3].map((value) => share(ask(value))));
  expect(outcomes).toMatchObject([1, 2, 3].map(() => ({ reason: { code: 'storage_unavailable' } })));
  expect(calls).toBe(2);
});

test('a thousand requests may wait, and further ones are refused', async () => {
  const share = createKeyedCoalescer(
    ({ key }: Asked) => key,
    async (asked) => asked.map(({ value }) => value),
  );
  const outcomes = await Promise.allSettled(Array.from({ length: 1002 }, (_, value) => share(ask(value))));
  const refused = outcomes.flatMap((outcome, index) => (outcome.status === 'rejected' ? [index] : []));
  expect(refused).toEqual([1001]);
});
