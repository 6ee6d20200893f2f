import * as frames from './frames.js';
import type { Pump } from './pump.js';
import type { StreamQueries } from './queries.js';
import { type Stream, type StreamTimes, write } from './stream.js';

/** Looks after the open streams, all together. */
export interface Watch {
  stop(): Promise<void>;
}

export interface WatchOptions {
  readonly streams: ReadonlySet<Stream>;
  readonly queries: StreamQueries;
  readonly pump: Pump;
  readonly end: (stream: Stream) => void;
  readonly times: StreamTimes;
  readonly log: { warn(fields: object, message: string): void };
}

/** Streams that one query looks at. */
const batch = 1000;

/**
 * One timer for all: cuts who does not read and who could not be checked, shows signs of life, and asks the database
 * which sessions no longer hold, which end soon, and where something is new of which no signal came. So revoking needs
 * no signal at all, and one that is lost delays a notification by no more than the pause between two looks.
 */
export function startWatch({ streams, queries, pump, end, times, log }: WatchOptions): Watch {
  let checking: Promise<void> | undefined;
  let isAway = false;

  async function check(): Promise<void> {
    const all = [...streams];
    for (let from = 0; from < all.length; from += batch) {
      const some = all.slice(from, from + batch).filter((stream) => !stream.hasEnded);
      const askedAt = performance.now();
      const findings = await queries.check(some);
      for (const stream of some) stream.checkedAt = askedAt;
      for (const { stream, expiresAt, isExpiring, isBehind } of findings) {
        if (expiresAt === null) end(stream);
        else if (isBehind) pump.wake(stream);
        if (expiresAt !== null && isExpiring && stream.blockedAt === undefined) {
          stream.lead = 0;
          write(stream, frames.sessionExpiring(expiresAt));
        }
      }
    }
  }

  function look(): void {
    const now = performance.now();
    for (const stream of streams) {
      const isStuck = stream.blockedAt !== undefined && now - stream.blockedAt > times.blocked;
      if (isStuck || now - stream.checkedAt > times.unchecked) end(stream);
      else if (stream.blockedAt === undefined && now - stream.writtenAt > times.heartbeat) showLife(stream);
    }
    checking ??= check()
      .then(
        () => {
          isAway = false;
        },
        (error: unknown) => {
          if (!isAway) log.warn({ err: error }, 'streams could not be checked');
          isAway = true;
        },
      )
      .finally(() => {
        checking = undefined;
      });
  }

  const timer = setInterval(look, times.check).unref();
  return {
    async stop() {
      clearInterval(timer);
      await checking;
    },
  };
}

/** With the position, if the filter has left something out since: who comes back later goes on from there. */
function showLife(stream: Stream): void {
  const { position, toldPosition } = stream;
  stream.toldPosition = position;
  write(stream, frames.heartbeat(position === toldPosition ? undefined : position));
}
