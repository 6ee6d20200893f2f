import type { Writable } from 'node:stream';
import type { Database } from '../../database/database.js';
import { createConnections, defaultTimes, type StreamTimes, write } from '../../lib/event-stream/connections.js';
import { closing, opening, reset } from '../../lib/event-stream/frames.js';
import { createStreamLimit } from '../../lib/event-stream/stream-limit.js';
import type { FilterClause } from '../../lib/filter/fields.js';
import type { Pacer } from '../../lib/pacing.js';
import { Problem } from '../../lib/problem.js';
import type { ImageUrls } from '../images/url.js';
import * as frames from './frames.js';
import { createPump } from './pump.js';
import { createStreamQueries, type StreamStart, type ValidSession } from './queries.js';
import type { Stream } from './stream.js';
import { startWatch } from './watch.js';

/** The streams of this instance, by which clients get the changes of their inboxes. */
export interface Streams {
  /**
   * Opens a stream.
   * @param request.connect called when the request is valid and can no longer be refused
   * @throws Problem `too_many_streams`, `invalid_session_token`, `shutting_down`
   */
  open(request: StreamRequest): Promise<void>;
  /** Call it when the inboxes of these users may have changed. */
  wake(userIds: readonly string[]): void;
  /** The number of open streams. */
  count(): number;
  /** Ends every stream so that its client reconnects, and opens no more. */
  close(): Promise<void>;
}

export interface StreamRequest {
  readonly userId: string;
  readonly sessionId: string;
  readonly start: StreamStart;
  readonly filter: readonly FilterClause[];
  /** Whether notifications have `extra`, and the stream has the event `state`. */
  readonly includesExtra: boolean;
  readonly connect: () => Writable;
}

export interface StreamsOptions {
  readonly database: Database;
  /** The URLs of uploaded images. */
  readonly imageUrlsOf: ImageUrls;
  readonly validSession: ValidSession;
  /** Pauses loops over many streams, so that other requests can run. */
  readonly pacer: Pacer;
  /** For each notification type, the time before which notifications are no longer kept. */
  readonly retainedFrom: () => Readonly<Record<string, string>>;
  readonly log: { warn(fields: object, message: string): void };
  readonly times?: Partial<StreamTimes>;
}

/**
 * How long before its session expires the client is warned: `leadPart` of the remaining time, but at most `maxLead`
 * milliseconds.
 */
const maxLead = 30_000;
const leadPart = 0.2;

/** Creates the streams of a process. */
export function createStreams(options: StreamsOptions): Streams {
  const { database, retainedFrom } = options;
  const times = { ...defaultTimes, ...options.times };
  const queries = createStreamQueries(database, options.validSession);
  const pump = createPump(options);
  const byUser = new Map<string, Set<Stream>>();
  const streamLimit = createStreamLimit();
  const connections = createConnections<Stream>({
    onDrain: pump.wake,
    onEnd: forget,
    onClose: ({ userId }) => streamLimit.release(userId),
  });
  let isClosing = false;

  function forget(stream: Stream): void {
    const others = byUser.get(stream.userId);
    others?.delete(stream);
    if (others?.size === 0) byUser.delete(stream.userId);
  }

  function add(stream: Stream): void {
    connections.add(stream);
    const others = byUser.get(stream.userId);
    if (others === undefined) byUser.set(stream.userId, new Set([stream]));
    else others.add(stream);
  }

  const watch = startWatch({ streams: connections.open, queries, pump, end: connections.end, times, log: options.log });

  return {
    async open({ userId, sessionId, start, filter, includesExtra, connect }) {
      if (isClosing) throw new Problem('shutting_down', { retryAfter: 1 });
      streamLimit.acquire(userId);
      try {
        const checkedAt = performance.now();
        const begun = await queries.begin({ userId, sessionId }, start);
        const { position, history, isReset, remaining } = begun;
        if (isClosing) throw new Problem('shutting_down', { retryAfter: 1 });
        const text = opening(position) + (isReset ? reset(position) : '') + frames.retainedFromEvent(retainedFrom());
        const sink = connect();
        if (sink.destroyed) return streamLimit.release(userId);
        const warningLeadMs = Math.min(maxLead, remaining * leadPart);
        // Sets all properties here, so that all streams have the same shape in V8, which reads objects of different shapes
        // more slowly. Thousands of streams are read for one publication. `lastRead` -1: no read position was
        // sent yet. `stateVersion` -1: the stream does not ask for states.
        const stream: Stream = {
          userId,
          sessionId,
          filter,
          sink,
          position,
          sentPosition: position,
          history,
          lastRead: -1,
          stateVersion: includesExtra ? begun.stateVersion : -1,
          warningLeadMs: warningLeadMs,
          checkedAt,
          writtenAt: checkedAt,
          blockedAt: undefined,
          hasEnded: false,
        };
        add(stream);
        write(stream, text);
        // Spreads the heartbeats of streams that were opened at the same time.
        stream.writtenAt -= Math.random() * times.heartbeatMs * 0.3;
        pump.wake(stream);
      } catch (error) {
        streamLimit.release(userId);
        throw error;
      }
    },
    wake(userIds) {
      for (const id of userIds) for (const stream of byUser.get(id) ?? []) pump.wake(stream);
    },
    count: () => connections.open.size,
    async close() {
      isClosing = true;
      await connections.close(closing);
      await watch.stop();
    },
  };
}
