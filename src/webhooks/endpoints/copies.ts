import { type Database, isStorageFailure, mainShard, type Queryable, type Shard } from '../../database/database.js';
import type { MaintenanceTask } from '../../database/maintenance/tasks.js';
import { partOn } from '../../database/sharding/routing.js';
import { allRows } from '../../database/sharding/transaction.js';
import { directoryStatement, everyoneStatement, sql } from '../../database/sql.js';

/**
 * Changes of endpoints run one after the other, so that each counts and copies the endpoints of the earlier ones. No
 * other lock uses this number.
 */
export const lockEndpoints = directoryStatement<object>(
  'webhooks_lock',
  () => sql`select pg_advisory_xact_lock(7203415044)`,
);

/** What a server needs to record events: a copy has no address and no secret. */
const readAll = directoryStatement<object, { endpoints: string }>(
  'webhook_endpoints_copied',
  () => sql`
  select coalesce(json_agg(json_build_object('id', id, 'events', events, 'filter', filter,
    'has_inbox_events', has_inbox_events, 'enabled', enabled, 'created_at', created_at) order by id), '[]')::text as endpoints
  from webhook_endpoints`,
);

const writeAll = everyoneStatement<{ endpoints: string }>(
  'webhook_endpoints_copy',
  (p) => sql`
  with given as materialized (select * from json_populate_recordset(null::webhook_endpoints, ${p.endpoints}::json)),
  removed as (delete from webhook_endpoints where id not in (select id from given)),
  replays as (delete from webhook_replays where endpoint_id not in (select id from given))
  insert into webhook_endpoints (id, url, description, events, filter, payload, has_inbox_events, enabled, secret,
                                 created_at, updated_at)
  select id, '', '', events, filter, 'thin', has_inbox_events, enabled, '', created_at, db_now() from given
  on conflict (id) do update
  set events = excluded.events, filter = excluded.filter, has_inbox_events = excluded.has_inbox_events,
      enabled = excluded.enabled, updated_at = excluded.updated_at`,
);

const othersOf = ({ shards }: Pick<Database, 'shards'>) => shards.filter(({ name }) => name !== mainShard);

/**
 * Copies the endpoints to the other servers, in the transaction that changes one in the directory. So every server records
 * the events of a new endpoint when the request is answered. The lock puts these transactions into an order.
 * @param options.skipsFailed leaves out a server that does not answer. Only for an endpoint that is deleted or disabled: the
 *   directory decides whether an event is sent, and `endpointCopiesTask` completes the copy later.
 * @throws Problem `storage_unavailable`
 */
export async function copyEndpoints(
  database: Pick<Database, 'shards'>,
  tx: Queryable<'directory'>,
  { skipsFailed }: { readonly skipsFailed: boolean },
): Promise<void> {
  await copyTo(othersOf(database), tx, (error) => {
    if (skipsFailed && isStorageFailure(error)) return [];
    throw error;
  });
}

async function copyTo(servers: readonly Shard[], tx: Queryable<'directory'>, onError: (error: unknown) => object[]) {
  if (servers.length === 0) return;
  await tx.query(lockEndpoints({}));
  const [row] = await tx.query(readAll({}));
  const statement = writeAll({ endpoints: row?.endpoints ?? '[]' });
  await allRows(servers.map((server) => partOn(tx, server).query(statement).catch(onError)));
}

/** Copies the endpoints to a server whose copy differs: a new one, or one that did not answer when an endpoint was deleted. */
async function repairCopy(database: Pick<Database, 'directory'>, server: Shard): Promise<void> {
  const [expected] = await database.directory.query(readAll({}));
  const [found] = await server.everyone.query(readAll({}));
  if (found?.endpoints === expected?.endpoints) return;
  await database.directory.transaction((tx) =>
    copyTo([server], tx, (error) => {
      throw error;
    }),
  );
}

/** Repairs the copies of all servers. @throws the first error, at the end */
export async function repairEndpointCopies(database: Database): Promise<void> {
  await allRows(othersOf(database).map(async (server) => repairCopy(database, server).then(() => [])));
}

/** The task that compares the copy of a server with the directory. */
export function endpointCopiesTask(database: Database, server: Shard): MaintenanceTask {
  return {
    name: 'copy webhooks',
    pauseMs: 60_000,
    async step() {
      await repairCopy(database, server);
      return { removed: 0 };
    },
  };
}
