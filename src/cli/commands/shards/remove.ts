import { mainShard } from '../../../database/database.js';
import type { ShardTarget } from '../../../database/open.js';
import { CommandError } from '../../support/failure.js';
import { type Io, printLine } from '../../support/io.js';
import { readServers, withServer } from './map.js';

/**
 * Removes a server without buckets from the directory.
 * @param targets with `main` first
 * @throws CommandError
 */
export async function remove(io: Io, [main, ...others]: readonly ShardTarget[], name: string): Promise<void> {
  if (main === undefined || name === mainShard) throw new CommandError('The server of DATABASE_URL cannot be removed.');
  for (const shard of [main, ...others]) {
    const text = `select from pg_prepared_xacts where database = current_database() and gid like 'postern:%:' || $1 || ':%'`;
    const undecided = await withServer(shard, (query) => query(text, [name]));
    if (undecided.length > 0) {
      throw new CommandError(`A transaction waits for the server ${name}: start Postern, and try again in a minute.`);
    }
  }
  await withServer(main, async (query) => {
    const servers = await readServers(query);
    const server = servers.find((each) => each.name === name);
    if (server === undefined) throw new CommandError(`There is no server ${name}.`);
    if (server.buckets > 0) {
      throw new CommandError(`The server ${name} has ${server.buckets} buckets: move them to other servers first.`);
    }
    const moves = await query('select from shard_moves where $1 in (source, target) limit 1', [name]);
    if (moves.length > 0) {
      throw new CommandError(
        `A move from or to the server ${name} is not complete: run \`postern shards move\` again first.`,
      );
    }
    if (servers.length === 2) {
      throw new CommandError('The last further server cannot be removed: leave it in SHARDS, without buckets.');
    }
    // The foreign keys of the table refuse this while the server has a bucket, or a bucket moves to it.
    await query('delete from shards where name = $1', [name]);
  });
  printLine(io.stdout, `Removed ${name}. Now remove it from SHARDS on all instances, and restart them.`);
}
