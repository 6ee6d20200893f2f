import pg from 'pg';
import { isPlainHost, urlsOfHosts } from '../../lib/postgres-hosts.js';
import { waitAtMost } from '../../lib/time-limit.js';
import { destroy, prepareSession, type ServerState, type SessionSettings } from './session-check.js';

/** The connection fields of one server. */
export interface ServerFields {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password?: string;
}

/** The servers of one database: one primary and its standbys, or a single server. */
export interface Servers {
  /** The fields for a connection to the primary that the last search found. */
  fields(): pg.ClientConfig;
  /** Searches for the primary, if there are several servers and it is unknown. @throws NoPrimaryError */
  locate(): Promise<void>;
  /**
   * Prepares the session of a new connection. From then on, closes the connection as soon as a newer primary is known.
   * @throws NotPrimaryError
   */
  admit(client: pg.ClientBase, settings: SessionSettings): Promise<void>;
  /** Call it after a failed connection: the primary may have changed, so this starts a search. */
  reportFailure(): void;
  /** Searches for a newer primary every second, or after `interval` milliseconds. @returns a function that stops it */
  watch(log: WatchLog, interval?: number): () => void;
}

interface WatchLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** The server is a standby, accepts no writes, or is a former primary. */
export class NotPrimaryError extends Error {}

/** No server of DATABASE_URL accepts writes. The message says why, for each of them. */
export class NoPrimaryError extends Error {}

/**
 * Milliseconds. `interval`: between two searches. `connect`: the limit of a connection. `otherServers`: how long to
 * wait for the other servers after one server has accepted writes, because another one may be a newer primary. `pause`:
 * the minimum time between two searches after failures.
 */
const times = { interval: 1000, connect: 2000, otherServers: 500, pause: 200 };

const readOnlyAdvice =
  'default_transaction_read_only is on. Reset it for the role (alter role … reset default_transaction_read_only), for the database (alter database …) or for the server (alter system …)';

interface FoundPrimary {
  readonly server: pg.ClientConfig;
  readonly timeline: number;
}

/**
 * The newest timeline (the number of a server's history) that any connection of this process has seen. PostgreSQL
 * increases it with each promotion, so a former primary has a lower number (decision 36).
 */
interface Timelines {
  newest(): number;
  /** Refuses a connection to another server than the primary. @throws NotPrimaryError */
  assertPrimary(client: pg.ClientBase, state: ServerState): void;
  /** Closes the connection as soon as a newer timeline is known. */
  follow(client: pg.ClientBase, timeline: number): void;
  logTo(log: WatchLog): void;
}

function createTimelines(): Timelines {
  let newestTimeline = 0;
  let log: WatchLog | undefined;
  const connections = new Map<pg.ClientBase, number>();

  function recordTimeline(timeline: number): void {
    if (timeline <= newestTimeline) return;
    if (newestTimeline > 0) log?.info({ timeline, former_timeline: newestTimeline }, 'the database has a new primary');
    newestTimeline = timeline;
    for (const [client, knownTimeline] of connections) {
      if (knownTimeline < timeline) destroy(client, 'another server is the primary now');
    }
  }

  function assertPrimary(client: pg.ClientBase, { isWritable, isStandby, timeline }: ServerState): void {
    const name = nameOf(client);
    if (isStandby) throw new NotPrimaryError(`${name} is a standby`);
    if (!isWritable) throw new NotPrimaryError(`${name} accepts no writes: ${readOnlyAdvice}`);
    if (timeline < newestTimeline) {
      throw new NotPrimaryError(
        `${name} is a former primary: it has timeline ${timeline}, and timeline ${newestTimeline} exists. If you restored or upgraded the database, restart Postern`,
      );
    }
    recordTimeline(timeline);
  }

  return {
    newest: () => newestTimeline,
    assertPrimary,
    follow(client, timeline) {
      connections.set(client, timeline);
      client.once('end', () => connections.delete(client));
    },
    logTo(watchLog) {
      log = watchLog;
    },
  };
}

