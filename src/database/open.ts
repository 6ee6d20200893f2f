import type { DatabaseTarget } from './database.js';
import type { Log } from './embedded/membership.js';
import { startEmbeddedPostgres } from './embedded.js';

/** The part of the configuration that says which database to use. */
export interface TargetSource {
  readonly DATABASE_URL?: string | undefined;
  readonly DATA_DIR: string;
}

/** A database that can be connected to until it is closed. */
export interface OpenTarget {
  readonly target: DatabaseTarget;
  /** Leaves an embedded server, which stops when nobody else uses it. Close what is connected before. */
  close(): Promise<void>;
}

/**
 * Finds the database of the configuration; without DATABASE_URL, joins or starts the embedded server of DATA_DIR.
 * @throws EmbeddedPostgresError
 */
export async function openTarget({ DATABASE_URL, DATA_DIR }: TargetSource, log: Log): Promise<OpenTarget> {
  if (DATABASE_URL !== undefined) return { target: DATABASE_URL, close: async () => undefined };
  const embedded = await startEmbeddedPostgres({ dataDir: DATA_DIR, log });
  return { target: embedded.address, close: () => embedded.stop() };
}
