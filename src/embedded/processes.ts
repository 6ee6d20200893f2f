import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DataDirectory } from './data-directory.js';
import { codeOf } from './error.js';

/** A running process of the server of one data directory. */
interface ServerProcess {
  pid: number;
  /** An orphan is a child process whose postmaster has ended. While it runs, no other postmaster can start. */
  role: 'postmaster' | 'child' | 'orphan';
}

interface SystemProcess {
  uid: number;
  parent: number;
  command: string;
}

/** The processes of the system. `read` returns those whose command line contains a given text. */
interface ProcessTable {
  pids(): number[];
  read(pid: number): SystemProcess | undefined;
}

/**
 * Milliseconds. A lock file without a process id that is older than this was left by a crash. A newer one is still
 * being written.
 */
const emptyLockFileAgeMs = 2000;

/**
 * The processes of the server of `data`, without zombies. They have the cluster's name on their command lines. Two
 * other ways to find them do not work: the id in `postmaster.pid` may belong to a zombie or to another program, and in
 * a container root may not read `/proc/PID/cwd` of another account's process.
 *
 * @param among the ids of the processes to look at. Undefined: all
 */
export async function serverProcesses(data: DataDirectory, among?: readonly number[]): Promise<ServerProcess[]> {
  const table = existsSync('/proc/self/cmdline') ? procTable(data.clusterName) : await psTable(data.clusterName);
  const find = (pid: number) => {
    const process = table.read(pid);
    return process?.uid === data.uid ? process : undefined;
  };
  return (among ?? table.pids()).flatMap((pid): ServerProcess[] => {
    const process = find(pid);
    if (process === undefined) return [];
    if (find(process.parent) !== undefined) return [{ pid, role: 'child' }];
    // A child sets its title before it can be orphaned. The postmaster keeps the command line of its start.
    return [{ pid, role: process.command.startsWith('postgres: ') ? 'orphan' : 'postmaster' }];
  });
}

/** Reads each process on demand, so that a parent that started after the listing is found too. */
function procTable(text: string): ProcessTable {
  return {
    pids: () => readdirSync('/proc').map(Number).filter(Number.isInteger),
    read(pid) {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        if (!command.includes(text)) return undefined;
        // The name may contain spaces and parentheses. The parent is the second field after the last parenthesis.
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
        return { uid: statSync(`/proc/${pid}`).uid, parent, command };
      } catch {
        return undefined;
      }
    },
  };
}

async function psTable(text: string): Promise<ProcessTable> {
  const { stdout } = await promisify(execFile)('/bin/ps', ['-Aww', '-o', 'pid=,ppid=,uid=,args='], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const processes = new Map<number, SystemProcess>();
  for (const line of stdout.split('\n')) {
    const [, pid, parent, uid, command = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (command.includes(text)) processes.set(Number(pid), { uid: Number(uid), parent: Number(parent), command });
  }
  return { pids: () => [...processes.keys()], read: (pid) => processes.get(pid) };
}

/** Sends a signal to a process that may have ended already. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/**
 * Removes the processes and files of a dead server that would prevent the start of a new one.
 *
 * @returns whether a server can start now: no process of the old server is running
 */
export async function removeRemains(data: DataDirectory): Promise<boolean> {
  const processes = await serverProcesses(data);
  for (const { pid, role } of processes) {
    // Without its postmaster, a child process can only commit into the write-ahead log. Recovery reads this log, so
    // SIGKILL loses nothing.
    if (role === 'orphan') signalProcess(pid, 'SIGKILL');
  }
  if (processes.length > 0) return false;
  await removeStaleLockFiles(data);
  return true;
}

/**
 * Removes the lock files of a dead server of `data` whose process id belongs to a zombie or to another program: PostgreSQL
 * assumes then that the server runs. PostgreSQL removes other lock files itself, with fewer races.
 */
async function removeStaleLockFiles(data: DataDirectory): Promise<void> {
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    const path = join(data.ownPath, name);
    const pid = readLockFile(path);
    if (pid === undefined || (pid !== 0 && !isInUse(pid))) continue;
    const isAlive = (await serverProcesses(data, [pid])).length > 0;
    // Read it again, because another starter may have replaced it.
    if (!isAlive && readLockFile(path) === pid) rmSync(path, { force: true });
  }
}

/** The process id in a lock file (negative: of a single-user server); 0 if a crash left it empty; undefined if there is none, or it is being written. */
function readLockFile(path: string): number | undefined {
  try {
    const pid = Math.abs(Number.parseInt(readFileSync(path, 'utf8'), 10));
    if (!Number.isNaN(pid)) return pid;
    return Date.now() - statSync(path).mtimeMs > emptyLockFileAgeMs ? 0 : undefined;
  } catch {
    return undefined;
  }
}

function isInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
