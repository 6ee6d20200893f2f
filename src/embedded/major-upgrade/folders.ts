import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFolder, replacementOf } from '../data-directory.js';
import { EmbeddedPostgresError } from '../error.js';
import { serverProcesses, signalProcess } from '../processes.js';
import { formerBinariesFolder } from './former-binaries.js';

/** The name of a new data directory before it is complete, followed by random characters. */
export const stagingPrefix = 'postgres.upgrading-';

/** The name of the former data directory: its major version, and when it was replaced, in UTC. */
const keptName = /^postgres-(\d+)\.kept-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2})$/;

/** Former data is kept for this long. */
const keptForMs = 7 * 24 * 3_600_000;

/** Milliseconds. When a server gets the signal to stop, it first writes all data to disk. */
const stopTimeoutMs = 60_000;

/** The path of the former data directory after the move. */
export function keptPath(dataDir: string, major: number, now: Date): string {
  return join(dataDir, `postgres-${major}.kept-${now.toISOString().slice(0, 19).replaceAll(':', '-')}`);
}

/** Ends all servers of a data directory, and waits until they have ended. @throws EmbeddedPostgresError `start_failed` */
export async function stopServers(path: string, signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
  const data = openFolder(path, statSync(path).uid);
  try {
    const deadline = performance.now() + stopTimeoutMs;
    for (let isTold = false; performance.now() < deadline; await sleep(20)) {
      const processes = await serverProcesses(data);
      if (processes.length === 0) return;
      // A second SIGINT would not help, and children follow their postmaster.
      const told = signal === 'SIGKILL' ? processes : processes.filter(({ role }) => role === 'postmaster' && !isTold);
      for (const { pid } of told) signalProcess(pid, signal);
      isTold = true;
    }
    throw new EmbeddedPostgresError(
      'start_failed',
      `The PostgreSQL on ${path} does not stop: end it, then start again.`,
    );
  } finally {
    data.close();
  }
}

/** The folders that an interrupted move has left. */
export function listAttempts(dataDir: string): string[] {
  const next = basename(replacementOf(join(dataDir, 'postgres')));
  const names = readdirSync(dataDir).filter((entry) => entry.startsWith(stagingPrefix) || entry === next);
  return names.map((name) => join(dataDir, name));
}

/** Removes what an interrupted move has left. Only one process may do so at a time. */
export async function removeAttempts(dataDir: string): Promise<void> {
  for (const path of listAttempts(dataDir)) {
    await stopServers(path, 'SIGKILL');
    rmSync(path, { recursive: true });
  }
}

/** The major version of former data and when it was replaced. @returns undefined for another folder */
function parseKept(name: string): { readonly major: number; readonly replacedAt: number } | undefined {
  const [, major, time = ''] = keptName.exec(name) ?? [];
  if (major === undefined) return undefined;
  return { major: Number(major), replacedAt: Date.parse(`${time.replace(/-(\d\d)-(\d\d)$/, ':$1:$2')}Z`) };
}

/**
 * Whether the former data was taken away, and the new data directory could not take its place: between the two renames, an older
 * release has created an empty data directory.
 */
export function isReplacementBlocked(dataDir: string): boolean {
  const path = join(dataDir, 'postgres');
  const next = statSync(replacementOf(path), { throwIfNoEntry: false });
  if (next === undefined || !existsSync(path)) return false;
  // The former data was taken away after the replacement was complete. The times in the names are rounded down to seconds.
  return readdirSync(dataDir).some((name) => (parseKept(name)?.replacedAt ?? 0) + 1000 > next.mtimeMs);
}

/**
 * Removes former data and the programs of its version, seven days after a move replaced it. Stops a server that a
 * killed process has left on former data.
 * @param now the current time, which tests set
 */
export async function tidyKept(dataDir: string, now: Date = new Date()): Promise<void> {
  for (const name of readdirSync(dataDir)) {
    const kept = parseKept(name);
    if (kept === undefined) continue;
    const path = join(dataDir, name);
    await stopServers(path, 'SIGINT');
    if (now.getTime() - kept.replacedAt < keptForMs) continue;
    // Removes the programs before the data. If the process ends between the two, the next start still finds the data
    // folder and removes both.
    await rm(formerBinariesFolder(dirname(path), kept.major), { recursive: true, force: true });
    await rm(path, { recursive: true, force: true });
  }
}
