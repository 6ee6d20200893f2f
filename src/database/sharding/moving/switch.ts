import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { listMigrations } from '../../schema-state.js';
import { copyUsers, takeChanged, usersOf } from './copy.js';
import { inTransaction, isLockFailure, lockClass, lockTimeout } from './guard.js';
import { BusyError, findWork, packLuggage, unpackLuggage } from './luggage.js';
import { MoveError, type MoveTimes, type Planned, type Servers } from './move-options.js';
import { excludeReplays } from './replays.js';
import { refuseUnsealed } from './seals.js';

/**
 * Milliseconds that copying the changed users should take at most: the writes of the bucket are stopped during the last
 * copy.
 */
const shortCopy = 100;
/** Milliseconds between two checks for old connections. */
const poll = 10;
/** Every fifth attempt waits for the lock of the bucket, and writers wait behind it. The other attempts do not wait. */
const waitingAttempt = 5;

/**
 * Copies a bucket into an open transaction of the target, where nobody sees it.
 * @returns the users
 * @throws the reason of the signal
 */
export async function copyBucket(
  { of }: Servers,
  { bucket, source, target }: Planned,
  signal?: AbortSignal,
): Promise<Set<string>> {
  const [from, into] = [of(source), of(target)];
  const users = new Set(await usersOf(from, bucket));
  await into.query('begin');
  try {
    // An earlier command that ended before the switch may have left these rows.
    await into.query('delete from shard_luggage where bucket = $1', [bucket]);
    await copyUsers(from, into, [...users], signal);
    // If a user with very many rows changes all the time, the copy does not become faster. Then the stop takes longer.
    for (let last = Number.POSITIVE_INFINITY; ; ) {
      const startedAt = performance.now();
      await copyChanged(from, into, bucket, users, signal);
      const took = performance.now() - startedAt;
      if (took <= shortCopy || took > last / 2) return users;
      last = took;
    }
  } catch (error) {
    await into.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** @param users the users whose rows have changed are added to this set */
async function copyChanged(
  from: pg.Client,
  into: pg.Client,
  bucket: number,
  users: Set<string>,
  signal?: AbortSignal,
): Promise<void> {
  const changed = await takeChanged(from, bucket);
  for (const user of changed) users.add(user);
  await copyUsers(from, into, changed, signal);
}

/**
 * Stops the writes of a bucket, copies the last changes and changes the map.
 * @param users whose rows the open transaction of the target has
 * @returns for how many milliseconds the writes of the bucket were stopped
 * @throws MoveError
 * @throws the reason of the signal
 */
export async function stopAndSwitch(
  servers: Servers,
  move: Planned,
  users: Set<string>,
  { times, signal }: { readonly times: MoveTimes; readonly signal: AbortSignal | undefined },
): Promise<number> {
  const { bucket, source, target } = move;
  const [from, into] = [servers.of(source), servers.of(target)];
  const end = performance.now() + times.patience;
  try {
    for (let attempt = 1; ; attempt += 1) {
      for (const name of [source, target]) await refuseNewerSchema(servers.of(name), name);
      const work = await findWork(from, bucket);
      const startedAt = performance.now();
      const stop =
        work === undefined ? await tryToStop([from, into], bucket, attempt % waitingAttempt === 0) : { work };
      if ('changed' in stop) {
        for (const user of stop.changed) users.add(user);
        await copyUsers(from, into, stop.changed);
        await switchTo(servers, move, times);
        return performance.now() - startedAt;
      }
      if (performance.now() > end) throw new MoveError(haltedMessage(move, stop.work, times));
      signal?.throwIfAborted();
      await wait(times.pause);
      await copyChanged(from, into, bucket, users, signal);
    }
  } catch (error) {
    await into.query('rollback').catch(() => undefined);
    throw error;
  }
}

/**
 * Refuses to move users if the service was updated while the command runs: the newer version may have a table with rows of
 * users, and this command would leave these rows on the former server.
 * @throws MoveError
 */
async function refuseNewerSchema(client: pg.Client, name: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select name from schema_migrations where name <> all ($1) limit 1',
    [await listMigrations()],
  );
  const [unknown] = rows;
  if (unknown === undefined) return;
  throw new MoveError(
    `The server ${name} has the migration ${unknown.name}, which this version does not know: run the command of the newer Postern.`,
  );
}

const haltedMessage = ({ bucket, source }: Planned, work: string, { patience }: MoveTimes) =>
  `Bucket ${bucket} could not leave the server ${source} for ${Math.round(patience / 1000)} seconds, because ${work}. Nothing was lost. Check that an instance of Postern runs, and run the command again.`;

/** Moves the rest of a bucket whose writes are stopped, and changes the map. */
async function switchTo(servers: Servers, move: Planned, times: MoveTimes): Promise<void> {
  const { bucket, source, target } = move;
  const [from, into] = [servers.of(source), servers.of(target)];
  const { rows } = await from.query<{ kind: string; row: string }>(
    'select kind, row from shard_luggage where bucket = $1',
    [bucket],
  );
  await into.query('insert into shard_luggage (bucket, kind, row) select $1, * from unnest($2::text[], $3::text[])', [
    bucket,
    rows.map(({ kind }) => kind),
    rows.map(({ row }) => row),
  ]);
  await into.query('commit');
  // Transactions that write on the new server too early wait for this lock.
  await into.query('select pg_advisory_lock($1, $2)', [lockClass, bucket]);
  await servers.directory.query(
    `with moved as (insert into shard_buckets (bucket, shard) values ($1, $2)
                    on conflict (bucket) do update set shard = excluded.shard)
     update shard_map set version = version + 1`,
    [bucket, target],
  );
  await finishSwitch(servers, move, times);
}

/**
 * Stops the writes of a bucket, if its lock is free and nothing works for it. Keeps the lock then.
 * @returns the users that have changed, or what prevents the stop
 */
async function tryToStop(
  [from, into]: readonly [pg.Client, pg.Client],
  bucket: number,
  waits: boolean,
): Promise<{ readonly changed: readonly string[] } | { readonly work: string }> {
  try {
    const changed = await inTransaction(from, async () => {
      await from.query(`set local lock_timeout = ${lockTimeout}`);
      if (!(await lock(from, bucket, waits))) throw new BusyError(openTransaction);
      await excludeReplays([from, into]);
      await refuseUnsealed([from, into]);
      const users = await takeChanged(from, bucket);
      await packLuggage(from, bucket);
      await from.query('update shard_moving set is_stopped = true where bucket = $1', [bucket]);
      return users;
    });
    return { changed };
  } catch (error) {
    // Locks of the session stay after a rollback.
    for (const client of [from, into]) await client.query('select pg_advisory_unlock_all()');
    if (error instanceof BusyError) return { work: error.message };
    if (isLockFailure(error)) return { work: openTransaction };
    throw error;
  }
}

const openTransaction = 'a transaction on one of its users does not end';

async function lock(from: pg.Client, bucket: number, waits: boolean): Promise<boolean> {
  if (waits) {
    await from.query('select pg_advisory_lock($1, $2)', [lockClass, bucket]);
    return true;
  }
  const { rows } = await from.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', [
    lockClass,
    bucket,
  ]);
  return rows[0]?.locked === true;
}

