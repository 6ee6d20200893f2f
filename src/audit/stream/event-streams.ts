import type { Writable } from 'node:stream';
import { errors } from '../../contract/errors/problems.js';
import type { Database } from '../../database/database.js';
import {
  type Connection,
  createConnections,
  defaultTimes,
  isLost,
  needsHeartbeat,
  type StreamTimes,
  write,
} from '../../lib/event-stream/connections.js';
import { closing, heartbeat, message, opening, reset } from '../../lib/event-stream/frames.js';
import { createSlots } from '../../lib/event-stream/slots.js';
import type { FilterClause } from '../../lib/filter/fields.js';
import { matches } from '../../lib/filter/match.js';
import { Problem } from '../../lib/problem.js';
import { withNames } from '../event-list.js';
import { createEventFeed, type EventFeed, type FedEvent } from './feed.js';
import { type Position, positionText, type Snapshot } from './position.js';

/** The streams of audit events of this instance. */
export interface EventStreams {
  /**
   * Opens a stream.
   * @throws Problem `too_many_streams`, `shutting_down`
   */
  open(request: EventStreamRequest): Promise<void>;
  /** Ends every stream so that its client reconnects, and opens no more. */
  close(): Promise<void>;
}

export interface EventStreamRequest {
  /** The name of the API key or operator. */
  readonly caller: string;
  readonly filter: readonly FilterClause[];
  /** The position of the client. Undefined: now. */
  readonly after: Position | undefined;
  /** Checks the right of the caller again. @throws Problem if it is lost */
  readonly recheck: () => Promise<void>;
  /** Called when nothing can be refused any more. */
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

/** Events that one query reads, and that wait in the buffer of a socket, at most. */
const pageSize = 200;

/**
 * Creates the streams of a process. One timer checks the rights of all clients and reads the new events once for all
 * streams. Without a stream it does nothing.
 */
export function createEventStreams({ database, log, ...options }: EventStreamsOptions): EventStreams {
  const times = { ...defaultTimes, ...options.times };
  const feed = createEventFeed(database);
  const slots = createSlots();
  const callers = new Map<EventStream, string>();
  const connections = createConnections<EventStream>({
    onDrain: () => tick(),
    onClose(stream) {
      slots.leave(callers.get(stream) ?? '');
      callers.delete(stream);
    },
  });
  let isClosing = false;
  let round: Promise<void> | undefined;
  let isDue = false;
  let isUnavailable = false;

  async function check(): Promise<void> {
    const streams = [...connections.open];
    const now = performance.now();
    for (const stream of streams) if (isLost(stream, now, times)) connections.end(stream);
    const unchecked = streams.filter(({ checkedAt }) => now - checkedAt > times.check / 2);
    await Promise.all(unchecked.map((stream) => checkRight(stream, connections.end)));
    await deliver(database, feed, streams);
    for (const stream of streams) if (needsHeartbeat(stream, performance.now(), times)) sendHeartbeat(stream);
  }

  function tick(): void {
    if (connections.open.size === 0) return;
    isDue = round !== undefined;
    round ??= check()
      .then(
        () => {
          isUnavailable = false;
        },
        (error: unknown) => {
          if (!isUnavailable) log.warn({ err: error }, 'streams of audit events could not be read for');
          isUnavailable = true;
        },
      )
      .finally(() => {
        round = undefined;
        if (isDue && !isClosing) tick();
      });
  }

  const timer = setInterval(tick, times.check).unref();
  return {
    async open({ caller, filter, after, recheck, connect }) {
      const refuse = () => {
        if (isClosing) throw new Problem('shutting_down', { retryAfter: 1 });
      };
      refuse();
      slots.take(caller);
      try {
        const checkedAt = performance.now();
        const position = after ?? (await feed.now());
        refuse();
        const sink = connect();
        if (sink.destroyed) return slots.leave(caller);
        const sentId = positionText(position);
        const stream: EventStream = {
          ...{ sink, filter, recheck, position, sentId },
          ...{ checkedAt, writtenAt: checkedAt, blockedAt: undefined, hasEnded: false },
        };
        callers.set(stream, caller);
        connections.add(stream);
        write(stream, opening(sentId));
      } catch (error) {
        slots.leave(caller);
        throw error;
      }
    },
    async close() {
      isClosing = true;
      clearInterval(timer);
      await connections.close(closing);
      await round;
    },
  };
}

/** Ends the stream if its client has lost its right. Any other failure is repeated until the stream counts as lost. */
async function checkRight(stream: EventStream, end: (stream: EventStream) => void): Promise<void> {
  const checkedAt = performance.now();
  try {
    await stream.recheck();
    stream.checkedAt = checkedAt;
  } catch (error) {
    if (error instanceof Problem && errors[error.code].status < 500) end(stream);
  }
}

/**
 * Reads the new events and writes them. Streams at the same position share the reads, and all streams are at the same
 * position after it, except those whose client does not read as fast.
 */
async function deliver(database: Database, feed: EventFeed, streams: readonly EventStream[]): Promise<void> {
  let until: Snapshot | undefined;
  for (const group of byPosition(streams)) {
    let readers = group;
    for (let [first] = readers; first !== undefined; [first] = readers) {
      const { events, next, hasMore, isReset, seen } = await feed.read(first.position, pageSize, until);
      if (isReset) for (const stream of readers) startAgain(stream, next);
      else await writeEvents(database, readers, events);
      for (const stream of readers) stream.position = next;
      if (isReset || !hasMore) readers = [];
      else readers = readers.filter(isReading);
      if (!isReset) until ??= seen;
    }
  }
}

const isReading = ({ hasEnded, blockedAt }: EventStream) => !hasEnded && blockedAt === undefined;

function byPosition(streams: readonly EventStream[]): Iterable<EventStream[]> {
  const groups = new Map<string, EventStream[]>();
  for (const stream of streams.filter(isReading)) {
    const text = positionText(stream.position);
    const others = groups.get(text);
    if (others === undefined) groups.set(text, [stream]);
    else others.push(stream);
  }
  return groups.values();
}

function startAgain(stream: EventStream, position: Position): void {
  stream.sentId = positionText(position);
  write(stream, reset(stream.sentId));
}

/** Writes to each stream the events that it wants, even if they fill its socket: they are few. */
async function writeEvents(
  database: Database,
  streams: readonly EventStream[],
  events: readonly FedEvent[],
): Promise<void> {
  const wanted = events.filter(({ event }) => streams.some(({ filter }) => matches(filter, { ...event })));
  const named = await withNames(
    database,
    wanted.map(({ event }) => event),
  );
  const frames = named.map((event, index) => {
    const position = wanted[index]?.position();
    const id = position === undefined ? '' : positionText(position);
    return { id, event: { ...event }, text: message(id, event) };
  });
  for (const stream of streams) {
    const own = frames.filter(({ event }) => matches(stream.filter, event));
    const last = own.at(-1);
    if (last === undefined) continue;
    stream.sentId = last.id;
    write(stream, own.map(({ text }) => text).join(''));
  }
}

/** Sends a heartbeat, with the position if it has changed, so that a client that reconnects resumes there. */
function sendHeartbeat(stream: EventStream): void {
  const id = positionText(stream.position);
  write(stream, heartbeat(id === stream.sentId ? undefined : id));
  stream.sentId = id;
}
