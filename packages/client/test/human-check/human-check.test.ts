import { hash } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Core } from '../../src/core.js';
import { repeat } from '../../src/human-check/human-check.js';

/** A challenge whose solution is its last number. */
function challengeOf(maxnumber: number) {
  const salt = 'a salt';
  return {
    challenge: {
      ...{ algorithm: 'SHA-256', maxnumber, salt, signature: 'signature' },
      challenge: hash('sha256', `${salt}${maxnumber}`),
    },
  };
}
const core: Pick<Core, 'humanCheckListeners'> = {};

test('without a worker, the page can react after every 12 ms of the search', async () => {
  // Each look at the clock takes a millisecond.
  let now = 0;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now++);
  onTestFinished(() => clock.mockRestore());
  let isDone = false;
  /** The times at which the page could react. */
  const turns: number[] = [];
  const react = () => {
    if (isDone) return;
    turns.push(now);
    setImmediate(react);
  };
  setImmediate(react);
  const solution = await repeat(
    challengeOf(10_000),
    { method: 'POST', path: '/v1/registrations', body: {} },
    async ({ body }) => (body as { readonly human_check: string }).human_check,
    core,
  );
  isDone = true;
  expect(JSON.parse(atob(solution))).toMatchObject({ number: 10_000 });
  expect(now).toBeGreaterThan(150);
  // Two slices in a row are possible when timers of others end between them.
  expect(turns.length).toBeGreaterThan(now / 30);
});
