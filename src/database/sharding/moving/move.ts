import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { nilId } from '../../../lib/ids.js';
import { openClient } from '../../connections/open-client.js';
import { requestSettings } from '../../connections/session-check.js';
import { mainShard } from '../../database.js';
import type { ShardTarget } from '../../open.js';
import { bucketOf } from '../bucket.js';
import { copyUsers, deleteBucket, listUsers, takeChanged, usersOf } from './copy.js';
import { installGuard, inTransaction, isLockFailure, lockClass, removeGuard } from './guard.js';
import { BusyError, packLuggage, unpackLuggage } from './luggage.js';

/** The events without a user have the bucket of this id, and stay. */
const fixedBucket = bucketOf(nilId);

/**
 * Milliseconds. `notice`: until every instance looks often for a new map. `pause`: before a further attempt. `grace`: for
 * connections to show the new map before they are ended. `longestRequest`: after which no request began with the old map.
 */
const times = { notice: 1500, pause: 100, grace: 400, poll: 10, longestRequest: 6000 };

/** How many changed users may be left when the writes of a bucket are stopped. */
const fewUsers = 50;

export interface Move {
  /** With `main` first. */
  readonly targets: readonly ShardTarget[];
  /** The name of the server that gets the buckets. */
  readonly to: string;
  readonly buckets: readonly number[];
  readonly onMoved: (bucket: number, moved: { readonly users: number; readonly stoppedMs: number }) => void;
}

interface Planned {
  readonly bucket: number;
  readonly source: string;
  readonly target: string;
}

interface Servers {
  readonly directory: pg.Client;
  readonly of: (name: string) => pg.Client;
}

/** The key of an advisory lock in the directory: any fixed number. One move runs at a time. */
const moveLock = 7_203_415_003;

/** Another command moves users now. */
export class MoveRunsError extends Error {}

/**
 * Moves buckets of users while the service runs (decision 120). First it completes the moves of a command that has ended.
 * @throws MoveRunsError
 */
export async function moveBuckets({ targets, to, buckets, onMoved }: Move): Promise<void> {
  const clients = new Map<string, pg.Client>();
  try {
    for (const shard of targets) clients.set(shard.name, await connect(shard));
    const of = (name: string) => {
      const client = clients.get(name);
      if (client === undefined) throw new Error(`SHARDS does not name the server ${name}`);
      return client;
    };
    const [main] = targets;
    if (main === undefined) return;
    // Its lock is for the whole move, and no transaction of a bucket is open on it.
    const directory = await connect(main);
    clients.set('directory of the move', directory);
    const servers = { directory, of };
    const { rows } = await directory.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      moveLock,
    ]);
    if (rows[0]?.locked !== true) throw new MoveRunsError('another command moves users now');
    await moveAll(servers, await plan(servers.directory, to, buckets), onMoved);
  } finally {
    await Promise.all([...clients.values()].map((client) => client.end().catch(() => undefined)));
  }
}

async function connect({ target }: ShardTarget): Promise<pg.Client> {
  const { timezone = 'UTC', datestyle = 'ISO' } = requestSettings;
  const client = await openClient(target, {
    ...{ application_name: 'postern move', connectionTimeoutMillis: 10_000, keepAlive: true },
    settings: { timezone, datestyle, client_min_messages: 'warning', extra_float_digits: '1' },
  });
  await client.query(`select set_config('postern.moves', 'on', false)`);
  return client;
}

/** Notes the moves in the directory, so that a further command can complete them. */
async function plan(directory: pg.Client, to: string, buckets: readonly number[]): Promise<Planned[]> {
  await directory.query(
    `insert into shard_moves (bucket, source, target)
     select bucket, coalesce(b.shard, $2), $1 from unnest($3::smallint[]) asked (bucket)
     left join shard_buckets b using (bucket)
     where coalesce(b.shard, $2) <> $1 and bucket <> $4
     on conflict do nothing`,
    [to, mainShard, buckets, fixedBucket],
  );
  const { rows } = await directory.query<Planned>('select bucket, source, target from shard_moves order by bucket');
  return rows;
}

