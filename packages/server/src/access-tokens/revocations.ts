import { anySignal, NetworkError, readEvents, wait } from '@postern/client/internal';
import type { Connection } from '../connection.js';

/** The revocations of access tokens, from the stream `GET /v1/revocations`. */
export interface Revocations {
  /**
   * Resolves when all revocations up to some seconds ago are known.
   * @returns the time of the database, in seconds since 1970
   * @throws NetworkError before the first beat, and 15 seconds after the last one
   */
  current(): number | Promise<number>;
  /** Whether a token of this key, or of this login and user that was issued at `iat`, is refused. */
  isRevoked(kid: string, ids: readonly string[], iat: number): boolean;
  /** Ends the stream. */
  close(): void;
}

/** The age in milliseconds of the last beat beyond which nothing is accepted. */
const maxAgeMs = 15_000;
/** The time in seconds after which a revocation is forgotten: no token is valid for so long. */
const keptSeconds = 20 * 60;
/**
 * The stream is opened again if nothing arrives for this time, because the connection may be lost without a sign. It is also opened again
 * if a beat is late by this time, measured from the first one, because a proxy may hold beats back.
 */
const defaultLateMs = 7500;
/** Or earlier than this: then the clock of the database was set forward. */
const maxEarlyMs = 1000;
/** The longest pause between two connections, and the longest wait of a check for the first beat. */
const maxPauseMs = 5000;
const maxWaitMs = 2000;

/** A beat. The times are in milliseconds: those of the database since 1970, and those of `performance.now()` here. */
interface Beat {
  readonly through: number;
  readonly now: number;
  readonly receivedAt: number;
}

/**
 * Reads the stream from the first use on, and opens it again whenever it ends. The age of a beat is `now` - `through`, by the clock of the
 * database, plus the time since the beat arrived. If a proxy holds beats back, this age is too small. So a second age is computed from the
 * first beat of the connection, which cannot be older than the request, and the larger age counts. Times of different clocks are never
 * compared.
 * @param options.onReset called when events may be missing that are older than 20 minutes: a key may have been withdrawn
 */
