import type pg from 'pg';
import { answerTimeoutMs, destroy, type MapCheck, nameWithMap, OldMapError } from './session-check.js';

/**
 * The version of the map of users with which each connection was checked last. The map says which server has the rows
 * of a user.
 */
const versions = new WeakMap<pg.ClientBase, number>();

export function recordVersion(client: pg.ClientBase, version: number): void {
  versions.set(client, version);
}

/** Whether the map of this process is newer than at the last check of a connection. */
export const needsRenewal = (client: pg.ClientBase, map: MapCheck) => versions.get(client) !== map.version();

/**
 * Checks a connection again, and writes the version of the map into its `application_name`. `postern shards move` waits
 * until every connection to the former server of a user has the new version in its name, and ends connections that do
 * not get it. Closes the connection if there is no answer.
 * @throws OldMapError
 */
export async function renewSession(client: pg.ClientBase, map: MapCheck): Promise<void> {
  const version = map.version();
  const timer = setTimeout(() => destroy(client, 'the server does not answer'), answerTimeoutMs);
  const { rows } = await client
    .query<{ needed: string }>({
      name: 'map_renewal',
      text: `select version as needed, set_config('application_name', $1, false) from shard_map`,
      values: [nameWithMap(version)],
    })
    .finally(() => clearTimeout(timer));
  const needed = Number(rows[0]?.needed ?? 0);
  if (needed > version) {
    map.onRefused();
    throw new OldMapError(oldMapMessage('the server', version, needed));
  }
  recordVersion(client, version);
}

export const oldMapMessage = (server: string, version: number, needed: number) =>
  version === 0
    ? `${server} has users that are spread over several servers: set SHARDS as on the other instances`
    : `${server} needs version ${needed} of the map of users, and this process has version ${version}`;
