import { expect, test } from 'vitest';
import { createPace } from '../../src/webhooks/schedule.js';

/** A pace whose clock stands still until `pass` moves it. */
function createTestPace() {
  let time = 1000;
  const pace = createPace(() => time);
  return {
    ...pace,
    fail: (count: number) => Array.from({ length: count }).forEach(() => void pace.record(false)),
    pass(milliseconds: number) {
      time += milliseconds;
    },
  };
}

test('an endpoint that fails 20 attempts in a row is tried at ten queues in a second', () => {
  const { fail, isFailing, step, waitMs, pass } = createTestPace();
  fail(19);
  expect([isFailing(), step(64), waitMs()]).toEqual([false, 64, 0]);
  fail(1);
  expect([isFailing(), waitMs(), step(64)]).toEqual([true, 1000, 10]);
  pass(400);
  expect(waitMs()).toBe(600);
  pass(600);
  expect([waitMs(), step(3)]).toEqual([0, 3]);
});

test('one success ends the failure', () => {
  const { fail, record, isFailing, step, waitMs } = createTestPace();
  fail(30);
  step(64);
  record(true);
  expect([isFailing(), waitMs(), step(64)]).toEqual([false, 0, 64]);
  fail(19);
  expect(isFailing()).toBe(false);
});
