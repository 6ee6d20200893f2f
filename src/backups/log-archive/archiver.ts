import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { DatabaseTarget } from '../../database/connections/target.js';
import type { Log } from '../../embedded/membership.js';
import { ageEncryption } from '../../lib/crypto/age.js';
import { ownerOf, readInstallation } from '../base/installation.js';
import { trustOf } from '../base/open.js';
import { formatLsn, parseLsn, segmentName, segmentStart } from '../base/positions.js';
import { lockArchiving, readTime, slotPrefix, withSession } from '../base/session.js';
import { UnusableFileError } from '../container/error.js';
import type { SigningKey } from '../container/signature.js';
import type { BackupStore } from '../places/place.js';
import { archiveFolder, listParts, type Part, readPart, removeContained, writePart } from './parts.js';
import { dropSlots, openSlot } from './slot.js';

export interface ArchiverOptions {
  readonly target: DatabaseTarget;
  /** The folder of the embedded server's files. */
  readonly serverFolder: string;
  readonly store: BackupStore;
  readonly passphrase: string | undefined;
  /** The secret keys, the current one first. It signs the parts if there is no passphrase. */
  readonly secretKeys: readonly [SigningKey, ...SigningKey[]];
  readonly log: Log;
  /** Milliseconds between two checks for new log. The default is 5000. */
  readonly pauseMs?: number;
}

/** The maximum number of parts for one segment (one file) of the log. One part then replaces them. */
const maxParts = 60;
/**
 * Milliseconds between two reports to the database. Each report writes to the database, so it adds to the log that is
 * archived.
 */
const reportMs = 60_000;

/**
 * Copies the write-ahead log of the embedded server to a store, at most some seconds after it was written. A
 * replication slot makes the server keep what was not copied yet. Of several processes on one database, only one
 * copies.
 */
export function startArchiver(options: ArchiverOptions): { stop(): Promise<void> } {
  const { target, log, pauseMs = 5000 } = options;
  const stopping = new AbortController();
  const pause = () => wait(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
  let failure: string | undefined;

  async function copyWhileLeader(client: pg.Client): Promise<void> {
    if (!(await lockArchiving(client))) return;
    const archive = await openArchive(client, options);
    for (let isLast = false; !isLast; ) {
      // After the stop, copies once more, so that an orderly stop loses nothing.
      isLast = stopping.signal.aborted;
      await archive.copy();
      if (failure !== undefined) log.info({}, 'the write-ahead log is archived again');
      failure = undefined;
      if (!isLast) await pause();
    }
  }

  const running = (async () => {
    while (!stopping.signal.aborted) {
      try {
        await withSession(target, copyWhileLeader);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== failure) log.warn({ err: error }, 'the write-ahead log could not be archived');
        failure = reason;
        await withSession(target, (client) => report(client, options.store, { error: reason })).catch(() => undefined);
      }
      await pause();
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Lets the server remove its log. For servers whose log is no longer archived. */
export async function stopArchiving(target: DatabaseTarget): Promise<void> {
  await withSession(target, async (client) => {
    if (await lockArchiving(client)) await dropSlots(client, undefined);
  });
}

const notOwnPart = 'a file in BACKUP_TO has the name of a part of the log archive, and was written by somebody else';

/** A log archive that can be continued. */
interface OpenLogArchive {
  /** Copies everything that the server has written to disk. */
  copy(): Promise<void>;
}

async function openArchive(client: pg.Client, options: ArchiverOptions): Promise<OpenLogArchive> {
  const { serverFolder, store, passphrase, secretKeys } = options;
  const { archive, from, segmentBytes, systemId } = await openSlot(client, store.locate(''));
  const folder = archiveFolder(
    ownerOf({ system_id: systemId, installation: await readInstallation(serverFolder) }),
    archive,
  );
  const trust = trustOf({ passphrase, secretKeys, acceptsUnauthenticated: false });
  const isOwn = (part: Part) =>
    readPart(store, part, { archive, trust }).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof UnusableFileError)) throw error;
        options.log.warn({ err: error, location: store.locate(part.name) }, notOwnPart);
        return false;
      },
    );
  const parts = await removeContained(store, await listParts(store, folder), isOwn);
  // Parts are written in their order, so everything before the last own one was archived.
  let archivedEnd = 0;
  for (const part of parts.toSorted((a, b) => b.end - a.end)) {
    if (!(await isOwn(part))) continue;
    archivedEnd = part.end;
    break;
  }
  if (archivedEnd > (await readLogEnd(client)).flushed) {
    // The server's files were replaced by an older copy, so its log differs from the archived one from there on.
    await dropSlots(client, undefined);
    return openArchive(client, options);
  }
  const encrypt = passphrase === undefined ? undefined : ageEncryption(passphrase);
  let position = Math.max(archivedEnd, segmentStart(from, segmentBytes));
  let recent = parts.filter(({ start }) => start >= segmentStart(position, segmentBytes));
  let reportedAt = Number.NEGATIVE_INFINITY;
  // The parts that were written so far contain every transaction that was acknowledged before this time.
  let archivedAt = await readReported(client, archive);

  /** Writes the next part. It ends at the end of the segment, or earlier if the log on disk ends earlier. */
  async function copyPart(flushed: number, { timeline, lookedAt }: { timeline: number; lookedAt: string }) {
    const first = segmentStart(position, segmentBytes);
    const end = Math.min(flushed, first + segmentBytes);
    const isWhole = end === first + segmentBytes || recent.length >= maxParts;
    const range = { start: isWhole ? first : position, end };
    const content = readLog(join(serverFolder, 'pg_wal', segmentName(timeline, first, segmentBytes)), {
      from: range.start - first,
      to: end - first,
    });
    // Only the part that ends at `flushed` completes what was on disk at `lookedAt`. An earlier part must not name this
    // time, because a restore may find no later part.
    if (end === flushed) archivedAt = lookedAt;
    const part = await writePart(store, folder, range, {
      header: { archive, segment_bytes: segmentBytes, timeline, created_at: archivedAt },
      content,
      encrypt,
      key: secretKeys[0],
    });
    if (isWhole) await removeReplaced(part);
    recent = end === first + segmentBytes ? [] : [...recent, part];
    position = end;
    await client.query('select pg_replication_slot_advance($1, $2)', [slotPrefix + archive, formatLsn(position)]);
  }

  async function removeReplaced({ name }: Part): Promise<void> {
    for (const old of recent) if (old.name !== name) await store.remove(old.name);
    recent = [];
  }

  return {
    async copy() {
      // Reads the time before the position, in a separate statement. A transaction that was acknowledged before this
      // time was already on disk, so the position includes it. In the other order, the time would promise transactions
      // that only the next part has.
      const lookedAt = await readTime(client);
      const { flushed, timeline } = await readLogEnd(client);
      while (position < flushed) await copyPart(flushed, { timeline, lookedAt });
      if (performance.now() - reportedAt < reportMs) return;
      await report(client, store, { archive, archivedAt: lookedAt });
      reportedAt = performance.now();
    },
  };
}

