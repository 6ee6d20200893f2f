import { hostname } from 'node:os';
import type { Config } from '../../config/config.js';
import type { BreachedPasswords } from '../../credentials/breached-passwords.js';
import type { HashThreads } from '../../credentials/hash-threads.js';
import { createPasswordHasher, type PasswordHasher } from '../../credentials/passwords.js';
import type { DatabaseTarget } from '../../database/connections/target.js';
import { createDatabase, type Database } from '../../database/database.js';
import { type Signals, startSignals } from '../../database/signals.js';
import { createOutbound, type Outbound } from '../../delivery/outbound.js';
import { checkTargetUrl } from '../../delivery/outbound-guard.js';
import type { OnHealth } from '../../delivery/providers/provider-health.js';
import { secretKeysForStart } from '../../keys/start-keys.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import { createOutboundRule, type OutboundRule } from '../../lib/outbound-rule.js';
import { version } from '../../lib/own-package.js';
import { createPacer, type Pacer } from '../../lib/pacing.js';
import type { Tracing } from '../../lib/tracing.js';
import type { LoginPolicies } from '../../limits/login-policies.js';
import { createHashQueue } from '../../limits/request-limits.js';
import { migrate } from '../../schema/migrate.js';
import { createCounters } from '../../statistics/counters.js';
import { createMeters, type MeterStore } from '../../statistics/meters.js';
import { type Reporter, startReporter } from '../../statistics/reporter.js';
import { type ConfiguredTexts, readConfiguredFiles } from './configured-files.js';
import { refuseUsedPorts } from './configured-ports.js';
import { consoleUrl } from './console-url.js';
import { openTarget } from './database-target.js';
import type { Lifecycle } from './lifecycle.js';
import type { Logger } from './log.js';
import { loginPolicies } from './login-policies.js';
import { createBreachedPasswords } from './password-rules.js';
import { createHealthRecorder } from './providers.js';
import { type ResourceLimits, resourceLimits } from './resource-limits.js';

/** The dependencies that the factories of the domains share. */
export interface Base {
  readonly config: Config;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly resources: ResourceLimits;
  /** Undefined without OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly tracing: Tracing | undefined;
  readonly outbound: Outbound;
  /** Whether OUTBOUND lets a message reach one of these addresses. */
  readonly isAllowedOut: OutboundRule;
  /** Why Postern may not call a URL, as text for people. Undefined if it may. */
  readonly checkUrl: (url: string) => string | undefined;
  /** Logs and stores whether a provider of messages works. */
  readonly onHealth: OnHealth;
  /** The limits of logins, by role. */
  readonly policies: LoginPolicies;
  /** From configured files. An error in one ends the start before the database is opened. */
  readonly texts: ConfiguredTexts;
  readonly target: DatabaseTarget;
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly hasher: PasswordHasher;
  /** Undefined where no list of breached passwords is configured. */
  readonly breached: BreachedPasswords | undefined;
  readonly signals: Signals;
  /** Counts what this process does, and writes the sums. */
  readonly statistics: Reporter;
  /** Undefined without METRICS_PORT. */
  readonly meters: MeterStore | undefined;
  readonly pacer: Pacer;
  /** What reaches this process. `requests`: how many since the start, with those that are not answered yet. */
  readonly traffic: { requests: number };
  /** Where the service listens. The ports of PORT=0 and CONSOLE_PORT=0 are known after it listens. */
  readonly listening: { url: string; port: number; consolePort: number | undefined };
  /** The URL by which clients reach the service. */
  readonly publicUrl: () => string;
  /** The URL of the console. */
  readonly consoleUrl: () => string;
}

/** The channel of signals for users whose inboxes have changed. */
const inboxChannel = 'postern_inboxes';

