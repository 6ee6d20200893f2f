import type { ShardTarget } from '../../../database/open.js';
import { moveBuckets } from '../../../database/sharding/moving/move.js';
import { MoveError } from '../../../database/sharding/moving/move-options.js';
import { CommandError } from '../../support/failure.js';
import { type Io, printLine } from '../../support/io.js';
import { chooseBuckets, withServer } from './map.js';

export interface MoveOptions {
  readonly to: string;
  readonly buckets?: readonly number[];
  readonly share?: number;
}

/**
 * Moves buckets, and prints each. SIGINT and SIGTERM end it after the bucket that moves; a second one ends it at once.
 * @returns whether all buckets have moved
 */
export async function move(
  io: Io,
  targets: readonly ShardTarget[],
  { to, buckets, share }: MoveOptions,
): Promise<boolean> {
  if ((buckets === undefined) === (share === undefined)) throw new CommandError('Give either --buckets or --share.');
  const [main] = targets;
  if (main === undefined || targets.every(({ name }) => name !== to)) {
    throw new CommandError(`SHARDS does not name the server ${to}.`);
  }
  const chosen = buckets ?? (await withServer(main, (query) => chooseBuckets(query, to, share ?? 0)));
  const stopping = new AbortController();
  const ignoreSignals = () => {
    for (const signal of ['SIGINT', 'SIGTERM']) io.signals?.off(signal, stop);
  };
  const stop = () => {
    printLine(
      io.stderr,
      'Stopping. What is copied now is moved or taken back. A second Ctrl-C ends the command at once.',
    );
    ignoreSignals();
    stopping.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) io.signals?.on(signal, stop);
  let [planned, moved, users, longest] = [0, 0, 0, 0];
  try {
    await moveBuckets({
      ...{ targets, to, buckets: chosen, signal: stopping.signal },
      onPlanned(plan) {
        planned = plan.buckets;
        if (planned > 0) printLine(io.stdout, `Moving ${planned} buckets.`);
        if (plan.resumed > 0) printLine(io.stdout, `${plan.resumed} of them are of a command that ended early.`);
      },
      onWaiting: (server, day) =>
        printLine(io.stdout, `Waiting until the server ${server} has stored the hashes of its audit events of ${day}.`),
      onMoved(bucket, result) {
        moved += 1;
        users += result.users;
        longest = Math.max(longest, result.stoppedMs);
        const stopped = `writes stopped for ${Math.round(result.stoppedMs)} ms`;
        printLine(io.stdout, `bucket ${bucket} (${moved} of ${planned}): ${result.users} users, ${stopped}`);
      },
    });
  } catch (error) {
    if (error instanceof MoveError) throw new CommandError(error.message);
    printLine(io.stderr, 'The move ended early. Run the command again: it completes what it began.');
    throw error;
  } finally {
    ignoreSignals();
  }
  if (planned === 0) printLine(io.stdout, `Nothing moves: ${to} has these buckets.`);
  else
    printLine(
      io.stdout,
      `Moved ${moved} buckets with ${users} users. The longest stop took ${Math.round(longest)} ms.`,
    );
  if (!stopping.signal.aborted) return true;
  printLine(io.stderr, 'Stopped. The other buckets stay where they are. Run the command again to continue.');
  return false;
}