/** Creates the servers of a database. */
export function createServers(target: string | ServerFields): Servers {
  const all: readonly pg.ClientConfig[] =
    typeof target === 'string' ? urlsOfHosts(target).map(fieldsOfUrl) : [{ ...target }];
  const [first = {}] = all;
  let primary = all.length === 1 ? first : undefined;
  let search: Promise<void> | undefined;
  let lastSearchAt = Number.NEGATIVE_INFINITY;
  const timelines = createTimelines();

  async function checkServer(server: pg.ClientConfig): Promise<FoundPrimary> {
    const client = createClient({ ...server, application_name: 'postern watch' }, times.connect);
    try {
      await client.connect();
      const state = await prepareSession(client, {});
      timelines.assertPrimary(client, state);
      return { server, timeline: state.timeline };
    } catch (error) {
      throw error instanceof NotPrimaryError ? error : new Error(`${nameOf(client)}: ${reasonOf(error)}`);
    } finally {
      client.end().catch(() => undefined);
    }
  }

  async function findPrimary(): Promise<void> {
    const primaries: FoundPrimary[] = [];
    const requests = all.map((server) => checkServer(server).then((answer) => void primaries.push(answer)));
    try {
      await Promise.any(requests);
    } catch (error) {
      if (all.length > 1) primary = undefined;
      const reasons = error instanceof AggregateError ? error.errors.map(reasonOf) : [];
      throw new NoPrimaryError(`no server of the database accepts writes: ${reasons.join('; ')}`);
    }
    await waitAtMost(times.otherServers, Promise.allSettled(requests));
    primary = primaries.find(({ timeline }) => timeline === timelines.newest())?.server ?? primary;
  }

  function findPrimaryOnce(): Promise<void> {
    search ??= findPrimary().finally(() => {
      search = undefined;
      lastSearchAt = performance.now();
    });
    return search;
  }

  return {
    fields: () => primary ?? first,
    async locate() {
      if (primary === undefined) await findPrimaryOnce();
    },
    async admit(client, settings) {
      const state = await prepareSession(client, settings);
      timelines.assertPrimary(client, state);
      timelines.follow(client, state.timeline);
    },
    reportFailure() {
      if (all.length > 1 && performance.now() - lastSearchAt > times.pause) findPrimaryOnce().catch(() => undefined);
    },
    watch(watchLog, interval = times.interval) {
      timelines.logTo(watchLog);
      let isUnavailable = false;
      const timer = setInterval(() => {
        findPrimaryOnce().then(
          () => {
            isUnavailable = false;
          },
          (error: Error) => {
            if (!isUnavailable) watchLog.warn({ outage: 'database' }, error.message);
            isUnavailable = true;
          },
        );
      }, interval).unref();
      return () => clearInterval(timer);
    },
  };
}

/**
 * The fields for a URL. Without TLS, the password would cross the network in clear text if a server asks for it that way. So
 * only a socket, this machine, and a URL with `sslmode=disable` do without TLS.
 */
function fieldsOfUrl(url: string): pg.ClientConfig {
  const fields: pg.ClientConfig = { connectionString: url };
  const { host, ssl } = new pg.Client(fields);
  const mode = new URL(url).searchParams.get('sslmode');
  return ssl || isPlainHost(host) || mode === 'disable' ? fields : { ...fields, ssl: true };
}

/** A client whose errors do not end the process, and whose connection attempt has a time limit. */
function createClient(config: pg.ClientConfig, connectTimeoutMs: number): pg.Client {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: connectTimeoutMs });
  client.on('error', () => undefined);
  return client;
}

/** The name of the server in messages. */
const nameOf = (client: pg.ClientBase) =>
  client instanceof pg.Client ? `${client.host}:${client.port}` : 'the server';

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
