import { setTimeout as wait } from 'node:timers/promises';
import type { Marker } from '../../contract/changes.js';
import type { Notification } from '../../contract/notification.js';
import type { Database } from '../../database/database.js';
import { matches } from '../../lib/filter/match.js';
import type { Pace, Pacer } from '../../lib/pacing.js';
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

/** Streams that one query reads for; the changes that it gives all of them, and the changes of one inbox at most. */
const batch = { streams: 500, changes: 2000, perInbox: 100 };
/** Queries under way at a time: the database reads for some streams while others are written to. */
const width = 2;
/** Characters that are handed over at a time. */
const chunk = 16 * 1024;
/** Milliseconds after a failed read. */
const pause = 250;

/**
 * Reads for all streams that were woken, many in one query, and writes without ever waiting for a client. A stream whose
 * socket is full is left alone until that has drained: then it is read for again from where it stands. Nobody is read for
 * twice at a time, so what comes of a query is what follows on what the stream was told.
 */
export function createPump(
  database: Database,
  imageUrlsOf: ImageUrls,
  pacer: Pacer,
  log: { warn(fields: object, message: string): void },
): Pump {
  const woken = new Set<Stream>();
  const read = new Set<Stream>();
  let loops = 0;
  let isDue = false;
  let isAway = false;

  /** Some of those that were woken, none that is being read for: that one stays until it has been. */
  function take(): Stream[] {
    const taken: Stream[] = [];
    for (const stream of woken) {
      if (taken.length === batch.streams) break;
      if (read.has(stream)) continue;
      woken.delete(stream);
      if (!stream.hasEnded && stream.blockedAt === undefined) taken.push(stream);
    }
    for (const stream of taken) read.add(stream);
    return taken;
  }

  async function run(): Promise<void> {
    loops += 1;
    for (let streams = take(); streams.length > 0; streams = take()) {
      try {
        for (const stream of await tellAll(database, imageUrlsOf, streams, pacer.begin())) woken.add(stream);
        isAway = false;
      } catch (error) {
        if (!isAway) log.warn({ err: error }, 'streams could not be read for');
        isAway = true;
        // The database is away: nothing was written, and whoever watches the streams ends them if it takes too long.
        for (const stream of streams) woken.add(stream);
        await wait(pause, undefined, { ref: false });
      }
      for (const stream of streams) read.delete(stream);
    }
    loops -= 1;
  }

  return {
    wake(stream) {
      woken.add(stream);
      if (isDue || loops === width) return;
      isDue = true;
      // After everybody was woken whom a signal names.
      setImmediate(() => {
        isDue = false;
        for (let free = width - loops; free > 0; free -= 1) void run();
      });
    },
  };
}

/** Streams that stand at the same place of the same inbox: it is read once for all of them. */
function byPlace(streams: readonly Stream[]): Stream[][] {
  const places = new Map<string, Stream[]>();
  for (const stream of streams) {
    const place = `${stream.userId} ${stream.position}`;
    const others = places.get(place);
    if (others === undefined) places.set(place, [stream]);
    else others.push(stream);
  }
  return [...places.values()];
}

/** @returns those for which there is more */
async function tellAll(
  database: Database,
  imageUrlsOf: ImageUrls,
  streams: readonly Stream[],
  pace: Pace,
): Promise<Stream[]> {
  const places = byPlace(streams);
  const wanted = places.flatMap(([first]) => (first ? { userId: first.userId, after: first.position } : []));
  const limit = Math.min(batch.perInbox, Math.ceil(batch.changes / wanted.length));
  const found = await readChanges(database, wanted, limit);
  const [notificationOf, markers] = await Promise.all([
    notificationsOf(
      database,
      imageUrlsOf,
      found.flatMap((inbox) => inbox?.changes ?? []),
    ),
    movedMarkers(database, places, found),
  ]);
  const more: Stream[] = [];
  for (const [index, listeners] of places.entries()) {
    const inbox = found[index];
    // Without an inbox there is no user, and then no session: that is for who watches the sessions.
    if (inbox === undefined) continue;
    const news = inbox.changes.map((change) => ({ change, notification: notificationOf(change) }));
    const { head } = inbox;
    for (const stream of listeners) {
      // A filter is applied here, and may take long.
      const pause = pace();
      if (pause !== undefined) await pause;
      if (stream.hasEnded) continue;
      const isDone = tell(stream, { head, news, isAll: news.length < limit, marker: markers.get(stream.userId) });
      if (!isDone) more.push(stream);
    }
  }
  return more;
}

/** What has happened in an inbox since a place. */
interface News {
  readonly head: number;
  readonly news: readonly Item[];
  /** Whether nothing follows up to the head. */
  readonly isAll: boolean;
  readonly marker: Marker | undefined;
}

/** A change, put into words when the first client is told of it. */
interface Item {
  readonly change: ChangeRow;
  readonly notification: Notification | null;
  text?: string;
}

/**
 * A fault of one stream is its own: it is cut, so that its client goes on from the last id that it was given.
 * @returns false when there is more for it
 */
function tell(stream: Stream, news: News): boolean {
  try {
    const isDone = tellChanges(stream, news);
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
  places: readonly (readonly Stream[])[],
  found: readonly (Found | undefined)[],
): Promise<Map<string, Marker>> | Map<string, Marker> {
  const moved = places.flatMap((streams, index) => {
    const marker = found[index]?.marker ?? -1;
    return streams.filter((stream) => marker > stream.marker);
  });
  return moved.length === 0 ? new Map() : findMarkers(database, [...new Set(moved.map(({ userId }) => userId))]);
}

/** Writes until the socket has enough. @returns whether the client is up to date */
function tellChanges(stream: Stream, { head, news, isAll }: News): boolean {
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
  for (const item of news) {
    const { change, notification } = item;
    if (isWanted(stream, change, notification)) {
      item.text ??= frames.changed(change, notification);
      text += item.text;
      stream.toldPosition = change.change_sequence;
    }
    stream.position = change.change_sequence;
    if (text.length >= chunk && !flush()) return false;
  }
  const wantsMore = flush();
  if (!isAll) return false;
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