async function moveAll(servers: Servers, moves: readonly Planned[], onMoved: Move['onMoved']): Promise<void> {
  if (moves.length === 0) return;
  const { directory, of } = servers;
  const { rows: switched } = await directory.query<{ bucket: number }>(
    `select bucket from shard_moves m left join shard_buckets b using (bucket)
     where coalesce(b.shard, $1) = m.target`,
    [mainShard],
  );
  const isSwitched = ({ bucket }: Planned) => switched.some((row) => row.bucket === bucket);
  const waiting = moves.filter((move) => !isSwitched(move));
  await prepare(servers, waiting);
  await wait(times.notice);
  const left: { readonly move: Planned; readonly at: number }[] = [];
  const cleanUpDue = async (age: number) => {
    for (let first = left[0]; first !== undefined && performance.now() - first.at >= age; first = left[0]) {
      await cleanUp(servers, first.move);
      left.shift();
    }
  };
  for (const move of moves.filter(isSwitched)) {
    await finishSwitch(servers, move);
    left.push({ move, at: performance.now() });
  }
  for (const move of waiting) {
    const users = await copy(servers, move);
    const stoppedMs = await stopAndSwitch(servers, move, users);
    left.push({ move, at: performance.now() });
    onMoved(move.bucket, { users: users.size, stoppedMs });
    await cleanUpDue(times.longestRequest);
  }
  const last = left.at(-1);
  if (last !== undefined) await wait(Math.max(0, times.longestRequest - (performance.now() - last.at)));
  await cleanUpDue(0);
  for (const name of new Set(moves.flatMap(({ source, target }) => [source, target])))
    await removeGuard(of(name), pause);
}

const pause = () => wait(times.pause);

/** Lets both servers note and guard the buckets, and lists their users. Takes back the stop of a command that has ended. */
async function prepare({ of }: Servers, moves: readonly Planned[]): Promise<void> {
  const setMoving = `insert into shard_moving (bucket, is_stopped) select unnest($1::smallint[]), $2
                     on conflict (bucket) do update set is_stopped = excluded.is_stopped`;
  for (const target of new Set(moves.map((move) => move.target))) {
    const buckets = moves.filter((move) => move.target === target).map(({ bucket }) => bucket);
    await of(target).query(setMoving, [buckets, true]);
    await installGuard(of(target), pause);
  }
  for (const source of new Set(moves.map((move) => move.source))) {
    const buckets = moves.filter((move) => move.source === source).map(({ bucket }) => bucket);
    const client = of(source);
    for (const bucket of buckets) {
      await inTransaction(client, async () => {
        await client.query(setMoving, [[bucket], false]);
        await unpackLuggage(client, bucket);
      });
    }
    await installGuard(client, pause);
    await listUsers(client, buckets);
  }
}

