import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { openClient } from '../connections/open-client.js';
import { UnfitDatabaseError } from '../connections/suitability.js';
import { mainShard } from '../database.js';
import type { ShardTarget } from '../open.js';
import { bucketCount, fixedBucket } from './bucket.js';

/**
 * The key of an advisory lock in the directory. Instances that start together run one after the other. No other lock uses this
 * number.
 */
const registrationLock = 7_203_415_056;

/** Milliseconds in which PostgreSQL ends connections. */
const endMs = 10_000;

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
    for (const shard of others) if (!away.has(shard)) await registerOne(directory, shard, installation);
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
    await registerOne(directory, shard, await identify(directory, main, undefined));
  } finally {
    await directory.end();
  }
}

const connect = ({ target }: ShardTarget) =>
  openClient(target, { application_name: 'postern migrate', connectionTimeoutMillis: 10_000 });

async function registerOne(directory: pg.Client, shard: ShardTarget, installation: string): Promise<void> {
  const { rows: buckets } = await directory.query('select from shard_buckets where shard = $1 limit 1', [shard.name]);
  const client = await connect(shard);
  try {
    await refuseWithoutPreparedTransactions(client, shard);
    if (buckets.length > 0) await refuseEmpty(client, shard);
    await identify(client, shard, installation);
  } finally {
    await client.end();
  }
}

/** A database that was lost and created again, for example: its users would seem not to exist. */
async function refuseEmpty(client: pg.Client, { name }: ShardTarget): Promise<void> {
  const { rows } = await client.query('select from shard_map where installation is not null');
  if (rows.length > 0) return;
  throw new UnfitDatabaseError(
    `The database of ${name} in SHARDS is empty, but the server ${name} has users: check its address, or restore its data`,
  );
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

/**
 * Adds the servers that are new. If no server was registered before and there is no user, every server gets the same number
 * of buckets. A process without SHARDS would create users on `main` only, so it must not be able to do so any more when the
 * buckets are spread.
 */
async function addToMap(directory: pg.Client, names: readonly string[]): Promise<void> {
  const hasRow = async (text: string) => (await directory.query(`${text} limit 1`)).rows.length > 0;
  const isNew = !(await hasRow('select from shards union all select from users'));
  if (isNew) {
    // From now on, a process without SHARDS can open no connection.
    await directory.query('update shard_map set version = greatest(version, 1)');
    await endConnectionsWithoutMap(directory);
  }
  await directory.query('begin');
  await directory.query('insert into shards (name) select unnest($1::text[]) on conflict do nothing', [names]);
  if (isNew && !(await hasRow('select from users'))) {
    await directory.query(
      `insert into shard_buckets (bucket, shard)
       select bucket, ($1::text[])[1 + bucket % $2::int] from generate_series(0, $3::int - 1) bucket
       where bucket % $2::int > 0 and bucket <> $4`,
      [names, names.length, bucketCount, fixedBucket],
    );
    await directory.query('update shard_map set version = version + 1');
  }
  await directory.query('commit');
}

/** Ends the connections of processes without SHARDS, and waits until the last transaction on them has ended. */
async function endConnectionsWithoutMap(directory: pg.Client): Promise<void> {
  const { rows: ended } = await directory.query<{ pid: number }>(
    `select pid, pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'postern' and datname = current_database()`,
  );
  const pids = ended.map(({ pid }) => pid);
  const isLeft = async () =>
    (await directory.query('select from pg_stat_activity where pid = any ($1)', [pids])).rows.length > 0;
  const end = performance.now() + endMs;
  while (await isLeft()) {
    if (performance.now() > end) {
      throw new UnfitDatabaseError('PostgreSQL does not end the connections of processes without SHARDS: stop them');
    }
    await wait(10);
  }
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
