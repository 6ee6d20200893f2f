import type { Command } from 'commander';
import { readConfig } from '../../config.js';
import { migrate } from '../../database/migrate.js';
import { openExistingTarget } from '../../database/open.js';
import { type Io, printLine } from '../io.js';
import { quietLog } from '../parts.js';

export function migrateCommand(program: Command, io: Io): void {
  program
    .command('migrate')
    .description("bring the database's schema up to date (the service does it too when it starts)")
    .action(async () => {
      const { target, close } = await openExistingTarget(readConfig(io.env), quietLog(io));
      try {
        const applied = await migrate(target);
        for (const name of applied) printLine(io.stdout, `applied ${name}`);
        printLine(io.stdout, 'The schema is up to date.');
      } finally {
        await close();
      }
    });
}
