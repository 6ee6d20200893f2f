import { describe, expect, test } from 'vitest';
import {
  type CallLimits,
  createCallLimits,
  type HostCall,
  maxCalls,
} from '../../../src/notifications/push/call-limits.js';

/** Limits with a clock that only the test moves. */
function limitsWithClock() {
  let time = 0;
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  return { limits: createCallLimits(() => time), pass };
}

function begin(limits: CallLimits, user: string, host: string): HostCall {
  const call = limits.beginHost(user, host);
  if ('waitMs' in call) throw new Error(`the call waits ${call.waitMs} ms`);
  return call;
}
/** Makes calls that get no answer. */
function unanswered(limits: CallLimits, count: number, user: string, host: string): void {
  for (let at = 0; at < count; at += 1) begin(limits, user, host).end(false);
}
const isSilent = (limits: CallLimits, user: string, host: string) => {
  const call = limits.beginHost(user, host);
  if ('waitMs' in call) return call.isSilent;
  call.end(true);
  return false;
};

describe('the calls of a user', () => {
  test('are limited, and do not limit those of another user', () => {
    const { limits } = limitsWithClock();
    for (let at = 0; at < maxCalls.user; at += 1) expect(limits.beginUser('one')).not.toHaveProperty('waitMs');
    expect(limits.beginUser('one')).toHaveProperty('waitMs');
    expect(limits.beginUser('other')).not.toHaveProperty('waitMs');
  });

  test('wait one after the other, as long as the calls take', () => {
    const { limits, pass } = limitsWithClock();
    const waits = () => {
      const userCall = limits.beginUser('one');
      return 'waitMs' in userCall ? userCall.waitMs : 0;
    };
    for (let round = 0; round < 40; round += 1) {
      const userCall = limits.beginUser('one');
      pass(8000);
      if ('end' in userCall) userCall.end();
    }
    for (let at = 0; at < maxCalls.user; at += 1) limits.beginUser('one');
    const [first, second, third] = [waits(), waits(), waits()];
    expect(second - first).toBeGreaterThan(1500);
    expect(third - second).toBeCloseTo(second - first);
  });

  test('begin again when one has ended', () => {
    const { limits } = limitsWithClock();
    const userCalls = Array.from({ length: maxCalls.user }, () => limits.beginUser('one'));
    const [first] = userCalls;
    if (first !== undefined && 'end' in first) first.end();
    expect(limits.beginUser('one')).not.toHaveProperty('waitMs');
  });
});

describe('a host that does not answer', () => {
  test('gets one call in each pause of one user, and the calls of others', () => {
    const { limits, pass } = limitsWithClock();
    unanswered(limits, 3, 'one', 'host');
    expect(isSilent(limits, 'one', 'host')).toBe(true);
    expect(isSilent(limits, 'other', 'host')).toBe(false);
    expect(isSilent(limits, 'one', 'another host')).toBe(false);
    pass(30_001);
    const probe = begin(limits, 'one', 'host');
    expect(isSilent(limits, 'one', 'host')).toBe(true);
    probe.end(false);
    pass(30_001);
    expect(isSilent(limits, 'one', 'host')).toBe(true);
    pass(30_001);
    begin(limits, 'one', 'host').end(true);
    expect(isSilent(limits, 'one', 'host')).toBe(false);
  });

  test('is no host that answers from time to time', () => {
    const { limits } = limitsWithClock();
    for (let round = 0; round < 10; round += 1) {
      unanswered(limits, 2, 'one', 'host');
      begin(limits, 'one', 'host').end(true);
    }
    expect(isSilent(limits, 'one', 'host')).toBe(false);
  });

  test('for three users gets no calls of anybody', () => {
    const { limits } = limitsWithClock();
    for (const user of ['a', 'b', 'c']) unanswered(limits, 1, user, 'host');
    expect(isSilent(limits, 'other', 'host')).toBe(true);
  });

  test('has a limit of calls at a time', () => {
    const { limits } = limitsWithClock();
    for (let at = 0; at < maxCalls.host; at += 1) begin(limits, `user ${at}`, 'host');
    expect(limits.beginHost('other', 'host')).toMatchObject({ isSilent: false });
    expect(limits.beginHost('other', 'another host')).not.toHaveProperty('waitMs');
  });
});

test('the memory of hosts and users is bounded: the oldest are forgotten', () => {
  const { limits } = limitsWithClock();
  unanswered(limits, 3, 'first', 'host');
  for (let at = 0; at < 10_000; at += 1) unanswered(limits, 1, 'user', `host ${at}`);
  expect(isSilent(limits, 'first', 'host')).toBe(false);
});
