import { type Command, InvalidArgumentError } from 'commander';
import pg from 'pg';
import { openExistingTarget } from '../../app/base/database-target.js';
import { readConfig } from '../../config/config.js';
import { createRunningRole } from '../../schema/running-role.js';
import { quietLog } from '../support/dependencies.js';
import { CommandError } from '../support/failure.js';
import { type Io, printJson, printLine, printTable } from '../support/io.js';

/** Registers `postern database` with its subcommand. */
export function databaseCommand(program: Command, io: Io): void {
  program
    .command('database')
    .description('manage the roles of your own PostgreSQL')
    .command('create-role')
    .description('create a role for running the service, which cannot change the schema')
    .argument('<name>', 'the role; if it exists, it gets the rights that it lacks and keeps its password', parseName)
    .option('--json', 'print the role as JSON')
    .addHelpText(
      'after',
      '\nRun it with the DATABASE_URL of the role that owns the tables, after `postern migrate`. Then run the service with the\nnew role, and `postern migrate` with the owner before each new release.\n\nExample:\n  postern database create-role postern_app',
    )
    .action((name: string, { json }: { json?: true }) => createRole(io, name, json === true));
}

function parseName(name: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name)) {
    throw new InvalidArgumentError('A name has 1 to 63 of the characters a-z, 0-9 and _, and begins with no digit.');
  }
  return name;
}

async function createRole(io: Io, name: string, asJson: boolean): Promise<void> {
  const config = readConfig(io.env);
  if (config.DATABASE_URL === undefined) {
    throw new CommandError(
      'The embedded database accepts only the account that starts Postern, and has one role. This command is for the database of DATABASE_URL.',
    );
  }
  const opened = await openExistingTarget(config, quietLog(io));
  try {
    const role = await createRunningRole(opened.target, name);
    if (asJson) return printJson(io.stdout, { name: role.name, password: role.password ?? null });
    printTable(io.stdout, [
      ['role', role.name],
      ['password', role.password ?? 'unchanged'],
    ]);
    printLine(io.stdout, 'Run the service with this role in DATABASE_URL, and `postern migrate` with the owner.');
  } catch (error) {
    throw refusalOf(error) ?? error;
  } finally {
    await opened.close();
  }
}

function refusalOf(error: unknown): CommandError | undefined {
  if (!(error instanceof pg.DatabaseError)) return undefined;
  // insufficient_privilege
  if (error.code === '42501') {
    return new CommandError(
      `${error.message}: run the command with a role that owns the tables and may create roles. Or let an administrator run: create role … login password '…'; then this command gives it its rights.`,
    );
  }
  // invalid_schema_name, undefined_table
  return error.code === '3F000' || error.code === '42P01'
    ? new CommandError('The database has no tables of Postern yet: run `postern migrate` first.')
    : undefined;
}
