import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DataDirectory } from './data-directory.js';
import { codeOf } from './error.js';

/** A living process of the server of one data directory. */
interface ServerProcess {
  pid: number;
  /** An orphan is a child that outlived its postmaster: while it lives, no other postmaster can start. */
  role: 'postmaster' | 'child' | 'orphan';
}

interface SystemProcess {
  uid: number;
  parent: number;
  command: string;
}

/** One look at the processes of the system whose command line has a given text in it. */
interface ProcessTable {
  pids: number[];
  read(pid: number): SystemProcess | undefined;
}

/** How old a lock file without a process id must be to be a crash's remnant rather than about to be written. */
const EMPTY_LOCK_FILE_AGE_MS = 2000;

/**
 * The processes of the server of `data`, none of them a zombie.
 *
 * They are known by the cluster's name on their command lines. Not by the ids in `postmaster.pid`: a dead server's id
 * may be a zombie's or have gone to another program. Nor by `/proc/PID/cwd`: in a container root may not read that of
 * another account's process.
 */
export async function serverProcesses(data: DataDirectory): Promise<ServerProcess[]> {
  const table = existsSync('/proc/self/cmdline') ? procTable(data.clusterName) : await psTable(data.clusterName);
  const find = (pid: number) => {
    const process = table.read(pid);
    return process?.uid === data.uid ? process : undefined;
  };
  return table.pids.flatMap((pid): ServerProcess[] => {
    const process = find(pid);
    if (process === undefined) return [];
    if (find(process.parent) !== undefined) return [{ pid, role: 'child' }];
    // A child has set its title by the time it can be orphaned; the postmaster keeps the command line of its start.
    return [{ pid, role: process.command.startsWith('postgres: ') ? 'orphan' : 'postmaster' }];
  });
}

/** Reads each process at the moment it is asked for: a parent that started after the list was made is found too. */
function procTable(text: string): ProcessTable {
  return {
    pids: readdirSync('/proc').map(Number).filter(Number.isInteger),
    read(pid) {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        if (!command.includes(text)) return undefined;
        // A program's name may hold blanks and parentheses; the parent is the second field behind the last one.
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
  return { pids: [...processes.keys()], read: (pid) => processes.get(pid) };
}

/** Sends a signal to a process that may have ended meanwhile. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/**
 * Clears away what a dead server left that would keep a new one from starting.
 *
 * @returns whether one can be started now; not as long as any process of a server still lives
 */
export async function clearRemains(data: DataDirectory): Promise<boolean> {
  const processes = await serverProcesses(data);
  for (const { pid, role } of processes) {
    // Without its postmaster it can do no more than commit into a log that recovery reads: SIGKILL loses nothing.
    if (role === 'orphan') signalProcess(pid, 'SIGKILL');
  }
  if (processes.length > 0) return false;
  await removeStaleLockFiles(data);
  return true;
}

/**
 * Removes the lock files of a dead server of `data` whose process id is in use by a zombie or by another program:
 * PostgreSQL takes the server for alive then. The others it removes itself, with fewer races than this could.
 */
async function removeStaleLockFiles(data: DataDirectory): Promise<void> {
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    const path = join(data.name, name);
    const pid = readLockFile(path);
    if (pid === undefined || (pid !== 0 && !isInUse(pid))) continue;
    const isAlive = (await serverProcesses(data)).some((process) => process.pid === pid);
    // Read again, because another starter may have replaced it meanwhile.
    if (!isAlive && readLockFile(path) === pid) rmSync(path, { force: true });
  }
}

/** The process id in a lock file, 0 if a crash left it empty, or undefined if there is nothing to judge. */
function readLockFile(path: string): number | undefined {
  try {
    const pid = Math.abs(Number.parseInt(readFileSync(path, 'utf8'), 10));
    if (!Number.isNaN(pid)) return pid;
    return Date.now() - statSync(path).mtimeMs > EMPTY_LOCK_FILE_AGE_MS ? 0 : undefined;
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
