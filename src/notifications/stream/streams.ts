import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../database/database.js';
import type { FilterClause } from '../../lib/filter/fields.js';
import type { Pacer } from '../../lib/pacing.js';
import { waitAtMost } from '../../lib/patience.js';
import { Problem } from '../../lib/problem.js';
import type { ImageUrls } from '../images/url.js';
import * as frames from './frames.js';
import { createPump } from './pump.js';
import { createStreamQueries, type HeldSession, type StreamStart } from './queries.js';
import { type Stream, type StreamTimes, write } from './stream.js';
import { startWatch } from './watch.js';

/** The clients of this instance that listen for what happens to their inboxes. */
export interface Streams {
  /**
   * Begins a stream.
   * @param request.connect called when everything is found to be right, and nothing is to be refused any more
   * @throws Problem `too_many_streams`, `invalid_session_token`, `shutting_down`
   */
  open(request: StreamRequest): Promise<void>;
  /** There may be something new for these users. */
  wake(userIds: readonly string[]): void;
  /** How many are open. */
  count(): number;
  /** Tells every client to come back, and begins no more streams. */
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
  /** Where uploaded images are. */
  readonly imageUrlsOf: ImageUrls;
  readonly heldSession: HeldSession;
  /** Of loops over what was read for many streams. */
  readonly pacer: Pacer;
  /** By notification type: the time before which nothing is kept. */
  readonly retainedFrom: () => Readonly<Record<string, string>>;
  readonly log: { warn(fields: object, message: string): void };
  readonly times?: Partial<StreamTimes>;
}

const usualTimes: StreamTimes = { check: 750, blocked: 30_000, unchecked: 15_000, heartbeat: 14_000 };
/** Milliseconds until a connection is broken that does not take its end. */
const patience = 3000;
/** Streams of one user on one instance: several devices, and what a phone that changes networks leaves behind. */
const maxPerUser = 20;
/** Milliseconds: how long before its session's end a client is told at most, and as a part of what is left. */
const longestLead = 30_000;
const leadPart = 0.2;

export function createStreams(options: StreamsOptions): Streams {
  const { database, retainedFrom } = options;
  const times = { ...usualTimes, ...options.times };
  const queries = createStreamQueries(database, options.heldSession);
  const pump = createPump(database, options.imageUrlsOf, options.pacer, options.log);
  const byUser = new Map<string, Set<Stream>>();
  const open = new Set<Stream>();
  /** Those that were told to end, until their connections have. */
  const ending = new Set<Stream>();
  const seats = createSeats();
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
    // The close follows.
    stream.sink.on('error', () => undefined);
    stream.sink.once('close', () => {
      remove(stream);
      ending.delete(stream);
      seats.leave(stream.userId);
    });
  }

  function remove(stream: Stream): void {
    stream.hasEnded = true;
    open.delete(stream);
    const others = byUser.get(stream.userId);
    others?.delete(stream);
    if (others?.size === 0) byUser.delete(stream.userId);
  }

  /** A client that does not read would not take the end either. */
  function end(stream: Stream, text = ''): void {
    if (stream.hasEnded) return;
    remove(stream);
    ending.add(stream);
    if (stream.blockedAt !== undefined) stream.sink.destroy();
    else stream.sink.end(text);
    void wait(patience, undefined, { ref: false }).then(() => ending.has(stream) && stream.sink.destroy());
  }

  const watch = startWatch({ streams: open, queries, pump, end, times, log: options.log });

  return {
    async open({ userId, sessionId, start, filter, connect }) {
      if (isClosing) throw new Problem('shutting_down', { retryAfter: 1 });
      seats.take(userId);
      try {
        const checkedAt = performance.now();
        const { position, history, isReset, remaining } = await queries.begin({ userId, sessionId }, start);
        if (isClosing) throw new Problem('shutting_down', { retryAfter: 1 });
        const text =
          frames.beginning(position) + (isReset ? frames.reset(position) : '') + frames.retainedFrom(retainedFrom());
        const sink = connect();
        if (sink.destroyed) return seats.leave(userId);
        const lead = Math.min(longestLead, remaining * leadPart);
        // Every property in one place, and for good: objects whose shapes differ cost thousands of streams a sixth more.
        const stream: Stream = {
          userId,
          sessionId,
          filter,
          sink,
          position,
          toldPosition: position,
          history,
          marker: -1,
          lead,
          checkedAt,
          writtenAt: checkedAt,
          blockedAt: undefined,
          hasEnded: false,
        };
        add(stream);
        write(stream, text);
        // Streams that began together show their signs of life apart.
        stream.writtenAt -= Math.random() * times.heartbeat * 0.3;
        pump.wake(stream);
      } catch (error) {
        seats.leave(userId);
        throw error;
      }
    },
    wake(userIds) {
      for (const id of userIds) for (const stream of byUser.get(id) ?? []) pump.wake(stream);
    },
    count: () => open.size,
    async close() {
      isClosing = true;
      for (const stream of [...open]) end(stream, frames.farewell());
      await waitAtMost(patience + 1000, allClosed(ending));
      await watch.stop();
    },
  };
}

/** How many streams each user has, those that are about to begin included. */
function createSeats(): { take(userId: string): void; leave(userId: string): void } {
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
