import { describe, expect, test } from 'vitest';
import { resourceLimits } from '../../../src/app/base/resource-limits.js';

/**
 * The maximum number of connections, with one more worker during a rolling restart. Each worker has its share, one
 * connection for each runner of the queue, one for the names of the runners, and one for signals. The primary process
 * has two.
 */
function connectionsOf(workers: number, runners: number): number {
  const { connections, jobs } = resourceLimits(workers);
  return (workers + 1) * (connections + jobs + runners + 2) + 2;
}

/** The runners of the queue: for SMS, mail, the steps of notifications and all other jobs, and one more for each channel of push. */
const [runners, runnersWithPush] = [4, 7];
const upTo = (most: number) => Array.from({ length: most - 1 }, (_, at) => at + 2);

describe('the resources of one worker', () => {
  test('are all resources when it is the only one', () => {
    expect(resourceLimits(1, 4, 2 ** 34)).toEqual({ connections: 20, jobs: 10, hashes: 4, waitingHashes: 128 });
  });

  test.each(upTo(6))('fit into the 100 default connections of PostgreSQL, with %i workers and no push', (workers) => {
    // PostgreSQL keeps three of its 100 connections for superusers.
    expect(connectionsOf(workers, runners)).toBeLessThanOrEqual(97);
  });

  test.each(upTo(16))('fit into the 300 connections of the embedded server, with %i workers', (workers) => {
    // With the embedded server, each process holds one more connection, and a command that runs at the same time needs
    // three.
    expect(connectionsOf(workers, runnersWithPush) + workers + 2 + 3).toBeLessThanOrEqual(300);
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
