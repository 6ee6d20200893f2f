import pg from 'pg';
import { waitAtMost } from '../lib/patience.js';
import { Problem } from '../lib/problem.js';
import { createLanes } from '../lib/turnstile.js';
import { type Answered, Query, type Readers, type Statement } from './query.js';

export type { Statement } from './query.js';

/** Where the database is: a connection string, or the fields of an embedded server. */
export type DatabaseTarget =
  | string
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly database: string;
      readonly password?: string;
    };

/** What queries run on: the database itself, or a transaction. Queries take it first, so signatures show transactions. */
export interface Queryable {
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

/** What queries of one transaction run on. */
export interface Transaction extends Queryable {
  /**
   * Has `listener` called when the transaction has committed, and only then; not when that is unknown, because the
   * connection broke at that moment. It must not throw.
   */
  onCommit(listener: () => void): void;
}

export interface Database extends Queryable {
  /**
   * Runs `work` in one transaction: commits when it resolves, rolls back when it throws.
   * Inside, use only the handle that is passed: the database's own would wait for a second connection.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * The same database for work that may have to wait for one user's rows: it never holds more than a few connections
   * for one user, so a row that somebody keeps locked delays that user alone.
   * @throws Problem `overloaded` when too many wait for the user already.
   */
  lane(userId: string): Pick<Database, 'query' | 'transaction'>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly target: DatabaseTarget;
  /** Connections at most. */
  readonly size: number;
  /** Hears of connections that broke while idle; the pool replaces them by itself. */
  readonly onConnectionError: (error: Error) => void;
}

/**
 * Milliseconds. A request must be answered within 5 s even while the database hangs; it gives up at the first query that
 * fails. So `answer` bounds a query with all that it waits for before, a lane and a connection, and the server ends a
 * statement by itself before that.
 */
const timeouts = {
  ...{ statement: 4000, lockWait: 2000, poolWait: 3000, answer: 4500, idleInTransaction: 10_000 },
  /** Until connections are left to themselves that do not close. */
  close: 2000,
};

/** How much of one user's work may wait for the connections that it may hold at a time, and how long. */
const lane = { length: 200, patience: 2000 };
/** Those connections: a fifth of the pool, but two where that is small. */
const laneWidth = (size: number) => Math.max(2, Math.floor(size / 5));

/** A statement that is prepared under this name. Names are unique within the service. */
export function prepared(name: string, text: string): Statement {
  return { name, text };
}

/** A statement that is planned at each use. */
export function sql(text: string): Statement {
  return { text };
}

/** Fields for `pg` that reach the target. */
export function connectionFields(target: DatabaseTarget): pg.ClientConfig {
  return typeof target === 'string' ? { connectionString: target } : target;
}

/** Opens a pool. Connections are made when they are first needed. */
export function createDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    ...connectionFields(options.target),
    max: options.size,
    application_name: 'postern',
    connectionTimeoutMillis: timeouts.poolWait,
    keepAlive: true,
    options: [
      '-c timezone=UTC -c datestyle=ISO -c client_min_messages=warning',
      `-c statement_timeout=${timeouts.statement} -c lock_timeout=${timeouts.lockWait}`,
      `-c idle_in_transaction_session_timeout=${timeouts.idleInTransaction}`,
    ].join(' '),
  });
  pool.on('error', options.onConnectionError);

  const lanes = createLanes({ ...lane, width: laneWidth(options.size) });
  const connections: Connections = { pool, readers: new Map() };
  const deadline = () => performance.now() + timeouts.answer;
  return {
    query: (statement, values) => queryOnce(connections, deadline(), statement, values),
    transaction: (work) => inTransaction(connections, deadline(), work),
    lane: (userId) => ({
      query: (statement, values) => {
        const by = deadline();
        return lanes(userId)(() => queryOnce(connections, by, statement, values));
      },
      transaction: (work) => {
        const by = deadline();
        return lanes(userId)(() => inTransaction(connections, by, work));
      },
    }),
    close: () => waitAtMost(timeouts.close, pool.end()),
  };
}

interface Connections {
  readonly pool: pg.Pool;
  readonly readers: Readers;
}

