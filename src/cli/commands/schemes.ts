import type { Command } from 'commander';
import { countSchemeUsers, type SchemeInUse } from '../../credentials/password-schemes.js';
import { totalSchemeCost } from '../../credentials/scheme-cost.js';
import { withDatabase } from '../support/dependencies.js';
import { type Io, printJson, printLine, printTable } from '../support/io.js';

/** Registers `postern schemes` with its subcommand. */
export function schemesCommand(program: Command, io: Io): void {
  program
    .command('schemes')
    .description('show the schemes of imported password hashes')
    .command('list')
    .description('list the schemes in use: their cost for a failed login, and how many users have them')
    .option('--json', 'print the schemes as JSON')
    .action(async ({ json }: { json?: true }) => {
      const { schemes, limit } = await withDatabase(io, async (database, config) => ({
        schemes: await countSchemeUsers(database),
        limit: config.IMPORTED_HASH_COST_LIMIT,
      }));
      if (json === true) printJson(io.stdout, schemes);
      else printSchemes(io, schemes, limit);
    });
}

function printSchemes(io: Io, schemes: readonly SchemeInUse[], limit: number): void {
  if (schemes.length === 0) {
    printLine(io.stdout, "No scheme was imported: every hash has Postern's own parameters.");
    return;
  }
  const rows = schemes.map(({ scheme, cost, users }) => [scheme, cost.toFixed(1), String(users)]);
  printTable(io.stdout, [['SCHEME', 'COST', 'USERS'], ...rows]);
  const sum = totalSchemeCost(schemes.map(({ scheme }) => scheme));
  printLine(io.stdout, `A failed login costs ${sum} of at most ${limit} (IMPORTED_HASH_COST_LIMIT), where 1 is one`);
  printLine(io.stdout, "verification of Postern's own hash, about 10 ms of a core.");
}
