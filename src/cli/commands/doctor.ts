import type { Command } from 'commander';
import {
  checkBackups,
  checkClock,
  checkDataDir,
  checkIndexes,
  checkMail,
  checkPort,
  checkPush,
  checkRole,
  checkSchema,
  checkSchemes,
  checkSecrets,
  checkSms,
  checkTemplates,
  checkVersion,
  type Finding,
  fail,
  ok,
  warn,
} from '../../app/doctor/checks.js';
import { channelFindings, providerFindings } from '../../app/doctor/delivery.js';
import { checkDisks, checkMigrationRoom } from '../../app/doctor/disks.js';
import { checkImages } from '../../app/doctor/images.js';
import { checkSettings } from '../../app/doctor/settings.js';
import { testIdentityFindings } from '../../app/doctor/test-identities.js';
import { webhookFindings } from '../../app/doctor/webhooks.js';
import { type Config, ConfigError, readConfig } from '../../config/config.js';
import { EmbeddedPostgresError } from '../../embedded/embedded.js';
import { refuseUnfitDatabase } from '../../schema/suitability.js';
import { withDatabase } from '../support/dependencies.js';
import { describeFailure } from '../support/failure.js';
import { type Io, printLine } from '../support/io.js';

/** Registers `postern doctor`. It exits with 1 if a check fails. */
export function doctorCommand(program: Command, io: Io, exitWith: (code: number) => void): void {
  program
    .command('doctor')
    .description('check the configuration, the database and the providers; exits with 1 if a check fails')
    .action(async () => {
      let failed = false;
      for await (const { level, what, detail } of examine(io)) {
        printLine(io.stdout, `${level.padEnd(4)}  ${what}: ${detail}`);
        failed ||= level === 'FAIL';
      }
      if (failed) exitWith(1);
    });
}

/** Yields each finding as soon as it is known. A check that throws is a finding too, and the other checks still run. */
async function* examine(io: Io): AsyncGenerator<Finding> {
  let config: Config;
  try {
    config = readConfig(io.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const detail of error.errors) yield fail('configuration', detail);
    return;
  }
  yield ok('configuration', 'all variables are valid');
  for (const warning of config.warnings) yield warn('configuration', warning);
  yield* await attempt('data directory', () => checkDataDir(config));
  yield* await attempt('disk', () => checkDisks(config));
  yield* await attempt('database', async () => {
    if (config.DATABASE_URL !== undefined) await refuseUnfitDatabase(config.DATABASE_URL);
    return withDatabase(io, async (handle) => [
      await checkVersion(handle),
      ...(await checkSettings(handle, config)),
      await checkSchema(handle),
      ...(await checkMigrationRoom(handle, config)),
      ...(await checkIndexes(handle)),
      await checkClock(handle),
      ...(await checkSchemes(handle, config)),
      ...(await checkSecrets(handle, config)),
      ...(await checkBackups(handle, config)),
      ...(await providerFindings(handle, config)),
      ...(await channelFindings(handle)),
      ...(await webhookFindings(handle)),
      ...(await testIdentityFindings(handle)),
    ]);
  });
  // On its own, because a missing right fails the checks above.
  yield* await attempt('database role', () => withDatabase(io, (handle) => checkRole(handle, config)));
  yield* await attempt('sms', () => checkSms(config));
  yield* await attempt('mail', () => checkMail(config));
  yield* await attempt('templates', () => checkTemplates(config));
  yield* await attempt('images', () => checkImages(config));
  yield checkPush(config);
  yield* await attempt('port', async () => [await checkPort(config)]);
}

async function attempt(name: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    // Before the first start a missing database is not a failure.
    const isMissing = error instanceof EmbeddedPostgresError && error.code === 'no_database';
    return [(isMissing ? warn : fail)(name, describeFailure(error))];
  }
}
