import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createServers } from '../../src/database/connections/servers.js';
import type { Database } from '../../src/database/database.js';
import { bucketOf } from '../../src/database/sharding/bucket.js';
import { moveBuckets } from '../../src/database/sharding/moving/move.js';
import type { Move } from '../../src/database/sharding/moving/move-options.js';
import { userTables, workTables } from '../../src/database/sharding/moving/tables.js';
import type { TestShards } from './shards.js';
import { testSql } from './sql.js';

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * Times of a move (see `MoveTimes`) that are shorter than those of the product: the tests make no requests that run for
 * seconds.
 */
const quickTimes = { notice: 0, longestRequest: 300 };

/** Moves the buckets of users in this process. @returns the buckets that moved */
export async function moveUsers(
  shards: TestShards,
  userIds: readonly string[],
  to: string,
  { times, ...options }: Partial<Move> = {},
): Promise<number[]> {
  const moved: number[] = [];
  await moveBuckets({
    targets: [...shards.databases].map(([name, { url }]) => ({ name, target: createServers(url) })),
    ...{ to, buckets: userIds.map(bucketOf), onMoved: (bucket) => void moved.push(bucket), ...options },
    times: { ...quickTimes, ...times },
  });
  return moved;
}

export interface MoverProcess {
  /** Waits until it has paused itself. */
  paused(): Promise<void>;
  /** Continues it. */
  resume(): void;
  /** Waits for its end. Gives the exit code, null after a kill, and the milliseconds for which each bucket was stopped. */
  ended(): Promise<{ readonly code: number | null; readonly stops: readonly number[] }>;
}

/** Moves the buckets of users in a process of its own. @param fault `KILL_BEFORE` or `PAUSE_BEFORE`, see `mover.mjs` */
export function startMover(
  shards: TestShards,
  userIds: readonly string[],
  to: string,
  fault: Readonly<Record<string, string>> = {},
): MoverProcess {
  const child = spawn(process.execPath, [pathOf('test/support/fault-injection/mover.mjs')], {
    env: {
      ...{ DIST: pathOf('dist'), TO: to, BUCKETS: JSON.stringify(userIds.map(bucketOf)) },
      ...{ SERVERS: JSON.stringify([...shards.databases].map(([name, { url }]) => [name, url])) },
      ...{ TIMES: JSON.stringify(quickTimes), ...fault },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  const end = new Promise<number | null>((resolve) => child.once('close', resolve));
  const paused = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString();
      if (output.includes('paused')) resolve();
    });
    child.stderr.on('data', (data: Buffer) => {
      errors += data.toString();
    });
    void end.then((code) => reject(new Error(`the mover ended with ${code} before it paused: ${errors}`)));
  });
  paused.catch(() => undefined);
  return {
    paused: () => paused,
    resume: () => void child.kill('SIGCONT'),
    async ended() {
      const code = await end;
      return { code, stops: output.split('\n').filter(Number).map(Number) };
    },
  };
}

/** All rows of users on all servers, by table. Each text is the name of the server, a space and the row. */
export async function rowsOfUsers(
  { shards }: Pick<Database, 'shards'>,
  userIds: readonly string[],
): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, string[]> = {};
  for (const { name, column } of [...userTables, ...workTables]) {
    const all = await Promise.all(
      shards.map(async ({ name: server, everyone }) => {
        const text = `select t::text as row from ${name} t where ${column} = any ($1::uuid[]) order by 1`;
        const rows = await everyone.query(testSql<{ row: string }>(text, [userIds]));
        return rows.map(({ row }) => `${server} ${row}`);
      }),
    );
    if (all.flat().length > 0) found[name] = all.flat();
  }
  return found;
}

/** The same rows, as if all were on this server. */
export const allOn = (server: string, rows: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(
    Object.entries(rows).map(([table, texts]) => [
      table,
      texts.map((text) => text.replace(/^\S+/, server)).sort((a, b) => (a < b ? -1 : 1)),
    ]),
  );

/**
 * The triggers and rows of moves that are left on any server. `shard_moves` has the planned moves, and `shard_moving` the
 * buckets that move now. `shard_luggage` has the work of a stopped bucket, such as jobs.
 */
export async function remainsOfMoves({ shards }: Pick<Database, 'shards'>): Promise<string[]> {
  const all = await Promise.all(
    shards.map(async ({ name, everyone }) => {
      const rows = await everyone.query(
        testSql<{ what: string }>(
          `select 'trigger on ' || tgrelid::regclass as what from pg_trigger where tgname = 'guard_moving_user'
           union all select 'shard_moves ' || bucket from shard_moves
           union all select 'shard_moving ' || bucket from shard_moving
           union all select 'shard_moving_users ' || bucket from shard_moving_users
           union all select 'shard_moving_jobs ' || bucket from shard_moving_jobs
           union all select 'shard_changes ' || bucket from shard_changes
           union all select 'shard_luggage ' || bucket from shard_luggage`,
        ),
      );
      return rows.map(({ what }) => `${name}: ${what}`);
    }),
  );
  return all.flat();
}
