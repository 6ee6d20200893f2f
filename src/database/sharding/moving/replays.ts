import type pg from 'pg';
import { everyoneStatement, literal, sql } from '../../sql.js';
import { lockClass } from './guard.js';
import { BusyError } from './luggage.js';

/** The number of the lock of replays, in the class of the locks of buckets. Buckets have the numbers 0 to 4095. */
const replayLock = 4096;

/** Lets a replay of webhooks begin only while no bucket of the server is stopped. Run it in the transaction that stores the replay. */
export const waitForMoves = everyoneStatement<object>(
  'webhook_replay_wait',
  () => sql`select pg_advisory_xact_lock_shared(${literal(lockClass)}, ${literal(replayLock)})`,
);

/**
 * Refuses a stop while webhooks replay events, and keeps later replays waiting until the locks of the session are given
 * back. A replay goes through the events of each server in the order of time, so it would miss events that come to a
 * server and are older than its position.
 * @param clients of the two servers of a move
 * @throws BusyError
 */
export async function excludeReplays(clients: readonly pg.Client[]): Promise<void> {
  for (const client of clients) {
    const { rows: locks } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', [
      lockClass,
      replayLock,
    ]);
    if (locks[0]?.locked !== true) throw new BusyError('a replay of a webhook begins');
    const { rows: replays } = await client.query('select from webhook_replays limit 1');
    if (replays.length > 0) throw new BusyError('a webhook replays events');
  }
}
