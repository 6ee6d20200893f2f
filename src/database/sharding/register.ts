import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { openClient } from '../connections/open-client.js';
import { UnfitDatabaseError } from '../connections/suitability.js';
import { mainShard } from '../database.js';
import type { ShardTarget } from '../open.js';
import { bucketCount, fixedBucket } from './bucket.js';

/** The key of an advisory lock in the directory: any fixed number. Instances that start together run one after the other. */
const registrationLock = 7_203_415_002;

interface Identity {
  readonly installation: string | null;
  readonly name: string | null;
}

/**
 * Registers the servers of SHARDS in the directory, and checks that each is the server that it was before. In an
 * installation without users, it spreads the buckets evenly. Otherwise a new server gets users by `postern shards move`.
 * @param away the servers that do not answer. They must be registered already
 * @throws UnfitDatabaseError
 */
export async function registerShards(
  main: ShardTarget,
  others: readonly ShardTarget[],
  away: ReadonlyMap<ShardTarget, unknown>,
): Promise<void> {
  const directory = await connect(main);
  try {
    await refuseWithoutPreparedTransactions(directory, main);
    await directory.query('select pg_advisory_lock($1)', [registrationLock]);
    const { rows: registered } = await directory.query<{ name: string }>('select name from shards');
    const unknown = registered.find(({ name }) => [main, ...others].every((shard) => shard.name !== name));
    if (unknown !== undefined) {
      throw new UnfitDatabaseError(`Users may be on the server ${unknown.name}, and SHARDS does not name it: add it`);
    }
    for (const [{ name }, error] of away) {
      if (registered.every((shard) => shard.name !== name)) refuseNewServer(name, error);
    }
    const installation = await identify(directory, main, undefined);
    for (const shard of others) if (!away.has(shard)) await registerOne(shard, installation);
    await addToMap(
      directory,
      [main, ...others].map(({ name }) => name),
    );
  } finally {
    await directory.end();
  }
}

/** A server that is registered may have users, and they wait for it. A new one that does not answer may have a wrong address. */
function refuseNewServer(name: string, error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new UnfitDatabaseError(
    `The server ${name} of SHARDS is new, and cannot be used (${reason}): check its address, or remove it from SHARDS`,
    { cause: error },
  );
}

/** Checks a server that answers again, as the start of the process would have done. @throws UnfitDatabaseError */
export async function registerReturned(main: ShardTarget, shard: ShardTarget): Promise<void> {
  const directory = await connect(main);
  try {
    await registerOne(shard, await identify(directory, main, undefined));
  } finally {
    await directory.end();
  }
}

const connect = ({ target }: ShardTarget) =>
  openClient(target, { application_name: 'postern migrate', connectionTimeoutMillis: 10_000 });

async function registerOne(shard: ShardTarget, installation: string): Promise<void> {
  const client = await connect(shard);
  try {
    await refuseWithoutPreparedTransactions(client, shard);
    await identify(client, shard, installation);
  } finally {
    await client.end();
  }
}

/**
 * Checks the name and the installation of a database, and stores them if it has none yet.
 * @param expected undefined for the directory, which may get a new installation
 * @returns the installation
 */
async function identify(client: pg.Client, { name }: ShardTarget, expected: string | undefined): Promise<string> {
  const { rows } = await client.query<Identity>('select installation, name from shard_map');
  const [known] = rows;
  if (known?.installation == null) {
    const { rows: users } = await client.query('select from users limit 1');
    if (expected !== undefined && users.length > 0) {
      throw new UnfitDatabaseError(`The database of ${name} in SHARDS has users already: it must be new and empty`);
    }
    const installation = expected ?? randomUUID();
    await client.query('update shard_map set installation = $1, name = $2', [installation, name]);
    return installation;
  }
  if (known.name !== name) {
    const where = name === mainShard ? 'DATABASE_URL' : `${name} in SHARDS`;
    throw new UnfitDatabaseError(`The database of ${where} is the server ${known.name}: check the addresses`);
  }
  if (expected !== undefined && known.installation !== expected) {
    throw new UnfitDatabaseError(`The database of ${name} in SHARDS belongs to another installation of Postern`);
  }
  return known.installation;
}

/** Adds the servers that are new. Without users, every server gets the same number of buckets. */
async function addToMap(directory: pg.Client, names: readonly string[]): Promise<void> {
  await directory.query('begin');
  const { rows: added } = await directory.query(
    'insert into shards (name) select unnest($1::text[]) on conflict do nothing returning name',
    [names],
  );
  const { rows: used } = await directory.query(
    'select from users union all select from shard_buckets union all select from shard_map where version > 0 limit 1',
  );
  if (added.length > 0 && used.length === 0) {
    await directory.query(
      `insert into shard_buckets (bucket, shard)
       select bucket, ($1::text[])[1 + bucket % $2::int] from generate_series(0, $3::int - 1) bucket
       where bucket % $2::int > 0 and bucket <> $4`,
      [names, names.length, bucketCount, fixedBucket],
    );
    await directory.query('update shard_map set version = 1');
  }
  await directory.query('commit');
  if (added.length === 0) return;
  // A process without SHARDS would create users on `main` only. So its connections are ended, and it cannot open new ones.
  await directory.query(
    `select pg_terminate_backend(pid) from pg_stat_activity, shard_map
     where application_name = 'postern' and datname = current_database() and version > 0`,
  );
}

/** A transaction over several servers is prepared on all but one of them. */
async function refuseWithoutPreparedTransactions(client: pg.Client, { name }: ShardTarget): Promise<void> {
  const { rows } = await client.query<{ max: number }>(
    `select current_setting('max_prepared_transactions')::int as max`,
  );
  if (rows[0]?.max !== 0) return;
  const where = name === mainShard ? 'The server of DATABASE_URL' : `The server ${name} of SHARDS`;
  throw new UnfitDatabaseError(
    `${where} has max_prepared_transactions = 0, and transactions over several servers need it: set it to at least 100, and restart that PostgreSQL`,
  );
}
