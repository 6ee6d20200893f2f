import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { BusyError } from './luggage.js';
import { MoveError, type MoveTimes, type Planned, type Servers } from './move-options.js';

/** Milliseconds between two checks. */
const pause = 1000;

/**
 * Finds a day (UTC) with audit events that the source has not sealed yet (it has not stored their hash), although the target
 * has begun to seal that day or a later one. Events of that day that move now would be in the hash chain of neither server.
 */
async function findUnsealedDay(from: pg.Client, into: pg.Client): Promise<string | undefined> {
  const { rows: begun } = await into.query<{ day: string | null }>('select max(day)::text as day from audit_days');
  const { rows: unsealed } = await from.query<{ day: string }>(
    `select (created_at at time zone 'UTC')::date::text as day from events
     where created_at < ($1::date + 1)::timestamp at time zone 'UTC'
       and created_at >= coalesce((select (max(day) + 1)::timestamp at time zone 'UTC' from audit_days
                                   where hash is not null), '-infinity')
     order by created_at limit 1`,
    [begun[0]?.day],
  );
  return unsealed[0]?.day;
}

/**
 * Waits until the source has sealed the days that the target has begun to seal.
 * @param options.onWaiting called before the first pause
 * @param options.meanwhile called before each check
 * @throws MoveError
 * @throws the reason of the signal
 */
export async function waitForSeals(
  { of }: Servers,
  { source, target }: Planned,
  options: {
    readonly times: MoveTimes;
    readonly signal: AbortSignal | undefined;
    readonly onWaiting: ((server: string, day: string) => void) | undefined;
    readonly meanwhile: () => Promise<void>;
  },
): Promise<void> {
  const { times, signal, onWaiting, meanwhile } = options;
  const end = performance.now() + times.sealing;
  for (let isFirst = true; ; isFirst = false) {
    await meanwhile();
    const day = await findUnsealedDay(of(source), of(target));
    if (day === undefined) return;
    if (performance.now() > end) {
      throw new MoveError(
        `The server ${source} has not stored the hashes of its audit events of ${day} yet. Check that an instance of Postern runs, and run the command again.`,
      );
    }
    if (isFirst) onWaiting?.(source, day);
    // The pause rejects only when the signal aborts, but with an error of its own.
    await wait(pause, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

/** Refuses a stop while events of the bucket would be sealed by neither server. @throws BusyError */
export async function refuseUnsealed([from, into]: readonly [pg.Client, pg.Client]): Promise<void> {
  const day = await findUnsealedDay(from, into);
  if (day !== undefined) throw new BusyError(`the hashes of the audit events of ${day} are not stored yet`);
}
