// Measurements: alternating rounds, medians, and the CPU time of processes.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The result of one load. */
export function summarise(times, seconds) {
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return {
    count: times.length,
    rate: times.length / seconds,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    p999: at(0.999),
  };
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Runs the contenders in turns, so that other load of the machine affects all of them. The first round is a warm-up.
 * @param {readonly { name: string, run: (round: number) => Promise<{ count: number }>, pid?: number, dataDir?: string }[]} contenders
 *   pid: the process whose CPU time is counted;
 *   dataDir: the data directory of the PostgreSQL server whose CPU time is counted
 * @returns the medians of the rounds of each contender. For each round, the rate of the first contender is divided by the
 * rate of this one. `ratio` is the median of these quotients. `cpu` and `databaseCpu` are microseconds a request, `rss` is
 * in MB
 */
export async function takeTurns(contenders, rounds) {
  const results = contenders.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, { run, pid, dataDir }] of contenders.entries()) {
      const before = [processCpu(pid), postgresCpu(dataDir)];
      const result = await run(round);
      const cpu = (processCpu(pid) - before[0]) / result.count;
      const databaseCpu = (postgresCpu(dataDir) - before[1]) / result.count;
      if (round > 0) results[index].push({ ...result, cpu, databaseCpu, rss: residentMegabytes(pid) });
    }
  }
  return contenders.map(({ name, pid, dataDir }, index) => {
    const rows = results[index];
    const names = Object.keys(rows[0]);
    const medians = Object.fromEntries(names.map((key) => [key, median(rows.map((row) => row[key]))]));
    const ratio = median(rows.map(({ rate }, round) => results[0][round].rate / rate));
    return { name, pid, dataDir, ...medians, ratio };
  });
}

/** The CPU time that a process has used, in microseconds, rounded to 10 ms. NaN without a process or /proc. */
export function processCpu(pid) {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** The CPU time of a PostgreSQL server, in microseconds: of all its processes, also of those that have ended. */
export function postgresCpu(dataDir) {
  if (dataDir === undefined) return Number.NaN;
  const [postmaster] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'latin1').split('\n');
  const own = statOf(postmaster);
  const ended = (Number(own[13]) + Number(own[14])) * 10_000;
  const children = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && statOf(pid)[1] === postmaster);
  return children.reduce((sum, pid) => sum + (processCpu(pid) || 0), processCpu(postmaster) + ended);
}

/** The fields of /proc/PID/stat after the name. The first one is the state. */
function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1).split(' ');
  } catch {
    return [];
  }
}

export function residentMegabytes(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

/** A number for people: whole from 100 on, otherwise with one or two decimals. */
export function shown(value) {
  if (!Number.isFinite(value)) return '';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** A table in Markdown, with aligned columns for a terminal. @param {readonly (readonly string[])[]} rows */
export function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(3, ...rows.map((row) => row[column].length)));
  const isText = rows[0].map((_, column) => rows.slice(1).some((row) => /^[^\d-]/.test(row[column])));
  const line = (cells) =>
    `| ${cells.map((cell, i) => (isText[i] ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`;
  const rule = widths.map((width, i) => (isText[i] ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(rows[0]), line(rule), ...rows.slice(1).map(line)].join('\n');
}
