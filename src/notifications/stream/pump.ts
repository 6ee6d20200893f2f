import { setTimeout as wait } from 'node:timers/promises';
import type { Marker } from '../../contract/changes.js';
import type { Notification } from '../../contract/notification.js';
import type { Database, Queryable } from '../../database/database.js';
import { write } from '../../lib/event-stream/connections.js';
import { reset } from '../../lib/event-stream/frames.js';
import type { Pace, Pacer } from '../../lib/pacing.js';
import type { ImageUrls } from '../images/url.js';
import { type ChangeRow, type InboxChanges, notificationsOf, readChanges } from '../inbox/changes.js';
import { withExtras } from '../inbox/extras.js';
import { matchesNotification } from '../inbox/filter-fields.js';
import { type ListedStates, listStates } from '../inbox/list-states.js';
import { findReadPositions } from '../inbox/read-position.js';
import * as frames from './frames.js';
import type { Stream } from './stream.js';

/** Writes new changes to streams. */
export interface Pump {
  /** Call it when the inbox of the stream may have changed. */
  wake(stream: Stream): void;
}

/** Maximum numbers for one query: streams, changes of all streams, and changes of one inbox. */
const batch = { streams: 500, changes: 2000, perInbox: 100 };
/** The number of queries that run at the same time: the database reads for some streams while the process writes to others. */
const concurrency = 2;
/** The most states of one event. */
const maxStates = 1000;
/** The number of characters that are written at a time. */
const chunk = 16 * 1024;
/** Milliseconds until the next read after a failed one. */
const retryPause = 250;

export interface PumpOptions {
  readonly database: Database;
  readonly imageUrlsOf: ImageUrls;
  readonly pacer: Pacer;
  readonly log: { warn(fields: object, message: string): void };
}

/**
 * Reads the changes of all streams that were woken, many in one query, and writes without waiting for clients. It skips a
 * stream whose socket is full until the socket drains. A stream is in one query at a time, so changes stay in order.
 */
export function createPump({ database, imageUrlsOf, pacer, log }: PumpOptions): Pump {
  const woken = new Set<Stream>();
  const reading = new Set<Stream>();
  let loops = 0;
  let isDue = false;
  let isUnavailable = false;

  /** Takes some of the woken streams. A stream that is in a running query stays for later. */
  function take(): Stream[] {
    const dueStreams: Stream[] = [];
    for (const stream of woken) {
      if (dueStreams.length === batch.streams) break;
      if (reading.has(stream)) continue;
      woken.delete(stream);
      if (!stream.hasEnded && stream.blockedAt === undefined) dueStreams.push(stream);
    }
    for (const stream of dueStreams) reading.add(stream);
    return dueStreams;
  }

  async function run(): Promise<void> {
    loops += 1;
    for (let streams = take(); streams.length > 0; streams = take()) {
      try {
        for (const stream of await deliverAll(database, imageUrlsOf, streams, pacer.begin())) woken.add(stream);
        isUnavailable = false;
      } catch (error) {
        if (!isUnavailable) log.warn({ err: error }, 'the changes for streams could not be read');
        isUnavailable = true;
        // Nothing was written. The watch ends the streams if the database is unavailable for too long.
        for (const stream of streams) woken.add(stream);
        await wait(retryPause, undefined, { ref: false });
      }
      for (const stream of streams) reading.delete(stream);
    }
    loops -= 1;
  }

  return {
    wake(stream) {
      woken.add(stream);
      if (isDue || loops === concurrency) return;
      isDue = true;
      // Runs after all streams of a signal were woken, so that one query reads for all of them.
      setImmediate(() => {
        isDue = false;
        for (let free = concurrency - loops; free > 0; free -= 1) void run();
      });
    },
  };
}

/** Groups streams at the same position of the same inbox. The inbox is read once for each group. */
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

/**
 * Reads the changes of these streams and writes them.
 * @returns the streams that have further changes
 */
async function deliverAll(
  database: Database,
  imageUrlsOf: ImageUrls,
  streams: readonly Stream[],
  pace: Pace,
): Promise<Stream[]> {
  const places = byPlace(streams);
  const positions = places.flatMap(([first]) => (first ? { userId: first.userId, after: first.position } : []));
  const limit = Math.min(batch.perInbox, Math.ceil(batch.changes / positions.length));
  const results = await readChanges(database, positions, limit);
  const [notificationOf, readPositions, stateChanges] = await Promise.all([
    notificationsOf(
      database,
      imageUrlsOf,
      results.flatMap((inbox) => inbox?.changes ?? []),
    ),
    movedReadPositions(database, places, results),
    changedStates(database, places, results),
  ]);
  const extended = await extendedNotifications(database, places, results, notificationOf);
  const more: Stream[] = [];
  for (const [index, listeners] of places.entries()) {
    const inbox = results[index];
    // If there is no inbox, the user was deleted and the session has ended. The watch then ends the stream.
    if (inbox === undefined) continue;
    const changes = inbox.changes.map((change) => {
      const notification = notificationOf(change);
      return { change, notification, extended: extended.get(change.id) ?? notification };
    });
    const { lastChange } = inbox;
    for (const stream of listeners) {
      // Applying the filters of the streams may take long.
      const pause = pace();
      if (pause !== undefined) await pause;
      if (stream.hasEnded) continue;
      const readPosition = readPositions.get(stream.userId);
      const states = stateChanges.get(stateKey(stream));
      const isDone = deliver(stream, { lastChange, changes, isAll: changes.length < limit, readPosition, states });
      if (!isDone) more.push(stream);
    }
  }
  return more;
}

