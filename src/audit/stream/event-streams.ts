import type { Writable } from 'node:stream';
import { errors } from '../../contract/errors/problems.js';
import { type Database, mainShard } from '../../database/database.js';
import { answersOf } from '../../database/sharding/merge.js';
import { serverField } from '../../database/sharding/routing.js';
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
import { createSlots } from '../../lib/event-stream/slots.js';
import type { FilterClause } from '../../lib/filter/fields.js';
import { matches } from '../../lib/filter/match.js';
import { Problem } from '../../lib/problem.js';
import { withNames } from '../event-list.js';
import { createEventFeed, type EventFeed, type FeedEvent } from './feed.js';
import { createFindMoved } from './moved-events.js';
import { type Places, placesText } from './places.js';
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
  /** The place after which the stream starts. Undefined: now. */
  readonly after: Places | undefined;
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
  /** A server without a position did not answer yet. Its first event for the client is a reset. */
  readonly places: Map<string, Position>;
  /** The last id that was sent. */
  sentId: string;
}

/** The feed of a server. */
interface ServerFeed extends EventFeed {
  readonly name: string;
  /** A read for streams that runs now. */
  reading: Promise<void> | undefined;
  hasFailed: boolean;
}

/** Maximum number of events that one query reads, and that wait in the buffer of a socket. */
const pageSize = 200;

/**
 * Creates the streams of a process. One timer checks the rights of all clients and reads the new events once for all
 * streams. Without a stream it does nothing.
 */
export function createEventStreams({ database, log, ...options }: EventStreamsOptions): EventStreams {
  const times = { ...defaultTimes, ...options.times };
  const findMoved = createFindMoved(database);
  const feeds = database.shards.map(
    (shard): ServerFeed => ({
      ...createEventFeed(shard, findMoved),
      name: shard.name,
      reading: undefined,
      hasFailed: false,
    }),
  );
  const slots = createSlots();
  const callers = new Map<EventStream, string>();
  const connections = createConnections<EventStream>({
    onDrain: () => tick(),
    onClose(stream) {
      slots.release(callers.get(stream) ?? '');
      callers.delete(stream);
    },
  });
  let isClosing = false;
  let currentCheck: Promise<void> | undefined;
  let isCheckDue = false;
  const warn = (error: unknown, server: object) =>
    log.warn({ err: error, ...server }, 'the audit events for open streams could not be read');
  let isUnavailable = false;
  const isKnown = ([name]: readonly [string, Position]) => feeds.some((feed) => feed.name === name);

  /** Reads the events of each server. @throws the error of the only server, or of all of them */
  async function deliverAll(streams: readonly EventStream[]): Promise<void> {
    const errors: unknown[] = [];
    const read = async (feed: ServerFeed) => {
      try {
        await deliver(database, feed, streams);
        feed.hasFailed = false;
      } catch (error) {
        errors.push(error);
        const [server] = database.shards.filter(({ name }) => name === feed.name);
        if (!feed.hasFailed && feeds.length > 1 && server !== undefined) warn(error, serverField(database, server));
        feed.hasFailed = true;
      }
    };
    const readings = feeds.map((feed) => {
      // The other servers do not wait for a server that has failed before.
      const isAwaited = !feed.hasFailed || feeds.length === 1;
      feed.reading ??= read(feed).finally(() => {
        feed.reading = undefined;
      });
      return isAwaited ? feed.reading : undefined;
    });
    await Promise.all(readings);
    if (errors.length === feeds.length) throw errors[0];
  }

  async function check(): Promise<void> {
    const streams = [...connections.open];
    const now = performance.now();
    for (const stream of streams) if (mustEnd(stream, now, times)) connections.end(stream);
    const unchecked = streams.filter(({ checkedAt }) => now - checkedAt > times.checkIntervalMs / 2);
    await Promise.all(unchecked.map((stream) => checkRight(stream, connections.end)));
    await deliverAll(streams);
    for (const stream of streams) if (needsHeartbeat(stream, performance.now(), times)) sendHeartbeat(stream);
  }

  function tick(): void {
    if (connections.open.size === 0) return;
    isCheckDue = currentCheck !== undefined;
    currentCheck ??= check()
      .then(
        () => {
          isUnavailable = false;
        },
        (error: unknown) => {
          if (!isUnavailable) warn(error, {});
          isUnavailable = true;
        },
      )
      .finally(() => {
        currentCheck = undefined;
        if (isCheckDue && !isClosing) tick();
      });
  }

  const timer = setInterval(tick, times.checkIntervalMs).unref();
  return {
    async open({ caller, filter, after, recheck, connect }) {
      const throwIfClosing = () => {
        if (isClosing) throw new Problem('shutting_down', { retryAfter: 1 });
      };
      throwIfClosing();
      slots.acquire(caller);
      try {
        const checkedAt = performance.now();
        const places = new Map(after === undefined ? await placesNow(database) : [...after].filter(isKnown));
        throwIfClosing();
        const sink = connect();
        if (sink.destroyed) return slots.release(caller);
        const sentId = placesText(places);
        const stream: EventStream = {
          ...{ sink, filter, recheck, places, sentId },
          ...{ checkedAt, writtenAt: checkedAt, blockedAt: undefined, hasEnded: false },
        };
        callers.set(stream, caller);
        connections.add(stream);
        write(stream, opening(sentId));
      } catch (error) {
        slots.release(caller);
        throw error;
      }
    },
    async close() {
      isClosing = true;
      clearInterval(timer);
      await connections.close(closing);
      await currentCheck;
      await Promise.all(feeds.map(({ reading }) => reading));
    },
  };
}

