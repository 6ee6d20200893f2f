import type { Command } from 'commander';
import { listSchemes, type SchemeInUse } from '../../authentication/secrets/password-schemes.js';
import { costOfAll } from '../../authentication/secrets/scheme-cost.js';
import { type Io, printJson, printLine, printTable } from '../io.js';
import { withDatabase } from '../parts.js';

export function schemesCommand(program: Command, io: Io): void {
  program
    .command('schemes')
    .description('look at the schemes of imported password hashes')
    .command('list')
    .description('list the schemes in use, with what each adds to a failed login and how many users have it')
    .option('--json', 'print the schemes as JSON')
    .action(async ({ json }: { json?: true }) => {
      const { schemes, limit } = await withDatabase(io, async (database, config) => ({
        schemes: await listSchemes(database),
        limit: config.IMPORTED_HASH_COST_LIMIT,
      }));
      if (json === true) printJson(io.stdout, schemes);
      else printSchemes(io, schemes, limit);
    });
}

function printSchemes(io: Io, schemes: readonly SchemeInUse[], limit: number): void {
  if (schemes.length === 0) {
    printLine(io.stdout, "There are none: every hash has Postern's own parameters.");
    return;
  }
  const rows = schemes.map(({ scheme, cost, users }) => [scheme, cost.toFixed(1), String(users)]);
  printTable(io.stdout, [['SCHEME', 'COST', 'USERS'], ...rows]);
  const sum = costOfAll(schemes.map(({ scheme }) => scheme));
  printLine(io.stdout, `A failed login costs ${sum} of at most ${limit} (IMPORTED_HASH_COST_LIMIT), where 1 is one`);
  printLine(io.stdout, "verification of Postern's own hash, about 10 ms of a core.");
}