/** Reads where the part of the log that is on disk ends, and the timeline of the log. */
async function readLogEnd(client: pg.Client): Promise<{ readonly flushed: number; readonly timeline: number }> {
  const { rows } = await client.query<{ flushed: string; file: string }>(
    `select lsn::text as flushed, pg_walfile_name(lsn) as file from pg_current_wal_flush_lsn() lsn`,
  );
  const [server] = rows;
  if (server === undefined) throw new Error('PostgreSQL did not say where its log ends');
  return { flushed: parseLsn(server.flushed), timeline: Number.parseInt(server.file.slice(0, 8), 16) };
}

/** Reads bytes of the file of a segment. */
async function* readLog(path: string, { from, to }: { from: number; to: number }): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    for (let at = from; at < to; ) {
      const length = Math.min(1024 * 1024, to - at);
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
      if (bytesRead === 0) throw new Error(`${path} is shorter than expected`);
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Stores for operators up to which time the archive is complete, or why it does not continue. */
async function report(
  client: pg.Client,
  store: BackupStore,
  state: { readonly archive: string; readonly archivedAt: string } | { readonly error: string },
): Promise<void> {
  if ('error' in state) {
    await client.query('update backup_archive set error = $1 where error is distinct from $1', [
      state.error.slice(0, 500),
    ]);
    return;
  }
  await client.query(
    `insert into backup_archive (archive, location, started_at, archived_at) values ($1, $2, $3, $3)
     on conflict (id) do update set archive = $1, location = $2, archived_at = $3, error = null,
       started_at = case backup_archive.archive when $1 then backup_archive.started_at else $3 end`,
    [state.archive, store.locate(''), state.archivedAt],
  );
}

/** The time up to which the archive was reported to be complete. If there was no report, it is the start of 1970. */
async function readReported(client: pg.Client, archive: string): Promise<string> {
  const { rows } = await client.query<{ time: string }>(
    `select to_char(coalesce(max(archived_at), to_timestamp(0)), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as time
     from backup_archive where archive = $1`,
    [archive],
  );
  return rows[0]?.time ?? '';
}
