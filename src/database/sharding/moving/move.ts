import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { openClient } from '../../connections/open-client.js';
import { requestSettings } from '../../connections/session-check.js';
import { mainShard } from '../../database.js';
import type { ShardTarget } from '../../open.js';
import { fixedBucket } from '../bucket.js';
import { cancel, cleanUp, deleteFormerRows } from './clean-up.js';
import { listUsers } from './copy.js';
import { installGuard, inTransaction, removeGuard } from './guard.js';
import { unpackLuggage } from './luggage.js';
import { defaultTimes, type Move, MoveError, type MoveTimes, type Planned, type Servers } from './move-options.js';
import { waitForSeals } from './seals.js';
import { copyBucket, finishSwitch, stopAndSwitch } from './switch.js';

/** The key of an advisory lock in the directory: any fixed number. One move runs at a time. */
const moveLock = 7_203_415_003;

/** Milliseconds within which a process with SHARDS has checked a new connection. */
const checkMs = 3000;

/**
 * Moves buckets of users while the service runs (decision 120). First it completes the moves that an earlier command has
 * left.
 * @throws MoveError
 */
export async function moveBuckets(move: Move): Promise<void> {
  const clients = new Map<string, pg.Client>();
  try {
    for (const shard of move.targets) clients.set(shard.name, await connect(shard));
    const of = (name: string) => {
      const client = clients.get(name);
      if (client === undefined) throw new MoveError(`SHARDS does not name the server ${name}.`);
      return client;
    };
    const [main] = move.targets;
    if (main === undefined) return;
    const directory = await connect(main);
    clients.set('directory of the move', directory);
    const { rows } = await directory.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      moveLock,
    ]);
    if (rows[0]?.locked !== true) throw new MoveError('Another `postern shards move` runs now.');
    await refuseWithoutShards(directory);
    const times = { ...defaultTimes, ...move.times };
    await moveAll({ directory, of }, await plan(directory, move), move, times);
  } finally {
    await Promise.all([...clients.values()].map((client) => client.end().catch(() => undefined)));
  }
}

async function connect({ name, target }: ShardTarget): Promise<pg.Client> {
  const { timezone = 'UTC', datestyle = 'ISO' } = requestSettings;
  try {
    const client = await openClient(target, {
      ...{ application_name: 'postern move', connectionTimeoutMillis: 10_000, keepAlive: true },
      settings: { timezone, datestyle, client_min_messages: 'warning', extra_float_digits: '1' },
    });
    await client.query(`select set_config('postern.moves', 'on', false)`);
    return client;
  } catch (error) {
    const reason = error instanceof AggregateError ? error.errors[0] : error;
    throw new MoveError(`The server ${name} cannot be reached: ${(reason as Error).message}`, { cause: error });
  }
}

/**
 * Before the first move: refuses while a process without SHARDS runs, because it could not use its server any more. The
 * connections of other processes have the name `postern` only until they are checked.
 * @throws MoveError
 */
