import { execFile } from 'node:child_process';
import { access, chmod, constants, mkdir, mkdtemp, readdir, readFile, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const prefix = 'postern-test-';

/** The folders of one run of the tests. */
export interface RunFolder {
  readonly path: string;
  /** The data of the server that all files share. */
  readonly data: string;
  /** The data of a stopped server with a migrated database, which files copy. */
  readonly cluster: string;
  /** The temporary folder of all files. */
  readonly temporary: string;
}

/**
 * Makes the folder of a run: in memory if there is room. A test database is created and dropped for every file, and many
 * files write whole database clusters. On a disk, this takes twice the time. TMPDIR chooses another place.
 */
export async function createRunFolder(): Promise<RunFolder> {
  const place = await chosenPlace();
  await removeAbandoned(place);
  const path = await mkdtemp(join(place, `${prefix}${process.pid}-`));
  // As root, an embedded PostgreSQL runs as another account, which must reach its files.
  await chmod(path, 0o711);
  const folder = { path, data: join(path, 'data'), cluster: join(path, 'cluster'), temporary: join(path, 'tmp') };
  await mkdir(folder.temporary);
  await chmod(folder.temporary, 0o1777);
  return folder;
}

async function chosenPlace(): Promise<string> {
  const memory = '/dev/shm';
  if (process.env.TMPDIR !== undefined) return tmpdir();
  try {
    await access(memory, constants.W_OK);
    const { bavail, bsize } = await statfs(memory);
    // A container may have less memory than its /dev/shm.
    return Math.min(bavail * bsize, process.availableMemory()) >= 4 * 1024 ** 3 ? memory : tmpdir();
  } catch {
    // Not Linux, or a container without this folder.
    return tmpdir();
  }
}

/** Removes the folders of runs of this user that were killed. In memory they would take room until the machine starts again. */
export async function removeAbandoned(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    const run = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (run === undefined || isRunning(Number(run))) continue;
    const path = join(place, name);
    // Another run may remove it at the same time.
    const owner = await stat(path).then(
      ({ uid }) => uid,
      () => undefined,
    );
    if (owner === process.getuid?.()) await removeRunFolder(path);
  }
}

/**
 * Removes the folder of a run. Tests that were killed have left their file systems in it. If it cannot be removed, prints why, and leaves
 * it to the next run. Does not use `maxRetries` of `rm`: Node.js would repeat each folder on the way to a file system, each time with
 * all repetitions of the folders in it, and would not end for days.
 */
export async function removeRunFolder(path: string): Promise<void> {
  for (const mount of await mountsIn(path)) {
    // A lazy unmount also succeeds while a process uses the file system.
    await promisify(execFile)('umount', ['--lazy', mount]).catch(() => undefined);
  }
  await rm(path, { recursive: true, force: true }).catch((error) => console.warn(`Could not remove ${path}: ${error}`));
}

/** The file systems that are mounted in a folder, the innermost first. */
async function mountsIn(path: string): Promise<readonly string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const points = table.split('\n').map((line) => line.split(' ')[4] ?? '');
  return points.filter((point) => point.startsWith(`${path}/`)).reverse();
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It runs, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
