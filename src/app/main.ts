import type { Config } from '../config/config.js';
import type { Database } from '../database/database.js';
import type { App } from '../http/requests/route.js';
import type { Services } from '../http/routes/routes.js';
import { countUnreadable, describeUnreadableValues } from '../keys/unreadable.js';
import { createLogAddress } from '../lib/log-address.js';
import { version } from '../lib/own-package.js';
import { ensureFirstKey } from '../sessions/api-keys.js';
import type { RequestObserver } from '../statistics/meters.js';
import { type BackgroundOptions, startBackgroundWork } from './background.js';
import { createAccessLog } from './base/access-log.js';
import { type Base, type BaseOptions, openBase } from './base/base.js';
import { createConsoleCodes } from './base/console-codes.js';
import { removeFormerVersionData } from './base/database-target.js';
import { createLifecycle, type Lifecycle } from './base/lifecycle.js';
import { createLog, type Logger, watchDescriptors } from './base/log.js';
import { reportHarmfulSettings } from './doctor/settings.js';
import { firstScreen } from './first-screen.js';
import { listen } from './listen.js';
import { type Metrics, startMetrics } from './metrics/metrics.js';
import { createServices, type ServicesOptions } from './services.js';
import { startTracing } from './tracing/tracing.js';

/** A running Postern. */
export interface Postern {
  /** The URL on which it listens. */
  readonly url: string;
  /** The URL of the console and the admin API: the same, or another one with CONSOLE_PORT. */
  readonly administrationUrl: string;
  /** Creates the text for the operator: the addresses, a link for the first operator, the first API key, commands to try. */
  firstScreen(): Promise<string>;
  readonly app: App;
  readonly services: Services;
  readonly database: Database;
  /** The metrics of this process; undefined without METRICS_PORT. */
  readonly metrics: Metrics | undefined;
  /** Answers the running requests, then stops all parts in reverse order. A second call waits for the first. */
  close(): Promise<void>;
}

export interface StartOptions extends BaseOptions, ServicesOptions, BackgroundOptions {
  readonly log?: Logger;
  /** Prints a code to the terminal, with SMS_PROVIDER=console or MAIL_PROVIDER=console. */
  readonly print?: (line: string) => void;
  /** Whether a person sees the output. */
  readonly isTerminal?: boolean;
  /** Where the access log is written instead of standard output. */
  readonly accessLog?: { write(line: string): void };
}

/** How many encrypted values of each kind a start checks. These are enough to detect a missing key. */
const maxUnreadableRows = 1000;

/** The composition root. If a part fails to start, the parts before it are stopped in reverse order. */
export async function startPostern(config: Config, options: StartOptions = {}): Promise<Postern> {
  const log = options.log ?? createLog(config.LOG_LEVEL);
  log.info({ version, node: process.version }, 'Postern starts');
  for (const warning of config.warnings) log.warn({}, warning);
  const lifecycle = createLifecycle(log);
  lifecycle.add(watchDescriptors(log), async (stop) => stop());
  try {
    return await start(config, options, log, lifecycle);
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

async function start(config: Config, options: StartOptions, log: Logger, lifecycle: Lifecycle): Promise<Postern> {
  const { worker } = options;
  // Tracing starts first and stops last, because it exports the spans of the other parts.
  const traces = lifecycle.add(await startTracing(config, log, { version, worker }), async (running) =>
    running?.close(),
  );
  const base = await openBase(config, log, lifecycle, traces?.tracing, options);
  const { database } = base;
  await reportUnreadable(base);
  // With several workers, the primary process does it.
  if (worker === undefined) await reportHarmfulSettings(database, config, log);
  const print = options.print ?? ((line: string) => void process.stdout.write(`${line}\n`));
  const consoleCodes = createConsoleCodes(config, log);
  const domains = await createServices(base, { print, refusal: consoleCodes.refusal }, options);
  const { services } = domains;
  const { revocationStreams } = services;
  const { queue } = await startBackgroundWork(base, domains, options);
  const metrics = await startMetrics(base, { queue, revocationStreams, isWorker: worker !== undefined });
  const { main, administration } = await listen(base, services, requestObserver(base, options), consoleCodes.watch);
  // After it listens: a start that fails, for example because the port is taken, must not use up the key that is shown once.
  const isTerminal = options.isTerminal ?? false;
  const firstKey = await ensureFirstKey({
    database,
    dataDir: config.DATA_DIR,
    isTerminal,
    ...(config.ADMIN_API_KEY && { environmentKey: config.ADMIN_API_KEY.reveal() }),
  });
  // With several workers, the primary process does it.
  if (worker === undefined) removeFormerVersionData(config, log);
  const { port: PORT, consolePort: CONSOLE_PORT } = base.listening;
  const screenOptions = {
    config: { ...config, PORT, CONSOLE_PORT },
    url: main.url,
    database,
    log,
    firstKey,
    isTerminal,
  };
  return {
    url: main.url,
    administrationUrl: administration.url,
    app: main.app,
    firstScreen: () => firstScreen(screenOptions),
    services,
    database,
    metrics,
    close: lifecycle.close,
  };
}

/** Creates the function that counts each answered request and writes its line of the access log. Undefined without metrics and access log. */
function requestObserver(
  { config, meters, lifecycle }: Base,
  { worker, accessLog: destination }: StartOptions,
): RequestObserver | undefined {
  const count = meters?.requestAnswered;
  if (config.ACCESS_LOG === 'off') return count;
  const accessLog = lifecycle.add(
    createAccessLog({ worker, destination, logAddress: createLogAddress(config.LOG_ADDRESSES) }),
    (log) => log.close(),
  );
  if (count === undefined) return accessLog.onAnswered;
  return (answered) => {
    count(answered);
    accessLog.onAnswered(answered);
  };
}

/** Logs stored values that no configured key can decrypt. The service starts even if the check fails. */
async function reportUnreadable({ database, keys, log }: Base): Promise<void> {
  try {
    const unreadable = await countUnreadable(database, keys, maxUnreadableRows);
    if (unreadable.length === 0) return;
    log.error({ unreadable }, `${describeUnreadableValues(unreadable)}; see \`postern doctor\``);
  } catch (error) {
    log.warn({ err: error }, 'the encrypted values could not be checked; see `postern doctor`');
  }
}