/** Copies a bucket into an open transaction of the target, where nobody sees it. */
async function copy({ of }: Servers, { bucket, source, target }: Planned): Promise<Set<string>> {
  const [from, into] = [of(source), of(target)];
  const users = new Set(await usersOf(from, bucket));
  await into.query('begin');
  try {
    // Left by a command that ended before the switch.
    await into.query('delete from shard_luggage where bucket = $1', [bucket]);
    await copyUsers(from, into, [...users]);
    for (;;) {
      const changed = await takeChanged(from, bucket);
      for (const user of changed) users.add(user);
      await copyUsers(from, into, changed);
      if (changed.length <= fewUsers) return users;
    }
  } catch (error) {
    await into.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** @returns for how many milliseconds the writes of the bucket were stopped */
async function stopAndSwitch(servers: Servers, move: Planned, users: Set<string>): Promise<number> {
  const { bucket, source, target } = move;
  const [from, into] = [servers.of(source), servers.of(target)];
  for (;;) {
    const startedAt = performance.now();
    const packed = await tryToStop(from, bucket);
    if (packed) {
      const changed = await takeChanged(from, bucket);
      for (const user of changed) users.add(user);
      await copyUsers(from, into, changed);
      const { rows } = await from.query<{ kind: string; row: string }>(
        'select kind, row from shard_luggage where bucket = $1',
        [bucket],
      );
      await into.query(
        'insert into shard_luggage (bucket, kind, row) select $1, * from unnest($2::text[], $3::text[])',
        [bucket, rows.map(({ kind }) => kind), rows.map(({ row }) => row)],
      );
      await into.query('commit');
      // Those who write on the new server too early wait for this lock.
      await into.query('select pg_advisory_lock($1, $2)', [lockClass, bucket]);
      await servers.directory.query(
        `with moved as (insert into shard_buckets (bucket, shard) values ($1, $2)
                        on conflict (bucket) do update set shard = excluded.shard)
         update shard_map set version = version + 1`,
        [bucket, target],
      );
      await finishSwitch(servers, move);
      return performance.now() - startedAt;
    }
    await pause();
    const changed = await takeChanged(from, bucket);
    for (const user of changed) users.add(user);
    await copyUsers(from, into, changed);
  }
}

/** Stops the writes of a bucket, if its lock is free soon and nothing works for it. Keeps the lock then. */
async function tryToStop(from: pg.Client, bucket: number): Promise<boolean> {
  let isLocked = false;
  try {
    await inTransaction(from, async () => {
      await from.query(`set local lock_timeout = '200ms'`);
      await from.query('select pg_advisory_lock($1, $2)', [lockClass, bucket]);
      isLocked = true;
      await packLuggage(from, bucket);
      await from.query('update shard_moving set is_stopped = true where bucket = $1', [bucket]);
    });
    return true;
  } catch (error) {
    // A lock of the session stays after a rollback.
    if (isLocked) await from.query('select pg_advisory_unlock($1, $2)', [lockClass, bucket]);
    if (error instanceof BusyError || isLockFailure(error)) return false;
    throw error;
  }
}

/** After the map has changed: ends the use of the old map at the source, and then opens the bucket on the target. */
async function finishSwitch({ directory, of }: Servers, { bucket, source, target }: Planned): Promise<void> {
  const [from, into] = [of(source), of(target)];
  const { rows } = await directory.query<{ version: string }>('select version from shard_map');
  const version = Number(rows[0]?.version);
  await from.query('update shard_map set version = greatest(version, $1)', [version]);
  // Those who wait for the lock are refused now, and go to the target.
  await from.query('select pg_advisory_unlock_all()');
  await endOldConnections(from, version);
  await inTransaction(into, async () => {
    const { rows: closed } = await into.query('delete from shard_moving where bucket = $1 returning bucket', [bucket]);
    if (closed.length > 0) await unpackLuggage(into, bucket);
  });
  await into.query('select pg_advisory_unlock_all()');
}

/** Waits until no connection of an older map is left, and ends those that stay: their processes hang or are slow. */
async function endOldConnections(from: pg.Client, version: number): Promise<void> {
  const old = `
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_start < $2
      and (application_name = 'postern'
           or application_name ~ '^postern map [0-9]+$' and substring(application_name from 13)::bigint < $1)`;
  const { rows } = await from.query<{ now: string }>('select clock_timestamp()::text as now');
  const values = [version, rows[0]?.now];
  const end = performance.now() + times.grace;
  for (;;) {
    const { rows: found } = await from.query<{ pid: number }>(`select pid ${old}`, values);
    if (found.length === 0) return;
    if (performance.now() > end) await from.query(`select pg_terminate_backend(pid) ${old}`, values);
    await wait(times.poll);
  }
}

/** Deletes what is left of a bucket on its former server. */
async function cleanUp({ directory, of }: Servers, { bucket, source }: Planned): Promise<void> {
  const from = of(source);
  await deleteBucket(from, await usersOf(from, bucket));
  await inTransaction(from, async () => {
    for (const table of ['shard_luggage', 'shard_changes', 'shard_moving_users', 'shard_moving']) {
      await from.query(`delete from ${table} where bucket = $1`, [bucket]);
    }
  });
  await directory.query('delete from shard_moves where bucket = $1', [bucket]);
}
