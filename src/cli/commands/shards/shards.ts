import { type Command, InvalidArgumentError } from 'commander';
import { type Config, readConfig } from '../../../config/config.js';
import { openClient } from '../../../database/connections/open-client.js';
import { mainShard } from '../../../database/database.js';
import { openExistingTarget, type ShardTarget } from '../../../database/open.js';
import { bucketCount } from '../../../database/sharding/bucket.js';
import { moveBuckets } from '../../../database/sharding/moving/move.js';
import { MoveError } from '../../../database/sharding/moving/move-options.js';
import { type Migrated, migrateAll } from '../../../database/sharding/open.js';
import { quietLog } from '../../support/dependencies.js';
import { CommandError, refuseAway } from '../../support/failure.js';
import { type Io, printLine, printTable } from '../../support/io.js';
import { pgdogConfig } from './pgdog.js';

interface MoveOptions {
  readonly to: string;
  readonly buckets?: readonly number[];
  readonly share?: number;
}

/** Registers `postern shards` with its subcommands. */
export function shardsCommand(program: Command, io: Io): void {
  const shards = program.command('shards').description('spread users over several PostgreSQL servers');
  shards
    .command('status')
    .description('show the servers, their buckets of users, and moves that are not complete')
    .action(() => withTargets(io, (targets, away) => status(io, targets, away)));
  shards
    .command('add')
    .description('prepare and register new servers of SHARDS (a start of the service does this too)')
    .action(() => withTargets(io, (targets, away) => status(io, targets, away)));
  shards
    .command('move')
    .description('move users while the service runs; run it again to complete a move that was interrupted')
    .requiredOption('--to <server>', 'the name of the server that gets the users')
    .option('--buckets <list>', 'buckets from 0 to 4095, such as 0-99,200', parseBuckets)
    .option('--share <percent>', 'move buckets until the server has this share of all, such as 25%', parseShare)
    .addHelpText('after', '\nExample:\n  postern shards move --to east --share 25%')
    .action((options: MoveOptions) =>
      withTargets(io, (targets, away) => {
        refuseAway(away);
        return move(io, targets, options);
      }),
    );
  shards
    .command('pgdog-config')
    .description('print a configuration of PgDog for the servers of DATABASE_URL and SHARDS')
    .action(() => void io.stdout.write(pgdogConfig(readConfig(io.env))));
}

function parseBuckets(list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [, first, last = first] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(part.trim()) ?? [];
    if (first === undefined || Number(last) >= bucketCount || Number(first) > Number(last)) {
      throw new InvalidArgumentError(`Buckets are numbers from 0 to ${bucketCount - 1}, such as 0-99,200.`);
    }
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, place) => Number(first) + place);
  });
}

function parseShare(text: string): number {
  const percent = Number(/^(\d{1,3})%?$/.exec(text)?.[1]);
  if (!(percent >= 1 && percent <= 100)) throw new InvalidArgumentError('A share is a number from 1% to 100%.');
  return percent;
}

/** Opens the servers, and registers those that are new. */
async function withTargets(
  io: Io,
  work: (targets: readonly ShardTarget[], away: Migrated['away']) => Promise<void>,
): Promise<void> {
  const config: Config = readConfig(io.env);
  if (config.SHARDS === undefined) throw new CommandError('SHARDS names no server: all users are on one server.');
  const log = quietLog(io);
  const opened = await openExistingTarget(config, log);
  try {
    const { away } = await migrateAll(opened, log);
    await work([{ name: mainShard, target: opened.target }, ...opened.shards], away);
  } finally {
    await opened.close();
  }
}

interface ServerRow {
  readonly name: string;
  readonly buckets: number;
  readonly moving: number;
}

/** The buckets of each server, and how many of them are about to come. */
async function readMap<T>(targets: readonly ShardTarget[], work: (query: Query) => Promise<T>): Promise<T> {
  const [main] = targets;
  if (main === undefined) throw new CommandError('There is no server.');
  const client = await openClient(main.target, { application_name: 'postern shards', connectionTimeoutMillis: 10_000 });
  try {
    return await work(async (text, values) => (await client.query(text, values)).rows as never);
  } finally {
    await client.end();
  }
}

type Query = <Row>(text: string, values: unknown[]) => Promise<Row[]>;

async function status(io: Io, targets: readonly ShardTarget[], away: Migrated['away']): Promise<void> {
  const rows = await readMap(targets, (query) =>
    query<ServerRow>(
      `select s.name, count(b.bucket)::int as buckets,
              (select count(*)::int from shard_moves m where m.target = s.name) as moving
       from shards s left join (
         select bucket, coalesce(shard, $1) as shard from generate_series(0, $2::int - 1) bucket
         left join shard_buckets using (bucket)) b on b.shard = s.name
       group by s.name order by s.name <> $1, s.name`,
      [mainShard, bucketCount],
    ),
  );
  const share = (buckets: number) => `${((100 * buckets) / bucketCount).toFixed(1)}%`;
  const missing = new Set([...away.keys()].map(({ name }) => name));
  const stateOf = (name: string) => (missing.has(name) ? 'does not answer' : 'answers');
  printTable(io.stdout, [
    ['SERVER', 'STATE', 'BUCKETS', 'SHARE', 'MOVES TO COMPLETE'],
    ...rows.map(({ name, buckets, moving }) => [name, stateOf(name), `${buckets}`, share(buckets), `${moving}`]),
  ]);
}

async function move(io: Io, targets: readonly ShardTarget[], { to, buckets, share }: MoveOptions): Promise<void> {
  if ((buckets === undefined) === (share === undefined)) throw new CommandError('Give either --buckets or --share.');
  if (targets.every(({ name }) => name !== to)) throw new CommandError(`SHARDS does not name the server ${to}.`);
  const chosen = buckets ?? (await readMap(targets, (query) => chooseBuckets(query, to, share ?? 0)));
  let [moved, users, longest] = [0, 0, 0];
  try {
    await moveBuckets({
      ...{ targets, to, buckets: chosen },
      onMoved: (bucket, of) => {
        moved += 1;
        users += of.users;
        longest = Math.max(longest, of.stoppedMs);
        printLine(io.stdout, `bucket ${bucket}: ${of.users} users, writes stopped for ${Math.round(of.stoppedMs)} ms`);
      },
    });
  } catch (error) {
    throw error instanceof MoveError ? new CommandError(error.message) : error;
  }
  printLine(io.stdout, `Moved ${moved} buckets with ${users} users. The longest stop took ${Math.round(longest)} ms.`);
}

/** Buckets of other servers, first those of the servers with the most, until `to` has its share with them. */
async function chooseBuckets(query: Query, to: string, share: number): Promise<number[]> {
  const rows = await query<{ bucket: number; shard: string }>(
    `select bucket, coalesce(shard, $1) as shard from generate_series(0, $2::int - 1) bucket
     left join shard_buckets using (bucket) order by bucket`,
    [mainShard, bucketCount],
  );
  const own = rows.filter(({ shard }) => shard === to).length;
  const wanted = Math.round((bucketCount * share) / 100) - own;
  const groups = new Map<string, number[]>();
  for (const { bucket, shard } of rows) if (shard !== to) groups.set(shard, [...(groups.get(shard) ?? []), bucket]);
  const chosen: number[] = [];
  while (chosen.length < wanted) {
    const [largest] = [...groups.values()].sort((a, b) => b.length - a.length);
    const bucket = largest?.pop();
    if (bucket === undefined) break;
    chosen.push(bucket);
  }
  return chosen;
}
