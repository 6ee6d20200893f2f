import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';

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

/** In cores; infinite where there is none (cgroup v2, `cpu.max`). */
function cpuQuota(): number {
  try {
    const [, group = ''] = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? [];
    return quotaOf(readFileSync(`/sys/fs/cgroup${group}/cpu.max`, 'utf8'));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** @param text microseconds of CPU in a period, and that period: `200000 100000`, or `max 100000` */
export function quotaOf(text: string): number {
  const [, quota, period] = /^(\d+) (\d+)\s*$/.exec(text) ?? [];
  return quota === undefined ? Number.POSITIVE_INFINITY : Number(quota) / Number(period);
}
