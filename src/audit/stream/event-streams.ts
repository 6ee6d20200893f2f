import type { Writable } from 'node:stream';
import { errors } from '../../contract/errors/problems.js';
import type { Database } from '../../database/database.js';
import { createChecks } from '../../lib/event-stream/checks.js';
import {
  type Connection,
  createConnections,
  defaultTimes,
  mustEnd,
  needsHeartbeat,
  type StreamTimes,
  write,
} from '../../lib/event-stream/connections.js';
import { closing, heartbeat, message, opening, reset } from '../../lib/event-stream/frames.js';
import { createStreamLimit } from '../../lib/event-stream/stream-limit.js';
import type { FilterClause } from '../../lib/filter/fields.js';
import { matches } from '../../lib/filter/match.js';
import { Problem } from '../../lib/problem.js';
import { withNames } from '../event-list.js';
import { createEventFeed, type EventFeed, type FeedEvent } from './feed.js';
import { type Position, positionText, type Snapshot } from './position.js';

/** The streams of audit events of this instance. */
export interface EventStreams {
  /**
   * Opens a stream.
   * @throws Problem `too_many_streams`, `shutting_down`
   */
  open(request: EventStreamRequest): Promise<void>;
  /** Ends every stream so that its client reconnects, and refuses new streams. */
  close(): Promise<void>;
}

export interface EventStreamRequest {
  /** The name of the API key or operator. */
  readonly caller: string;
  readonly filter: readonly FilterClause[];
  /** The position after which the stream starts. Undefined: now. */
  readonly after: Position | undefined;
  /** Checks the right of the caller again. @throws Problem if it is lost */
  readonly recheck: () => Promise<void>;
  /** Opens the response. Called after all checks: the stream can no longer be refused. */
  readonly connect: () => Writable;
}

export interface EventStreamsOptions {
  readonly database: Database;
  readonly log: { warn(fields: object, message: string): void };
  readonly times?: Partial<StreamTimes>;
}

/** One open stream. It holds no events: the database is the buffer. */
interface EventStream extends Connection {
  readonly filter: readonly FilterClause[];
  readonly recheck: () => Promise<void>;
  position: Position;
  /** The last id that was sent. */
  sentId: string;
}

/** Maximum number of events that one query reads, and that wait in the buffer of a socket. */
const pageSize = 200;

/**
 * Creates the streams of a process. One timer checks the rights of all clients and reads the new events once for all
 * streams. Without a stream it does nothing.
 */
export function createEventStreams({ database, log, ...options }: EventStreamsOptions): EventStreams {
  const times = { ...defaultTimes, ...options.times };
  const feed = createEventFeed(database);
  const streamLimit = createStreamLimit();
  const callers = new Map<EventStream, string>();
  const connections = createConnections<EventStream>({
    onDrain: () => checks.request(),
    onClose(stream) {
      streamLimit.release(callers.get(stream) ?? '');
      callers.delete(stream);
    },
  });
  let isClosing = false;

  async function check(): Promise<void> {
    const streams = [...connections.open];
    const now = performance.now();
    for (const stream of streams) if (mustEnd(stream, now, times)) connections.end(stream);
    const unchecked = streams.filter(({ checkedAt }) => now - checkedAt > times.checkIntervalMs / 2);
    await Promise.all(unchecked.map((stream) => checkRight(stream, connections.end)));
    await deliver(database, feed, streams);
    for (const stream of streams) if (needsHeartbeat(stream, performance.now(), times)) sendHeartbeat(stream);
  }

  const checks = createChecks({
    check,
    isIdle: () => connections.open.size === 0,
    intervalMs: times.checkIntervalMs,
    onFailure: (error) => log.warn({ err: error }, 'the audit events for open streams could not be read'),
  });
  return {
    async open({ caller, filter, after, recheck, connect }) {
      const throwIfClosing = () => {
        if (isClosing) throw new Problem('shutting_down', { retryAfter: 1 });
      };
      throwIfClosing();
      streamLimit.acquire(caller);
      try {
        const checkedAt = performance.now();
        const position = after ?? (await feed.now());
        throwIfClosing();
        const sink = connect();
        if (sink.destroyed) return streamLimit.release(caller);
        const sentId = positionText(position);
        const stream: EventStream = {
          sink,
          filter,
          recheck,
          position,
          sentId,
          checkedAt,
          writtenAt: checkedAt,
          blockedAt: undefined,
          hasEnded: false,
        };
        callers.set(stream, caller);
        connections.add(stream);
        write(stream, opening(sentId));
      } catch (error) {
        streamLimit.release(caller);
        throw error;
      }
    },
    async close() {
      isClosing = true;
      const stopped = checks.stop();
      await connections.close(closing);
      await stopped;
    },
  };
}

