import { mainShard } from '../../../database/database.js';
import type { ShardTarget } from '../../../database/open.js';
import { bucketCount } from '../../../database/sharding/bucket.js';
import { type Io, printJson, printTable } from '../../support/io.js';
import { readServers, withServer } from './map.js';

interface ServerStatus {
  readonly name: string;
  readonly state: 'answers' | 'does not answer' | 'not added' | 'not in SHARDS' | 'is another server';
  readonly buckets: number;
  readonly moves_to_complete: number;
}

/**
 * Prints the servers, and changes nothing.
 * @param targets with `main` first
 * @returns whether each server is ready
 * @throws CommandError if the directory cannot be reached
 */
export async function printStatus(io: Io, targets: readonly ShardTarget[], json: boolean): Promise<boolean> {
  const servers = await readStatus(targets);
  if (json) printJson(io.stdout, servers);
  else {
    const share = (buckets: number) => `${((100 * buckets) / bucketCount).toFixed(1)}%`;
    printTable(io.stdout, [
      ['SERVER', 'STATE', 'BUCKETS', 'SHARE', 'MOVES TO COMPLETE'],
      ...servers.map(({ name, state, buckets, moves_to_complete: moves }) => [
        ...[name, state, `${buckets}`, share(buckets), `${moves}`],
      ]),
    ]);
  }
  return servers.every(({ state }) => state === 'answers');
}

async function readStatus(targets: readonly ShardTarget[]): Promise<ServerStatus[]> {
  const [main, ...others] = targets;
  if (main === undefined) return [];
  const { registered, installation } = await withServer(main, async (query) => {
    const [map] = await query<{ installation: string | null }>('select installation from shard_map', []);
    return { registered: await readServers(query), installation: map?.installation ?? null };
  });
  const states = new Map(
    await Promise.all(others.map(async (shard) => [shard.name, await stateOf(shard, installation)] as const)),
  );
  const rows = registered.map(({ name, buckets, moving }): ServerStatus => {
    const state = name === mainShard ? 'answers' : (states.get(name) ?? 'not in SHARDS');
    return { name, state, buckets, moves_to_complete: moving };
  });
  const added = targets.filter(({ name }) => registered.every((server) => server.name !== name));
  return [
    ...rows,
    ...added.map(({ name }) => ({ name, state: 'not added', buckets: 0, moves_to_complete: 0 }) as const),
  ];
}

async function stateOf(shard: ShardTarget, installation: string | null): Promise<ServerStatus['state']> {
  try {
    return await withServer(shard, async (query) => {
      const [map] = await query<{ isSame: boolean }>(
        'select installation = $1 and name = $2 as "isSame" from shard_map',
        [installation, shard.name],
      );
      return map?.isSame === true ? 'answers' : 'is another server';
    });
  } catch {
    return 'does not answer';
  }
}
