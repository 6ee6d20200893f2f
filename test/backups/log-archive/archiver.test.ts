import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { trustOf } from '../../../src/backups/base/open.js';
import { parseLsn } from '../../../src/backups/base/positions.js';
import { type BackupSource, createBackup, type WrittenBackup } from '../../../src/backups/create.js';
import { startArchiver, stopArchiving } from '../../../src/backups/log-archive/archiver.js';
import { listParts, type Part, readPart } from '../../../src/backups/log-archive/parts.js';
import { restoreAt } from '../../../src/backups/log-archive/recovery.js';
import { removeOldParts } from '../../../src/backups/log-archive/retention.js';
import { createBackupFolder } from '../../../src/backups/places/folder.js';
import type { BackupPlace, BackupStore } from '../../../src/backups/places/place.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/embedded/embedded.js';
import { temporaryFolder } from '../../cli/command.js';
import { query } from '../../embedded/embedded-postern.js';
import { sharedBuffers, startBackupPostgres, walSegmentBytes } from '../../support/cluster.js';
import { eventually } from '../../support/eventually.js';
import { forgedBackup, isOfTables } from '../forged-backup.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const passphrase = undefined;
const key = { id: '01234567', key: 'k'.repeat(40) };
const keys = { passphrase, secretKeys: [key], acceptsUnauthenticated: false };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: EmbeddedPostgres;
let store: BackupStore;
let archiver: ReturnType<typeof startArchiver> | undefined;
/** One connection for all statements, because these tests read the server's state again and again. */
let client: pg.Client | undefined;
const pathTo = (name: string) => join(folder.path, name);

const start = (pauseMs = 100) =>
  startArchiver({
    ...{ target: server.address, serverFolder: join(pathTo('data'), 'postgres'), store, passphrase },
    secretKeys: [key],
    ...{ log: silent, pauseMs },
  });

async function run(statement: string): Promise<Record<string, unknown>[]> {
  if (client === undefined) {
    client = new pg.Client(server.address);
    await client.connect();
  }
  return (await client.query<Record<string, unknown>>(statement)).rows;
}

async function stopServer(): Promise<void> {
  await client?.end();
  client = undefined;
  await server.stop();
}

beforeAll(async () => {
  folder = await temporaryFolder();
  server = await startBackupPostgres(pathTo('data'));
  await run('create table kept (value text)');
  store = createBackupFolder(pathTo('backups'));
  archiver = start();
});
afterAll(async () => {
  await archiver?.stop();
  await stopServer();
  await folder.remove();
});

const text = async (statement: string) => String(Object.values((await run(statement))[0] ?? {})[0]);
const slot = () => text("select slot_name from pg_replication_slots where starts_with(slot_name, 'postern_archive_')");
const slotOfArchiver = () =>
  eventually('a replication slot', async () => ((await slot()).startsWith('postern_archive_') ? true : undefined));
const systemId = () => text('select system_identifier from pg_control_system()');

async function currentArchiveFolder(): Promise<string> {
  const folders = (await readdir(pathTo('backups'))).filter((name) => name.startsWith('wal-'));
  const [, id] = /^postern_archive_(\w+)$/.exec(await slot()) ?? [];
  if (id === undefined) return '';
  return folders.find((name) => name.endsWith(id)) ?? '';
}

/** Waits until everything that was written so far is in the archive. */
async function untilArchived(): Promise<void> {
  const flushed = parseLsn(await text('select pg_current_wal_flush_lsn()'));
  await eventually('the log in the archive', async () => {
    const parts = await listParts(store, await currentArchiveFolder());
    return parts.some(({ end }) => end >= flushed) ? true : undefined;
  });
}

async function backUp(to: BackupPlace = store): Promise<WrittenBackup> {
  const source: BackupSource = {
    target: server.address,
    serverFolder: join(pathTo('data'), 'postgres'),
    imageFolder: pathTo('images'),
    secretKeys: [key],
    ...{ includesSecretKey: false, programs: undefined, imageRemovalLock: 1, passphrase, version: '0.0.0' },
  };
  const written = await createBackup(source, to, { isScheduled: true });
  if (written === undefined) throw new Error('another backup is running');
  return written;
}

/** The store without the parts after a position. */
const storeUntil = (position: number): BackupStore => ({
  ...store,
  list: async (prefix) =>
    (await store.list(prefix)).filter((name) => {
      const end = /-([0-9A-F]{16})(?:-[0-9a-f]{16})?\.tar$/.exec(name)?.[1];
      return end === undefined || Number.parseInt(end, 16) <= position;
    }),
});

