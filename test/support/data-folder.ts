import { access, constants, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'postern-test-';

/**
 * A new folder for the data of a run's server: in memory if there is room, because a test database is created and dropped for
 * every test file. On a disk, this takes up to seconds. TMPDIR chooses another place.
 */
export async function createDataFolder(): Promise<string> {
  const place = await chosenPlace();
  await removeAbandoned(place);
  return mkdtemp(join(place, `${prefix}${process.pid}-`));
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
    if (owner === process.getuid?.()) await rm(path, { recursive: true, force: true, maxRetries: 10 });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It runs, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
