import pg from 'pg';
import { urlsOfHosts } from '../../lib/postgres/hosts.js';
import { waitAtMost } from '../../lib/time-limit.js';
import { destroy, prepareSession, type ServerState, type SessionSettings } from './session-check.js';

/** The fields of one server. */
export interface ServerFields {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password?: string;
}

/** The servers of one database: one primary and its standbys, or a single server. */
export interface Servers {
  /** The fields for a connection to the server that was the primary when it was last looked for. */
  fields(): pg.ClientConfig;
  /** Looks for the primary, if there are several servers and it is unknown. @throws NoPrimaryError */
  locate(): Promise<void>;
  /**
   * Prepares the session of a new connection. From then on, closes the connection as soon as a newer primary is known.
   * @throws NotPrimaryError
   */
  admit(client: pg.ClientBase, settings: SessionSettings): Promise<void>;
  /** Looks for the primary soon, because a connection failed. */
  suspect(): void;
  /** Looks for a newer primary every second. @returns stops it */
  watch(log: WatchLog): () => void;
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
 * Milliseconds. `interval`: between two looks. `connect`: for a connection of a look. `others`: for the other servers,
 * after one has accepted writes: one of them may be a newer primary. `pause`: the least time between two looks.
 */
const times = { interval: 1000, connect: 2000, others: 500, pause: 200 };

interface Found {
  readonly server: pg.ClientConfig;
  readonly timeline: number;
}

/**
 * Keeps the newest timeline that any connection of this process has seen. PostgreSQL increases it with each promotion, so
 * a former primary has a lower one (decision 103).
 */
export function createServers(target: string | ServerFields): Servers {
  const all: readonly pg.ClientConfig[] =
    typeof target === 'string' ? urlsOfHosts(target).map((url) => ({ connectionString: url })) : [{ ...target }];
  const [first = {}] = all;
  let primary = all.length === 1 ? first : undefined;
  let newest = 0;
  let looking: Promise<void> | undefined;
  let lastLook = Number.NEGATIVE_INFINITY;
  let log: WatchLog | undefined;
  const connections = new Map<pg.ClientBase, number>();

  function learn(timeline: number): void {
    if (timeline <= newest) return;
    if (newest > 0) log?.info({ timeline, former_timeline: newest }, 'the database has a new primary');
    newest = timeline;
    for (const [client, known] of connections) {
      if (known < timeline) destroy(client, 'another server is the primary now');
    }
  }

  /** @throws NotPrimaryError */
  function demandPrimary(client: pg.ClientBase, { isWritable, timeline }: ServerState): void {
    const name = nameOf(client);
    if (!isWritable) throw new NotPrimaryError(`${name} is a standby or accepts no writes`);
    if (timeline < newest) {
      throw new NotPrimaryError(
        `${name} is a former primary: it has timeline ${timeline}, and timeline ${newest} exists. If you restored or upgraded the database, restart Postern`,
      );
    }
    learn(timeline);
  }

  async function ask(server: pg.ClientConfig): Promise<Found> {
    const client = createClient({ ...server, application_name: 'postern watch' }, times.connect);
    try {
      await client.connect();
      const state = await prepareSession(client, {});
      demandPrimary(client, state);
      return { server, timeline: state.timeline };
    } catch (error) {
      throw error instanceof NotPrimaryError ? error : new Error(`${nameOf(client)}: ${reasonOf(error)}`);
    } finally {
      client.end().catch(() => undefined);
    }
  }

  async function look(): Promise<void> {
    const found: Found[] = [];
    const requests = all.map((server) => ask(server).then((answer) => void found.push(answer)));
    try {
      await Promise.any(requests);
    } catch (error) {
      if (all.length > 1) primary = undefined;
      const reasons = error instanceof AggregateError ? error.errors.map(reasonOf) : [];
      throw new NoPrimaryError(`no server of the database accepts writes: ${reasons.join('; ')}`);
    }
    await waitAtMost(times.others, Promise.allSettled(requests));
    primary = found.find(({ timeline }) => timeline === newest)?.server ?? primary;
  }

  function lookOnce(): Promise<void> {
    looking ??= look().finally(() => {
      looking = undefined;
      lastLook = performance.now();
    });
    return looking;
  }

  return {
    fields: () => primary ?? first,
    async locate() {
      if (primary === undefined) await lookOnce();
    },
    async admit(client, settings) {
      const state = await prepareSession(client, settings);
      demandPrimary(client, state);
      connections.set(client, state.timeline);
      client.once('end', () => connections.delete(client));
    },
    suspect() {
      if (all.length > 1 && performance.now() - lastLook > times.pause) lookOnce().catch(() => undefined);
    },
    watch(watchLog) {
      log = watchLog;
      let isAway = false;
      const timer = setInterval(() => {
        lookOnce().then(
          () => {
            isAway = false;
          },
          (error: Error) => {
            if (!isAway) watchLog.warn({}, error.message);
            isAway = true;
          },
        );
      }, times.interval).unref();
      return () => clearInterval(timer);
    },
  };
}

/** A client that ends the process neither by an error nor by a server that does not answer. */
function createClient(config: pg.ClientConfig, connectWithin: number): pg.Client {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: connectWithin });
  client.on('error', () => undefined);
  return client;
}

/** The server of a connection, for people. */
const nameOf = (client: pg.ClientBase) =>
  client instanceof pg.Client ? `${client.host}:${client.port}` : 'the server';

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
