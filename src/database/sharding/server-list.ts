import { type Database, isStorageFailure, mainShard, type Queryable, type Shard } from '../database.js';
import { readSchemaState } from '../schema-state.js';
import { directoryStatement, everyoneStatement, literal, sql } from '../sql.js';
import { type DatabaseState, readDatabaseState } from '../state.js';
import { bucketCount } from './bucket.js';

/** A server as the directory knows it. */
interface RegisteredServer {
  readonly name: string;
  readonly buckets: number;
  readonly moves_to_complete: number;
}

/** What a server that answers says about itself. */
interface OwnState extends Pick<DatabaseState, 'version' | 'bytes' | 'connections' | 'max_connections' | 'tables'> {
  readonly users: number;
  readonly pending_migrations: number;
}

/** One of several servers. */
export interface ListedServer extends RegisteredServer {
  /** Undefined if it does not answer, or if SHARDS of this process does not name it. */
  readonly state: OwnState | undefined;
}

const selectRegistered = directoryStatement<{ main: string }, RegisteredServer>(
  'shards_list',
  (p) => sql`
  with counted as (select shard, count(*)::int as buckets from shard_buckets where shard <> ${p.main} group by 1),
  moving as (select target, count(*)::int as buckets from shard_moves group by 1)
  select s.name,
         case s.name when ${p.main}
           then ${literal(bucketCount)} - (select coalesce(sum(buckets), 0) from counted)::int
           else coalesce(c.buckets, 0) end as buckets,
         coalesce(m.buckets, 0) as moves_to_complete
  from shards s left join counted c on c.shard = s.name left join moving m on m.target = s.name
  order by s.name <> ${p.main}, s.name`,
);

/** For a large table, the estimate that PostgreSQL stored when it last analysed the table. A small table is counted. */
const countUsers = everyoneStatement<Record<never, never>, { users: number }>(
  'shard_users',
  () => sql`
  select case when reltuples >= 10000 then reltuples::float8
              else (select count(*) from (select from users limit 100000) counted)::float8 end as users
  from pg_class where oid = 'users'::regclass`,
);

/** The servers that the users are spread over, that of the directory first. Without SHARDS, the list is empty. */
export async function listServers(database: Pick<Database, 'directory' | 'shards'>): Promise<ListedServer[]> {
  const { shards, directory } = database;
  if (shards.length === 1) return [];
  const known = new Map(shards.map((shard) => [shard.name, shard]));
  const registered = await directory.query(selectRegistered({ main: mainShard }));
  return Promise.all(
    registered.map(async (server) => {
      const shard = known.get(server.name);
      return { ...server, state: shard && (await readState(shard)) };
    }),
  );
}

async function readState({ everyone }: Shard): Promise<OwnState | undefined> {
  try {
    return await readAnsweringState(everyone);
  } catch (error) {
    if (isStorageFailure(error)) return undefined;
    throw error;
  }
}

async function readAnsweringState(handle: Queryable<'everyone'>): Promise<OwnState> {
  const [{ version, bytes, connections, max_connections, tables }, { pending }, [counted]] = await Promise.all([
    readDatabaseState(handle),
    readSchemaState(handle),
    handle.query(countUsers({})),
  ]);
  const load = { version, bytes, connections, max_connections, tables };
  return { ...load, users: counted?.users ?? 0, pending_migrations: pending.length };
}
