import pg from 'pg';
import { createKeyedLimiter } from '../lib/concurrency-limiter.js';
import { Problem } from '../lib/problem.js';
import { waitAtMost } from '../lib/time-limit.js';
import type { Tracing } from '../lib/tracing.js';
import { poolConfig } from './connections/open-client.js';
import { requestSettings } from './connections/session-check.js';
import { type DatabaseTarget, serversOf } from './connections/target.js';
import { type OnResult, Query, type Readers, UnreadableValue } from './query.js';
import { compose, type Statement, sql } from './sql.js';
import { type Causes, causeStatement, traceStatements } from './traced.js';

/** Runs queries: the database, the queue of one user, or a transaction. */
export interface Queryable {
  readonly query: <Row extends object>(statement: Statement<Row>) => Promise<Row[]>;
}

/** Runs the queries of one transaction. */
export interface Transaction extends Queryable {
  /**
   * Calls `listener` after the transaction has committed. Does not call it if the connection breaks during the commit,
   * because the outcome is then unknown. The listener must not throw.
   */
  onCommit(listener: () => void): void;
}

/** Runs queries and transactions: the database, or the queue of one user. */
export interface Handle extends Queryable {
  /**
   * Runs `work` in one transaction: commits when it resolves, rolls back when it throws.
   * In `work`, use only the handle that is passed: the handle of the database would wait for a second connection.
   */
  readonly transaction: <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;
}

/** The database of the service. */
export interface Database extends Handle {
  /**
   * The queue of one user, or of one client address. Use it for work on that user's rows: if the work waits for a lock, it uses at most a fifth of the
   * connections, so it does not delay other users.
   * @throws Problem `overloaded` when too many tasks already wait for this user.
   */
  user(userId: string): Handle;
  /** The connections of the pool now. */
  connections(): PoolState;
  close(): Promise<void>;
}

