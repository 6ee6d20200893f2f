import pg from 'pg';
import { waitAtMost } from '../lib/patience.js';
import { Problem } from '../lib/problem.js';
import { instantFromPg } from '../lib/times.js';
import { createLanes } from '../lib/turnstile.js';

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

/** One SQL statement. With a name it is prepared once per connection: for hot paths. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

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

/** Milliseconds; a request must be answered within 5 s even while the database hangs. */
const timeouts = {
  ...{ statement: 5000, lockWait: 2000, poolWait: 3000, answer: 5500, idleInTransaction: 10_000 },
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

/** How columns arrive: times as RFC 3339 with microseconds, bigint as number (sequences stay below 2^53), numeric as text. */
const parsers: Partial<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.TIMESTAMPTZ]: instantFromPg,
  [pg.types.builtins.INT8]: Number,
};

const typeParsers: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    return (format === 'binary' ? undefined : parsers[oid]) ?? pg.types.getTypeParser(oid, format);
  },
};

/** Fields for `pg` that reach the target. */
export function connectionFields(target: DatabaseTarget): pg.ClientConfig {
  return typeof target === 'string' ? { connectionString: target } : target;
}

/** Opens a pool. Connections are made when they are first needed. */
export function createDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    ...connectionFields(options.target),
    max: options.size,
    types: typeParsers,
    application_name: 'postern',
    connectionTimeoutMillis: timeouts.poolWait,
    query_timeout: timeouts.answer,
    keepAlive: true,
    options: [
      '-c timezone=UTC -c datestyle=ISO -c client_min_messages=warning',
      `-c statement_timeout=${timeouts.statement} -c lock_timeout=${timeouts.lockWait}`,
      `-c idle_in_transaction_session_timeout=${timeouts.idleInTransaction}`,
    ].join(' '),
  });
  pool.on('error', options.onConnectionError);

  const lanes = createLanes({ ...lane, width: laneWidth(options.size) });
  const query: Database['query'] = (statement, values) => run(pool, statement, values);
  const transaction: Database['transaction'] = (work) => inTransaction(pool, work);
  return {
    query,
    transaction,
    lane: (userId) => ({
      query: (statement, values) => lanes(userId)(() => query(statement, values)),
      transaction: (work) => lanes(userId)(() => transaction(work)),
    }),
    close: () => waitAtMost(timeouts.close, pool.end()),
  };
}

async function inTransaction<T>(pool: pg.Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch(refuse);
  const listeners: (() => void)[] = [];
  let broken: Error | undefined;
  // A connection that dies between two statements of ours says so here; without a listener the process would exit.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  try {
    await run(client, sql('begin'));
    const result = await work({
      query: (statement, values) => run(client, statement, values),
      onCommit: (listener) => void listeners.push(listener),
    });
    await run(client, sql('commit'));
    for (const listener of listeners) listener();
    return result;
  } catch (error) {
    // On a connection that gave no answer a rollback would only wait once more.
    if (isSilence(error)) broken = error;
    else {
      await client.query('rollback').catch((failure: Error) => {
        broken = failure;
      });
    }
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

async function run<Row extends object>(
  on: pg.Pool | pg.PoolClient,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  try {
    const result = await on.query<Row>({ ...statement, values: [...values] });
    return result.rows;
  } catch (error) {
    return refuse(error);
  }
}

/**
 * Whatever keeps the database from answering is `storage_unavailable`: it must never look like "not found" or like
 * success. Errors that only our own SQL can cause (classes 22, 23, 42) stay what they are: bugs, answered with 500.
 */
function refuse(error: unknown): never {
  const state = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
  if (/^(22|23|42)/.test(state)) throw error;
  throw new Problem('storage_unavailable', { cause: error, retryAfter: 1 });
}

/** Whether a failure is the storage's: then it is no use to wait for one more statement. */
export function isStorageFailure(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'storage_unavailable';
}

/** Whether no answer came at all, not even an error of the server. */
function isSilence(error: unknown): error is Problem {
  return isStorageFailure(error) && !(error.options.cause instanceof pg.DatabaseError);
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
