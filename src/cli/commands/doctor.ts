import type { Command } from 'commander';
import { type Config, ConfigError, readConfig } from '../../config.js';
import { EmbeddedPostgresError } from '../../database/embedded.js';
import {
  checkAuthenticators,
  checkClock,
  checkDataDir,
  checkMail,
  checkPort,
  checkPush,
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
} from '../checks.js';
import { describeFailure } from '../failure.js';
import { type Io, printLine } from '../io.js';
import { withDatabase } from '../parts.js';

export function doctorCommand(program: Command, io: Io, exitWith: (code: number) => void): void {
  program
    .command('doctor')
    .description('check the configuration and what it points to; exits with 1 when something is in the way')
    .action(async () => {
      let failed = false;
      for await (const { level, what, detail } of examine(io)) {
        printLine(io.stdout, `${level.padEnd(4)}  ${what}: ${detail}`);
        failed ||= level === 'FAIL';
      }
      if (failed) exitWith(1);
    });
}

/** Every finding as soon as it is known. A check that breaks is a finding too, and keeps none of the others from running. */
async function* examine(io: Io): AsyncGenerator<Finding> {
  let config: Config;
  try {
    config = readConfig(io.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const fault of error.faults) yield fail('configuration', fault);
    return;
  }
  yield ok('configuration', 'every variable can be used');
  yield* await attempt('data directory', () => checkDataDir(config));
  yield* await attempt('database', () =>
    withDatabase(io, async (database) => [
      await checkVersion(database),
      await checkSchema(database),
      await checkClock(database),
      ...(await checkSchemes(database, config)),
      ...(await checkSecrets(database, config)),
    ]),
  );
  yield* await attempt('sms', async () => [await checkSms(config)]);
  yield* await attempt('authenticators', () => checkAuthenticators(config));
  yield* await attempt('mail', async () => [await checkMail(config)]);
  yield* await attempt('templates', () => checkTemplates(config));
  yield checkPush(config);
  yield* await attempt('port', async () => [await checkPort(config)]);
}

async function attempt(what: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    // Also before the first start, when nothing is wrong yet.
    const isMissing = error instanceof EmbeddedPostgresError && error.code === 'no_database';
    return [(isMissing ? warn : fail)(what, describeFailure(error))];
  }
}