/** Connections of a pool by their use, and the requests that wait for one. */
export interface PoolState {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface DatabaseOptions {
  readonly target: DatabaseTarget;
  /** The maximum number of connections. */
  readonly size: number;
  /** Called when an idle connection breaks. The pool replaces it by itself. */
  readonly onConnectionError: (error: Error) => void;
  /** Undefined: statements are not traced. */
  readonly tracing?: Tracing | undefined;
  /** For tests on a busy machine: the milliseconds of each limit of time instead of `timeouts`, `userQueue` and those of `requestSettings`. */
  readonly queryTimeout?: number | undefined;
}

/**
 * Milliseconds. A request must be answered within 5 s even while the database hangs. A request fails when its first
 * query fails. So `answer` limits one query, including the time for which it waits in the user's queue and for a
 * connection. The `statement_timeout` of `requestSettings` is shorter, so the server cancels the statement before
 * `answer` ends.
 */
const timeouts = {
  poolWait: 3000,
  answer: 4500,
  /** The time in which the connections must close when the pool ends. */
  close: 2000,
};

/** The queue of one user: how many tasks may wait for the user's connections, and for how many milliseconds. */
const userQueue = { maxWaiting: 200, timeoutMs: 2000 };
/** The number of connections that the work of one user may use: a fifth of the pool, but at least two. */
const connectionsPerUser = (size: number) => Math.max(2, Math.floor(size / 5));

const begin = compose(sql`begin`);
const commit = compose(sql`commit`);
const rollback = compose(sql`rollback`);

/** Opens a pool. It connects when a connection is first needed. */
export function createDatabase(options: DatabaseOptions): Database {
  const { queryTimeout: limit } = options;
  const servers = serversOf(options.target);
  const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
  const limits = limit === undefined ? {} : Object.fromEntries(names.map((name) => [name, `${limit}ms`]));
  const answerMs = limit ?? timeouts.answer;
  const pool = new pg.Pool({
    ...poolConfig(servers, { ...requestSettings, ...limits }),
    max: options.size,
    application_name: 'postern',
    connectionTimeoutMillis: limit ?? timeouts.poolWait,
    keepAlive: true,
  });
  pool.on('error', options.onConnectionError);
  // The listener is set here, because the server may end a connection before `await pool.connect()` continues. The
  // query then fails too.
  pool.on('connect', (client) => client.on('error', ignore));
  const runInQueue = createKeyedLimiter({
    ...userQueue,
    timeoutMs: limit ?? userQueue.timeoutMs,
    concurrency: connectionsPerUser(options.size),
  });
  const { tracing } = options;
  const trace = tracing && { tracing, causes: new WeakMap() };
  const connections: Connections = {
    pool,
    readers: new Map(),
    answerMs,
    onConnectFailed: servers.reportFailure,
    trace,
  };
  const traced = (handle: Handle) => (tracing === undefined ? handle : traceStatements(handle, tracing));
  const nextDeadline = () => performance.now() + answerMs;
  return {
    ...traced({
      query: (statement) => queryOnce(connections, nextDeadline(), statement),
      transaction: (work) => inTransaction(connections, nextDeadline(), work),
    }),
    user: (userId) =>
      traced({
        query: (statement) => {
          const deadline = nextDeadline();
          return runInQueue(userId, () => queryOnce(connections, deadline, statement));
        },
        transaction: (work) => {
          const deadline = nextDeadline();
          return runInQueue(userId, () => inTransaction(connections, deadline, work));
        },
      }),
    connections: () => poolState(pool),
    close: () => waitAtMost(timeouts.close, pool.end()),
  };
}

/** The connections of a pool now. */
export function poolState({ totalCount, idleCount, waitingCount }: pg.Pool): PoolState {
  return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}

/** The listener for errors of a connection in use. Without a listener, the process would exit. */
const ignore = () => undefined;

interface Connections {
  readonly pool: pg.Pool;
  readonly readers: Readers;
  /** Milliseconds for the answer to a query. */
  readonly answerMs: number;
  /** Called when a connection could not be opened. */
  readonly onConnectFailed: () => void;
  readonly trace: { readonly tracing: Tracing; readonly causes: Causes } | undefined;
}

/**
 * Runs one query on any connection of the pool. Uses callbacks because it runs for most requests.
 * @param deadline as a time of `performance.now()`
 */
function queryOnce<Row extends object>(
  { pool, readers, onConnectFailed, trace }: Connections,
  deadline: number,
  statement: Statement<Row>,
): Promise<Row[]> {
  const cause = trace?.tracing.cause();
  return new Promise((resolve, reject) => {
    pool.connect((connectError, client, release) => {
      if (client === undefined) {
        onConnectFailed();
        return reject(toProblem(connectError));
      }
      const timeoutMs = deadline - performance.now();
      if (timeoutMs <= 0) {
        release();
        return reject(toProblem(new Error(overdueMessage)));
      }
      const onResult: OnResult<Row> = (error, rows) => {
        release(error !== undefined && isFatal(error));
        if (error === undefined) resolve(rows);
        else reject(toProblem(error));
      };
      const setCause = trace && causeStatement(trace.causes, client, cause, statement);
      // If this query fails, the connection is broken, and the statement after it fails too.
      if (setCause !== undefined) client.query(new Query(readers, setCause, timeoutMs, ignore));
      client.query(new Query(readers, statement, timeoutMs, onResult));
    });
  });
}

const overdueMessage = 'the deadline passed before the statement was sent';

/** The first query ends at `deadline`, each later one has the usual timeout. */
async function inTransaction<T>(
  { pool, readers, answerMs, onConnectFailed, trace }: Connections,
  deadline: number,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    onConnectFailed();
    return refuse(error);
  });
  let timeoutMs = deadline - performance.now();
  if (timeoutMs <= 0) {
    client.release();
    return refuse(new Error(overdueMessage));
  }
  const listeners: (() => void)[] = [];
  let isBroken = false;
  let isOver = false;
  /** The first error of a statement. PostgreSQL then answers `commit` with a rollback, and without an error. */
  let firstFailure: { readonly error: unknown } | undefined;
  const markBroken = () => {
    isBroken = true;
  };
  // Emitted when the connection breaks between two statements.
  client.on('error', markBroken);
  const query = <Row extends object>(statement: Statement<Row>) =>
    new Promise<Row[]>((resolve, reject) => {
      const onResult: OnResult<Row> = (error, rows) => {
        if (error === undefined) return resolve(rows);
        if (isFatal(error)) markBroken();
        firstFailure ??= { error: toProblem(error) };
        reject(toProblem(error));
      };
      client.query(new Query(readers, statement, timeoutMs, onResult));
      timeoutMs = answerMs;
    });
  /** After `work` has ended, its queries must not reach the connection, because another request may already use it. */
  const queryInTransaction: Queryable['query'] = (statement) =>
    isOver ? Promise.reject(new Error('the transaction is over')) : query(statement);
  try {
    const setCause = trace && causeStatement(trace.causes, client, trace.tracing.cause(), undefined);
    if (setCause !== undefined) await query(setCause);
    await query(begin);
    const result = await work({ query: queryInTransaction, onCommit: (listener) => void listeners.push(listener) });
    isOver = true;
    if (firstFailure !== undefined) throw firstFailure.error;
    await query(commit);
    for (const listener of listeners) listener();
    return result;
  } catch (error) {
    isOver = true;
    // A rollback on a broken connection would only wait for its own timeout.
    if (!isBroken) await query(rollback).catch(markBroken);
    throw error;
  } finally {
    client.off('error', markBroken);
    client.release(isBroken);
  }
}

/**
 * Whether a connection must not be used again. If the error does not come from the server, the state of the connection
 * is unknown. After an error of class 57P the server closes the connection. A prepared statement with an outdated plan
 * fails each time. A server that accepts no writes (25006) is no longer the primary.
 */
function isFatal(error: Error): boolean {
  if (error instanceof UnreadableValue) return false;
  if (!(error instanceof pg.DatabaseError) || error.code === '25006') return true;
  return error.code?.startsWith('57P') === true || isOutdatedPlan(error);
}

/**
 * Whether the columns of a prepared statement have changed, as they do when a newer version migrates the schema. The
 * error has a class of programming errors (0A), but the statement is right, and works on a new connection.
 */
function isOutdatedPlan({ code, routine }: pg.DatabaseError): boolean {
  return code === '0A000' && routine === 'RevalidateCachedQuery';
}

/**
 * A failure of the database is `storage_unavailable`: it must never look like "not found" or like success. Errors of our
 * own code are not converted, so the response is 500: unreadable values, and the classes 0A (feature not supported), 22
 * (data exception), 23 (integrity constraint violation) and 42 (syntax error or access rule violation).
 */
function toProblem(error: unknown): unknown {
  const isOwnError =
    error instanceof pg.DatabaseError && /^(0A|22|23|42)/.test(error.code ?? '') && !isOutdatedPlan(error);
  if (isOwnError || error instanceof UnreadableValue) return error;
  return new Problem('storage_unavailable', { cause: error, retryAfter: 1 });
}

function refuse(error: unknown): never {
  throw toProblem(error);
}

/** Whether the error means that the database failed, so that the next statement would fail too. */
export function isStorageFailure(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'storage_unavailable';
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
