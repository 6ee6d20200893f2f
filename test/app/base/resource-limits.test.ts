import { describe, expect, test } from 'vitest';
import { resourceLimits } from '../../../src/app/base/resource-limits.js';

/**
 * At most, with one worker more during a rolling restart: beside what is shared, in each one for the names of the
 * queue, one for signals, and one for each line of the queue; and the primary's two.
 */
function connectionsOf(workers: number, lines: number): number {
  const { connections, jobs } = resourceLimits(workers);
  return (workers + 1) * (connections + jobs + lines + 2) + 2;
}

/** SMS, mail and all other jobs; then the channels of push. */
const [lines, linesWithPush] = [3, 6];
const upTo = (most: number) => Array.from({ length: most - 1 }, (_, at) => at + 2);

describe('the resources of one worker', () => {
  test('are all resources when it is the only one', () => {
    expect(resourceLimits(1, 4, 2 ** 34)).toEqual({ connections: 20, jobs: 10, hashes: 4, waitingHashes: 128 });
  });

  test.each(upTo(6))('fit into the 100 default connections of PostgreSQL, with %i workers and no push', (workers) => {
    // Three are kept for superusers.
    expect(connectionsOf(workers, lines)).toBeLessThanOrEqual(97);
  });

  test.each(upTo(16))('fit into the 300 connections of the embedded server, with %i workers', (workers) => {
    // Each process holds one more there, and a command beside it needs three.
    expect(connectionsOf(workers, linesWithPush) + workers + 2 + 3).toBeLessThanOrEqual(300);
  });

  const gigabyte = 2 ** 30;

  test('use each core for one hash in total', () => {
    for (const [workers, cores] of [
      [2, 8],
      [4, 4],
      [8, 16],
    ] as const) {
      expect(resourceLimits(workers, cores, 16 * gigabyte).hashes * workers).toBe(cores);
    }
  });

  test('use a quarter of the memory for hashes, and allow at least one', () => {
    for (const [workers, gigabytes, hashes] of [
      [1, 0.1, 1],
      [1, 0.5, 3],
      [1, 1, 7],
      [4, 2, 3],
      [16, 1, 1],
      [1, 64, 8],
    ] as const) {
      expect(resourceLimits(workers, 64, gigabytes * gigabyte).hashes).toBe(hashes);
    }
  });
});
