import { type Command, InvalidArgumentError } from 'commander';
import { readConfig } from '../../../config/config.js';
import { mainShard } from '../../../database/database.js';
import { type OpenTarget, openExistingTarget, type ShardTarget } from '../../../database/open.js';
import { bucketCount } from '../../../database/sharding/bucket.js';
import { migrateAll } from '../../../database/sharding/open.js';
import { quietLog } from '../../support/dependencies.js';
import { CommandError, refuseAway } from '../../support/failure.js';
import type { Io } from '../../support/io.js';
import { type MoveOptions, move } from './move.js';
import { pgdogConfig } from './pgdog.js';
import { remove } from './remove.js';
import { printStatus } from './status.js';

interface StatusOptions {
  readonly json?: true;
}

/** Registers `postern shards` with its subcommands. */
export function shardsCommand(program: Command, io: Io, exitWith: (code: number) => void): void {
  const shards = program.command('shards').description('spread users over several PostgreSQL servers');
  const status = async (targets: readonly ShardTarget[], { json }: StatusOptions) => {
    if (!(await printStatus(io, targets, json === true))) exitWith(1);
  };
  shards
    .command('status')
    .description('show the servers, their buckets of users, and moves that are not complete')
    .option('--json', 'print the servers as JSON')
    .action((options: StatusOptions) => withTargets(io, (targets) => status(targets, options)));
  shards
    .command('add')
    .description('prepare and register new servers of SHARDS (a start of the service does this too)')
    .option('--json', 'print the servers as JSON')
    .action((options: StatusOptions) => withMigrated(io, (targets) => status(targets, options)));
  shards
    .command('move')
    .description('move users while the service runs; run it again to complete a move that was interrupted')
    .requiredOption('--to <server>', 'the name of the server that gets the users')
    .option('--buckets <list>', 'buckets from 0 to 4095, such as 0-99,200', parseBuckets)
    .option('--share <percent>', 'move buckets until the server has this share of all, such as 25%', parseShare)
    .addHelpText('after', '\nExample:\n  postern shards move --to east --share 25%')
    .action((options: MoveOptions) =>
      withMigrated(io, async (targets) => {
        if (!(await move(io, targets, options))) exitWith(1);
      }),
    );
  shards
    .command('remove')
    .description('remove a server without buckets, before you remove it from SHARDS')
    .argument('<server>', 'its name')
    .action((name: string) => withTargets(io, (targets) => remove(io, targets, name)));
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

/** @param work gets the servers, with `main` first */
async function withTargets(
  io: Io,
  work: (targets: readonly ShardTarget[], opened: OpenTarget) => Promise<void>,
): Promise<void> {
  const config = readConfig(io.env);
  if (config.SHARDS === undefined) throw new CommandError('SHARDS names no server: all users are on one server.');
  const opened = await openExistingTarget(config, quietLog(io));
  try {
    await work([{ name: mainShard, target: opened.target }, ...opened.shards], opened);
  } finally {
    await opened.close();
  }
}

/**
 * Does the same as `withTargets`, but first brings the schemas of the servers up to date, and registers new servers.
 * Each server must answer.
 */
function withMigrated(io: Io, work: (targets: readonly ShardTarget[]) => Promise<void>): Promise<void> {
  return withTargets(io, async (targets, opened) => {
    const { away } = await migrateAll(opened, quietLog(io));
    refuseAway(away);
    await work(targets);
  });
}
