import pg from 'pg';
import { Problem } from '../lib/problem.js';
import type { Tracing } from '../lib/tracing/tracing.js';
import { poolConfig } from './connections/open-client.js';
import type { MapCheck } from './connections/session-check.js';
import { type DatabaseTarget, serversOf } from './connections/target.js';
import {
  createServer,
  MovedError,
  nextDeadline,
  type OpenTransaction,
  type PoolState,
  type Server,
  type ServerOptions,
  timeouts,
} from './server.js';
import type { Scope, Statement } from './sql.js';
import { traceStatements } from './traced.js';

/**
 * Runs queries: a handle of the database, or a transaction. It accepts statements of the scope `Of`. `query` is a
 * property and not a method, because TypeScript compares methods loosely: it would accept a handle with too narrow a
 * scope.
 */
export interface Queryable<Of extends Scope> {
  readonly query: <Row extends object>(statement: Statement<Row, Of>) => Promise<Row[]>;
}

/** Runs the queries of one transaction. */
export interface Transaction<Of extends Scope> extends Queryable<Of> {
  /**
   * Calls `listener` after the transaction has committed. Does not call it if the connection breaks during the commit,
   * because the outcome is then unknown. The listener must not throw.
   */
  onCommit(listener: () => void): void;
}

/** The database for statements of one scope. */
export interface ScopedDatabase<Of extends Scope> extends Queryable<Of> {
  /**
   * Runs `work` in one transaction: commits when it resolves, rolls back when it throws.
   * In `work`, use only the handle that is passed: the handle of the database would wait for a second connection. With
   * SHARDS, `work` runs again if one of its users was moved meanwhile, so it must change nothing but rows.
   */
  readonly transaction: <T>(work: (tx: Transaction<Of>) => Promise<T>) => Promise<T>;
}

/**
 * The database of the service. Each handle is named after the rows that its statements use, and accepts only statements
 * of its scopes (see `Scope` in `sql.ts`). The names say nothing about access rights.
 */
export interface Database {
  /**
   * Rows of one user. Work that waits for a lock of that user uses at most a fifth of the connections, so it does not
   * delay other users.
   * @throws Problem `overloaded` when too many tasks already wait for this user.
   */
  user(userId: string): ScopedDatabase<'user'>;
  /**
   * Rows of several users, whom each statement names. These users must be on one shard (one server): see
   * `splitByShard`.
   */
  readonly users: ScopedDatabase<'user'>;
  /**
   * The directory: rows that belong to no user, such as identities, limits by address, API keys, idempotency keys and
   * images. With SHARDS, they are all on the server of DATABASE_URL.
   */
  readonly directory: ScopedDatabase<'directory'>;
  /**
   * Statements that know only the id of a row and not its user, or that span the directory and the rows of a user
   * (decision 75).
   */
  readonly spanning: ScopedDatabase<'user' | 'directory' | 'spanning'>;
  /**
   * Like `spanning`, but in the queue of one user: for transactions that use the directory and the rows of this user,
   * and may wait for a lock of the user (see `user`).
   */
  spanningFor(userId: string): ScopedDatabase<'user' | 'directory' | 'spanning'>;
  /**
   * The rows of everyone, that is of all users, and all other rows: admin lists, maintenance, exports. Accepts
   * statements of every scope.
   */
  readonly everyone: ScopedDatabase<Scope>;
  /**
   * The servers on which the rows of users are. Work that belongs to one server, such as a batch of statements, runs
   * once for each shard.
   */
  readonly shards: readonly Shard[];
  /** The server that has the rows of a user. It changes when the user is moved. */
  shardOf(userId: string): Shard;
  /** The version of the map of users on servers that this process has. It changes when users are moved. */
  mapVersion(): number;
  /** The connections of the pool now. */
  connections(): PoolState;
  close(): Promise<void>;
}

/**
 * One server with rows of users. `user`, `users` and `everyone` run on this server for any user, and the other handles
 * are the same as those of the whole database. Without SHARDS, the database has one shard, which is the database
 * itself.
 */
export interface Shard extends Database {
  readonly name: string;
  readonly target: DatabaseTarget;
}

/** The name of the server of DATABASE_URL. This server also has the directory (the rows that belong to no user). */
export const mainShard = 'main';

/**
 * The map check of a process without SHARDS. If users are spread over several servers, each of these servers refuses
 * this process.
 */
