import { statfs } from 'node:fs/promises';
import type { Command } from 'commander';
import { version } from '../../app/banner.js';
import { checkIndexes, checkSecrets, checkVersion, type Finding, fail, ok, warn } from '../../app/doctor/checks.js';
import { type Config, ConfigError, readConfig } from '../../config/config.js';
import type { Queryable } from '../../database/database.js';
import { readSchemaState } from '../../database/schema-state.js';
import { compose, sql } from '../../database/sql.js';
import { withDatabase } from '../support/dependencies.js';
import { CommandError, describeFailure } from '../support/failure.js';
import { type Io, printLine } from '../support/io.js';

/** Registers `postern upgrade`. It exits with 1 if this release would not start. */
export function upgradeCommand(program: Command, io: Io, exitWith: (code: number) => void): void {
  program
    .command('upgrade')
    .description('show what a start of this release would change in the database; changes nothing')
    .option('--check', 'required: a start of the service upgrades the database itself')
    .action(async ({ check }: { check?: true }) => {
      if (check !== true) {
        throw new CommandError(
          'Use `postern upgrade --check` to see what this release would change. A start of the service, or `postern migrate`, makes the changes.',
        );
      }
      const findings = await examine(io);
      for (const { level, what, detail } of findings) printLine(io.stdout, `${level.padEnd(4)}  ${what}: ${detail}`);
      const isRefused = findings.some(({ level }) => level === 'FAIL');
      printLine(
        io.stdout,
        isRefused
          ? `Postern ${version} would not start with this database. Nothing was changed.`
          : `Postern ${version} can start with this database. Nothing was changed. Take a backup before you start it.`,
      );
      if (isRefused) exitWith(1);
    });
}

async function examine(io: Io): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(io.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.errors.map((detail) => fail('configuration', detail));
  }
  const findings = config.warnings.map((warning) => warn('configuration', warning));
  try {
    // A data directory of another major version of PostgreSQL is refused here, before its server starts.
    await withDatabase(io, async ({ everyone }) => {
      findings.push(await checkVersion(everyone), await migrations(everyone), ...(await checkIndexes(everyone)));
      findings.push(...(await checkSecrets(everyone, config)));
      if (config.DATABASE_URL === undefined) findings.push(await freeSpace(everyone, config.DATA_DIR));
    });
  } catch (error) {
    findings.push(fail('database', describeFailure(error)));
  }
  return findings;
}

async function migrations(handle: Queryable<'everyone'>): Promise<Finding> {
  const { pending, unknown } = await readSchemaState(handle);
  if (unknown.length > 0) return fail('migrations', `the database is newer than this release (${unknown.join(', ')})`);
  if (pending.length === 0) return ok('migrations', 'none is pending');
  return ok('migrations', `a start applies ${pending.length}: ${pending.join(', ')}`);
}

const gigabyte = 1e9;

/** A migration needs at most the size of the database: PostgreSQL keeps a table until its new copy is complete. */
async function freeSpace(handle: Queryable<'everyone'>, folder: string): Promise<Finding> {
  const [row] = await handle.query(
    compose<{ bytes: string }, 'everyone'>('everyone', sql`select pg_database_size(current_database()) as bytes`),
  );
  const { bavail, bsize } = await statfs(folder);
  const [used, free] = [Number(row?.bytes), bavail * bsize];
  const detail = `the database has ${(used / gigabyte).toFixed(2)} GB, and ${(free / gigabyte).toFixed(2)} GB are free`;
  return free < used ? warn('disk', `${detail}: a migration of large tables may need more`) : ok('disk', detail);
}
