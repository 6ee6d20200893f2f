import { expect, test } from 'vitest';
import type { Queryable } from '../../../src/database/database.js';
import { reachableByUser } from '../../../src/notifications/push/plan.js';

const handle = { query: async () => [] } as unknown as Queryable;

/** Milliseconds for this number of devices, which belong to as many users as given. The shortest of some runs. */
async function timeOf(devices: number, users: number): Promise<number> {
  const reachable = Array.from({ length: devices }, (_, at) => ({
    ...{ user_id: `user ${at % users}`, device_id: `device ${at}` },
    channel: 'web_push' as const,
  }));
  const options = { devices: { reachable: async () => reachable }, channels: ['web_push' as const] };
  const times: number[] = [];
  for (let run = 0; run < 5; run += 1) {
    const start = performance.now();
    await reachableByUser(handle, options as unknown as Parameters<typeof reachableByUser>[1], ['user 0']);
    times.push(performance.now() - start);
  }
  return Math.min(...times);
}

test('many devices of one user take no longer than as many devices of many users', async () => {
  expect((await timeOf(20_000, 1)) / (await timeOf(20_000, 20_000))).toBeLessThan(3);
});