/** Ends the stream if its client has lost its right. After any other failure, the next check tries again. */
export async function checkRight<Stream extends Connection & { readonly recheck: () => Promise<void> }>(
  stream: Stream,
  end: (stream: Stream) => void,
): Promise<void> {
  const checkedAt = performance.now();
  try {
    await stream.recheck();
    stream.checkedAt = checkedAt;
  } catch (error) {
    if (error instanceof Problem && errors[error.code].status < 500) end(stream);
  }
}

/**
 * Reads the new events and writes them. Streams at the same position share the reads. Afterwards all streams are at the same
 * position, except those of slow clients.
 */
async function deliver(database: Database, feed: EventFeed, streams: readonly EventStream[]): Promise<void> {
  let until: Snapshot | undefined;
  for (const group of groupByPosition(streams)) {
    let readers = group;
    for (let [first] = readers; first !== undefined; [first] = readers) {
      const { events, next, hasMore, isReset, snapshot } = await feed.read(first.position, pageSize, until);
      if (isReset) for (const stream of readers) sendReset(stream, next);
      else {
        await writeEvents(database, readers, events);
        until ??= snapshot;
      }
      for (const stream of readers) stream.position = next;
      readers = hasMore ? readers.filter(isReading) : [];
    }
  }
}

export const isReading = ({ hasEnded, blockedAt }: Connection) => !hasEnded && blockedAt === undefined;

/** The streams that can be written to, by their positions. */
export function groupByPosition<Stream extends Connection & { readonly position: Position }>(
  streams: readonly Stream[],
): Iterable<Stream[]> {
  const groups = new Map<string, Stream[]>();
  for (const stream of streams.filter(isReading)) {
    const text = positionText(stream.position);
    const others = groups.get(text);
    if (others === undefined) groups.set(text, [stream]);
    else others.push(stream);
  }
  return groups.values();
}

function sendReset(stream: EventStream, position: Position): void {
  stream.sentId = positionText(position);
  write(stream, reset(stream.sentId));
}

/** Writes to each stream the events that match its filter, even if its socket is full: a page is small. */
async function writeEvents(
  database: Database,
  streams: readonly EventStream[],
  events: readonly FeedEvent[],
): Promise<void> {
  const matching = events.filter(({ event }) => streams.some(({ filter }) => matches(filter, { ...event })));
  const namedEvents = await withNames(
    database,
    matching.map(({ event }) => event),
  );
  const frames = namedEvents.map((event, index) => {
    const position = matching[index]?.position();
    const id = position === undefined ? '' : positionText(position);
    return { id, event: { ...event }, text: message(id, event) };
  });
  for (const stream of streams) {
    const matching = frames.filter(({ event }) => matches(stream.filter, event));
    const last = matching.at(-1);
    if (last === undefined) continue;
    stream.sentId = last.id;
    write(stream, matching.map(({ text }) => text).join(''));
  }
}

/** Sends a heartbeat, with the position if it has changed, so that a client that reconnects resumes there. */
function sendHeartbeat(stream: EventStream): void {
  const id = positionText(stream.position);
  write(stream, heartbeat(id === stream.sentId ? undefined : id));
  stream.sentId = id;
}
