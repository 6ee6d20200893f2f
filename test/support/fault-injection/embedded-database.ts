import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase } from '../../../src/database/database.js';
import { startEmbeddedPostgres } from '../../../src/embedded/embedded.js';
import { testSql } from '../sql.js';

/** The embedded database of an installation, which a test reads and kills. */
export interface EmbeddedDatabase {
  rows<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Ends the server and all its processes at once, as a power failure does. The programs that have joined it start it again. */
  kill(): void;
  close(): Promise<void>;
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Joins the embedded database on `dataDir`, as one more Postern would. */
export async function joinEmbeddedDatabase(dataDir: string): Promise<EmbeddedDatabase> {
  const server = await startEmbeddedPostgres({ dataDir, log: silent });
  const database = createDatabase({ target: server.address, size: 2, onConnectionError: () => undefined });
  return {
    rows: (text, values = []) => database.query(testSql(text, values)),
    kill: () => killServer(dataDir),
    async close() {
      await database.close();
      await server.stop();
    },
  };
}

/** The server first, so that it does not see its processes end and recovers without a new start. */
export function killServer(dataDir: string): void {
  const server = Number.parseInt(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  const processes = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number);
  for (const pid of [server, ...processes]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}
