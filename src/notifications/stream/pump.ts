import { setTimeout as wait } from 'node:timers/promises';
import type { Marker } from '../../contract/changes.js';
import type { Notification } from '../../contract/notification.js';
import type { Database } from '../../database/database.js';
import { matches } from '../../lib/filter/match.js';
import { type ChangeRow, type Found, notificationsOf, readChanges } from '../changes.js';
import type { ImageUrls } from '../images/url.js';
import { findMarkers } from '../marker.js';
import * as frames from './frames.js';
import { type Stream, write } from './stream.js';

/** Brings streams up to date. */
export interface Pump {
  /** There may be something new for it. */
  wake(stream: Stream): void;
}

/** Streams that one query reads for; the changes that it gives all of them, and the changes of one stream at most. */
const batch = { streams: 500, changes: 2000, perStream: 100 };
/** Characters that are handed over at a time. */
const chunk = 16 * 1024;
/** Milliseconds after a failed read. */
const pause = 250;

/**
 * One loop reads for all streams that were woken, many in one query, and writes without ever waiting for a client. A
 * stream whose socket is full is left alone until that has drained: then it is read for again from where it stands.
 */
export function createPump(
  database: Database,
  imageUrlsOf: ImageUrls,
  log: { warn(fields: object, message: string): void },
): Pump {
  const woken = new Set<Stream>();
  let running = false;
  let isAway = false;

  async function run(): Promise<void> {
    running = true;
    while (woken.size > 0) {
      const streams = take(woken, batch.streams);
      try {
        for (const stream of await tellAll(database, imageUrlsOf, streams)) woken.add(stream);
        isAway = false;
      } catch (error) {
        if (!isAway) log.warn({ err: error }, 'streams could not be read for');
        isAway = true;
        // The database is away: nothing was written, and whoever watches the streams ends them if it takes too long.
        for (const stream of streams) woken.add(stream);
        await wait(pause, undefined, { ref: false });
      }
    }
    running = false;
  }

  return {
    wake(stream) {
      woken.add(stream);
      if (!running) void run();
    },
  };
}

function take(woken: Set<Stream>, count: number): Stream[] {
  const taken: Stream[] = [];
  for (const stream of woken) {
    if (taken.length === count) break;
    woken.delete(stream);
    if (!stream.hasEnded && stream.blockedAt === undefined) taken.push(stream);
  }
  return taken;
}

/** @returns those for which there is more */
async function tellAll(database: Database, imageUrlsOf: ImageUrls, streams: readonly Stream[]): Promise<Stream[]> {
  if (streams.length === 0) return [];
  const limit = Math.min(batch.perStream, Math.ceil(batch.changes / streams.length));
  const wanted = streams.map(({ userId, position }) => ({ userId, after: position }));
  const found = await readChanges(database, wanted, limit);
  const [notificationOf, markers] = await Promise.all([
    notificationsOf(
      database,
      imageUrlsOf,
      found.flatMap((inbox) => inbox?.changes ?? []),
    ),
    movedMarkers(database, streams, found),
  ]);
  const more: Stream[] = [];
  for (const [index, stream] of streams.entries()) {
    const inbox = found[index];
    // Without an inbox there is no user, and then no session: that is for who watches the sessions.
    if (inbox === undefined || stream.hasEnded) continue;
    if (!tell(stream, inbox, { notificationOf, limit, marker: markers.get(stream.userId) })) more.push(stream);
  }
  return more;
}

/**
 * A fault of one stream is its own: it is cut, so that its client goes on from the last id that it was given.
 * @returns false when there is more for it
 */
function tell(
  stream: Stream,
  inbox: Found,
  news: {
    readonly notificationOf: (change: ChangeRow) => Notification | null;
    readonly limit: number;
    readonly marker: Marker | undefined;
  },
): boolean {
  try {
    const isDone = tellChanges(stream, inbox, news.notificationOf, news.limit);
    if (stream.blockedAt !== undefined) return true;
    tellMarker(stream, news.marker);
    return isDone;
  } catch (error) {
    stream.sink.destroy(error as Error);
    return true;
  }
}

function movedMarkers(
  database: Database,
  streams: readonly Stream[],
  found: readonly (Found | undefined)[],
): Promise<Map<string, Marker>> | Map<string, Marker> {
  const moved = streams.filter((stream, index) => (found[index]?.marker ?? -1) > stream.marker);
  return moved.length === 0 ? new Map() : findMarkers(database, [...new Set(moved.map(({ userId }) => userId))]);
}

/** Writes until the socket has enough. @returns whether the client is up to date */
function tellChanges(
  stream: Stream,
  { head, changes }: Found,
  notificationOf: (change: ChangeRow) => Notification | null,
  limit: number,
): boolean {
  // The database is an older one, of a backup: what the client has seen since does not exist.
  if (stream.position > head) {
    stream.position = head;
    stream.toldPosition = head;
    write(stream, frames.reset(head));
    return true;
  }
  let text = '';
  const flush = () => {
    const wantsMore = text === '' || write(stream, text);
    text = '';
    return wantsMore;
  };
  for (const change of changes) {
    const notification = notificationOf(change);
    if (isWanted(stream, change, notification)) {
      text += frames.changed(change, notification);
      stream.toldPosition = change.change_sequence;
    }
    stream.position = change.change_sequence;
    if (text.length >= chunk && !flush()) return false;
  }
  const wantsMore = flush();
  if (changes.length === limit) return false;
  // The head and its changes are of one snapshot.
  stream.position = head;
  return wantsMore;
}

function isWanted({ filter, history }: Stream, change: ChangeRow, notification: Notification | null): boolean {
  const { change_sequence: place, sequence } = change;
  if (history !== undefined && place <= history.end && sequence <= history.floor) return false;
  return notification === null || matches(filter, notification);
}

function tellMarker(stream: Stream, marker: Marker | undefined): void {
  if (marker === undefined || marker.last_read_sequence <= stream.marker) return;
  stream.marker = marker.last_read_sequence;
  write(stream, frames.marker(marker));
}
