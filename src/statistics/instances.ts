import type { Instance } from '../contract/operation/system.js';
import type { Handle } from '../database/database.js';
import { sql, statement } from '../database/sql.js';

/** A process that was not seen for this time is lost. A process without counts is seen every 30 seconds. */
const lostAfter = sql`interval '90 seconds'`;

/** SQL: whether a row of `instances` is that of a process that is not lost. */
export const isSeen = sql`seen_at >= db_now() - ${lostAfter}`;

const selectInstances = statement<{ self: string }, Instance>(
  'instances_list',
  (p) => sql`
  select id, host, process_id, worker, version, node, streams, id = ${p.self}::uuid as is_self,
         not ${isSeen} as is_lost, started_at, seen_at
  from instances order by started_at, id`,
);

/** The processes on this database, the oldest first. @param self the id of this process */
export function listInstances(database: Handle, self: string): Promise<Instance[]> {
  return database.query(selectInstances({ self }));
}
