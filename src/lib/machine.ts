import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';

/**
 * Cores that this process may keep busy: those it may run on, or fewer where its control group has a quota of CPU time, as
 * a container has. Node.js 20 does not look at that quota, 24 does.
 */
export function availableCores(quota = cpuQuota()): number {
  return Math.max(1, Math.floor(Math.min(availableParallelism(), quota)));
}

/** Bytes of memory of this machine, or of its container. */
export function availableMemory(): number {
  // 0 or more than there is: no limit.
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/**
 * Of the process's own control group, in cores; infinite where there is none (cgroup v2, `cpu.max`).
 * @param read the text of a file
 */
export function cpuQuota(read = (path: string) => readFileSync(path, 'utf8')): number {
  try {
    const [, group = ''] = /^0::(.*)$/m.exec(read('/proc/self/cgroup')) ?? [];
    return quotaOf(read(join('/sys/fs/cgroup', group, 'cpu.max')));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** @param text microseconds of CPU in a period, and that period: `200000 100000`, or `max 100000` */
function quotaOf(text: string): number {
  const [, quota, period] = /^(\d+) (\d+)\s*$/.exec(text) ?? [];
  return quota === undefined ? Number.POSITIVE_INFINITY : Number(quota) / Number(period);
}
