import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProgram } from '../../../src/backups/dumps/programs.js';
import { temporaryFolder } from '../../cli/command.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

/** A folder with a program that only says its version. */
async function withVersion(version: string): Promise<string> {
  const path = join(folder.path, version);
  await mkdir(path);
  await writeFile(join(path, 'pg_dump'), `#!/bin/sh\necho "pg_dump (PostgreSQL) ${version} (Debian ${version}-1)"\n`);
  await chmod(join(path, 'pg_dump'), 0o755);
  return path;
}

describe('a program of PostgreSQL', () => {
  it('may be as new as the server or newer', async () => {
    const path = await withVersion('16.4');
    for (const major of [15, 16]) {
      expect(await findProgram('pg_dump', major, path)).toEqual({
        ...{ command: join(path, 'pg_dump'), version: '16.4', major: 16 },
      });
    }
  });

  it('that is older than the server is refused, with what to install', async () => {
    const path = await withVersion('15.9');
    await expect(findProgram('pg_dump', 17, path)).rejects.toThrow(
      "pg_dump has version 15, which is too old for PostgreSQL 17: install PostgreSQL's client programs of version 17 (Debian: postgresql-client-17), or set BACKUP_PROGRAMS to their folder.",
    );
  });

  it('that is missing is named, with where Postern has looked', async () => {
    await expect(findProgram('pg_restore', 17, await withVersion('17.1'))).rejects.toThrow(
      /need pg_restore, and it is not in .+17\.1: install PostgreSQL's client programs of version 17/,
    );
  });
});