/** Ends the stream if its client has lost its right. After any other failure, the next check tries again. */
async function checkRight(stream: EventStream, end: (stream: EventStream) => void): Promise<void> {
  const checkedAt = performance.now();
  try {
    await stream.recheck();
    stream.checkedAt = checkedAt;
  } catch (error) {
    if (error instanceof Problem && errors[error.code].status < 500) end(stream);
  }
}

/** The place after all events that are visible now. @throws Problem `storage_unavailable` if no server answers */
async function placesNow(database: Database): Promise<Places> {
  const { values, failure } = await answersOf(
    database.shards,
    async (shard) => [shard.name, await createEventFeed(shard).now()] as const,
  );
  if (values.length === 0) throw failure;
  return new Map(values);
}

/**
 * Reads the new events of a server and writes them. Streams at the same position share the reads. Afterwards all streams are
 * at the same position, except those of slow clients.
 */
async function deliver(database: Database, feed: ServerFeed, streams: readonly EventStream[]): Promise<void> {
  const { name } = feed;
  let until: Snapshot | undefined;
  for (const group of groupByPosition(name, streams)) {
    let readers = group;
    for (let [first] = readers; first !== undefined; [first] = readers) {
      const from = first.places.get(name);
      const page = from === undefined ? undefined : await feed.read(from, pageSize, until);
      if (page === undefined || page.isReset) {
        const next = page?.next ?? (await feed.now());
        for (const stream of readers) sendReset(stream, name, next);
        readers = [];
      } else {
        const { events, next, hasMore, snapshot } = page;
        await writeEvents(database, name, readers, events, next);
        readers = hasMore ? readers.filter(isReading) : [];
        until ??= snapshot;
      }
    }
  }
}

const isReading = ({ hasEnded, blockedAt }: EventStream) => !hasEnded && blockedAt === undefined;

function groupByPosition(server: string, streams: readonly EventStream[]): Iterable<EventStream[]> {
  const groups = new Map<string, EventStream[]>();
  for (const stream of streams.filter(isReading)) {
    const position = stream.places.get(server);
    const text = position === undefined ? '' : positionText(position);
    const others = groups.get(text);
    if (others === undefined) groups.set(text, [stream]);
    else others.push(stream);
  }
  return groups.values();
}

function sendReset(stream: EventStream, server: string, position: Position): void {
  stream.places.set(server, position);
  stream.sentId = placesText(stream.places);
  write(stream, reset(stream.sentId));
}

/**
 * Writes to each stream the events that match its filter, even if its socket is full: a page is small. It changes the
 * place of the stream in the same step, because the ids of events of other servers contain this place.
 */
async function writeEvents(
  database: Database,
  server: string,
  streams: readonly EventStream[],
  events: readonly FeedEvent[],
  next: Position,
): Promise<void> {
  const matching = events.filter(({ event }) => streams.some(({ filter }) => matches(filter, { ...event })));
  const namedEvents = await withNames(
    database,
    matching.map(({ event }) => event),
  );
  // Without SHARDS, an event has the same id on each stream.
  const isOnly = server === mainShard && streams.every(({ places }) => places.size === 1);
  const frames = namedEvents.map((event, index) => {
    const position = matching[index]?.position() ?? next;
    return { position, event: { ...event }, shared: isOnly ? frameOf(positionText(position), event) : undefined };
  });
  for (const stream of streams) {
    const written = frames
      .filter(({ event }) => matches(stream.filter, event))
      .map(
        ({ position, event, shared }) =>
          shared ?? frameOf(placesText(new Map(stream.places).set(server, position)), event),
      );
    stream.places.set(server, next);
    const last = written.at(-1);
    if (last === undefined) continue;
    stream.sentId = last.id;
    write(stream, written.map(({ text }) => text).join(''));
  }
}

const frameOf = (id: string, event: object) => ({ id, text: message(id, event) });

/** Sends a heartbeat, with the place if it has changed, so that a client that reconnects resumes there. */
function sendHeartbeat(stream: EventStream): void {
  const id = placesText(stream.places);
  write(stream, heartbeat(id === stream.sentId ? undefined : id));
  stream.sentId = id;
}