const noMap: MapCheck = { version: () => 0, onRefused: () => undefined };

/** Opens a pool. It connects when a connection is first needed. */
export function createDatabase(options: ServerOptions): Database {
  const server = createServer(options, noMap);
  const { all, user } = createHandles(server, options.tracing);
  const database: Shard = {
    name: mainShard,
    target: options.target,
    user,
    users: all,
    directory: all,
    spanning: all,
    spanningFor: user,
    everyone: all,
    shards: [],
    shardOf: () => database,
    mapVersion: noMap.version,
    connections: server.connections,
    close: server.close,
  };
  return Object.assign(database, { shards: [database] });
}

/** The handles of one server: `all` without a queue, and `user` in the queue of that user. */
export function createHandles(server: Server, tracing: Tracing | undefined) {
  const traced = (handle: ScopedDatabase<Scope>) => (tracing === undefined ? handle : traceStatements(handle, tracing));
  const all = traced({
    query: (statement) => server.query(statement, nextDeadline()),
    transaction: (work) => inTransaction(server, nextDeadline(), work),
  });
  const user = (userId: string): ScopedDatabase<Scope> =>
    traced({
      query: (statement) => {
        const deadline = nextDeadline();
        return server.runInQueue(userId, () => server.query(statement, deadline));
      },
      transaction: (work) => {
        const deadline = nextDeadline();
        return server.runInQueue(userId, () => inTransaction(server, deadline, work));
      },
    });
  return { all, user };
}

/** @param isHere see `Server.begin` */
async function inTransaction<T>(
  server: Server,
  deadline: number,
  work: (tx: Transaction<Scope>) => Promise<T>,
  isHere?: () => boolean,
): Promise<T> {
  const transaction = await server.begin(deadline, isHere);
  try {
    return await completeTransaction(transaction.query, () => transaction.commit(), work);
  } catch (error) {
    await transaction.rollback();
    throw error;
  } finally {
    transaction.release();
  }
}

/**
 * Runs `work` and then `commit`.
 * @param query runs the statements of `work`, until `work` ends
 */
export async function completeTransaction<T>(
  query: OpenTransaction['query'],
  commit: () => Promise<void>,
  work: (tx: Transaction<Scope>) => Promise<T>,
): Promise<T> {
  const listeners: (() => void)[] = [];
  let isOver = false;
  /** After `work` has ended, its queries must not reach the connection, because another request may already use it. */
  const queryInTransaction = <Row extends object>(statement: Statement<Row>) =>
    isOver ? Promise.reject(new Error('the transaction is over')) : query(statement);
  try {
    const result = await work({ query: queryInTransaction, onCommit: (listener) => void listeners.push(listener) });
    isOver = true;
    await commit();
    for (const listener of listeners) listener();
    return result;
  } finally {
    isOver = true;
  }
}

/**
 * Whether the error means that the database failed, so that the next statement would fail too. A `MovedError` does not
 * mean this.
 */
export function isStorageFailure(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'storage_unavailable' && !(error instanceof MovedError);
}

/**
 * A small pool for a library that runs its own SQL. It reports broken connections to `onError` and replaces them. Without
 * listeners on the pool and on each client, a broken connection would end the process.
 */
export function createPlainPool(target: DatabaseTarget, size: number, onError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    ...poolConfig(serversOf(target), {}),
    max: size,
    application_name: 'postern queue',
    connectionTimeoutMillis: timeouts.poolWait,
    query_timeout: timeouts.answer,
    keepAlive: true,
  });
  pool.on('error', (error) => {
    // pg-pool adds the client to the error, and graphile-worker would print all its fields.
    Reflect.deleteProperty(error, 'client');
    onError(error);
  });
  pool.on('connect', (client) => {
    client.on('error', onError);
    closeOnTimeout(client);
  });
  return pool;
}

/**
 * Closes a connection when a query on it gets no answer in time. Otherwise the library would return the connection to the
 * pool, and the next query would fail too.
 */
function closeOnTimeout(client: pg.PoolClient): void {
  client.query = new Proxy(client.query, {
    apply(query, self, args) {
      const result: unknown = Reflect.apply(query, self, args);
      if (result instanceof Promise) {
        result.catch((error: unknown) => {
          if (!(error instanceof pg.DatabaseError) && client instanceof pg.Client) void client.end();
        });
      }
      return result;
    },
  });
}