async function refuseWithoutShards(directory: pg.Client): Promise<void> {
  const find = async (known: readonly number[] | null) => {
    const { rows } = await directory.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where application_name = 'postern' and datname = current_database() and ($1::int[] is null or pid = any ($1))
         and (select version from shard_map) = 0`,
      [known],
    );
    return rows.map(({ pid }) => pid);
  };
  const end = performance.now() + checkMs;
  for (let found = await find(null); found.length > 0; found = await find(found)) {
    if (performance.now() > end) {
      throw new MoveError(
        `A process without SHARDS uses the server main: in pg_stat_activity it has the pid ${found[0]}. Set SHARDS on all instances, restart them, and run the command again.`,
      );
    }
    await wait(50);
  }
}

/** Notes the moves in the directory, so that a further command can complete them. */
async function plan(directory: pg.Client, { to, buckets, onPlanned }: Move): Promise<Planned[]> {
  const select = 'select bucket, source, target from shard_moves order by bucket';
  const { rows: resumed } = await directory.query<{ bucket: number }>(select);
  await directory.query(
    `insert into shard_moves (bucket, source, target)
     select bucket, coalesce(b.shard, $2), $1 from unnest($3::smallint[]) asked (bucket)
     left join shard_buckets b using (bucket)
     where coalesce(b.shard, $2) <> $1 and bucket <> $4
     on conflict do nothing`,
    [to, mainShard, buckets, fixedBucket],
  );
  const { rows: planned } = await directory.query<Omit<Planned, 'isResumed'>>(select);
  onPlanned?.({ buckets: planned.length, resumed: resumed.length });
  const begun = new Set(resumed.map(({ bucket }) => bucket));
  const moves = planned.map((move): Planned => ({ ...move, isResumed: begun.has(move.bucket) }));
  return [...moves.filter(({ isResumed }) => isResumed), ...moves.filter(({ isResumed }) => !isResumed)];
}

/** The moves whose buckets are on the new server, according to the map. */
async function findSwitched(directory: pg.Client, moves: readonly Planned[]): Promise<ReadonlySet<Planned>> {
  const { rows } = await directory.query<{ bucket: number }>(
    `select bucket from shard_moves m left join shard_buckets b using (bucket)
     where coalesce(b.shard, $1) = m.target`,
    [mainShard],
  );
  const switched = new Set(rows.map(({ bucket }) => bucket));
  return new Set(moves.filter(({ bucket }) => switched.has(bucket)));
}

async function moveAll(
  servers: Servers,
  moves: readonly Planned[],
  { targets, onMoved, onWaiting, signal }: Move,
  times: MoveTimes,
): Promise<void> {
  // Also those that an earlier command could not drop.
  const removeGuards = async () => {
    for (const { name } of targets) await removeGuard(servers.of(name), times);
  };
  if (moves.length === 0) return removeGuards();
  const toCleanUp: { readonly move: Planned; readonly since: number }[] = [];
  const cleanUpDue = async (age: number) => {
    for (
      let first = toCleanUp[0];
      first !== undefined && performance.now() - first.since >= age;
      first = toCleanUp[0]
    ) {
      await cleanUp(servers, first.move, times);
      toCleanUp.shift();
    }
  };
  const leaveSource = async (move: Planned) => {
    const since = performance.now();
    // If this fails, the move stays noted, and the next command deletes the rows.
    await deleteFormerRows(servers, move, times);
    toCleanUp.push({ move, since });
  };
  const switched = await findSwitched(servers.directory, moves);
  let failure: MoveError | undefined;
  try {
    const noticed = wait(times.notice);
    // The users of these buckets cannot write until the switch is finished.
    for (const move of switched) {
      await finishSwitch(servers, move, times);
      await leaveSource(move);
    }
    await prepare(
      servers,
      moves.filter((move) => !switched.has(move)),
      times,
    );
    await noticed;
    for (const move of moves.filter((each) => !switched.has(each))) {
      if (signal?.aborted) break;
      const meanwhile = () => cleanUpDue(times.longestRequest);
      await waitForSeals(servers, move, { times, signal, onWaiting, meanwhile });
      const users = await copyBucket(servers, move, signal);
      const stoppedMs = await stopAndSwitch(servers, move, users, { times, signal });
      onMoved(move.bucket, { users: users.size, stoppedMs });
      await leaveSource(move);
    }
  } catch (error) {
    if (error instanceof MoveError) failure = error;
    else if (!signal?.aborted || error !== signal.reason) throw error;
  }
  const onTarget = await findSwitched(servers.directory, moves);
  await cancel(
    servers,
    moves.filter((move) => !onTarget.has(move) && !switched.has(move)),
    times,
  );
  const last = toCleanUp.at(-1);
  if (last !== undefined) await wait(Math.max(0, times.longestRequest - (performance.now() - last.since)));
  await cleanUpDue(0);
  await removeGuards();
  if (failure !== undefined) throw failure;
}

/** Creates the triggers on both servers, and lists the users of the buckets. Takes back the stop of an earlier command. */
async function prepare({ of }: Servers, moves: readonly Planned[], times: MoveTimes): Promise<void> {
  const setMoving = `insert into shard_moving (bucket, is_stopped) select unnest($1::smallint[]), $2
                     on conflict (bucket) do update set is_stopped = excluded.is_stopped`;
  for (const target of new Set(moves.map((move) => move.target))) {
    const buckets = moves.filter((move) => move.target === target).map(({ bucket }) => bucket);
    await of(target).query(setMoving, [buckets, true]);
    await installGuard(of(target), times);
  }
  for (const source of new Set(moves.map((move) => move.source))) {
    const leaving = moves.filter((move) => move.source === source);
    const buckets = leaving.map(({ bucket }) => bucket);
    const client = of(source);
    for (const { bucket } of leaving.filter(({ isResumed }) => isResumed)) {
      await inTransaction(client, async () => {
        await client.query(setMoving, [[bucket], false]);
        await unpackLuggage(client, bucket);
      });
    }
    await client.query(setMoving, [buckets, false]);
    await installGuard(client, times);
    await listUsers(client, buckets);
  }
}
