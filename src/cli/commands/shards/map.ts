import { openClient } from '../../../database/connections/open-client.js';
import { mainShard } from '../../../database/database.js';
import type { ShardTarget } from '../../../database/open.js';
import { bucketCount } from '../../../database/sharding/bucket.js';
import { CommandError } from '../../support/failure.js';

export type Query = <Row>(text: string, values: unknown[]) => Promise<Row[]>;

/** Runs queries on a server. @throws CommandError that names the server, if it cannot be reached */
export async function withServer<T>({ name, target }: ShardTarget, work: (query: Query) => Promise<T>): Promise<T> {
  const options = { application_name: 'postern shards', connectionTimeoutMillis: 5000 };
  const client = await openClient(target, options).catch((error: unknown) => {
    const [reason = error] = error instanceof AggregateError ? error.errors : [];
    const where = name === mainShard ? 'The server of DATABASE_URL' : `The server ${name}`;
    throw new CommandError(`${where} cannot be reached: ${(reason as Error).message}`);
  });
  try {
    return await work(async (text, values) => (await client.query(text, values)).rows as never);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The number of buckets of each server, and of the buckets that are being moved to it. */
export const readServers = (query: Query) =>
  query<{ readonly name: string; readonly buckets: number; readonly moving: number }>(
    `select s.name, count(b.bucket)::int as buckets,
            (select count(*)::int from shard_moves m where m.target = s.name) as moving
     from shards s left join (
       select bucket, coalesce(shard, $1) as shard from generate_series(0, $2::int - 1) bucket
       left join shard_buckets using (bucket)) b on b.shard = s.name
     group by s.name order by s.name <> $1, s.name`,
    [mainShard, bucketCount],
  );

/**
 * Chooses the buckets to move to the server `to`, so that it then has this share of all. It takes each from the server
 * that has the most buckets left.
 *
 * @param share in percent
 */
export async function chooseBuckets(query: Query, to: string, share: number): Promise<number[]> {
  const rows = await query<{ bucket: number; shard: string }>(
    `select bucket, coalesce(shard, $1) as shard from generate_series(0, $2::int - 1) bucket
     left join shard_buckets using (bucket) order by bucket`,
    [mainShard, bucketCount],
  );
  const ownCount = rows.filter(({ shard }) => shard === to).length;
  const neededCount = Math.round((bucketCount * share) / 100) - ownCount;
  const groups = new Map<string, number[]>();
  for (const { bucket, shard } of rows) if (shard !== to) groups.set(shard, [...(groups.get(shard) ?? []), bucket]);
  const chosen: number[] = [];
  while (chosen.length < neededCount) {
    const [largest] = [...groups.values()].sort((a, b) => b.length - a.length);
    const bucket = largest?.pop();
    if (bucket === undefined) break;
    chosen.push(bucket);
  }
  return chosen;
}
