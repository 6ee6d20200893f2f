import { describe, expect, it } from 'vitest';
import { createCircuit } from '../../../src/delivery/providers/circuit.js';

function circuitWithClock() {
  let time = 0;
  const circuit = createCircuit({ now: () => time, threshold: 3, firstPauseMs: 10, longestPauseMs: 35 });
  const fail = (times: number, retryAfterMs?: number) => {
    for (let count = 0; count < times; count += 1) circuit.fail(retryAfterMs);
  };
  const advanceClock = (milliseconds: number) => {
    time += milliseconds;
  };
  return { circuit, fail, advanceClock };
}

describe('a circuit', () => {
  it('opens after failures in a row, not after some that successes interrupt', () => {
    const { circuit, fail } = circuitWithClock();
    fail(2);
    circuit.succeed();
    fail(2);
    expect([circuit.admit(), circuit.isOpen()]).toEqual([true, false]);
    fail(1);
    expect([circuit.admit(), circuit.isOpen()]).toEqual([false, true]);
  });

  it('admits one trial after each pause, and a success closes it', () => {
    const { circuit, fail, advanceClock } = circuitWithClock();
    fail(3);
    advanceClock(10);
    expect([circuit.admit(), circuit.admit(), circuit.admit()]).toEqual([true, false, false]);
    circuit.succeed();
    expect([circuit.admit(), circuit.admit()]).toEqual([true, true]);
    fail(2);
    expect(circuit.isOpen()).toBe(false);
  });

  it('doubles its pause after each failed trial, up to the longest one', () => {
    const { circuit, fail, advanceClock } = circuitWithClock();
    fail(3);
    for (const pause of [10, 20, 35, 35]) {
      advanceClock(pause - 1);
      expect(circuit.admit()).toBe(false);
      advanceClock(1);
      expect(circuit.admit()).toBe(true);
      fail(1);
    }
  });

  it('opens at once when the provider names a time, which is limited', () => {
    const { circuit, fail, advanceClock } = circuitWithClock();
    fail(1, 20);
    advanceClock(19);
    expect(circuit.admit()).toBe(false);
    advanceClock(1);
    expect(circuit.admit()).toBe(true);
    fail(1, 1_000_000);
    advanceClock(35);
    expect(circuit.admit()).toBe(true);
  });

  it('keeps its pause when a message goes to the provider meanwhile', () => {
    const { circuit, fail, advanceClock } = circuitWithClock();
    fail(3);
    advanceClock(5);
    fail(4, 1000);
    advanceClock(5);
    expect(circuit.admit()).toBe(true);
  });
});