/** Options of a start. */
export interface BaseOptions {
  /** The number of this worker, if there are several. */
  readonly worker?: number;
  /** Milliseconds between two writes of statistics; for tests. */
  readonly statisticsInterval?: number;
  /** Computes the password hashes; for tests, whose users need no slow hashes. */
  readonly hashThreads?: HashThreads | undefined;
  /** Milliseconds until a database query fails; longer in tests that use all cores. */
  readonly queryTimeout?: number;
  /** Milliseconds until a call to another system fails; for tests whose other system never answers. */
  readonly outboundTimeout?: number;
  /** Milliseconds between two searches for a new primary of the database. Each search opens a connection. For tests. */
  readonly watchInterval?: number;
}

/** Opens and migrates the database, and creates what all domains need. */
export async function openBase(
  config: Config,
  log: Logger,
  lifecycle: Lifecycle,
  tracing: Tracing | undefined,
  options: BaseOptions,
): Promise<Base> {
  const { worker, statisticsInterval, hashThreads, queryTimeout, outboundTimeout, watchInterval } = options;
  const resources = resourceLimits(config.WORKERS);
  const { ALLOW_PRIVATE_NETWORK_TARGETS: allowPrivateNetworkTargets } = config;
  const outbound = lifecycle.add(
    createOutbound({ allowPrivateNetworkTargets, tracing, totalTimeoutMs: outboundTimeout }),
    (calls) => calls.close(),
  );
  const texts = await readConfiguredFiles(config);
  // Workers share the ports, which the primary process has checked.
  if (worker === undefined) await refuseUsedPorts(config);
  const { target } = lifecycle.add(await openTarget(config, log, watchInterval), (open) => open.close());
  const applied = await migrate(target, log);
  if (applied.length > 0) log.info({ migrations: applied }, 'the schema was brought up to date');
  const onConnectionError = (error: Error) =>
    log.warn({ err: error, outage: 'database' }, 'a database connection broke');
  const database = lifecycle.add(
    createDatabase({ target, size: resources.connections, onConnectionError, tracing, queryTimeout }),
    (pool) => pool.close(),
  );
  // Before the reporter, which records the start of this process: processes that started before a key was recorded may lack it.
  const keys = await secretKeysForStart(database, config);
  const meters = config.METRICS_PORT === undefined ? undefined : createMeters();
  const statistics = lifecycle.add(
    startReporter({
      database,
      counters: createCounters({ withTotals: meters !== undefined }),
      interval: statisticsInterval,
      instance: { version, worker, host: hostname(), processId: process.pid, node: process.version },
      onError: (error) =>
        log.warn({ err: error }, 'the statistics could not be written; the next attempt includes them'),
    }),
    (reporter) => reporter.stop(),
  );
  const signals = lifecycle.add(startSignals({ target, database, channel: inboxChannel, log }), (part) => part.stop());
  const breached = createBreachedPasswords(
    config,
    (error) => log.warn({ err: error }, 'the list of breached passwords could not be queried'),
    outbound,
  );
  const hasher = createPasswordHasher({
    concurrency: resources.hashes,
    queue: resources.waitingHashes,
    onThreadLost: (error) => log.warn({ err: error }, 'a password hashing thread failed or could not start'),
    ...(meters && { onHashed: meters.passwordHash.observe }),
    inTurn: createHashQueue(config.LOGIN_LIMIT_PER_ADDRESS),
    threads: hashThreads,
  });
  const listening = { url: '', port: config.PORT, consolePort: config.CONSOLE_PORT };
  return {
    config,
    log,
    lifecycle,
    resources,
    tracing,
    outbound,
    isAllowedOut: createOutboundRule(config.OUTBOUND, config.OUTBOUND_ALLOWLIST),
    checkUrl: (url) => checkTargetUrl(url, { allowPrivateNetworkTargets }),
    onHealth: createHealthRecorder(database, log),
    policies: loginPolicies(config),
    texts,
    target,
    database,
    keys,
    hasher,
    breached,
    signals,
    statistics,
    meters,
    traffic: { requests: 0 },
    pacer: createPacer(),
    listening,
    publicUrl: () => config.PUBLIC_URL ?? listening.url,
    consoleUrl: () => consoleUrl({ ...config, PORT: listening.port, CONSOLE_PORT: listening.consolePort }),
  };
}
