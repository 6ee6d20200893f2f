import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { openClient } from '../database/connections/open-client.js';
import { requestSettings } from '../database/connections/session-check.js';
import type { DatabaseTarget } from '../database/connections/target.js';

/** PostgreSQL 15, as server_version_num. */
const minServerVersion = 150_000;
/**
 * How often two connections check for a shared session: a pooler may use another connection to the server each time.
 */
const rounds = 5;
const connectTimeoutMs = 10_000;

/** Postern cannot work with this database. The message says why and what to do. */
export class UnfitDatabaseError extends Error {}

/**
 * Refuses a server that is too old, a database whose encoding or locale changes texts, and a pooler that gives the
 * session of one client to another, or keeps BEGIN for itself. Changes nothing in the database.
 * @throws UnfitDatabaseError
 */
export async function refuseUnfitDatabase(target: DatabaseTarget): Promise<void> {
  const client = await openClient(target, {
    application_name: 'postern migrate',
    connectionTimeoutMillis: connectTimeoutMs,
    settings: requestSettings,
  });
  try {
    await refuseServer(client);
    if (await isPooled(client)) await refuseSharedSessions(client, target);
    await refuseOtherSettings(client);
  } finally {
    await client.end();
  }
}

async function refuseServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number; version_text: string; encoding: string; locale: string }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as version_text,
            current_setting('server_encoding') as encoding,
            -- The column of the locale of ICU has another name since PostgreSQL 17.
            case datlocprovider when 'i' then 'ICU locale ' || coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale')
              else 'locale ' || datctype end as locale
     from pg_database d where datname = current_database()`,
  );
  const [server] = rows;
  if (server === undefined) return;
  if (server.version < minServerVersion) {
    throw new UnfitDatabaseError(`PostgreSQL ${server.version_text} is too old: Postern needs 15 or later`);
  }
  const advice = `create another database: create database … encoding 'UTF8' locale_provider libc locale 'C.UTF-8' template template0`;
  if (server.encoding !== 'UTF8') {
    throw new UnfitDatabaseError(`The database has the encoding ${server.encoding}, but Postern needs UTF8: ${advice}`);
  }
  const { rows: letterRows } = await client.query<{ are_converted: boolean }>(
    "select lower('IÄ') = 'iä' and upper('iä') = 'IÄ' as are_converted",
  );
  if (letterRows[0]?.are_converted !== true) {
    throw new UnfitDatabaseError(
      `The database has the ${server.locale}, which does not convert letters such as I and Ä between upper and lower case as Postern needs: ${advice}`,
    );
  }
}

/** Whether a pooler is between Postern and the server: a pooler reports its own process ids to its clients. */
async function isPooled(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid !== Reflect.get(client, 'processID');
}

const sharedSession = 'postern.session';

/**
 * One connection marks its session. If another connection finds the mark, or if the first connection loses its mark
 * while the other one is in a transaction, then the pooler gives one session to several clients. Refuses a pooler that
 * begins no transaction too.
 */
async function refuseSharedSessions(client: pg.Client, target: DatabaseTarget): Promise<void> {
  const other = await openSecondClient(target);
  const readMarker = async (connection: pg.Client) => {
    const { rows } = await connection.query<{ mark: string | null }>('select current_setting($1, true) as mark', [
      sharedSession,
    ]);
    return rows[0]?.mark;
  };
  try {
    for (let round = 0; round < rounds; round += 1) {
      const marker = randomBytes(8).toString('hex');
      await client.query('select set_config($1, $2, false)', [sharedSession, marker]);
      await other.query('begin');
      const isShared = (await readMarker(other)) === marker || (await readMarker(client)) !== marker;
      // This setting ends with the transaction: at once, if there is none.
      await other.query('select set_config($1, $2, true)', [sharedSession, marker]);
      const hasBegun = (await readMarker(other)) === marker;
      await other.query('rollback');
      if (isShared) throw new UnfitDatabaseError(poolerMessage);
      if (!hasBegun) throw new UnfitDatabaseError(noTransactionMessage);
    }
  } catch (error) {
    // A pooler in statement mode refuses transactions.
    if (error instanceof pg.DatabaseError) throw new UnfitDatabaseError(poolerMessage, { cause: error });
    throw error;
  } finally {
    await other.end();
  }
}

/** A pooler with few connections to the server lets the next client wait. */
async function openSecondClient(target: DatabaseTarget): Promise<pg.Client> {
  try {
    return await openClient(target, { application_name: 'postern migrate', connectionTimeoutMillis: connectTimeoutMs });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnfitDatabaseError(
      `The pooler gives Postern one connection, but no second one (${reason}). Its pool must have at least as many connections as all processes of Postern together: raise default_pool_size`,
      { cause: error },
    );
  }
}

const poolerMessage =
  'The pooler gives each transaction another session (transaction mode). Postern needs prepared statements and locks of its sessions: set pool_mode = session for this database, or connect directly';

const noTransactionMessage =
  'The pooler does not send BEGIN to the server, so a rollback would undo nothing. PgDog does this in session mode for a database with several shards or with replicas: give this database one server, or connect directly';

/** Checks that the settings of a session still apply to its next statement. */
async function refuseOtherSettings(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; value: string }>(
    'select lower(name) as name, setting || coalesce(unit, $2) as value from pg_settings where lower(name) = any($1)',
    [Object.keys(requestSettings), ''],
  );
  for (const [name, expected] of Object.entries(requestSettings)) {
    const value = rows.find((row) => row.name === name)?.value;
    // PostgreSQL adds the order of day and month to a date style.
    if (value?.startsWith(expected) !== true) {
      throw new UnfitDatabaseError(
        `The session does not keep its setting ${name} = ${expected}, but has ${value}: if a pooler is in use, set pool_mode = session for this database, or connect directly`,
      );
    }
  }
}
