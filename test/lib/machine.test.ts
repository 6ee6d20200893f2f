import { availableParallelism, totalmem } from 'node:os';
import { expect, test } from 'vitest';
import { availableCores, availableMemory, cpuQuota } from '../../src/lib/machine.js';

test.each([
  ['0::/\n', '/sys/fs/cgroup/cpu.max', '200000 100000\n', 2],
  ['0::/system.slice/postern.service\n', '/sys/fs/cgroup/system.slice/postern.service/cpu.max', '50000 100000', 0.5],
  ['12:cpu:/old\n0::/a\n', '/sys/fs/cgroup/a/cpu.max', '150000 100000\n', 1.5],
  ['0::/\n', '/sys/fs/cgroup/cpu.max', 'max 100000\n', Number.POSITIVE_INFINITY],
  ['0::/\n', '/elsewhere', '200000 100000\n', Number.POSITIVE_INFINITY],
])('a process in the groups %j, where %s is %j, has %d cores', (groups, path, text, cores) => {
  const files = new Map([
    ['/proc/self/cgroup', groups],
    [path, text],
  ]);
  const read = (name: string) => {
    const found = files.get(name);
    if (found === undefined) throw new Error(`ENOENT: ${name}`);
    return found;
  };
  expect(cpuQuota(read)).toBe(cores);
});

test('a quota gives whole cores, at least one, and not more than the machine has', () => {
  expect([0.5, 1, 1.9].map(availableCores)).toEqual([1, 1, 1]);
  expect(availableCores(availableParallelism() + 0.5)).toBe(availableParallelism());
  expect(availableCores(Number.POSITIVE_INFINITY)).toBe(availableParallelism());
  expect(availableCores()).toBeLessThanOrEqual(availableParallelism());
});

test('the available memory is more than 0 and at most that of the machine', () => {
  expect(availableMemory()).toBeGreaterThan(0);
  expect(availableMemory()).toBeLessThanOrEqual(totalmem());
});
