import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BackupError } from '../container/error.js';

/** A program of PostgreSQL's client. */
export interface Program {
  /** Its path, or its name if it is in PATH. */
  readonly command: string;
  /** The whole version, such as `17.6`. */
  readonly version: string;
  readonly major: number;
}

export type ProgramName = 'pg_dump' | 'pg_restore';

/**
 * The folders in which packages of distributions install the programs of each major version. Postern also looks in
 * PATH.
 */
const packageFolders = [
  { parent: '/usr/lib/postgresql', name: /^\d+$/ },
  { parent: '/usr', name: /^pgsql-\d+$/ },
];

/**
 * Finds a program that is not older than `major`. If there are several, it takes the oldest one, because a dump of a
 * newer program may need a newer server.
 * @param folder the only folder to look in; undefined: PATH and the folders of packages
 * @throws BackupError
 */
export async function findProgram(name: ProgramName, major: number, folder: string | undefined): Promise<Program> {
  const commands = folder === undefined ? [name, ...(await packagedCommands(name))] : [join(folder, name)];
  const found = (await Promise.all(commands.map(versionOf))).flatMap((program) => program ?? []);
  const [fit] = found.filter((program) => program.major >= major).sort((one, other) => one.major - other.major);
  if (fit !== undefined) return fit;
  const cure = `install PostgreSQL's client programs of version ${major} (Debian: postgresql-client-${major}), or set BACKUP_PROGRAMS to their folder`;
  const newest = Math.max(...found.map((program) => program.major));
  throw new BackupError(
    found.length === 0
      ? `Backups of DATABASE_URL need ${name}, and it is not ${folder === undefined ? 'installed' : `in ${folder}`}: ${cure}.`
      : `${name} has version ${newest}, which is too old for PostgreSQL ${major}: ${cure}.`,
  );
}

async function packagedCommands(name: ProgramName): Promise<string[]> {
  const folders = packageFolders.map(async ({ parent, name: pattern }) => {
    const names = await readdir(parent).catch(() => []);
    return names.filter((entry) => pattern.test(entry)).map((entry) => join(parent, entry, 'bin', name));
  });
  return (await Promise.all(folders)).flat();
}

async function versionOf(command: string): Promise<Program | undefined> {
  const { stdout } = await promisify(execFile)(command, ['--version'], { timeout: 10_000 }).catch(() => ({
    stdout: '',
  }));
  const [, version = '', major] = /\(PostgreSQL\) ((\d+)\S*)/.exec(stdout) ?? [];
  return major === undefined ? undefined : { command, version, major: Number(major) };
}