/** One query on any connection, answered or refused until `by`, a time of `performance.now()`. With callbacks: it is hot. */
function queryOnce<Row extends object>(
  { pool, readers }: Connections,
  by: number,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    pool.connect((unreached, client, release) => {
      if (client === undefined) return reject(refusal(unreached));
      client.on('error', ignore);
      const answered: Answered<Row> = (error, rows) => {
        client.off('error', ignore);
        release(error !== undefined && isFatal(error));
        if (error === undefined) resolve(rows);
        else reject(refusal(error));
      };
      client.query(new Query(readers, statement, values, Math.max(1, by - performance.now()), answered));
    });
  });
}

/** Of a connection that breaks while it is used the query hears too; without a listener the process would exit. */
const ignore = () => undefined;

/** The first query is answered or refused until `by`, each later one within the usual patience. */
async function inTransaction<T>(
  { pool, readers }: Connections,
  by: number,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch(refuse);
  const listeners: (() => void)[] = [];
  let isBroken = false;
  let isOver = false;
  const giveUp = () => {
    isBroken = true;
  };
  // A connection that dies between two statements of ours says so here.
  client.on('error', giveUp);
  let patience = Math.max(1, by - performance.now());
  const query: Queryable['query'] = <Row extends object>(statement: Statement, values: readonly unknown[] = []) =>
    new Promise<Row[]>((resolve, reject) => {
      const answered: Answered<Row> = (error, rows) => {
        if (error === undefined) return resolve(rows);
        if (isFatal(error)) giveUp();
        reject(refusal(error));
      };
      client.query(new Query(readers, statement, values, patience, answered));
      patience = timeouts.answer;
    });
  /** What comes after the end must not reach the connection: it is somebody else's by then. */
  const inside: Queryable['query'] = (statement, values) =>
    isOver ? Promise.reject(new Error('the transaction is over')) : query(statement, values);
  try {
    await query(sql('begin'));
    const result = await work({ query: inside, onCommit: (listener) => void listeners.push(listener) });
    isOver = true;
    await query(sql('commit'));
    for (const listener of listeners) listener();
    return result;
  } catch (error) {
    isOver = true;
    // On a connection that gave no answer a rollback would only wait once more.
    if (!isBroken) await query(sql('rollback')).catch(giveUp);
    throw error;
  } finally {
    client.off('error', giveUp);
    client.release(isBroken);
  }
}

/**
 * Whether a connection is not to be used again: without an error of the server nothing is known of it, and after one of
 * class 57P the server ends it.
 */
function isFatal(error: Error): boolean {
  return !(error instanceof pg.DatabaseError) || error.code?.startsWith('57P') === true;
}

/**
 * Whatever keeps the database from answering is `storage_unavailable`: it must never look like "not found" or like
 * success. Errors that only our own SQL can cause (classes 22, 23, 42) stay what they are: bugs, answered with 500.
 */
function refusal(error: unknown): unknown {
  const state = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
  if (/^(22|23|42)/.test(state)) return error;
  return new Problem('storage_unavailable', { cause: error, retryAfter: 1 });
}

function refuse(error: unknown): never {
  throw refusal(error);
}

/** Whether a failure is the storage's: then it is no use to wait for one more statement. */
export function isStorageFailure(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'storage_unavailable';
}

/**
 * A small pool for a library that runs its own SQL. Connections that break are told to `onError` and replaced; without
 * listeners on the pool and on each client, a broken one would end the process.
 */
export function createPlainPool(target: DatabaseTarget, size: number, onError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    ...connectionFields(target),
    max: size,
    application_name: 'postern queue',
    connectionTimeoutMillis: timeouts.poolWait,
    query_timeout: timeouts.answer,
    keepAlive: true,
  });
  pool.on('error', onError);
  pool.on('connect', (client) => {
    client.on('error', onError);
    endWhenSilent(client);
  });
  return pool;
}

/**
 * Gives a connection up when a query on it gets no answer in time. A library that only hears of the failed query would
 * put the connection back into the pool, to fail for the next one too.
 */
function endWhenSilent(client: pg.PoolClient): void {
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
