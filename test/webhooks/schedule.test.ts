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

test('after 20 failed attempts in a row, a sender takes only ten queues of the endpoint each second', () => {
  const { fail, isFailing, beginStep, waitMs, pass } = createTestPace();
  fail(19);
  expect(isFailing()).toBe(false);
  expect(beginStep(64)).toBe(64);
  expect(waitMs()).toBe(0);
  fail(1);
  expect(isFailing()).toBe(true);
  // A second after the start of the last step.
  expect(waitMs()).toBe(1000);
  expect(beginStep(64)).toBe(10);
  pass(400);
  expect(waitMs()).toBe(600);
  pass(600);
  expect(waitMs()).toBe(0);
  expect(beginStep(3)).toBe(3);
});

test('one success ends the failure', () => {
  const { fail, record, isFailing, beginStep, waitMs } = createTestPace();
  fail(30);
  beginStep(64);
  record(true);
  expect(isFailing()).toBe(false);
  expect(waitMs()).toBe(0);
  expect(beginStep(64)).toBe(64);
  fail(19);
  expect(isFailing()).toBe(false);
});
