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

/** What a server says about itself on a new connection. */
export interface ServerState {
  /** Whether it is a primary, and transactions may write. */
  readonly isWritable: boolean;
  /** The timeline: the number of the server's history. A promotion increases it. 0 on a standby. */
  readonly timeline: number;
  /** The lowest version of the map of users that the server accepts from a process. 0 if it was not read. */
  readonly mapVersion: number;
}

/** The map of users on servers, as a new connection checks it. */
export interface MapCheck {
  /** The version that this process has. 0: it knows no map. */
  version(): number;
  /** Called when a server has refused this version. */
  onRefused(): void;
  /** Calls the listener after each change of the version. Absent: the process has no SHARDS. */
  onChange?(listener: () => void): void;
}

/** This process has an older map of users than the server, so it could read or write at the wrong place. */
export class OldMapError extends Error {}

/** Milliseconds for the answer to a statement that checks a connection. */
export const answerTimeoutMs = 2000;

/**
 * SQL. The name of a WAL file starts with the timeline, in hexadecimal digits. A standby refuses to run some of these
 * functions, so `case` skips them there.
 */
const stateColumns = `pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as read_only,
  case when pg_is_in_recovery() then '0' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;

/** SQL. */
const mapColumn = '(select version from shard_map) as map_version';

/** undefined_table */
const missingTableCode = '42P01';

interface StateRow {
  readonly read_only: boolean;
  readonly timeline: string;
  readonly map_version?: string | null;
}

/**
 * Sets the settings of the session and reads the state of the server, in one statement. It does not use the startup
 * parameter `options`, because PgBouncer refuses it. Closes the connection if there is no answer.
 * @param readsMap whether to read the server's version of the map of users too. A database that is not migrated yet has
 *   no version.
 */
export async function prepareSession(
  client: pg.ClientBase,
  settings: SessionSettings,
  readsMap = false,
): Promise<ServerState> {
  const settingColumns = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`);
  const columns = [stateColumns, ...settingColumns];
  const read = (texts: readonly string[]) => client.query<StateRow>(`select ${texts.join(', ')}`);
  const timer = setTimeout(() => destroy(client, 'the server does not answer'), answerTimeoutMs);
  try {
    const { rows } = await (readsMap
      ? read([...columns, mapColumn]).catch((error: { readonly code?: string }) => {
          if (error.code === missingTableCode) return read(columns);
          throw error;
        })
      : read(columns));
    const [row] = rows;
    return {
      isWritable: row?.read_only === false,
      timeline: Number.parseInt(row?.timeline ?? '0', 16),
      mapVersion: Number(row?.map_version ?? 0),
    };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The `application_name` of a connection that was last checked with this version of the map of users. Connections of
 * processes without SHARDS keep the name `postern`.
 */
export const nameWithMap = (version: number) => `postern map ${version}`;

/** Closes a connection at once. Its running statement fails. */
export function destroy(client: pg.ClientBase, reason: string): void {
  if (client instanceof pg.Client) client.connection.stream.destroy(new Error(reason));
}
