import { describe, expect, test } from 'vitest';
import { shareOf } from '../src/share.js';

/** At most, with one worker more during a rolling restart, the queue's own three, one for signals, and the primary's two. */
function connectionsOf(workers: number): number {
  const { connections, jobs } = shareOf(workers);
  return (workers + 1) * (connections + jobs + 3 + 1) + 2;
}

const upTo = (most: number) => Array.from({ length: most - 1 }, (_, at) => at + 2);

describe('what one worker takes', () => {
  test('is everything where it is alone', () => {
    expect(shareOf(1, 4)).toEqual({ connections: 20, jobs: 10, hashes: 4, waitingHashes: 128 });
  });

  test.each(upTo(6))('leaves room in the 100 connections of an untouched PostgreSQL, of %i', (workers) => {
    // Three are kept for superusers.
    expect(connectionsOf(workers)).toBeLessThanOrEqual(97);
  });

  test.each(upTo(16))('leaves room in the 200 connections of the embedded server, of %i', (workers) => {
    // Each process holds one more there, and a command beside it needs three.
    expect(connectionsOf(workers) + workers + 2 + 3).toBeLessThanOrEqual(200);
  });

  test('hashes on every core once, in all', () => {
    for (const [workers, cores] of [
      [2, 8],
      [4, 4],
      [8, 16],
    ] as const) {
      expect(shareOf(workers, cores).hashes * workers).toBe(cores);
    }
  });
});