/** The changes of an inbox since a position. */
interface Update {
  readonly lastChange: number;
  readonly changes: readonly Item[];
  /** Whether these are all changes of the inbox until now. */
  readonly isAll: boolean;
  /** The read position, if it has moved. */
  readonly readPosition: Marker | undefined;
  /** The states that changed since the version of the stream, if it asks for them. */
  readonly states: ListedStates | undefined;
}

/** A change. Its text is built when the first stream needs it. */
interface Item {
  readonly change: ChangeRow;
  readonly notification: Notification | null;
  /** The notification with `extra`, if one of the streams asks for it. */
  readonly extended: Notification | null;
  text?: string;
  extendedText?: string;
}

/**
 * Writes to one stream. An error affects this stream only: it is destroyed, and its client resumes from the last id.
 * @returns false if the stream has further changes
 */
function deliver(stream: Stream, update: Update): boolean {
  try {
    const isDone = writeChanges(stream, update);
    if (stream.blockedAt !== undefined) return true;
    writeReadPosition(stream, update.readPosition);
    writeStates(stream, update.states);
    return isDone;
  } catch (error) {
    stream.sink.destroy(error as Error);
    return true;
  }
}

function movedReadPositions(
  handle: Queryable,
  places: readonly (readonly Stream[])[],
  results: readonly (InboxChanges | undefined)[],
): Promise<Map<string, Marker>> | Map<string, Marker> {
  const moved = places.flatMap((streams, index) => {
    const lastRead = results[index]?.lastRead ?? -1;
    return streams.filter((stream) => lastRead > stream.lastRead);
  });
  return moved.length === 0 ? new Map() : findReadPositions(handle, [...new Set(moved.map(({ userId }) => userId))]);
}

const wantsExtra = ({ stateVersion }: Stream) => stateVersion >= 0;
const stateKey = ({ userId, stateVersion }: Stream) => `${userId} ${stateVersion}`;

/** The changed notifications with `extra`, by id, for inboxes with a stream that asks for it. */
async function extendedNotifications(
  handle: Queryable,
  places: readonly (readonly Stream[])[],
  results: readonly (InboxChanges | undefined)[],
  notificationOf: (change: ChangeRow) => Notification | null,
): Promise<ReadonlyMap<string, Notification>> {
  const wanted = results.flatMap((inbox, index) =>
    places[index]?.some(wantsExtra) === true ? (inbox?.changes ?? []).flatMap((row) => notificationOf(row) ?? []) : [],
  );
  return new Map((await withExtras(handle, wanted)).map((notification) => [notification.id, notification]));
}

/** The states that changed since the versions that streams know, by `stateKey`. Few users change states at the same time. */
async function changedStates(
  handle: Queryable,
  places: readonly (readonly Stream[])[],
  results: readonly (InboxChanges | undefined)[],
): Promise<ReadonlyMap<string, ListedStates>> {
  const behind = new Map<string, Stream>();
  for (const [index, streams] of places.entries()) {
    const version = results[index]?.stateVersion ?? 0;
    for (const stream of streams) {
      if (wantsExtra(stream) && version > stream.stateVersion) behind.set(stateKey(stream), stream);
    }
  }
  const found = new Map<string, ListedStates>();
  for (const [key, { userId, stateVersion: version }] of behind) {
    const states = await listStates(handle, userId, { version, limit: maxStates });
    if (states !== undefined) found.set(key, states);
  }
  return found;
}

/** Writes until the socket is full. @returns whether the client is up to date */
function writeChanges(stream: Stream, { lastChange, changes, isAll }: Update): boolean {
  // The database was restored from a backup: changes that the client has seen no longer exist.
  if (stream.position > lastChange) {
    stream.position = lastChange;
    stream.sentPosition = lastChange;
    write(stream, reset(lastChange));
    return true;
  }
  let text = '';
  const flush = () => {
    const wantsMore = text === '' || write(stream, text);
    text = '';
    return wantsMore;
  };
  for (const item of changes) {
    const { change, notification } = item;
    if (isWanted(stream, change, notification)) {
      text += textOf(item, wantsExtra(stream));
      stream.sentPosition = change.change_sequence;
    }
    stream.position = change.change_sequence;
    if (text.length >= chunk && !flush()) return false;
  }
  const wantsMore = flush();
  if (!isAll) return false;
  // The last change and the changes are from one snapshot, so the stream has all changes up to the last change.
  stream.position = lastChange;
  return wantsMore;
}

/** The event of a change. Streams of the same form share its text. */
function textOf(item: Item, withExtra: boolean): string {
  if (withExtra) {
    item.extendedText ??= frames.changeEvent(item.change, item.extended);
    return item.extendedText;
  }
  item.text ??= frames.changeEvent(item.change, item.notification);
  return item.text;
}

function isWanted({ filter, history }: Stream, change: ChangeRow, notification: Notification | null): boolean {
  const { change_sequence: changeSequence, sequence } = change;
  // An old change of a notification that the client has not asked for.
  if (history !== undefined && changeSequence <= history.end && sequence <= history.after) return false;
  return notification === null || matchesNotification(filter, notification, change.category);
}

function writeStates(stream: Stream, states: ListedStates | undefined): void {
  if (states === undefined) return;
  // With `has_more`, the client reads the rest on its own.
  stream.stateVersion = states.version;
  write(stream, frames.stateEvent(states.answer));
}

function writeReadPosition(stream: Stream, readPosition: Marker | undefined): void {
  if (readPosition === undefined || readPosition.last_read_sequence <= stream.lastRead) return;
  stream.lastRead = readPosition.last_read_sequence;
  write(stream, frames.readPositionEvent(readPosition));
}
