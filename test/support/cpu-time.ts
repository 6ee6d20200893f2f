/**
 * The CPU time of some work, in microseconds: the least of five runs, because other threads and processes share the machine. Of user
 * and system time the sum is exact, but the parts are a guess of the operating system.
 */
export function leastCpuTime(work: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    return user + system;
  });
  return Math.min(...times);
}
