import pg from 'pg';

/** The settings of a session in PostgreSQL, by name. */
export type SessionSettings = Readonly<Record<string, string>>;

/** The settings of connections for requests. The answer to a request must not take longer than 5 s. */
export const requestSettings: SessionSettings = {
  timezone: 'UTC',
  datestyle: 'ISO',
  client_min_messages: 'warning',
  statement_timeout: '4000ms',
  lock_timeout: '2000ms',
  idle_in_transaction_session_timeout: '10000ms',
  // PostgreSQL expects far too many rows of arrays, and would compile such a statement for a second.
  jit: 'off',
};

/**
 * The settings of every connection, which replace limits of a role or database: such a limit would end the connections that
 * wait for jobs and signals, or a long migration. The server ends a session within about 15 s if the machine of its client has
 * vanished, or a firewall has forgotten the connection. By default this takes two hours, and the session keeps its locks.
 * These settings do nothing on a unix socket.
 */
const commonSettings: SessionSettings = {
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  default_transaction_isolation: 'read committed',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '2',
  tcp_user_timeout: '15000',
};

/** Ends the limit of the role before the next statement begins, which a limit of few milliseconds would cancel. */
const endStatementLimit = 'set statement_timeout = 0';

/** SQL. PostgreSQL 17 has one more limit. */
const endTransactionLimit = `case when current_setting('server_version_num')::int >= 170000
  then set_config('transaction_timeout', '0', false) end`;

/** What a server says about itself on a new connection. */
export interface ServerState {
  /** Whether it is a primary, and transactions may write. */
  readonly isWritable: boolean;
  readonly isStandby: boolean;
  /** The timeline: the number of the server's history. A promotion increases it. 0 on a standby. */
  readonly timeline: number;
}

/** Milliseconds for the answer to the first statement of a connection. */
const answerTimeoutMs = 2000;

/**
 * SQL. The name of a WAL file starts with the timeline, in hexadecimal digits. A standby refuses to run some of these
 * functions, so `case` skips them there.
 */
const stateColumns = `pg_is_in_recovery() as is_standby, current_setting('transaction_read_only') = 'on' as read_only,
  case when pg_is_in_recovery() then '0' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;

/**
 * Sets the settings of the session and reads the state of the server, in one message. It does not use the startup
 * parameter `options`, because PgBouncer refuses it. Closes the connection if there is no answer.
 */
export async function prepareSession(client: pg.ClientBase, settings: SessionSettings): Promise<ServerState> {
  const settingColumns = Object.entries({ ...commonSettings, ...settings }).map(
    ([name, value]) => `set_config('${name}', '${value}', false)`,
  );
  const text = `${endStatementLimit}; select ${[stateColumns, ...settingColumns, endTransactionLimit].join(', ')}`;
  const timer = setTimeout(() => destroy(client, 'the server does not answer'), answerTimeoutMs);
  try {
    // Several statements have several results.
    const results: unknown = await client.query(text);
    const [, { rows }] = results as [unknown, pg.QueryResult<StateRow>];
    const [row] = rows;
    return {
      isWritable: row?.is_standby === false && !row.read_only,
      isStandby: row?.is_standby === true,
      timeline: Number.parseInt(row?.timeline ?? '0', 16),
    };
  } finally {
    clearTimeout(timer);
  }
}

interface StateRow {
  readonly is_standby: boolean;
  readonly read_only: boolean;
  readonly timeline: string;
}

/** Closes a connection at once. Its running statement fails. */
export function destroy(client: pg.ClientBase, reason: string): void {
  if (client instanceof pg.Client) client.connection.stream.destroy(new Error(reason));
}
