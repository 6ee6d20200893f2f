import { mustEnd, needsHeartbeat, type StreamTimes, write } from '../../lib/event-stream/connections.js';
import { heartbeat } from '../../lib/event-stream/frames.js';
import * as frames from './frames.js';
import type { Pump } from './pump.js';
import type { StreamQueries } from './queries.js';
import type { Stream } from './stream.js';

/** Checks all open streams. */
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

/** The number of streams that one query checks. */
const batchSize = 1000;

/**
 * One timer for all streams. It ends streams that do not read or that could not be checked, sends heartbeats, and asks
 * the database which sessions are no longer valid, which expire soon, and which inboxes have changes without a signal.
 * So revoking a session needs no signal, and a lost signal delays a notification only until the next check.
 */
export function startWatch({ streams, queries, pump, end, times, log }: WatchOptions): Watch {
  let checking: Promise<void> | undefined;
  let isUnavailable = false;

  async function check(): Promise<void> {
    const all = [...streams];
    for (let from = 0; from < all.length; from += batchSize) {
      const batch = all.slice(from, from + batchSize).filter((stream) => !stream.hasEnded);
      const checkedAt = performance.now();
      const findings = await queries.check(batch);
      for (const stream of batch) stream.checkedAt = checkedAt;
      for (const { stream, expiresAt, isExpiring, isBehind } of findings) {
        if (expiresAt === null) end(stream);
        else if (isBehind) pump.wake(stream);
        if (expiresAt !== null && isExpiring && stream.blockedAt === undefined) {
          stream.warningLeadMs = 0;
          write(stream, frames.sessionExpiringEvent(expiresAt));
        }
      }
    }
  }

  function tick(): void {
    const now = performance.now();
    for (const stream of streams) {
      if (mustEnd(stream, now, times)) end(stream);
      else if (needsHeartbeat(stream, now, times)) sendHeartbeat(stream);
    }
    checking ??= tryToCheck();
  }

  /** Never rejects. */
  async function tryToCheck(): Promise<void> {
    try {
      await check();
      isUnavailable = false;
    } catch (error) {
      if (!isUnavailable) log.warn({ err: error }, 'streams could not be checked');
      isUnavailable = true;
    } finally {
      checking = undefined;
    }
  }

  const timer = setInterval(tick, times.checkIntervalMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      await checking;
    },
  };
}

/**
 * Sends a heartbeat. If the filter has excluded changes, it also sends the position, so that a client that reconnects
 * resumes there.
 */
function sendHeartbeat(stream: Stream): void {
  const { position, sentPosition } = stream;
  stream.sentPosition = position;
  write(stream, heartbeat(position === sentPosition ? undefined : position));
}
