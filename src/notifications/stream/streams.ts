import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../database/database.js';
import type { FilterClause } from '../../lib/filter/fields.js';
import type { Pacer } from '../../lib/pacing.js';
import { Problem } from '../../lib/problem.js';
import { waitAtMost } from '../../lib/time-limit.js';
import type { ImageUrls } from '../images/url.js';
import * as frames from './frames.js';
import { createPump } from './pump.js';
import { createStreamQueries, type StreamStart, type ValidSession } from './queries.js';
import { type Stream, type StreamTimes, write } from './stream.js';
import { startWatch } from './watch.js';

/** The streams of this instance, by which clients get the changes of their inboxes. */
export interface Streams {
  /**
   * Opens a stream.
   * @param request.connect called when the request is valid and nothing can be refused any more
   * @throws Problem `too_many_streams`, `invalid_session_token`, `shutting_down`
   */
  open(request: StreamRequest): Promise<void>;
  /** The inboxes of these users may have changed. */
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
  readonly connect: () => Writable;
}

export interface StreamsOptions {
  readonly database: Database;
  /** The URLs of uploaded images. */
  readonly imageUrlsOf: ImageUrls;
  readonly heldSession: ValidSession;
  /** Lets other requests run during loops over many streams. */
  readonly pacer: Pacer;
  /** By notification type: notifications from before this time are no longer kept. */
  readonly retainedFrom: () => Readonly<Record<string, string>>;
  readonly log: { warn(fields: object, message: string): void };
  readonly times?: Partial<StreamTimes>;
}

const defaultTimes: StreamTimes = { check: 750, blocked: 30_000, unchecked: 15_000, heartbeat: 14_000 };
/** Milliseconds until a connection that does not end is destroyed. */
const endTimeout = 3000;
/** Streams of one user on one instance: several devices, and connections that a phone leaves behind when it changes networks. */
const maxPerUser = 20;
/**
 * The client is warned before its session expires: by this part of the remaining time, and at most by this many
 * milliseconds.
 */
const maxLead = 30_000;
const leadPart = 0.2;

/** Creates the streams of a process. */
export function createStreams(options: StreamsOptions): Streams {
  const { database, retainedFrom } = options;
  const times = { ...defaultTimes, ...options.times };
  const queries = createStreamQueries(database, options.heldSession);
  const pump = createPump(database, options.imageUrlsOf, options.pacer, options.log);
  const byUser = new Map<string, Set<Stream>>();
  const open = new Set<Stream>();
  /** Streams that were ended, until their connections close. */
  const ending = new Set<Stream>();
  const slots = createSlots();
  let isClosing = false;

  function add(stream: Stream): void {
    open.add(stream);
    const others = byUser.get(stream.userId);
    if (others === undefined) byUser.set(stream.userId, new Set([stream]));
    else others.add(stream);
    stream.sink.on('drain', () => {
      stream.blockedAt = undefined;
      pump.wake(stream);
    });
    // A `close` event follows.
    stream.sink.on('error', () => undefined);
    stream.sink.once('close', () => {
      remove(stream);
      ending.delete(stream);
      slots.leave(stream.userId);
    });
  }

  function remove(stream: Stream): void {
    stream.hasEnded = true;
    open.delete(stream);
    const others = byUser.get(stream.userId);
    others?.delete(stream);
    if (others?.size === 0) byUser.delete(stream.userId);
  }

  /** Ends a stream. A client that does not read would not receive the end: its connection is destroyed. */
  function end(stream: Stream, text = ''): void {
    if (stream.hasEnded) return;
    remove(stream);
    ending.add(stream);
    if (stream.blockedAt !== undefined) stream.sink.destroy();
    else stream.sink.end(text);
    void wait(endTimeout, undefined, { ref: false }).then(() => ending.has(stream) && stream.sink.destroy());
  }

  const watch = startWatch({ streams: open, queries, pump, end, times, log: options.log });

  return {
    async open({ userId, sessionId, start, filter, connect }) {
      if (isClosing) throw new Problem('shutting_down', { retryAfter: 1 });
      slots.take(userId);
      try {
        const checkedAt = performance.now();
        const { position, history, isReset, remaining } = await queries.begin({ userId, sessionId }, start);
        if (isClosing) throw new Problem('shutting_down', { retryAfter: 1 });
        const text =
          frames.opening(position) + (isReset ? frames.reset(position) : '') + frames.retainedFrom(retainedFrom());
        const sink = connect();
        if (sink.destroyed) return slots.leave(userId);
        const lead = Math.min(maxLead, remaining * leadPart);
        // All properties from the start: with objects of different shapes, thousands of streams cost a sixth more.
        const stream: Stream = {
          userId,
          sessionId,
          filter,
          sink,
          position,
          sentPosition: position,
          history,
          lastRead: -1,
          warningLeadMs: lead,
          checkedAt,
          writtenAt: checkedAt,
          blockedAt: undefined,
          hasEnded: false,
        };
        add(stream);
        write(stream, text);
        // Spreads the heartbeats of streams that were opened together.
        stream.writtenAt -= Math.random() * times.heartbeat * 0.3;
        pump.wake(stream);
      } catch (error) {
        slots.leave(userId);
        throw error;
      }
    },
    wake(userIds) {
      for (const id of userIds) for (const stream of byUser.get(id) ?? []) pump.wake(stream);
    },
    count: () => open.size,
    async close() {
      isClosing = true;
      for (const stream of [...open]) end(stream, frames.closing());
      await waitAtMost(endTimeout + 1000, allClosed(ending));
      await watch.stop();
    },
  };
}

/** Counts the streams of each user, including those that are being opened. */
function createSlots(): { take(userId: string): void; leave(userId: string): void } {
  const taken = new Map<string, number>();
  return {
    take(userId) {
      const count = taken.get(userId) ?? 0;
      if (count >= maxPerUser) throw new Problem('too_many_streams', { retryAfter: 30 });
      taken.set(userId, count + 1);
    },
    leave(userId) {
      const count = taken.get(userId) ?? 0;
      if (count > 1) taken.set(userId, count - 1);
      else taken.delete(userId);
    },
  };
}

async function allClosed(ending: ReadonlySet<Stream>): Promise<void> {
  await Promise.all(
    [...ending].map(({ sink }) => sink.closed || new Promise((resolve) => sink.once('close', resolve))),
  );
}
