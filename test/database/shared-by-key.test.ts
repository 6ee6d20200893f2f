import { expect, test } from 'vitest';
import { sharedByKey } from '../../src/database/shared-by-key.js';
import { Problem } from '../../src/lib/problem.js';

interface Asked {
  readonly key: string;
  readonly value: number;
}

const ask = (value: number, key = 'a'): Asked => ({ key, value });

test('what is asked for of one key while something is under way goes together, in its order', async () => {
  const groups: number[][] = [];
  const share = sharedByKey(
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

test('keys do not wait for each other', async () => {
  const begun: string[] = [];
  let finish: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const share = sharedByKey(
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

test('what one of them is refused for fails that one alone', async () => {
  const share = sharedByKey(
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

test('a storage failure fails all who share it, and is not tried again', async () => {
  let calls = 0;
  const share = sharedByKey(
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

test('more than a thousand do not wait', async () => {
  const share = sharedByKey(
    ({ key }: Asked) => key,
    async (asked) => asked.map(({ value }) => value),
  );
  const outcomes = await Promise.allSettled(Array.from({ length: 1002 }, (_, value) => share(ask(value))));
  const refused = outcomes.flatMap((outcome, index) => (outcome.status === 'rejected' ? [index] : []));
  expect(refused).toEqual([1001]);
});
