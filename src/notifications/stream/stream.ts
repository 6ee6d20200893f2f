import type { Writable } from 'node:stream';
import type { FilterClause } from '../../lib/filter/fields.js';

/**
 * One client that listens. It holds no notification: the database is the buffer, and this says up to where it has been
 * written out. Times are those of `performance.now()`.
 */
export interface Stream {
  readonly userId: string;
  readonly sessionId: string;
  readonly filter: readonly FilterClause[];
  readonly sink: Writable;
  /** The change sequence up to which everything was written, or left out by the filter. */
  position: number;
  /** The last id that the client was given. */
  toldPosition: number;
  /** While history is told: changes up to `end` of notifications up to `floor` are left out. */
  readonly history: { readonly floor: number; readonly end: number } | undefined;
  /** The marker that the client knows; -1 before the first. */
  marker: number;
  /** Milliseconds before the session's end when the client is told; 0 when it was. */
  lead: number;
  /** When it was last known that the session holds. */
  checkedAt: number;
  writtenAt: number;
  /** Since when the client does not read. What was handed over waits in its socket; no more is handed over. */
  blockedAt: number | undefined;
  hasEnded: boolean;
}

/** Hands text over to the client's socket; false: it has enough, and says so itself (`drain`) when it wants more. */
export function write(stream: Stream, text: string): boolean {
  if (stream.hasEnded) return false;
  stream.writtenAt = performance.now();
  const wantsMore = stream.sink.write(text);
  if (!wantsMore) stream.blockedAt = stream.writtenAt;
  return wantsMore;
}

/** Milliseconds. */
export interface StreamTimes {
  /** Between two looks at whether sessions hold and whether a signal was lost. */
  readonly check: number;
  /** Until a client is cut that does not read. */
  readonly blocked: number;
  /** Until a stream is cut whose session could not be checked. */
  readonly unchecked: number;
  /** Between two signs of life. */
  readonly heartbeat: number;
}
