import { expect, test } from 'vitest';
import { coalesced } from '../../src/inbox/coalesced.js';

test('calls during a run share one run that begins after them, also if the first one fails', async () => {
  const ends: ((error?: Error) => void)[] = [];
  const run = coalesced(
    () =>
      new Promise<void>((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve() : reject(error)));
      }),
  );
  const first = run();
  const [second, third] = [run(), run()];
  expect(ends).toHaveLength(1);
  ends[0]?.(new Error('lost'));
  await expect(first).rejects.toThrow('lost');
  await expect.poll(() => ends.length).toBe(2);
  const fourth = run();
  ends[1]?.();
  await Promise.all([second, third]);
  await expect.poll(() => ends.length).toBe(3);
  ends[2]?.();
  await fourth;
  expect(ends).toHaveLength(3);
});
