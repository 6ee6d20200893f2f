import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { waitAtMost } from '../time-limit.js';

/** The connection of a client that reads a stream of events. Times are those of `performance.now()`. */
export interface Connection {
  readonly sink: Writable;
  /** When the client's right to read was last confirmed. */
  checkedAt: number;
  writtenAt: number;
  /**
   * The time since which the client has not read. Written text waits in the socket's buffer, and no more is written.
   */
  blockedAt: number | undefined;
  hasEnded: boolean;
}

/** Milliseconds. */
export interface StreamTimes {
  /** Between two checks of the rights of clients, and of new events. */
  readonly checkIntervalMs: number;
  /** Until a client that does not read is disconnected. */
  readonly maxBlockedMs: number;
  /** Until a stream is ended because the right of its client could not be checked. */
  readonly maxUncheckedMs: number;
  /** Between two heartbeats. */
  readonly heartbeatMs: number;
}

export const defaultTimes: StreamTimes = {
  checkIntervalMs: 750,
  maxBlockedMs: 30_000,
  maxUncheckedMs: 15_000,
  heartbeatMs: 14_000,
};
/** Milliseconds until a connection that does not end is destroyed. */
const endTimeoutMs = 3000;

/** Writes to the client's socket. @returns false when its buffer is full: it emits `drain` when it can take more */
export function write(connection: Connection, text: string): boolean {
  if (connection.hasEnded) return false;
  connection.writtenAt = performance.now();
  const hasRoom = connection.sink.write(text);
  if (!hasRoom) connection.blockedAt = connection.writtenAt;
  return hasRoom;
}

/** Whether a stream must end: its client does not read, or its right could not be checked for too long. */
export function mustEnd({ blockedAt, checkedAt }: Connection, now: number, times: StreamTimes): boolean {
  return (blockedAt !== undefined && now - blockedAt > times.maxBlockedMs) || now - checkedAt > times.maxUncheckedMs;
}

export function needsHeartbeat({ blockedAt, writtenAt }: Connection, now: number, times: StreamTimes): boolean {
  return blockedAt === undefined && now - writtenAt > times.heartbeatMs;
}

/** The open connections of a process. */
export interface Connections<Each extends Connection> {
  readonly open: ReadonlySet<Each>;
  add(connection: Each): void;
  /** Ends a stream. A client that does not read would not receive the end: its connection is destroyed. */
  end(connection: Each, text?: string): void;
  /** Ends all streams with this text, and waits until their connections have closed. */
  close(text: () => string): Promise<void>;
}

export interface ConnectionEvents<Each extends Connection> {
  /** Called when the socket can take more data. */
  readonly onDrain?: (connection: Each) => void;
  /** Called when the stream is no longer open. */
  readonly onEnd?: (connection: Each) => void;
  /** Called when the connection has closed. */
  readonly onClose: (connection: Each) => void;
}

/** Creates a set of connections. It destroys connections that do not end in time. */
export function createConnections<Each extends Connection>(events: ConnectionEvents<Each>): Connections<Each> {
  const open = new Set<Each>();
  /** Streams that were ended, until their connections close. */
  const ending = new Set<Each>();

  function remove(connection: Each): void {
    if (connection.hasEnded) return;
    connection.hasEnded = true;
    open.delete(connection);
    events.onEnd?.(connection);
  }

  function end(connection: Each, text = ''): void {
    if (connection.hasEnded) return;
    remove(connection);
    ending.add(connection);
    if (connection.blockedAt !== undefined) connection.sink.destroy();
    else connection.sink.end(text);
    void wait(endTimeoutMs, undefined, { ref: false }).then(() => ending.has(connection) && connection.sink.destroy());
  }

  return {
    open,
    add(connection) {
      open.add(connection);
      connection.sink.on('drain', () => {
        connection.blockedAt = undefined;
        events.onDrain?.(connection);
      });
      // A `close` event follows.
      connection.sink.on('error', () => undefined);
      connection.sink.once('close', () => {
        remove(connection);
        ending.delete(connection);
        events.onClose(connection);
      });
    },
    end,
    async close(text) {
      for (const connection of [...open]) end(connection, text());
      await waitAtMost(endTimeoutMs + 1000, allClosed(ending));
    },
  };
}

async function allClosed(connections: ReadonlySet<Connection>): Promise<void> {
  await Promise.all(
    [...connections].map(({ sink }) => sink.closed || new Promise((resolve) => sink.once('close', resolve))),
  );
}
