import type { Writable } from 'node:stream';
import { checkRight, groupByPosition, isReading } from '../../audit/stream/event-streams.js';
import type { Feed } from '../../audit/stream/feed.js';
import type { Position, Snapshot } from '../../audit/stream/position.js';
import type { Database } from '../../database/database.js';
import { createChecks } from '../../lib/event-stream/checks.js';
import {
  type Connection,
  createConnections,
  defaultTimes,
  mustEnd,
  type StreamTimes,
  write,
} from '../../lib/event-stream/connections.js';
import { closing, event, opening } from '../../lib/event-stream/frames.js';
import { createStreamLimit } from '../../lib/event-stream/stream-limit.js';
import { Problem } from '../../lib/problem.js';
import {
  confirmPrimary,
  createRevocationFeed,
  feedId,
  isTooOld,
  parseFeedId,
  type Revocation,
  readBacklog,
  stampRevocations,
} from './feed.js';

/** The streams of revocations of this instance. */
export interface RevocationStreams {
  /**
   * Opens a stream.
   * @throws Problem `too_many_streams`, `shutting_down`
   */
  open(request: RevocationStreamRequest): Promise<void>;
  /** The number of open streams. */
  count(): number;
  /** Ends every stream so that its client reconnects, and refuses new streams. */
  close(): Promise<void>;
}

export interface RevocationStreamRequest {
  /** The name of the API key. */
  readonly caller: string;
  /** The id after which the stream starts. Undefined: with the last 20 minutes. */
  readonly lastEventId: string | undefined;
  /** Checks the right of the caller again. @throws Problem if it is lost */
  readonly recheck: () => Promise<void>;
  /** Opens the response. Called after all checks: the stream can no longer be refused. */
  readonly connect: () => Writable;
}

export interface RevocationTimes extends StreamTimes {
  /** Between two beats. */
  readonly beatMs: number;
}

export interface RevocationStreamsOptions {
  readonly database: Database;
  readonly log: { warn(fields: object, message: string): void };
  readonly times?: Partial<RevocationTimes>;
}

/** One open stream. It holds no events: the database is the buffer. */
interface RevocationStream extends Connection {
  readonly caller: string;
  readonly recheck: () => Promise<void>;
  position: Position;
  /** A time of the database when this position was current. */
  since: string;
  /** The state of the database that it has been sent completely. */
  sent: Snapshot | undefined;
  /** `performance.now()` of the last beat. */
  beatAt: number;
}

/** A state of the database until which a stream has been sent everything. Times are the database's. */
interface Through {
  readonly seen: Snapshot;
  readonly through: string;
}

/** The maximum number of streams of one API key. */
const maxStreams = 200;
/** The maximum number of rows that one query reads. */
const pageSize = 1000;

/** A revocation reaches streams after half of `checkIntervalMs`, and two statements. */
const revocationTimes: RevocationTimes = { ...defaultTimes, checkIntervalMs: 250, beatMs: 5000 };

/** Creates the streams of a process. One timer reads once for all streams. Without a stream it does nothing. */
export function createRevocationStreams({ database, log, ...options }: RevocationStreamsOptions): RevocationStreams {
  const times = { ...revocationTimes, ...options.times };
  const feed = createRevocationFeed(database);
  const streamLimit = createStreamLimit(maxStreams);
  const connections = createConnections<RevocationStream>({
    onDrain: () => checks.request(),
    onClose: ({ caller }) => streamLimit.release(caller),
  });
  /** Streams that have all that is older than their position, so that they can be read for together. */
  const live = new Set<RevocationStream>();
  let isClosing = false;
  const warn = (error: unknown) => log.warn({ err: error }, 'the revocations for open streams could not be read');

  async function check(): Promise<void> {
    const now = performance.now();
    for (const stream of connections.open) if (mustEnd(stream, now, times)) connections.end(stream);
    for (const stream of live) if (stream.hasEnded) live.delete(stream);
    const streams = [...live];
    // A right is checked as often as a beat is sent.
    await checkRights(
      streams.filter(({ checkedAt }) => now - checkedAt > times.beatMs),
      connections.end,
    );
    const through = await stampRevocations(database);
    for (const stream of await deliver(feed, streams, through)) {
      live.delete(stream);
      begin(stream, async () => {
        await stampRevocations(database);
        await start(stream, { isComplete: false, isReset: true });
      });
    }
    await beat(database, streams, { ...through, beatMs: times.beatMs });
  }

  const checks = createChecks({
    check,
    isIdle: () => connections.open.size === 0,
    intervalMs: times.checkIntervalMs,
    onFailure: warn,
  });

  const throwIfClosing = () => {
    if (isClosing) throw new Problem('shutting_down', { retryAfter: 1 });
  };

  /** Sends a stream what is older than its position, unless it has that. Then it is live. */
  async function start(stream: RevocationStream, state: { isComplete: boolean; isReset: boolean }): Promise<void> {
    if (state.isReset) write(stream, event('reset', '', {}));
    if (!state.isComplete) await sendBacklog(database, stream);
    if (stream.hasEnded) return;
    live.add(stream);
    checks.request();
  }

  /** Starts a stream. If that fails, the client reconnects. */
  function begin(stream: RevocationStream, run: () => Promise<void>): void {
    run().catch((error: unknown) => {
      warn(error);
      connections.end(stream, closing());
    });
  }

  return {
    async open({ caller, lastEventId, recheck, connect }) {
      throwIfClosing();
      streamLimit.acquire(caller);
      try {
        const checkedAt = performance.now();
        const [present, { through }] = [await feed.now(), await stampRevocations(database)];
        const known = lastEventId === undefined ? undefined : parseFeedId(lastEventId);
        const isComplete =
          known !== undefined && known.position.run === present.run && !isTooOld(known.second, through);
        throwIfClosing();
        const sink = connect();
        if (sink.destroyed) return streamLimit.release(caller);
        const stream: RevocationStream = {
          sink,
          caller,
          recheck,
          position: isComplete ? known.position : present,
          since: through,
          sent: undefined,
          beatAt: Number.NEGATIVE_INFINITY,
          checkedAt,
          writtenAt: checkedAt,
          blockedAt: undefined,
          hasEnded: false,
        };
        connections.add(stream);
        write(stream, opening(isComplete && lastEventId !== undefined ? lastEventId : ''));
        begin(stream, () => start(stream, { isComplete, isReset: !isComplete && lastEventId !== undefined }));
      } catch (error) {
        streamLimit.release(caller);
        throw error;
      }
    },
    count: () => connections.open.size,
    async close() {
      isClosing = true;
      const stopped = checks.stop();
      await connections.close(closing);
      await stopped;
    },
  };
}

