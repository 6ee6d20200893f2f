import type { Command } from 'commander';
import { openExistingTarget } from '../../app/base/database-target.js';
import { readConfig } from '../../config/config.js';
import { buildIndexes } from '../../schema/late-indexes.js';
import { migrate } from '../../schema/migrate.js';
import { quietLog } from '../support/dependencies.js';
import { type Io, printLine } from '../support/io.js';

/** Registers `postern migrate`. */
export function migrateCommand(program: Command, io: Io): void {
  program
    .command('migrate')
    .description("migrate the database's schema (a start of the service does this too)")
    .action(async () => {
      const log = quietLog(io);
      const opened = await openExistingTarget(readConfig(io.env), log);
      try {
        const applied = await migrate(opened.target, log);
        for (const name of applied) printLine(io.stdout, `applied ${name}`);
        // A service whose role may not change the schema cannot build them.
        const { built } = await buildIndexes(opened.target, new AbortController().signal);
        for (const name of built) printLine(io.stdout, `built the index ${name}`);
        printLine(io.stdout, 'The schema is up to date.');
      } finally {
        await opened.close();
      }
    });
}
