import type pg from 'pg';
import type { DatabaseTarget } from '../../database/connections/target.js';
import { countRowsIn, type RowCounts } from '../base/contents.js';
import type { ArchiveEntry } from '../container/archive.js';
import { openProgramConnection } from './connection.js';
import { outputOf } from './process.js';
import type { Program } from './programs.js';

/** The folder of the dump in a backup. Its files, joined in the order of their names, are one dump in the custom format. */
export const dumpFolder = 'dump';

/** Bytes of each file of the dump. A tar archive must know the size of a file before its first byte. */
const partBytes = 16 * 1024 * 1024;

/**
 * Dumps the database with pg_dump. The program and the counts use one snapshot, so the counts are exact.
 * @returns the number of rows of each table
 */
export async function* dumpDatabase(
  client: pg.Client,
  { target, program }: { readonly target: DatabaseTarget; readonly program: Program },
): AsyncGenerator<ArchiveEntry, RowCounts> {
  await client.query('begin isolation level repeatable read read only');
  try {
    const { rows } = await client.query<{ id: string }>('select pg_export_snapshot() as id');
    yield { path: dumpFolder, type: 'folder', size: 0, mode: 0o700, modifiedAt: 0 };
    let number = 0;
    for await (const content of inParts(runDump(target, program, rows[0]?.id ?? ''))) {
      number += 1;
      const path = `${dumpFolder}/${`${number}`.padStart(6, '0')}`;
      const size = content.reduce((sum, { length }) => sum + length, 0);
      yield { path, type: 'file', size, mode: 0o600, modifiedAt: 0, content };
    }
    return await countRowsIn(client);
  } finally {
    await client.query('rollback').catch(() => undefined);
  }
}

async function* runDump(target: DatabaseTarget, program: Program, snapshot: string): AsyncGenerator<Buffer> {
  const connection = await openProgramConnection(target);
  try {
    // The role for running sees all rows of the queue through a policy, which pg_dump must be told to use.
    const rowSecurity = '--enable-row-security';
    const args = [
      rowSecurity,
      '--format=custom',
      '--compress=1',
      '--no-unlogged-table-data',
      '--lock-wait-timeout=60000',
    ];
    yield* outputOf({ program, connection, args: [...args, `--snapshot=${snapshot}`] });
  } finally {
    await connection.close();
  }
}

/** Collects a stream into parts. The last one is shorter. */
async function* inParts(source: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let part: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    part.push(chunk);
    length += chunk.length;
    if (length < partBytes) continue;
    yield part;
    [part, length] = [[], 0];
  }
  if (length > 0) yield part;
}