export function createRevocations(
  connection: Connection,
  { onReset, maxLateMs = defaultLateMs }: { readonly onReset?: () => void; readonly maxLateMs?: number } = {},
): Revocations {
  const list = createRevocationList();
  const closing = new AbortController();
  let isRunning = false;
  let lastEventId: string | undefined;
  const beats = createBeats();
  let onReady = () => {};
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  let failure: unknown;

  async function read(): Promise<void> {
    let sentAt: number | undefined = performance.now();
    const stop = new AbortController();
    const signal = anySignal(closing.signal, stop.signal);
    const answer = await connection.raw({
      path: '/v1/revocations',
      headers: { accept: 'text/event-stream', ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
      signal,
    });
    if (answer.body === null) throw new Error('The stream of revocations has no body.');
    const expectEvent = () => setTimeout(() => stop.abort(), maxLateMs);
    let timer = expectEvent();
    try {
      for await (const { event, data, id } of readEvents(answer.body, signal)) {
        clearTimeout(timer);
        timer = expectEvent();
        if (event === 'revocation') list.add(data);
        if (event === 'reset') onReset?.();
        if (event === 'beat') {
          const { now, late } = beats.add(data, sentAt);
          sentAt = undefined;
          list.forget(now);
          if (beats.timeNow() !== undefined) {
            failure = undefined;
            onReady();
          }
          // A new connection begins to measure again.
          if (late > maxLateMs || late < -maxEarlyMs) return;
        }
        // After the event: it is sent again if it could not be read.
        if (id !== undefined) lastEventId = id === '' ? undefined : id;
      }
    } finally {
      clearTimeout(timer);
      stop.abort();
    }
  }

  async function run(): Promise<void> {
    let pause = 0;
    while (!closing.signal.aborted) {
      const startedAt = performance.now();
      await read().catch((error: unknown) => {
        failure = error;
      });
      // A stream that lasted is opened again at once.
      pause = performance.now() - startedAt > maxPauseMs ? 100 : Math.min(maxPauseMs, pause * 2 + 100);
      await wait(pause * (0.5 + Math.random() / 2), closing.signal).catch(() => undefined);
    }
  }

  const unavailable = () => {
    // A wrong key or scope is a mistake of the operator, but an outage for users: nobody is logged out.
    return new NetworkError(true, failure ?? new Error('No beat of Postern has arrived in time.'));
  };

  async function firstBeat(): Promise<number> {
    const waiting = new AbortController();
    await Promise.race([ready, wait(Math.min(connection.timeout, maxWaitMs), waiting.signal)]);
    waiting.abort();
    return currentTime();
  }

  function currentTime(): number {
    const time = beats.timeNow();
    if (time === undefined) throw unavailable();
    return time;
  }

  return {
    current() {
      if (closing.signal.aborted) throw unavailable();
      if (!isRunning) void run();
      isRunning = true;
      return beats.hasBegun() ? currentTime() : firstBeat();
    },
    isRevoked: list.isRevoked,
    close: () => closing.abort(),
  };
}

/** The last beat, and its age. */
function createBeats() {
  let last: Beat | undefined;
  /** The first `now` of a connection, and when its request was sent. */
  let anchor: Pick<Beat, 'now'> & { readonly sentAt: number } = { now: 0, sentAt: 0 };
  return {
    /**
     * @param sentAt of the first beat of a connection: when its request was sent
     * @returns the time of the database, and how late the beat is by the first one of the connection. In milliseconds
     */
    add(data: string, sentAt: number | undefined): { readonly now: number; readonly late: number } {
      const { through, now } = JSON.parse(data) as Record<string, string>;
      const beat = { through: Date.parse(`${through}`), now: Date.parse(`${now}`), receivedAt: performance.now() };
      if (!(beat.now >= beat.through)) throw new Error('A beat cannot be read.');
      if (sentAt !== undefined) anchor = { now: beat.now, sentAt };
      last = beat;
      return { now: beat.now, late: anchor.now + (beat.receivedAt - anchor.sentAt) - beat.now };
    },
    hasBegun: () => last !== undefined,
    /** The time of the database now, in seconds since 1970. Undefined if the last beat is too old. */
    timeNow(): number | undefined {
      if (last === undefined) return undefined;
      const here = performance.now();
      const sinceAnchor = anchor.now + (here - anchor.sentAt) - last.through;
      const age = Math.max(last.now - last.through + (here - last.receivedAt), sinceAnchor);
      return age < maxAgeMs ? (last.now + (here - last.receivedAt)) / 1000 : undefined;
    },
  };
}

/** The revocations that a token of the present may still violate. */
function createRevocationList() {
  const revoked = new Map<string, number>();
  /** Keys that were withdrawn. Somebody else may have them, and choose any `iat`. They are never forgotten: a cache may still give them out. */
  const withdrawn = new Set<string>();
  return {
    add(data: string): void {
      const { sid, sub, kid, before } = JSON.parse(data) as Record<string, string | undefined>;
      if (kid !== undefined) return void withdrawn.add(kid);
      const id = sid ?? sub;
      const second = Math.floor(Date.parse(`${before}`) / 1000);
      if (id === undefined || !(second > 0)) throw new Error('A revocation cannot be read.');
      const former = revoked.get(id) ?? 0;
      // The oldest are first.
      revoked.delete(id);
      revoked.set(id, Math.max(former, second));
    },
    /** Forgets what is too old to concern a token. @param now milliseconds since 1970, of the database */
    forget(now: number): void {
      for (const [id, second] of revoked) {
        if (second * 1000 > now - keptSeconds * 1000) return;
        revoked.delete(id);
      }
    },
    isRevoked: (kid: string, ids: readonly string[], iat: number): boolean =>
      withdrawn.has(kid) || ids.some((id) => iat <= (revoked.get(id) ?? Number.NEGATIVE_INFINITY)),
  };
}
