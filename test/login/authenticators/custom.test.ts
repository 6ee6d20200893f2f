import { expect, test } from 'vitest';
import { customAuthenticator } from '../../../src/login/authenticators/custom.js';

/** A clock that only moves when something waits or works. */
function createClock() {
  let now = 1234.5;
  return {
    now: () => now,
    work(milliseconds: number) {
      now += milliseconds;
    },
    async wait(milliseconds: number) {
      now += milliseconds;
    },
  };
}

/** An authenticator whose service works for a time and then fails. */
function createFailing(milliseconds: number) {
  const clock = createClock();
  const fail = async () => {
    clock.work(milliseconds);
    throw new Error('the service failed');
  };
  const endpoint = { begin: fail, verify: fail };
  return { clock, authenticator: customAuthenticator({ name: 'custom:call', steps: 2, endpoint, clock }) };
}
const candidate = undefined;

test.each([
  [0, 500],
  [250, 500],
  [499, 500],
  [501, 1000],
  [1400, 1500],
])('a service that works for %d ms is waited for until %d ms', async (work, total) => {
  const { clock, authenticator } = createFailing(work);
  if (authenticator.steps !== 2 || 'namesUser' in authenticator) throw new Error('another kind');
  const since = clock.now();
  await expect(authenticator.begin(candidate, 'id')).rejects.toThrow('the service failed');
  expect(clock.now() - since).toBeCloseTo(total);
  const given = { secret: 'wrong', origin: { actor: 'system' } };
  const answer = { ...given, state: {}, authenticationId: 'id' };
  const next = clock.now();
  await expect(authenticator.verify(answer, candidate)).rejects.toThrow('the service failed');
  expect(clock.now() - next).toBeCloseTo(total);
  // A wrong secret: the login says when its evaluation began.
  const begun = clock.now();
  clock.work(work);
  await authenticator.afterFailure?.(candidate, { ...given, since: begun });
  expect(clock.now() - begun).toBeCloseTo(total);
});