/** After the map has changed: ends the use of the old map at the source, and then opens the bucket on the target. */
export async function finishSwitch(
  { directory, of }: Servers,
  { bucket, source, target }: Planned,
  times: MoveTimes,
): Promise<void> {
  const [from, into] = [of(source), of(target)];
  const { rows } = await directory.query<{ version: string }>('select version from shard_map');
  const version = Number(rows[0]?.version);
  await from.query('update shard_map set version = greatest(version, $1)', [version]);
  // Transactions that wait for the lock are refused now, and run again on the target.
  await from.query('select pg_advisory_unlock_all()');
  await endOldConnections(from, version, times);
  await inTransaction(into, async () => {
    const { rows: closed } = await into.query('delete from shard_moving where bucket = $1 returning bucket', [bucket]);
    if (closed.length > 0) await unpackLuggage(into, bucket);
  });
  await into.query('select pg_advisory_unlock_all()');
}

/** Waits until no connection with an older map is left, and ends those that stay: their processes hang or are slow. */
async function endOldConnections(from: pg.Client, version: number, { grace, patience }: MoveTimes): Promise<void> {
  const old = `
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_start < $2
      and (application_name = 'postern'
           or application_name ~ '^postern map [0-9]+$' and substring(application_name from 13)::bigint < $1)`;
  const { rows } = await from.query<{ now: string }>('select clock_timestamp()::text as now');
  const values = [version, rows[0]?.now];
  const start = performance.now();
  for (;;) {
    const { rows: found } = await from.query<{ pid: number }>(`select pid ${old}`, values);
    if (found.length === 0) return;
    const waited = performance.now() - start;
    if (waited > grace + patience)
      throw new MoveError(`PostgreSQL does not end the connection with pid ${found[0]?.pid}.`);
    if (waited > grace) await from.query(`select pg_terminate_backend(pid) ${old}`, values);
    await wait(poll);
  }
}
