import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { readConfiguredFiles } from '../../app/base/configured-files.js';
import { portError, refuseUsedPorts } from '../../app/base/configured-ports.js';
import { openTarget, removeFormerVersionData } from '../../app/base/database-target.js';
import { createLog, exitOnUncaught, type Logger, logConsole } from '../../app/base/log.js';
import { reportHarmfulSettings } from '../../app/doctor/settings.js';
import { firstScreen } from '../../app/first-screen.js';
import { readFromDatabase } from '../../app/metrics/database-metrics.js';
import { type MetricsServer, serveMetrics } from '../../app/metrics/server.js';
import { type Config, readConfig } from '../../config/config.js';
import { createDatabase, type Database } from '../../database/database.js';
import { compose, sql } from '../../database/sql.js';
import { secretKeysForStart } from '../../keys/start-keys.js';
import { version } from '../../lib/own-package.js';
import { migrate } from '../../schema/migrate.js';
import { ensureFirstKey, type FirstKey } from '../../sessions/api-keys.js';
import { describeFailure } from '../support/failure.js';
import { prepareWorkers, startWorkerProcess } from './member.js';
import type { Environment } from './messages.js';
import { startPool, type WorkerPool } from './pool.js';

export interface PrimaryOptions {
  /** Reads the current environment. A rolling restart reads it again. */
  readonly readEnvironment: () => Environment;
  readonly print: (line: string) => void;
  readonly isTerminal: boolean;
  /** Resolves when the service is asked to stop. */
  readonly stopRequested: Promise<void>;
  /** Registers the callback for requested rolling restarts. */
  readonly onRestart: (restart: () => void) => void;
}

/** Settings that a rolling restart does not change. */
const unchangedSettings = [
  'HOST',
  'PORT',
  'CONSOLE_HOST',
  'CONSOLE_PORT',
  'METRICS_HOST',
  'METRICS_PORT',
  'WORKERS',
  'DATABASE_URL',
  'DATA_DIR',
] as const;

/**
 * Serves with several processes until asked to stop. This process migrates the database and creates the first keys. After
 * that it only supervises the workers, which use the database like any other instance.
 * @throws CommandError when the workers cannot start, or end again and again
 */
export async function serveWithWorkers(environment: Environment, options: PrimaryOptions): Promise<void> {
  const config = readConfig(environment);
  const log = createLog(config.LOG_LEVEL);
  logConsole(log);
  exitOnUncaught(log);
  log.info({ version, node: process.version, pid: process.pid, workers: config.WORKERS }, 'Postern starts');
  await readConfiguredFiles(config);
  await refuseUsedPorts(config);
  const openedTarget = await openTarget(config, log);
  try {
    const applied = await migrate(openedTarget.target, log);
    if (applied.length > 0) log.info({ migrations: applied }, 'the schema was brought up to date');
    const onConnectionError = (error: Error) =>
      log.warn({ err: error, outage: 'database' }, 'a database connection broke');
    // This process rarely queries the database. node-postgres closes a connection that was idle for ten seconds.
    const database = createDatabase({ target: openedTarget.target, size: 2, onConnectionError });
    try {
      await reportHarmfulSettings(database, config, log);
      await serve({ config, environment, database, log, options, firstKey: await prepare(config, database, options) });
    } finally {
      await database.close();
    }
  } finally {
    await openedTarget.close();
  }
}

/** Creates the secret key and the first API key, so that the workers find them. */
async function prepare(config: Config, database: Database, { isTerminal }: PrimaryOptions): Promise<FirstKey> {
  await secretKeysForStart(database, config);
  return ensureFirstKey({
    database,
    dataDir: config.DATA_DIR,
    isTerminal,
    ...(config.ADMIN_API_KEY && { environmentKey: config.ADMIN_API_KEY.reveal() }),
  });
}

async function serve(deps: {
  readonly config: Config;
  readonly environment: Environment;
  readonly database: Database;
  readonly log: Logger;
  readonly options: PrimaryOptions;
  readonly firstKey: FirstKey;
}): Promise<void> {
  const { config, environment, database, log, options, firstKey } = deps;
  const port = config.PORT === 0 ? await findFreePort(config.HOST) : config.PORT;
  const consolePort = config.CONSOLE_PORT === 0 ? await findFreePort(config.CONSOLE_HOST) : config.CONSOLE_PORT;
  const workerEnvironment = {
    ...environment,
    PORT: String(port),
    WORKERS: String(config.WORKERS),
    ...(consolePort !== undefined && { CONSOLE_PORT: String(consolePort) }),
  };
  prepareWorkers();
  const pool = startPool({
    size: config.WORKERS,
    environment: workerEnvironment,
    log,
    startWorker: startWorkerProcess,
    waitUntilWorkerCanStart: (signal) => waitForDatabase(database, log, signal),
  });
  let metrics: MetricsServer | undefined;
  try {
    options.onRestart(() => void restart(pool, workerEnvironment, options, log));
    const url = await Promise.race([pool.ready, pool.failed, options.stopRequested]);
    if (url === undefined) return;
    log.info({ url }, 'all workers are ready');
    removeFormerVersionData(config, log);
    metrics = await openMetrics(config, database, pool, log);
    const { isTerminal } = options;
    const listening = { ...config, PORT: port, CONSOLE_PORT: consolePort };
    options.print(await firstScreen({ config: listening, url, database, log, firstKey, isTerminal }));
    await Promise.race([options.stopRequested, pool.failed]);
  } finally {
    await pool.stop();
    await metrics?.close();
  }
}

/** Serves the sums of the workers' metrics. */
async function openMetrics(
  config: Config,
  database: Database,
  pool: WorkerPool,
  log: Logger,
): Promise<MetricsServer | undefined> {
  const { METRICS_HOST: host, METRICS_PORT: port } = config;
  if (port === undefined) return undefined;
  const read = async () => [...(await pool.readMetrics()), await readFromDatabase(database, config)];
  return serveMetrics({ host, port, log, read });
}

/** If the new configuration has errors, the workers keep running with the current one. */
async function restart(
  pool: WorkerPool,
  currentEnvironment: Environment,
  options: PrimaryOptions,
  log: Logger,
): Promise<void> {
  try {
    const unchanged = Object.fromEntries(unchangedSettings.map((name) => [name, currentEnvironment[name]]));
    const newEnvironment = { ...options.readEnvironment(), ...unchanged };
    readConfig(newEnvironment);
    await pool.restart(newEnvironment);
  } catch (error) {
    log.error({ reason: describeFailure(error) }, 'the rolling restart was refused');
  }
}

/** A worker cannot start while the database does not answer, and five failed starts would end the service. */
async function waitForDatabase(database: Database, log: Logger, signal: AbortSignal): Promise<void> {
  for (let isLogged = false; !signal.aborted; isLogged = true) {
    try {
      await database.query(compose(sql`select 1`));
      return;
    } catch (error) {
      if (!isLogged) log.warn({ err: error }, 'no worker can be started until the database answers');
      await wait(500, undefined, { signal }).catch(() => undefined);
    }
  }
}

/**
 * All workers need the same port, also a worker that starts after all others have died. So for PORT=0 the primary
 * process chooses the port. It is below the range of ports for outgoing connections, so no outgoing connection takes it
 * before the first worker listens.
 */
async function findFreePort(host: string): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = randomInt(16_384, 32_768);
    const error = await portError(host, port);
    if (error === undefined) return port;
    if (error.code !== 'EADDRINUSE' || attempt === 50) throw error;
  }
}
