import { expect, test } from 'vitest';
import { createPace, outcomeOf } from '../../src/webhooks/schedule.js';

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

test.each([
  [0, 100_000, 86_400],
  [5, 86_400, 86_395],
  [5, 3600, 3600],
  [80_000, 10_000, 6400],
])(
  'an event that failed %d s after its first attempt waits for Retry-After, but at most until its last attempt',
  (age, retryAfter, delay) => {
    const result = { ok: false, status: 503, answer: '', error: 'busy', retryAfter, durationMs: 1 };
    const outcome = outcomeOf({ attempts: age > 5 ? 20 : 1, isLate: false, age }, result, 0, false);
    expect(outcome).toMatchObject({ state: 'pending', delay });
  },
);

test('an event whose next planned attempt is later than 24 hours is given up', () => {
  const result = { ok: false, status: 503, answer: '', error: 'busy', retryAfter: undefined, durationMs: 1 };
  expect(outcomeOf({ attempts: 25, isLate: true, age: 83_000 }, result, 0, false)).toMatchObject({
    state: 'failed',
  });
});

test('an event that holds later ones is retried within a minute while the endpoint accepts others', () => {
  const result = { ok: false, status: 500, answer: '', error: 'broken', retryAfter: undefined, durationMs: 1 };
  const delayOf = (attempts: number, more: { isLate?: boolean; isAccepting?: boolean; retryAfter?: number } = {}) => {
    const { isLate = false, isAccepting = true, retryAfter } = more;
    return outcomeOf({ attempts, isLate, age: 10 }, { ...result, retryAfter }, 1, isAccepting).delay;
  };
  expect(delayOf(0)).toBeCloseTo(5.5);
  for (let attempts = 1; attempts < 10; attempts += 1) expect(delayOf(attempts)).toBeLessThanOrEqual(60);
  expect(delayOf(4, { isAccepting: false })).toBeCloseTo(1980);
  // It holds no other event.
  expect(delayOf(4, { isLate: true })).toBeCloseTo(1980);
  expect(delayOf(4, { retryAfter: 300 })).toBe(300);
});

test('an endpoint accepts events for a minute after each success', () => {
  const { record, fail, isAccepting, pass } = createTestPace();
  expect(isAccepting()).toBe(false);
  record(true);
  fail(5);
  pass(60_000);
  expect(isAccepting()).toBe(true);
  pass(1);
  expect(isAccepting()).toBe(false);
});
