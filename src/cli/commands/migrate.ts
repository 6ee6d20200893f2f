import type { Command } from 'commander';
import { readConfig } from '../../config/config.js';
import { openExistingTarget } from '../../database/open.js';
import { migrateAll } from '../../database/sharding/open.js';
import { quietLog } from '../support/dependencies.js';
import { refuseAway } from '../support/failure.js';
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
        const { applied, away } = await migrateAll(opened, log);
        for (const name of applied) printLine(io.stdout, `applied ${name}`);
        refuseAway(away);
        printLine(io.stdout, 'The schema is up to date.');
      } finally {
        await opened.close();
      }
    });
}