/**
 * The store with backups that have no tables. For restores that are refused: most of their time would go into the files of tables,
 * which they remove without a use.
 */
const withoutTables = (of: BackupStore): BackupStore => ({
  ...of,
  read: (name) =>
    name.startsWith('postern-') ? forgedBackup(of.read(name), { drops: isOfTables, signedWith: key }) : of.read(name),
});

/** All backups in the store, as if this database had made them. */
const allMade = async () =>
  new Map((await store.list('postern-')).map((name) => [store.locate(name), { is_verified: true }]));

const write = (value: string) => run(`insert into kept values ('${value}')`);
const clock = async () => Number(await text('select extract(epoch from clock_timestamp()) * 1000'));
/** A whole millisecond, as a restore takes it, between what was committed before the call and after it. */
async function now(): Promise<number> {
  const time = Math.ceil(await clock());
  await eventually('the next millisecond', async () => ((await clock()) > time ? true : undefined));
  return time;
}

/** The rows of a copy that is restored to a time. */
async function rowsAt(time: number | undefined, name: string): Promise<string> {
  const target = pathTo(name);
  await restoreAt({ store, at: time, keys, target, log: silent });
  const copy = await startEmbeddedPostgres({ dataDir: target, log: silent, sharedBuffers });
  try {
    const [row] = await query(copy, "select string_agg(value, ' ' order by value) as rows from kept");
    return String(row?.rows);
  } finally {
    await copy.stop();
    await rm(target, { recursive: true });
  }
}

