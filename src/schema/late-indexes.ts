import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { openClient } from '../database/connections/open-client.js';
import type { DatabaseTarget } from '../database/connections/target.js';
import type { Queryable } from '../database/database.js';
import { bound, compose, type Sql, sql } from '../database/sql.js';

/**
 * An index that no migration builds: on a large table this takes minutes, in which the table accepts no writes, or the
 * index needs an extension that the role may not install. A new index on a table that can be large goes here too.
 */
interface LateIndex {
  readonly name: string;
  readonly table: string;
  /** SQL after `on`. `{trigrams}` is the operator class of pg_trgm. */
  readonly definition: string;
}

/** SQL: the text in which a search finds users, in lower case, one value on each line. The index has this expression. */
export const searchText: Sql = sql`lower(coalesce(u.username, '') || chr(10) || coalesce(u.email, '') || chr(10)
  || coalesce(u.phone, '') || chr(10) || u.name)`;

/** The index of `searchText`. Without pg_trgm it is missing. */
export const searchIndex = 'users_by_search_text';

const lateIndexes: readonly LateIndex[] = [
  {
    name: searchIndex,
    table: 'users',
    // The pending list is short, because each search reads all of it.
    definition: `users using gin ((${searchText.texts.join('').replaceAll('u.', '')}) {trigrams})
      with (gin_pending_list_limit = 512)`,
  },
  {
    // How many codes went to numbers of a prefix.
    name: 'outbox_sms_codes',
    table: 'outbox',
    definition: "outbox (left(recipient, 7), created_at) where channel = 'sms' and sealed_code is not null",
  },
  {
    // How many pushes wait for a user, and for one device.
    name: 'push_deliveries_queued',
    table: 'push_deliveries',
    definition: "push_deliveries (user_id, device_id) where state = 'queued'",
  },
  {
    name: 'push_deliveries_held',
    table: 'push_deliveries',
    definition: "push_deliveries (user_id) where state = 'held'",
  },
  {
    name: 'step_deliveries_held',
    table: 'step_deliveries',
    definition: "step_deliveries (user_id) where state = 'held'",
  },
  {
    // The digests of a user, to find the one that had a notification.
    name: 'step_deliveries_digests',
    table: 'step_deliveries',
    definition: 'step_deliveries (user_id) where member_ids is not null',
  },
  {
    // The users with an account at a provider, for searches of operators.
    name: 'external_identities_by_subject',
    table: 'external_identities',
    definition: 'external_identities (subject)',
  },
  {
    name: 'external_identities_by_email',
    table: 'external_identities',
    definition: 'external_identities (email) where email is not null',
  },
  {
    // Guests, the oldest first: unused ones are removed.
    name: 'users_guests',
    table: 'users',
    definition: 'users (created_at, id) where is_guest',
  },
  {
    // The users with a role of the app.
    name: 'users_by_roles',
    table: 'users',
    definition: "users using gin (roles) where roles <> '[]'",
  },
  {
    // The notifications of a user that expire, to find whether one has expired since a client asked.
    name: 'notifications_expiring',
    table: 'notifications',
    definition: 'notifications (user_id, expires_at) where expires_at is not null',
  },
  {
    name: 'notifications_by_category',
    table: 'notifications',
    definition: 'notifications (user_id, category, sequence) where category is not null',
  },
  {
    // The notification that another one replaces.
    name: 'notifications_by_replace_key',
    table: 'notifications',
    definition: 'notifications (user_id, replace_key) where replace_key is not null',
  },
  {
    name: 'notification_states_snoozed',
    table: 'notification_states',
    definition: 'notification_states (user_id, snoozed_until) where snoozed_until is not null',
  },
];

/** A table with at most this many rows gets its indexes at once: writes wait for less than a second. */
const smallTableRows = 20_000;
/** The key of an advisory lock: one instance builds indexes at a time. No other lock uses this number. */
const buildLock = 7_203_415_025;

/** The result of an attempt to build the missing indexes. */
export interface IndexBuildResult {
  /** The indexes that were built. */
  readonly built: readonly string[];
  /** The indexes that are still missing. */
  readonly missing: readonly string[];
  /** Why pg_trgm could not be installed. */
  readonly installError?: Error;
}

/**
 * Builds the late indexes of empty and small tables. The migration calls it, so it must neither take long nor fail.
 * @param client the connection that holds the lock of migrations
 */
export async function buildSmallIndexes(client: pg.Client): Promise<void> {
  await installTrigrams(client);
  for (const index of await missingIndexes(client)) {
    const { rows } = await client.query(`select from ${index.table} offset ${smallTableRows} limit 1`);
    const statement = await statementOf(client, index);
    if (rows.length > 0 || statement === undefined) continue;
    await client.query("set lock_timeout = '1s'");
    // If the table is locked now, the background work builds the index later.
    await client.query(`create index if not exists ${statement}`).catch(() => undefined);
    await client.query('reset lock_timeout');
  }
}

/**
 * Builds the missing indexes without blocking writes (`create index concurrently`). An index that a crash has left invalid is removed and
 * built again. Does nothing while another instance builds.
 * @param stop ends the build; the server notices within a second
 */
