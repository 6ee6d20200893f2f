import pg from 'pg';
import { createKeyedLimiter } from '../lib/concurrency-limiter.js';
import { Problem } from '../lib/problem.js';
import { waitAtMost } from '../lib/time-limit.js';
import type { Tracing } from '../lib/tracing/tracing.js';
import { needsRenewal, renewSession } from './connections/map-renewal.js';
import { poolConfig } from './connections/open-client.js';
import { type MapCheck, OldMapError, requestSettings } from './connections/session-check.js';
import { type DatabaseTarget, serversOf } from './connections/target.js';
import { type OnResult, Query, type Readers, UnreadableValue } from './query.js';
import { compose, type Statement, sql } from './sql.js';
import { type Causes, causeStatement } from './traced.js';

/** Connections of a pool by their use, and the requests that wait for one. */
export interface PoolState {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface ServerOptions {
  readonly target: DatabaseTarget;
  /** The maximum number of connections. */
  readonly size: number;
  /** Called when an idle connection breaks. The pool replaces it by itself. */
  readonly onConnectionError: (error: Error) => void;
  /** Undefined: statements are not traced. */
  readonly tracing?: Tracing | undefined;
}

/** The connections to one server. */
export interface Server {
  /**
   * Runs one statement on any connection.
   * @param deadline as a time of `performance.now()`
   * @param isHere called when the connection is open: whether the rows of the user are still on this server (see
   *   `MovedError`)
   */
  query<Row extends object>(statement: Statement<Row>, deadline: number, isHere?: () => boolean): Promise<Row[]>;
  /** Begins a transaction. Its first query must end before `deadline`. Each later query has the usual timeout. */
  begin(deadline: number, isHere?: () => boolean): Promise<OpenTransaction>;
  /** Runs work that may wait for a lock of a user, in the queue of that user. */
  runInQueue<T>(userId: string, work: () => Promise<T>): Promise<T>;
  connections(): PoolState;
  close(): Promise<void>;
}

/** A transaction on one server. Call `release` at the end, also after an error. */
export interface OpenTransaction {
  readonly query: <Row extends object>(statement: Statement<Row>) => Promise<Row[]>;
  /** The first error of a statement. PostgreSQL then answers `commit` with a rollback, and without an error. */
  failure(): { readonly error: unknown } | undefined;
  /** Whether a statement has reported rows that it wrote. False: unknown, because CTEs and functions report nothing. */
  hasReportedWrites(): boolean;
  /** @throws the first error of a statement */
  commit(): Promise<void>;
  rollback(): Promise<void>;
  release(): void;
}

/**
 * After a statement was routed to this server, the rows of its user were moved to another one, or they are being moved
 * now. The statement had no effect. It may succeed on the server that the newest map of users names.
 */
export class MovedError extends Problem {
  constructor(cause: unknown) {
    super('storage_unavailable', { cause, retryAfter: 1 });
  }
}

/**
 * Milliseconds. A request must be answered within 5 s even while the database hangs. A request fails when its first
 * query fails. So `answer` limits one query, including the time for which it waits in the user's queue and for a
 * connection. The `statement_timeout` of `requestSettings` is shorter, so the server cancels the statement before
 * `answer` ends.
 */
export const timeouts = {
  poolWait: 3000,
  answer: 4500,
  /** The time in which the connections must close when the pool ends. */
  close: 2000,
};

/** The queue of one user: how many tasks may wait for the user's connections, and for how many milliseconds. */
const userQueue = { maxWaiting: 200, timeoutMs: 2000 };
/** The number of connections that the work of one user may use: a fifth of the pool, but at least two. */
const connectionsPerUser = (size: number) => Math.max(2, Math.floor(size / 5));

const begin = compose('everyone', sql`begin`);
const commit = compose('everyone', sql`commit`);
const rollback = compose('everyone', sql`rollback`);

/** The deadline of a query that begins now. */
export const nextDeadline = () => performance.now() + timeouts.answer;

/**
 * Opens a pool. It connects when a connection is first needed.
 * @param map each new connection checks the version of the map of users, which says which server has the rows of a user
 */
export function createServer(options: ServerOptions, map: MapCheck): Server {
  const servers = serversOf(options.target);
  const pool = new pg.Pool({
    ...poolConfig(servers, requestSettings, map),
    max: options.size,
    application_name: 'postern',
    connectionTimeoutMillis: timeouts.poolWait,
    keepAlive: true,
  });
  pool.on('error', options.onConnectionError);
  // The listener is set here, because the server may end a connection before `await pool.connect()` continues. The
  // query then fails too.
  pool.on('connect', (client) => client.on('error', ignore));
  const { tracing } = options;
  const trace = tracing && { tracing, causes: new WeakMap() };
  const connections: Connections = { pool, map, readers: new Map(), onConnectFailed: servers.reportFailure, trace };
  map.onChange?.(() => renewIdle(pool, map));
  return {
    query: (statement, deadline, isHere) => queryOnce(connections, deadline, statement, isHere),
    begin: (deadline, isHere) => beginTransaction(connections, deadline, isHere),
    runInQueue: createKeyedLimiter({ ...userQueue, concurrency: connectionsPerUser(options.size) }),
    connections: () => poolState(pool),
    close: () => waitAtMost(timeouts.close, pool.end()),
  };
}

/** The connections of a pool now. */
export function poolState({ totalCount, idleCount, waitingCount }: pg.Pool): PoolState {
  return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}

/** The connections of several pools together. */
export function sumOfPools(states: readonly PoolState[]): PoolState {
  const sum = (of: keyof PoolState) => states.reduce((total, state) => total + state[of], 0);
  return { used: sum('used'), idle: sum('idle'), waiting: sum('waiting') };
}

/** The listener for errors of a connection in use. Without a listener, the process would exit. */
const ignore = () => undefined;

/** Checks the idle connections with a new map. Connections in use are checked before their next use. */
function renewIdle(pool: pg.Pool, map: MapCheck): void {
  for (let count = pool.idleCount; count > 0; count -= 1) {
    pool.connect((_error, client, release) => {
      if (client === undefined) return;
      if (!needsRenewal(client, map)) return release();
      renewSession(client, map).then(
        () => release(),
        () => release(true),
      );
    });
  }
}

interface Connections {
  readonly pool: pg.Pool;
  readonly map: MapCheck;
  readonly readers: Readers;
  /** Called when a connection could not be opened. */
  readonly onConnectFailed: () => void;
  readonly trace: { readonly tracing: Tracing; readonly causes: Causes } | undefined;
}

/**
 * Runs one query on any connection of the pool. Uses callbacks because it runs for most requests.
 * @param deadline as a time of `performance.now()`
 */
function queryOnce<Row extends object>(
  { pool, map, readers, onConnectFailed, trace }: Connections,
  deadline: number,
  statement: Statement<Row>,
  isHere?: () => boolean,
): Promise<Row[]> {
  const cause = trace?.tracing.cause();
  return new Promise((resolve, reject) => {
    pool.connect((connectError, client, release) => {
      if (client === undefined) {
        onConnectFailed();
        return reject(toProblem(connectError));
      }
      if (needsRenewal(client, map)) {
        const onRenewed = () => send(client, release);
        const onFailed = (error: unknown) => {
          release(true);
          reject(toProblem(error));
        };
        return void renewSession(client, map).then(onRenewed, onFailed);
      }
      send(client, release);
    });

    function send(client: pg.PoolClient, release: (destroys?: boolean) => void): void {
      const timeoutMs = deadline - performance.now();
      if (timeoutMs <= 0) {
        release();
        reject(toProblem(new Error(overdueMessage)));
        return;
      }
      if (isHere?.() === false) {
        release();
        reject(new MovedError(new Error(movedMessage)));
        return;
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
    }
  });
}

const overdueMessage = 'the deadline passed before the statement was sent';
const movedMessage = 'the user was moved before the statement was sent';

async function beginTransaction(
  { pool, map, readers, onConnectFailed, trace }: Connections,
  deadline: number,
  isHere?: () => boolean,
): Promise<OpenTransaction> {
  const client = await pool.connect().catch((error: unknown) => {
    onConnectFailed();
    return refuse(error);
  });
  if (needsRenewal(client, map)) {
    await renewSession(client, map).catch((error: unknown) => {
      client.release(true);
      refuse(error);
    });
  }
  let timeoutMs = deadline - performance.now();
  if (timeoutMs <= 0 || isHere?.() === false) {
    client.release();
    if (timeoutMs > 0) throw new MovedError(new Error(movedMessage));
    return refuse(new Error(overdueMessage));
  }
  let isBroken = false;
  let firstFailure: { readonly error: unknown } | undefined;
  let hasReportedWrites = false;
  const markBroken = () => {
    isBroken = true;
  };
  // Emitted when the connection breaks between two statements.
  client.on('error', markBroken);
  const query = <Row extends object>(statement: Statement<Row>) =>
    new Promise<Row[]>((resolve, reject) => {
      const onResult: OnResult<Row> = (error, rows, tag) => {
        hasReportedWrites ||= isWrite(tag);
        if (error === undefined) return resolve(rows);
        if (isFatal(error)) markBroken();
        firstFailure ??= { error: toProblem(error) };
        reject(toProblem(error));
      };
      client.query(new Query(readers, statement, timeoutMs, onResult));
      timeoutMs = timeouts.answer;
    });
  const transaction: OpenTransaction = {
    query,
    failure: () => firstFailure,
    hasReportedWrites: () => hasReportedWrites,
    async commit() {
      if (firstFailure !== undefined) throw firstFailure.error;
      await query(commit);
    },
    // A rollback on a broken connection would only wait for its own timeout.
    rollback: async () => void (isBroken || (await query(rollback).catch(markBroken))),
    release() {
      client.off('error', markBroken);
      client.release(isBroken);
    },
  };
  try {
    const setCause = trace && causeStatement(trace.causes, client, trace.tracing.cause(), undefined);
    if (setCause !== undefined) await query(setCause);
    await query(begin);
    return transaction;
  } catch (error) {
    await transaction.rollback();
    transaction.release();
    throw error;
  }
}

/** Whether a command wrote rows: `INSERT 0 1`, but not `UPDATE 0` or `SELECT 1`. */
const isWrite = (tag: string) => /^(?:INSERT|UPDATE|DELETE)/.test(tag) && !tag.endsWith(' 0');

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
  if (error instanceof OldMapError || isRefusedByMove(error)) return new MovedError(error);
  return new Problem('storage_unavailable', { cause: error, retryAfter: 1 });
}

/** Whether a trigger of `postern shards move` has refused the statement: `guard_moving_user` or `guard_moving_job`. */
const isRefusedByMove = (error: unknown) => error instanceof pg.DatabaseError && error.code === 'PM001';

function refuse(error: unknown): never {
  throw toProblem(error);
}
