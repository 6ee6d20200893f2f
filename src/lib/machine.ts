import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';

/**
 * The number of cores that this process may use. The CPU quota of its control group, which containers have, may lower
 * it. Node.js 20 ignores that quota, and Node.js 24 does not.
 */
export function availableCores(quota = cpuQuota()): number {
  return Math.max(1, Math.floor(Math.min(availableParallelism(), quota)));
}

/** Memory of this machine or container, in bytes. */
export function availableMemory(): number {
  // If the value is 0 or more than the memory, there is no limit.
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/**
 * The CPU quota of this process's control group in cores (cgroup v2, `cpu.max`). Infinite if there is none.
 * @param read reads a file as text
 */
export function cpuQuota(read = (path: string) => readFileSync(path, 'utf8')): number {
  try {
    const [, group = ''] = /^0::(.*)$/m.exec(read('/proc/self/cgroup')) ?? [];
    return quotaOf(read(join('/sys/fs/cgroup', group, 'cpu.max')));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** @param text microseconds of CPU time in a period, and the period: `200000 100000`, or `max 100000` */
function quotaOf(text: string): number {
  const [, quota, period] = /^(\d+) (\d+)\s*$/.exec(text) ?? [];
  return quota === undefined ? Number.POSITIVE_INFINITY : Number(quota) / Number(period);
}