export async function buildIndexes(target: DatabaseTarget, stop: AbortSignal): Promise<IndexBuildResult> {
  const client = await openClient(target, {
    application_name: 'postern indexes',
    connectionTimeoutMillis: 10_000,
    // The server checks the connection during the build, and ends the build when the connection has broken.
    settings: { statement_timeout: '0', lock_timeout: '0', client_connection_check_interval: '1000ms' },
  });
  // Not `client.end()`, which waits for the running statement.
  const disconnect = () => client.connection.stream.destroy();
  stop.addEventListener('abort', disconnect);
  try {
    stop.throwIfAborted();
    return await buildAll(client);
  } finally {
    stop.removeEventListener('abort', disconnect);
    await client.end().catch(() => undefined);
  }
}

async function buildAll(client: pg.Client): Promise<IndexBuildResult> {
  const { rows } = await client.query<{ acquired: boolean }>('select pg_try_advisory_lock($1) as acquired', [
    buildLock,
  ]);
  const missing = await missingIndexes(client);
  if (rows[0]?.acquired !== true) return { built: [], missing: missing.map(({ name }) => name) };
  const installError = await installTrigrams(client);
  const built: string[] = [];
  for (const index of missing) {
    const statement = await statementOf(client, index);
    if (statement === undefined) continue;
    await client.query(`drop index concurrently if exists ${index.name}`);
    await client.query(`create index concurrently ${statement}`);
    // Without `analyze`, the planner has no statistics of the expression.
    if (index.name === searchIndex) await client.query(`analyze ${index.table}`);
    built.push(index.name);
  }
  return {
    built,
    missing: missing.flatMap(({ name }) => (built.includes(name) ? [] : name)),
    ...(installError !== undefined && { installError }),
  };
}

/** The late indexes that do not exist, or that a crash has left invalid. */
async function missingIndexes(client: pg.Client): Promise<LateIndex[]> {
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) as name
     where not exists (select from pg_index where indisvalid and indexrelid = to_regclass(name))`,
    [lateIndexes.map(({ name }) => name)],
  );
  const missing = rows.map(({ name }) => name);
  return lateIndexes.filter(({ name }) => missing.includes(name));
}

/** @returns undefined if the index needs pg_trgm, and pg_trgm is not installed */
async function statementOf(client: pg.Client, { name, definition }: LateIndex): Promise<string | undefined> {
  if (!definition.includes('{trigrams}')) return `${name} on ${definition}`;
  const { rows } = await client.query<{ schema: string }>(
    "select quote_ident(nspname) as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'pg_trgm'",
  );
  const [extension] = rows;
  if (extension === undefined) return undefined;
  return `${name} on ${definition.replace('{trigrams}', `${extension.schema}.gin_trgm_ops`)}`;
}

/** Installs pg_trgm, a trusted extension: a role that may create schemas may install it. @returns why it failed */
async function installTrigrams(client: pg.Client): Promise<Error | undefined> {
  try {
    await client.query('create extension if not exists pg_trgm');
    return undefined;
  } catch (error) {
    if (error instanceof pg.DatabaseError) return error;
    throw error;
  }
}

/** Milliseconds until the next attempt to build missing indexes: another instance may have stopped while it built them. */
const retryPauseMs = 60_000;

export interface RunningBuild {
  stop(): Promise<void>;
}

/**
 * Builds the missing indexes in the background, and tries again until none is missing.
 * @param database asked first whether one is missing, so that most starts open no further connection
 */
export function startIndexBuild(
  { target, database }: { readonly target: DatabaseTarget; readonly database: Queryable },
  log: Pick<Logger, 'info' | 'warn'>,
  pause = retryPauseMs,
): RunningBuild {
  const stopping = new AbortController();
  const running = (async () => {
    let wasLogged = false;
    let refusal: unknown;
    while (!stopping.signal.aborted) {
      try {
        if ((await indexState(database)).missing.length === 0) return;
        const { built, missing, installError } = await buildIndexes(target, stopping.signal);
        if (built.length > 0) log.info({ indexes: built }, 'indexes were built');
        if (installError !== undefined && !wasLogged) {
          log.warn(
            { err: installError },
            'pg_trgm is missing: searches for users may be partial; see `postern doctor`',
          );
        }
        wasLogged = installError !== undefined;
        if (missing.length === 0) return;
      } catch (error) {
        const isRefused = (error as pg.DatabaseError).code === '42501';
        const text = isRefused
          ? 'indexes are missing, and the role may not build them: run `postern migrate` with the role that owns the tables'
          : 'indexes could not be built; this is tried again';
        if (!stopping.signal.aborted && !(isRefused && refusal !== undefined)) log.warn({ err: error }, text);
        refusal = isRefused ? error : undefined;
      }
      await wait(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

interface Logger {
  info(data: object, text: string): void;
  warn(data: object, text: string): void;
}

/** The state of the late indexes. */
export interface IndexState {
  readonly isMigrated: boolean;
  /** The late indexes that are not built. */
  readonly missing: readonly string[];
  /** Whether pg_trgm is installed. */
  readonly hasTrigrams: boolean;
}

/** Reads the state. Changes nothing. */
export async function indexState(handle: Queryable): Promise<IndexState> {
  const names = lateIndexes.map(({ name }) => name);
  const [state] = await handle.query(
    compose<{ missing: string[]; trigrams: boolean; migrated: boolean }>(
      sql`select array(select name from unnest(${bound(names)}::text[]) as name
                       where not exists (select from pg_index where indisvalid and indexrelid = to_regclass(name))) as missing,
            exists (select from pg_extension where extname = 'pg_trgm') as trigrams,
            to_regclass('users') is not null as migrated`,
    ),
  );
  return {
    isMigrated: state?.migrated === true,
    missing: state?.missing ?? names,
    hasTrigrams: state?.trigrams === true,
  };
}
