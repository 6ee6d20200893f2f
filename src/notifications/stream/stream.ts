import type { Writable } from 'node:stream';
import type { FilterClause } from '../../lib/filter/fields.js';

/**
 * One open stream of a client. It stores no notifications, because the database is the buffer (decision 20), but the
 * position up to which they were written. Times are those of `performance.now()`.
 */
export interface Stream {
  readonly userId: string;
  readonly sessionId: string;
  readonly filter: readonly FilterClause[];
  readonly sink: Writable;
  /** All changes up to this change sequence were written, or excluded by the filter. */
  position: number;
  /** The last id that was sent to the client. */
  sentPosition: number;
  /**
   * While old changes are sent: up to the change `end`, changes of notifications with a sequence up to `floor` are
   * skipped.
   */
  readonly history: { readonly floor: number; readonly end: number } | undefined;
  /** The read position that was sent last; -1 before the first. */
  lastRead: number;
  /** How long before its session expires the client is warned, in milliseconds; 0 after the warning. */
  warningLeadMs: number;
  /** When the session was last found valid. */
  checkedAt: number;
  writtenAt: number;
  /**
   * The time since which the client has not read. Written text waits in the socket's buffer, and no more is written.
   */
  blockedAt: number | undefined;
  hasEnded: boolean;
}

/** Writes to the client's socket. @returns false when its buffer is full: it emits `drain` when it can take more */
export function write(stream: Stream, text: string): boolean {
  if (stream.hasEnded) return false;
  stream.writtenAt = performance.now();
  const wantsMore = stream.sink.write(text);
  if (!wantsMore) stream.blockedAt = stream.writtenAt;
  return wantsMore;
}

/** Milliseconds. */
export interface StreamTimes {
  /** Between two checks of sessions and of lost signals. */
  readonly check: number;
  /** Until a client that does not read is disconnected. */
  readonly blocked: number;
  /** Until a stream whose session could not be checked is ended. */
  readonly unchecked: number;
  /** Between two heartbeats. */
  readonly heartbeat: number;
}