/** Ends the streams of callers that have lost their right. One check is for all streams of a key. */
async function checkRights(
  streams: readonly RevocationStream[],
  end: (stream: RevocationStream) => void,
): Promise<void> {
  const ofCaller = new Map<string | RevocationStream, RevocationStream[]>();
  for (const stream of streams) {
    // An operator may have several sessions.
    const caller = stream.caller.startsWith('key:') ? stream.caller : stream;
    ofCaller.set(caller, [...(ofCaller.get(caller) ?? []), stream]);
  }
  const check = async ([first, ...others]: readonly RevocationStream[]) => {
    if (first === undefined) return;
    await checkRight(first, end);
    for (const other of others) {
      if (first.hasEnded) end(other);
      else other.checkedAt = Math.max(other.checkedAt, first.checkedAt);
    }
  };
  await Promise.all([...ofCaller.values()].map(check));
}

/**
 * Reads what is new and writes it. Streams at the same position share the reads.
 * @returns the streams that must be sent the last 20 minutes again: the server was started again
 */
async function deliver(
  feed: Feed<Revocation>,
  streams: readonly RevocationStream[],
  { seen, through }: Through,
): Promise<readonly RevocationStream[]> {
  const reset: RevocationStream[] = [];
  for (const group of groupByPosition(streams)) {
    let readers = group;
    for (let [first] = readers; first !== undefined; [first] = readers) {
      const { events, next, hasMore, isReset } = await feed.read(first.position, pageSize, seen);
      const text = events
        .map(({ event: revocation, position }) => event('revocation', feedId(position(), through), revocation))
        .join('');
      for (const stream of readers) {
        if (text !== '') write(stream, text);
        stream.position = next;
        stream.since = through;
        stream.sent = hasMore || isReset ? undefined : seen;
      }
      if (isReset) reset.push(...readers);
      readers = hasMore ? readers.filter(isReading) : [];
    }
  }
  return reset;
}

/** Sends a beat to the streams whose last one was long ago, and that were sent all that the database had in `through`. */
async function beat(
  database: Database,
  streams: readonly RevocationStream[],
  { seen, through, beatMs }: Through & Pick<RevocationTimes, 'beatMs'>,
): Promise<void> {
  const startedAt = performance.now();
  const due = streams.filter((stream) => isReading(stream) && startedAt - stream.beatAt >= beatMs);
  if (due.length === 0) return;
  const confirmed = await confirmPrimary(database);
  for (const stream of due) {
    // The time since the query was sent counts: this process, too, may have waited.
    const now = laterBy(confirmed, performance.now() - startedAt);
    if (!isReading(stream) || stream.sent !== seen) continue;
    stream.beatAt = performance.now();
    write(stream, event('beat', feedId(stream.position, through), { through, now }));
  }
}

/** Sends the last 20 minutes, until the stream ends. */
async function sendBacklog(database: Database, stream: RevocationStream): Promise<void> {
  // Only the last one has an id: a client that loses the connection before it begins with the last 20 minutes again.
  let last: Revocation | undefined;
  for await (const page of readBacklog(database, pageSize)) {
    const ready = last === undefined ? page : [last, ...page];
    last = ready.at(-1);
    const texts = ready.slice(0, -1).map((revocation) => event('revocation', undefined, revocation));
    write(stream, texts.join(''));
    await hasDrained(stream);
    if (stream.hasEnded) return;
  }
  if (last !== undefined) write(stream, event('revocation', feedId(stream.position, stream.since), last));
}

/** Waits until the socket takes more, or has closed. */
async function hasDrained(stream: RevocationStream): Promise<void> {
  const { sink } = stream;
  if (stream.blockedAt === undefined || stream.hasEnded) return;
  await new Promise<void>((resolve) => {
    sink.once('drain', resolve);
    sink.once('close', resolve);
  });
}

const laterBy = (time: string, milliseconds: number): string => {
  const micros = time.slice(23, 26);
  return `${new Date(Date.parse(time) + Math.ceil(milliseconds)).toISOString().slice(0, 23)}${micros}Z`;
};
