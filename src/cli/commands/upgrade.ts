import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import {
  checkIndexes,
  checkSecrets,
  checkTemplates,
  checkVersion,
  type Finding,
  fail,
  ok,
  warn,
} from '../../app/doctor/checks.js';
import { checkDisks, checkMigrationRoom } from '../../app/doctor/disks.js';
import { type Config, ConfigError, readConfig } from '../../config/config.js';
import type { Queryable } from '../../database/database.js';
import { findEmbeddedInstallation } from '../../embedded/embedded.js';
import { describePlan, planMajorUpgrade } from '../../embedded/major-upgrade/plan.js';
import { version } from '../../lib/own-package.js';
import { readSchemaState } from '../../schema/migrations.js';
import { refuseUnfitDatabase } from '../../schema/suitability.js';
import { withDatabase } from '../support/dependencies.js';
import { CommandError, describeFailure } from '../support/failure.js';
import { type Io, printLine } from '../support/io.js';

/** Registers `postern upgrade`. It exits with 1 if something must be fixed before this release starts. */
export function upgradeCommand(program: Command, io: Io, exitWith: (code: number) => void): void {
  program
    .command('upgrade')
    .description('show what a start of this release would change in the database; changes nothing')
    .option('--check', 'required: this command only checks; a start of the service makes the changes')
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
          ? `Fix what failed before you start Postern ${version}. Nothing was changed.`
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
  const attempt = async (what: string, check: () => Promise<Finding[]>) => {
    findings.push(...(await check().catch((error: unknown) => [fail(what, describeFailure(error))])));
  };
  await attempt('templates', () => checkTemplates(config));
  await attempt('database', () => examineDatabase(io, config));
  return findings;
}

async function examineDatabase(io: Io, config: Config): Promise<Finding[]> {
  const majorUpgrade = await examineMajorUpgrade(config);
  // No connection: PostgreSQL of this release cannot read the data, and the former PostgreSQL would write to it.
  if (majorUpgrade !== undefined) return [majorUpgrade];
  if (config.DATABASE_URL !== undefined) await refuseUnfitDatabase(config.DATABASE_URL);
  return withDatabase(io, async (handle) => [
    await checkVersion(handle),
    await checkMigrations(handle),
    ...(await checkIndexes(handle)),
    ...(await checkSecrets(handle, config)),
    ...(await checkDisks(config)),
    ...(await checkMigrationRoom(handle, config)),
  ]);
}

/** What a start would do with data of another major version of the embedded PostgreSQL. */
async function examineMajorUpgrade({ DATABASE_URL, DATA_DIR }: Config): Promise<Finding | undefined> {
  if (DATABASE_URL !== undefined) return undefined;
  const { majorVersion } = await findEmbeddedInstallation(join(DATA_DIR, 'postgres'));
  const plan = planMajorUpgrade(resolve(DATA_DIR), majorVersion);
  if (plan === undefined) return undefined;
  return plan.refusal === undefined ? ok('postgresql', describePlan(plan)) : fail('postgresql', plan.refusal);
}

async function checkMigrations(handle: Queryable): Promise<Finding> {
  const { pending, refusal } = await readSchemaState(handle);
  if (refusal !== undefined) return fail('migrations', refusal);
  if (pending.length === 0) return ok('migrations', 'none is pending');
  return ok('migrations', `a start applies ${pending.length}: ${pending.join(', ')}`);
}