describe('a log archive', () => {
  it('restores any time after a backup: what was committed before it, and nothing after it', async () => {
    await slotOfArchiver();
    await write('1-before');
    const first = await backUp();
    await write('2-first');
    const between = await now();
    await write('3-second');
    const afterLast = await now();
    await run('checkpoint');
    await untilArchived();
    expect(first.archive).toBe((await slot()).slice('postern_archive_'.length));
    expect(await rowsAt(between, 'between')).toBe('1-before 2-first');
    // Nothing was committed after this time.
    expect(await rowsAt(afterLast, 'after-last')).toBe('1-before 2-first 3-second');
  });

  it('that has no part yet restores what was committed before the backup began', async () => {
    const restored = await restoreAt({
      ...{ store: storeUntil(0), at: undefined, keys, target: pathTo('no-part'), log: silent },
    });
    expect(restored.until).toBe(restored.header.created_at);
    await rm(pathTo('no-part'), { recursive: true });
  });

  it('refuses times that it does not contain, and leaves nothing', async () => {
    const before = await readdir(folder.path);
    const restore = (time: number) =>
      restoreAt({ store: withoutTables(store), at: time, keys, target: pathTo('never'), log: silent });
    await expect(restore(Date.UTC(2020, 0))).rejects.toThrow('no backup that ended before this time');
    await expect(restore(Date.UTC(2099, 0))).rejects.toThrow('The log archive ends at');
    expect(await readdir(folder.path)).toEqual(before);
  });

  it('says that parts are missing, and restores nothing past them', async () => {
    await untilArchived();
    const parts = await listParts(store, await currentArchiveFolder());
    const removed = parts.at(-2)?.name;
    const gap = {
      ...withoutTables(store),
      list: async (prefix: string) => (await store.list(prefix)).filter((name) => name !== removed),
    };
    for (const at of [undefined, await now()]) {
      await expect(restoreAt({ store: gap, at, keys, target: pathTo('gap'), log: silent })).rejects.toThrow(
        /^Parts of the log archive are missing after \d{4}-/,
      );
    }
  });

  it('is not stopped by files of others with names of parts, and keeps its own parts', async () => {
    await untilArchived();
    await archiver?.stop();
    const archive = await currentArchiveFolder();
    const parts = await listParts(store, archive);
    const [first = 0, end = 0] = [parts[0]?.start, parts.at(-1)?.end];
    const own = await readdir(pathTo(join('backups', archive)));
    const digits = (position: number) => position.toString(16).toUpperCase().padStart(16, '0');
    // One contains own parts, one says that more was archived, and one begins where an own part begins.
    const planted = [
      [first, first + walSegmentBytes],
      [end - 1, end + 1024],
      [first, end + 1],
      [end + 2048, end + 4096],
    ].map(([from = 0, to = 0]) => `${digits(from)}-${digits(to)}.tar`);
    const paths = planted.map((name) => pathTo(join('backups', archive, name)));
    for (const path of paths) await writeFile(path, 'not a part');
    onTestFinished(async () => {
      // The archiver has removed the file with the name of a segment that it has archived itself.
      for (const path of paths) await rm(path, { force: true });
    });
    await write('while others wrote');
    const time = await now();
    archiver = start();
    const flushed = parseLsn(await text('select pg_current_wal_flush_lsn()'));
    await eventually('an own part with the rest of the log', async () => {
      const names = (await readdir(pathTo(join('backups', archive)))).filter((name) => !planted.includes(name));
      return names.some((name) => Number.parseInt(name.slice(17, 33), 16) >= flushed) ? true : undefined;
    });
    expect(await currentArchiveFolder()).toBe(archive);
    expect(await readdir(pathTo(join('backups', archive)))).toEqual(expect.arrayContaining(own.slice(0, 1)));
    expect(await rowsAt(time, 'others')).toContain('while others wrote');
    await run("delete from kept where value = 'while others wrote'");
  });

  it('replaces the parts of a segment with the segment, continues after a restart, and is refused with a damaged part', async () => {
    await archiver?.stop();
    archiver = start();
    // More than a segment.
    await run(`select pg_logical_emit_message(true, 'filler', repeat('x', ${walSegmentBytes} * 5 / 4))`);
    await untilArchived();
    const parts = await listParts(store, await currentArchiveFolder());
    const sorted = parts.map(({ start: from, end }) => [from, end]);
    for (const [index, [from]] of sorted.entries()) if (index > 0) expect(from).toBe(sorted[index - 1]?.[1]);
    expect(parts.filter(({ start: from, end }) => end - from === walSegmentBytes).length).toBeGreaterThan(0);
    const path = pathTo(join('backups', parts.at(-1)?.name ?? ''));
    const bytes = await readFile(path);
    onTestFinished(() => writeFile(path, bytes));
    await writeFile(path, bytes.subarray(0, -10));
    const restored = { store: withoutTables(store), at: undefined, keys, target: pathTo('damaged'), log: silent };
    await expect(restoreAt(restored)).rejects.toThrow('its end is missing');
  });

  it('keeps the parts that a backup needs, and a new archive begins after archiving was stopped', async () => {
    const system = await systemId();
    const keep = { owner: system, current: (await slot()).slice('postern_archive_'.length), passphrase };
    const before = await listParts(store, await currentArchiveFolder());
    // A process that was killed while it wrote a part leaves such a file.
    const abandoned = join(pathTo('backups'), await currentArchiveFolder(), '.0000.tar.0123.part');
    await writeFile(abandoned, 'the beginning');
    await utimes(abandoned, new Date(0), new Date(0));
    // A restored copy with the same place has such a folder.
    const ofCopy = `wal-${system}-0a1b2c3d-${'0'.repeat(16)}/0000000000000000-0000000001000000.tar`;
    await mkdir(dirname(pathTo(join('backups', ofCopy))));
    await writeFile(pathTo(join('backups', ofCopy)), 'a part');
    await removeOldParts(store, { ...keep, made: await allMade() });
    expect(await store.list(`${dirname(ofCopy)}/`)).toEqual([ofCopy]);
    expect(existsSync(abandoned)).toBe(false);
    const [oldest] = await listParts(store, await currentArchiveFolder());
    expect(before).toContainEqual(oldest);
    const names = (await store.list('postern-')).filter((name) => name.startsWith(`postern-${system}-`));
    await backUp();
    for (const name of names) await store.remove(name);
    await removeOldParts(store, { ...keep, made: await allMade() });
    const left = await listParts(store, await currentArchiveFolder());
    expect(left.length).toBeLessThan(before.length + 1);
    expect(left[0]?.start).toBeGreaterThan(oldest?.start ?? 0);
    await write('4-third');
    await untilArchived();
    expect(await rowsAt(undefined, 'latest')).toBe('1-before 2-first 3-second 4-third');
    const old = await currentArchiveFolder();
    await archiver?.stop();
    archiver = undefined;
    await stopArchiving(server.address);
    expect(await slot()).toBe('undefined');
    archiver = start();
    await slotOfArchiver();
    await untilArchived();
    expect(await currentArchiveFolder()).not.toBe(old);
  });

  it('begins again after the files of the server were replaced by an older copy of them', async () => {
    await archiver?.stop();
    await stopServer();
    // The copy keeps the owner of each file.
    await promisify(execFile)('cp', ['-a', pathTo('data'), pathTo('snapshot')]);
    server = await startEmbeddedPostgres({ dataDir: pathTo('data'), log: silent, sharedBuffers });
    archiver = start();
    await write('5-lost');
    await untilArchived();
    const old = await currentArchiveFolder();
    await archiver.stop();
    await stopServer();
    await rm(pathTo('data'), { recursive: true });
    await rename(pathTo('snapshot'), pathTo('data'));
    server = await startEmbeddedPostgres({ dataDir: pathTo('data'), log: silent, sharedBuffers });
    archiver = start();
    await eventually('another archive', async () =>
      ['', old].includes(await currentArchiveFolder()) ? undefined : true,
    );
    await backUp();
    await write('6-after');
    await untilArchived();
    expect(await rowsAt(undefined, 'after-copy')).toBe('1-before 2-first 3-second 4-third 6-after');
  });

  it('never promises a transaction that only a later part contains', async () => {
    // A whole segment is left for the short parts below.
    await run('select pg_switch_wal()');
    await untilArchived();
    await archiver?.stop();
    // This makes it slow to read the position of the log: transactions commit between the time and the position that
    // the archiver reads.
    await run('create schema slow');
    await run('create table counted (n int)');
    await run(
      `create function slow.pg_current_wal_flush_lsn() returns pg_lsn language plpgsql as
       $$ declare lsn pg_lsn := pg_catalog.pg_current_wal_flush_lsn(); begin perform pg_sleep(0.05); return lsn; end $$`,
    );
    await run('alter database postern set search_path = slow, pg_catalog, public');
    const folderName = await currentArchiveFolder();
    const known = new Set((await listParts(store, folderName)).map(({ name }) => name));
    const newParts = async () => (await listParts(store, folderName)).filter(({ name }) => !known.has(name));
    archiver = start(20);
    const acknowledged: { readonly position: number; readonly at: number }[] = [];
    const insert = async () => {
      const position = parseLsn(await text('select pg_current_wal_insert_lsn()'));
      await run('insert into counted values (1)');
      acknowledged.push({ position, at: await clock() });
    };
    while ((await newParts()).length < 3) {
      for (let count = 0; count < 10; count += 1) await insert();
    }
    await archiver.stop();
    /** No part promises what only later ones have. */
    const expectHonest = async (parts: readonly Part[]) => {
      for (const part of parts) {
        const { header } = await readPart(store, part, { archive: folderName.slice(-16), trust: trustOf(keys) });
        const promised = acknowledged.filter(({ at: time }) => time < Date.parse(header.created_at));
        expect(promised.filter(({ position }) => position >= part.end)).toEqual([]);
      }
    };
    // Before the part of the whole segment replaces them.
    const short = await newParts();
    expect(short.length).toBeGreaterThanOrEqual(3);
    await expectHonest(short);
    // The archiver reads the position of the log once, and finds several new segments.
    for (let segment = 1; segment <= 2; segment += 1) {
      await insert();
      await run('select pg_switch_wal()');
    }
    await insert();
    archiver = start();
    await untilArchived();
    await archiver.stop();
    await run('alter database postern reset search_path');
    archiver = start();
    const parts = await newParts();
    expect(parts.filter(({ start: from, end }) => end - from === walSegmentBytes).length).toBeGreaterThanOrEqual(2);
    await expectHonest(parts);
    // As if the machine had been lost after the first of these segments was archived.
    const segment = parts.find(({ start: from, end }) => end - from === walSegmentBytes);
    const last = Math.ceil(acknowledged.at(-1)?.at ?? 0);
    const cut = withoutTables(storeUntil(segment?.end ?? 0));
    await expect(restoreAt({ store: cut, at: last, keys, target: pathTo('cut'), log: silent })).rejects.toThrow(
      'The log archive ends at',
    );
  });
});

it('a backup in the second of another one begins in the next second, because its name contains the second', async () => {
  // The beginning of a second, so that the backup is not late enough by itself.
  await run("select pg_sleep(extract(epoch from date_trunc('second', db_now()) + interval '1 second' - db_now()))");
  const other = await text(
    `insert into backups (id, started_at, is_scheduled, location)
     values (gen_random_uuid(), date_trunc('second', db_now()), false, 'another')
     returning to_char(started_at at time zone 'UTC', 'YYYYMMDD"T"HH24MISS"Z"')`,
  );
  // Nothing reads the content.
  const { name } = await backUp({ ...store, write: async () => 0 });
  expect(name).toMatch(/-\d{8}T\d{6}Z\.tar$/);
  expect(name).not.toContain(other);
});
