import { createHandles, type Database, mainShard, type ScopedDatabase, type Shard } from '../database.js';
import type { ShardTarget } from '../open.js';
import { createServer, nextDeadline, type Server, type ServerOptions, sumOfPools } from '../server.js';
import type { Scope, Statement } from '../sql.js';
import { traceStatements } from '../traced.js';
import type { ShardMap } from './map.js';
import { refuseWhileHanging } from './outages/hanging.js';
import { closeServer, openWhenBack, type ReturnLog } from './returning.js';
import {
  divide,
  type Router,
  refusingMoved,
  repeatMoved,
  routed,
  serverNamed,
  serverOf,
  serverOfStatement,
  serversOfSpanning,
} from './routing.js';
import { allRows, firstFound, inDistributedTransaction } from './transaction.js';

export interface ShardedDatabase {
  readonly database: Database;
  /** By their names, for the recovery of transactions. */
  readonly servers: ReadonlyMap<string, Server>;
  /** Ends the attempts to open servers that are away. */
  stopOpening(): Promise<void>;
}

interface ShardedOptions extends Omit<ServerOptions, 'target'> {
  /** With `main` first. */
  readonly targets: readonly ShardTarget[];
  readonly map: ShardMap;
  /** Those of the targets that are opened when they are back. */
  readonly away: ReadonlyMap<ShardTarget, unknown>;
  readonly log: ReturnLog;
}

/** Opens a pool for each server, and routes each statement by its scope and its user. */
export function createShardedDatabase(options: ShardedOptions): ShardedDatabase {
  const { targets, map, tracing, away, log, ...poolOptions } = options;
  const [directoryTarget] = targets;
  const stops: (() => Promise<void>)[] = [];
  const servers = new Map<string, Server>();
  for (const shard of targets) {
    const server = refuseWhileHanging(createServer({ ...poolOptions, tracing, target: shard.target }, map));
    if (directoryTarget !== undefined && away.has(shard)) {
      const closed = closeServer(server);
      stops.push(openWhenBack(directoryTarget, shard, closed, log));
      servers.set(shard.name, closed.server);
    } else servers.set(shard.name, server);
  }
  const router: Router = { map, servers };
  const main = serverNamed(servers, mainShard);
  const traced = (handle: ScopedDatabase<Scope>) => (tracing === undefined ? handle : traceStatements(handle, tracing));
  const find = (userId: string) => () => serverOf(router, userId);

  /** @param home the user whose server runs a statement that names no user */
  async function queryByScope<Row extends object>(
    statement: Statement<Row>,
    home: string | undefined,
    deadline: number,
  ): Promise<Row[]> {
    const runPart = (part: Statement<Row>, find: () => Server) =>
      routed(router, find, (server, isHere) => server.query(part, deadline, isHere));
    if (statement.scope === 'directory') return runPart(statement, () => main);
    if (statement.scope === 'user') {
      const runParts = () =>
        allRows(divide(router, statement).map((part) => runPart(part, () => serverOfStatement(router, part, home))));
      // Only statements that read are divisible, so all parts can run again.
      return statement.isDivisible === true ? repeatMoved(router, runParts) : runParts();
    }
    if (statement.scope === 'everyone') throw new Error('a statement about everyone runs on each of database.shards');
    const runParts = () => serversOfSpanning(router, statement).map((server) => runPart(statement, () => server));
    if (statement.users !== undefined) return allRows(runParts());
    const found = await firstFound(runParts());
    // A row may move to another server while the servers are read, and so be found on none. An example is a login that
    // gets its user.
    return found.length > 0 ? found : firstFound(runParts());
  }

  const spanning = traced({
    async query(statement) {
      return queryByScope(statement, undefined, nextDeadline());
    },
    transaction: (work) => inDistributedTransaction(router, undefined, work),
  });
  const user = (userId: string): ScopedDatabase<Scope> =>
    traced({
      query(statement) {
        const deadline = nextDeadline();
        return routed(router, find(userId), (server, isHere) =>
          server.runInQueue(userId, () => server.query(statement, deadline, isHere)),
        );
      },
      transaction: (work) =>
        serverOf(router, userId).runInQueue(userId, () => inDistributedTransaction(router, userId, work)),
    });
  const spanningFor = (userId: string): ScopedDatabase<Scope> =>
    traced({
      query(statement) {
        const deadline = nextDeadline();
        return serverOf(router, userId).runInQueue(userId, () => queryByScope(statement, userId, deadline));
      },
      transaction: (work) =>
        serverOf(router, userId).runInQueue(userId, () => inDistributedTransaction(router, userId, work)),
    });
  const directory: ScopedDatabase<Scope> = traced({
    query(statement) {
      const deadline = nextDeadline();
      return routed(
        router,
        () => main,
        (server) => server.query(statement, deadline),
      );
    },
    transaction: (work) => inDistributedTransaction(router, undefined, work),
  });

  const close = async () => void (await Promise.all([...servers.values()].map((server) => server.close())));
  const shards = targets.map(({ name, target }): Shard => {
    const server = serverNamed(servers, name);
    const handles = createHandles(refusingMoved(router, name, server), tracing);
    const shard: Shard = {
      name,
      target,
      ...{ user: handles.user, users: handles.all, everyone: handles.all },
      ...{ directory, spanning, spanningFor },
      shards: [],
      shardOf: () => shard,
      mapVersion: map.version,
      ...{ connections: server.connections, close },
    };
    return Object.assign(shard, { shards: [shard] });
  });
  const byName = new Map(shards.map((shard) => [shard.name, shard]));
  const shardOf = (userId: string) => serverNamed(byName, map.shardOf(userId));
  const database: Database = {
    ...{ user, users: spanning, directory, spanning, spanningFor, shards, shardOf, close },
    everyone: createHandles(main, tracing).all,
    mapVersion: map.version,
    connections: () => sumOfPools([...servers.values()].map((server) => server.connections())),
  };
  return { database, servers, stopOpening: async () => void (await Promise.all(stops.map((stop) => stop()))) };
}
