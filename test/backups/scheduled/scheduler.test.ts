import { copyFile, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startArchiver } from '../../../src/backups/log-archive/archiver.js';
import { createBackupFolder } from '../../../src/backups/places/folder.js';
import { backupName } from '../../../src/backups/places/place.js';
import { restoreBackup } from '../../../src/backups/restore.js';
import { backUpIfDue, isDue } from '../../../src/backups/scheduled/scheduler.js';
import { listBackups, readBackupTimes } from '../../../src/backups/state.js';
import { createDatabase, type Database } from '../../../src/database/database.js';
import type { EmbeddedPostgres } from '../../../src/embedded/embedded.js';
import { parseSchedule } from '../../../src/lib/schedule.js';
import { temporaryFolder } from '../../cli/command.js';
import { query } from '../../embedded/embedded-postern.js';
import { startBackupPostgres } from '../../support/cluster.js';
import { eventually } from '../../support/eventually.js';
import { testSql } from '../../support/sql.js';
import { forgedBackup, isOfTables } from '../forged-backup.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const key = { id: '01234567', key: 'k'.repeat(40) };
const hour = 3_600_000;
const never = new AbortController().signal;

function scheduleOf(text: string) {
  const schedule = parseSchedule(text);
  if (schedule === undefined) throw new Error(`${text} is no schedule`);
  return schedule;
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: EmbeddedPostgres;
let database: Database;
const pathTo = (name: string) => join(folder.path, name);

beforeAll(async () => {
  folder = await temporaryFolder();
  server = await startBackupPostgres(pathTo('data'));
  database = createDatabase({ target: server.address, size: 4, onConnectionError: () => undefined });
});
afterAll(async () => {
  await database.close();
  await server.stop();
  await folder.remove();
});

const options = (imageFolder = pathTo('images')) => ({
  source: async () => ({
    target: server.address,
    serverFolder: join(pathTo('data'), 'postgres'),
    imageFolder,
    secretKeys: [key],
    ...{ includesSecretKey: false, programs: undefined, imageRemovalLock: 1, passphrase: undefined, version: '0.0.0' },
  }),
  handle: database,
  store: createBackupFolder(pathTo('backups')),
  isContinuous: false,
  ...{ schedule: scheduleOf('6h'), keep: 2, verifyIn: pathTo('data'), log: silent },
  dumps: { programs: undefined, server: undefined },
});

/** The names of backups have the second. */
async function untilNameIsFree(): Promise<void> {
  await eventually('a second without a backup', async () => {
    const second = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
    return (await readdir(pathTo('backups'))).some((name) => name.includes(second)) ? undefined : true;
  });
}

/** Moves the recorded backups into the past by this interval. */
async function ageBackups(interval: string): Promise<void> {
  await database.query(testSql(`update backups set started_at = started_at - interval '${interval}'`));
  await untilNameIsFree();
}

describe('a backup is due', () => {
  const schedule = scheduleOf('6h');
  it.each([
    ['at once if there was none', { scheduled: null, is_good: false }, true],
    ['not before the next time', { scheduled: 95 * hour, is_good: true }, false],
    ['at the next time', { scheduled: 94 * hour, is_good: true }, true],
    ['not right after one that failed', { scheduled: 99.9 * hour, is_good: false }, false],
    ['ten minutes after one that failed', { scheduled: 99.8 * hour, is_good: false }, true],
    [
      'not so soon after several that could not be verified',
      { scheduled: 99 * hour, is_good: false, unverified: 4 },
      false,
    ],
    ['at the latest at the next time', { scheduled: 94 * hour, is_good: false, unverified: 2000 }, true],
    ['at once if another log archive has begun', { scheduled: 99 * hour, is_good: true, is_continued: false }, true],
    [
      'not before the next time if its log is archived',
      { scheduled: 99 * hour, is_good: true, is_continued: true },
      false,
    ],
  ])('%s', (_title, state, expected) => {
    expect(isDue({ now: 100 * hour, verified: null, is_continued: null, unverified: 0, ...state }, schedule)).toBe(
      expected,
    );
  });
});

describe('scheduled backups', () => {
  it('are made by one of two processes, verified and recorded', async () => {
    const results = await Promise.all([backUpIfDue(options(), never), backUpIfDue(options(), never)]);
    expect(results.toSorted()).toEqual([false, true]);
    const [backup, ...others] = await listBackups(database);
    expect(others).toEqual([]);
    expect(backup).toMatchObject({ is_scheduled: true, error: null, verified_at: expect.any(String) });
    expect(await readdir(pathTo('backups'))).toHaveLength(1);
    expect((await readBackupTimes(database)).is_good).toBe(true);
    expect(await backUpIfDue(options(), never)).toBe(false);
  });

  it('replace the oldest ones, leave all other files, and keep other processes from deleting images until these are copied', async () => {
    const [own = ''] = await readdir(pathTo('backups'));
    const others = [
      ...['notes.txt', 'postern-1234-20200101T000000Z.tar', 'postern-copy.tar'],
      own.replace(/-(?=\d{8}T)/, '-0a1b2c3d-'),
    ];
    for (const name of others) await writeFile(join(pathTo('backups'), name), 'mine');
    const [first = ''] = (await readdir(pathTo('backups'))).filter((name) => !others.includes(name));
    // Somebody else has written files with names of this database's backups.
    for (const year of ['2020', '2021', '2022']) others.push(first.replace(/-\d{4}(?=\d{4}T)/, `-${year}`));
    for (const name of others.slice(-3)) await writeFile(join(pathTo('backups'), name), 'planted');
    const warn = vi.fn();
    const isFree = async () => (await query(server, 'select pg_try_advisory_xact_lock_shared(1) as free'))[0]?.free;
    const found: unknown[] = [];
    const { store } = options();
    async function* watched(content: AsyncIterable<Buffer>) {
      for await (const part of content) {
        if (found.length === 0) found.push(await isFree());
        yield part;
      }
    }
    const watching = {
      ...store,
      write: (name: string, content: AsyncIterable<Buffer>) => store.write(name, watched(content)),
    };
    for (const kept of [[first], []]) {
      await ageBackups('7 hours');
      expect(await backUpIfDue({ ...options(), store: watching, log: { ...silent, warn } }, never)).toBe(true);
      const names = await readdir(pathTo('backups'));
      expect(names).toEqual(expect.arrayContaining([...others, ...kept]));
      expect(names).toHaveLength(others.length + 2);
    }
    expect([...found, await isFree()]).toEqual([false, true]);
    expect(warn).toHaveBeenCalledWith(
      { location: expect.any(String), files: 3 },
      expect.stringMatching(/^BACKUP_TO has files with names of backups that this database has not made/),
    );
  });

  it('are made and kept at the usual times after the clock was ahead', async () => {
    const [backup] = await listBackups(database);
    const name = basename(backup?.location ?? '');
    const ahead = ['2098', '2099'].map((year) => name.replace(/-\d{4}(?=\d{4}T)/, `-${year}`));
    for (const one of ahead) await writeFile(join(pathTo('backups'), one), 'made while the clock was ahead');
    await database.query(
      testSql(
        `insert into backups (id, started_at, finished_at, verified_at, is_scheduled, location)
         select gen_random_uuid(), '2099-01-01', '2099-01-01', '2099-01-01', true, location from unnest($1::text[]) location`,
        [ahead.map((one) => join(pathTo('backups'), one))],
      ),
    );
    onTestFinished(async () => void (await query(server, "delete from backups where finished_at > '2098-01-01'")));
    const { now, scheduled, verified } = await readBackupTimes(database);
    expect([scheduled, verified]).toEqual([Date.parse(backup?.started_at ?? ''), Date.parse(backup?.started_at ?? '')]);
    expect(now).toBeGreaterThan(scheduled ?? now);
    await ageBackups('7 hours');
    expect(await backUpIfDue(options(), never)).toBe(true);
    const { scheduled: last } = await readBackupTimes(database);
    const newest = backupName(name.split('-')[1] ?? '', new Date(last ?? 0).toISOString().replace('.000', ''), false);
    const names = await readdir(pathTo('backups'));
    expect(names).toContain(newest);
    expect(names.filter((one) => ahead.includes(one))).toEqual([]);
  });

  it('that fail are recorded, and delete nothing but what killed processes have left', async () => {
    await ageBackups('7 hours');
    const before = await readdir(pathTo('backups'));
    const [abandoned, written] = [
      '.postern-7-20260101T000000Z.tar.0123.part',
      '.postern-7-20260102T000000Z.tar.0123.part',
    ];
    for (const name of [abandoned, written]) await writeFile(join(pathTo('backups'), name), 'the beginning');
    await utimes(join(pathTo('backups'), abandoned), new Date(0), new Date(0));
    await mkdir(pathTo('broken'));
    await writeFile(join(pathTo('broken'), 'x'.repeat(120)), 'a name that is too long for a tar archive');
    await expect(backUpIfDue(options(pathTo('broken')), never)).rejects.toThrow('tar archive');
    expect(await readdir(pathTo('backups'))).toEqual([...before, written].sort());
    const [failed] = await listBackups(database);
    expect(failed).toMatchObject({ verified_at: null, error: expect.stringContaining('tar archive') });
    const { verified, is_good: isGood } = await readBackupTimes(database);
    expect([verified === null, isGood]).toEqual([false, false]);
  });

  it('that cannot be verified are counted until one is good', async () => {
    const counts: number[] = [];
    // One is recorded already.
    await query(
      server,
      `insert into backups (id, started_at, finished_at, is_scheduled, location)
       values (gen_random_uuid(), now() - interval '1 minute', now() - interval '1 minute', true, 'unverified')`,
    );
    for (const isBad of [true, false]) {
      await ageBackups('7 hours');
      const verifyIn = isBad ? pathTo('notes') : pathTo('data');
      if (isBad) await writeFile(verifyIn, 'no folder');
      await backUpIfDue({ ...options(), verifyIn }, never).catch(() => undefined);
      counts.push((await readBackupTimes(database)).unverified);
    }
    expect(counts).toEqual([2, 0]);
  });

  it('wait for the log archive that continues them', async () => {
    await ageBackups('7 hours');
    const { store } = options();
    const made = backUpIfDue({ ...options(), isContinuous: true }, never);
    await eventually('a look for the archive or a backup', async () => {
      const [found] = await query(
        server,
        "select from pg_stat_activity where application_name = 'postern backup' and query like '%pg_replication_slots%'",
      );
      return found !== undefined ? true : undefined;
    });
    const archiver = startArchiver({
      ...{ target: server.address, serverFolder: join(pathTo('data'), 'postgres'), store, passphrase: undefined },
      ...{ secretKeys: [key], log: silent, pauseMs: 20 },
    });
    expect(await made).toBe(true);
    expect((await readBackupTimes(database)).is_continued).toBe(true);
    await archiver.stop();
  });

  it('are not verified if another backup took the place of the one that was written', async () => {
    await ageBackups('7 hours');
    const { store } = options();
    const older = (await listBackups(database)).find(({ verified_at: at }) => at !== null);
    const swapped = { ...store, read: () => store.read(basename(older?.location ?? '')) };
    await expect(backUpIfDue({ ...options(), store: swapped }, never)).rejects.toThrow('is not the backup of its name');
    const [last] = await listBackups(database);
    expect(last).toMatchObject({ verified_at: null, error: expect.stringContaining('is not the backup of its name') });
    await store.remove(basename(last?.location ?? ''));
  });

  it('of a restored copy have its id in their names, and leave the backups of the original', async () => {
    const { store } = options();
    const list = async () => (await readdir(pathTo('backups'))).toSorted();
    const before = await list();
    const newest = (await listBackups(database)).find((backup) => backup.verified_at !== null);
    const read = store.read(basename(newest?.location ?? ''));
    await restoreBackup(forgedBackup(read, { drops: isOfTables, signedWith: key }), {
      ...{
        target: pathTo('restored'),
        keys: { passphrase: undefined, secretKeys: [key], acceptsUnauthenticated: false },
      },
    });
    const id = (await readFile(join(pathTo('restored'), 'installation'), 'utf8')).trim();
    // From now on, the original is the copy.
    await copyFile(join(pathTo('restored'), 'installation'), join(pathTo('data'), 'installation'));
    onTestFinished(() => rm(join(pathTo('data'), 'installation')));
    await ageBackups('7 hours');
    const warnings: object[] = [];
    const log = { ...silent, warn: (details: object) => void warnings.push(details) };
    expect(await backUpIfDue({ ...options(), keep: 1, log }, never)).toBe(true);
    const added = (await list()).filter((name) => !before.includes(name));
    expect(added).toEqual([expect.stringMatching(new RegExp(`^postern-\\d+-${id}-\\d{8}T\\d{6}Z\\.tar$`))]);
    expect(await list()).toEqual([...before, ...added].toSorted());
    const [, system] = basename(newest?.location ?? '').split('-');
    const ofOriginal = before.filter((name) => name.startsWith(`postern-${system}-`));
    expect(warnings).toEqual([{ location: pathTo('backups'), backups: ofOriginal.length }]);
  });
});
