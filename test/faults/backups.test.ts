import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type SealedDay, sealTask } from '../../src/audit/integrity/seal.js';
import { verifyAudit } from '../../src/audit/integrity/verify.js';
import { openBackup, trustOf } from '../../src/backups/base/open.js';
import { parseLsn, segmentStart } from '../../src/backups/base/positions.js';
import { listParts, readPart } from '../../src/backups/log-archive/parts.js';
import { createBackupFolder } from '../../src/backups/places/folder.js';
import type { BackupState } from '../../src/contract/operation/backups.js';
import { createDatabase, type Database } from '../../src/database/database.js';
import { runMaintenanceOnce } from '../../src/database/maintenance/tasks.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded/embedded.js';
import { runCommand, temporaryFolder } from '../cli/command.js';
import { query, serverPid } from '../embedded/embedded-postern.js';
import { sharedBuffers, startMigratedPostgres, walSegmentBytes } from '../support/cluster.js';
import { eventually } from '../support/eventually.js';
import { createInstallation, isLong } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { testSql } from '../support/sql.js';
import { createUser } from '../support/users.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const trusted = { passphrase: undefined, secretKeys: [], acceptsUnauthenticated: true };
const rounds = isLong ? 20 : 1;
/** Milliseconds between two transactions of a writer. The short form shares the machine with other tests. */
const pauseMs = isLong ? 0 : 10;
const writers = [1, 2, 3];
const eventsAge = 1e11;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: EmbeddedPostgres;
const pathOf = (name: string) => join(folder.path, name);

beforeAll(async () => {
  await buildService();
  folder = await temporaryFolder();
  server = await startMigratedPostgres(pathOf('data'));
  await query(server, 'create table kept (writer int, number int, value text)');
  await query(server, 'create table sums (writer int primary key, rows int)');
  await query(server, `insert into sums select n, 0 from unnest(array[${writers}]) n`);
  await query(server, "insert into kept select 0, n, repeat('row ', 20) from generate_series(1, 20000) n");
}, BUILD_TIMEOUT);
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

async function postern(...args: string[]): Promise<string> {
  const env = { DATA_DIR: pathOf('data'), SECRET_KEY: 's'.repeat(32) };
  const outcome = await runCommand(['backup', ...args], env);
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  return outcome.stdout;
}

/** A transaction of a writer. Its commit is in the log after `from` and before `to`. */
interface Write {
  readonly from: number;
  readonly to: number;
}

/** Writes one transaction after the other. @returns those that were acknowledged, in order */
function startWriter(writer: number, isEnded: () => boolean) {
  const acknowledged: Write[] = [];
  async function write(client: pg.Client): Promise<void> {
    const position = 'select pg_current_wal_insert_lsn()::text as lsn';
    const read = async () => parseLsn((await client.query<{ lsn: string }>(position)).rows[0]?.lsn ?? '');
    for (let number = 1; !isEnded(); number += 1) {
      await client.query('begin');
      await client.query("insert into kept values ($1, $2, 'new')", [writer, number]);
      await client.query('update sums set rows = rows + 1 where writer = $1', [writer]);
      const from = await read();
      await client.query('commit');
      acknowledged.push({ from, to: await read() });
      if (pauseMs > 0) await wait(pauseMs);
    }
  }
  const done = (async () => {
    const client = new pg.Client(server.address);
    await client.connect();
    try {
      await write(client);
    } finally {
      await client.end();
    }
  })();
  return { acknowledged, done };
}

/** The end of the log that a backup contains: the segment of its stop is complete, because the stop begins another one. */
async function endOf(backup: string): Promise<number> {
  const { entries } = await openBackup(createReadStream(backup), trusted);
  let stop = '';
  for await (const { path, content } of entries) {
    if (path === 'manifest.json') stop = JSON.parse(await text(content)).stop_lsn;
  }
  return segmentStart(parseLsn(stop), walSegmentBytes) + walSegmentBytes;
}

/** Runs `work` on a database of a restored copy. */
async function onCopy<T>(dataDir: string, work: (database: Database) => Promise<T>): Promise<T> {
  const copy = await startEmbeddedPostgres({ dataDir, log: silent, sharedBuffers });
  const database = createDatabase({ target: copy.address, size: 2, onConnectionError: () => undefined });
  try {
    return await work(database);
  } finally {
    await database.close();
    await copy.stop();
  }
}

/** Writes audit events of a former day, and seals them. */
async function sealEvents(): Promise<SealedDay[]> {
  const database = createDatabase({ target: server.address, size: 2, onConnectionError: () => undefined });
  const sealed: SealedDay[] = [];
  try {
    await query(
      server,
      `insert into events (user_id, id, type, actor, data, created_at)
       select gen_random_uuid(), gen_random_uuid(), 'test', 'user', '{}', now() - interval '3 days' from generate_series(1, 500)`,
    );
    await eventually('the audit events to be sealed', async () => {
      await runMaintenanceOnce(database, [sealTask(eventsAge, (day) => sealed.push(day))]);
      return sealed.length > 0 ? true : undefined;
    });
  } finally {
    await database.close();
  }
  return sealed;
}

it(`a backup under load contains exactly the transactions up to its end, and can be verified (rounds: ${rounds})`, async () => {
  const sealed = await sealEvents();
  let isEnded = false;
  const load = writers.map((writer) => startWriter(writer, () => isEnded));
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const before = load.map(({ acknowledged }) => acknowledged.length);
      await postern('create', '--to', pathOf(`${round}.tar`));
      const after = load.map(({ acknowledged }) => [...acknowledged]);
      await postern('verify', pathOf(`${round}.tar`));
      await postern('restore', pathOf(`${round}.tar`), '--to', pathOf('copy'));
      const end = await endOf(pathOf(`${round}.tar`));
      const found = await onCopy(pathOf('copy'), async (database) => ({
        rows: await database.query<{ writer: number; rows: number; last: number; sum: number }>(
          testSql(`select writer, count(distinct number)::int as rows, max(number) as last, max(sums.rows) as sum
                   from kept join sums using (writer) group by writer order by writer`),
        ),
        audit: await verifyAudit(database, {
          eventsAge,
          anchors: new Map(sealed.map(({ day, hash }) => [day, hash])),
        }),
      }));
      expect(found.audit).toMatchObject({ events: 500, findings: [] });
      expect(found.rows.map(({ writer }) => writer)).toEqual(writers);
      for (const [index, { rows, last, sum }] of found.rows.entries()) {
        // No gap, and no part of a transaction.
        expect([rows, sum]).toEqual([last, last]);
        const writes = after[index] ?? [];
        expect(last).toBeGreaterThanOrEqual(before[index] ?? 0);
        expect(last).toBeGreaterThanOrEqual(writes.filter(({ to }) => to <= end).length);
        // Another write may have been committed, but not acknowledged, when the backup returned.
        const beyond = writes.findIndex(({ from }) => from >= end);
        expect(last).toBeLessThanOrEqual(beyond === -1 ? writes.length + 1 : beyond);
      }
      await rm(pathOf('copy'), { recursive: true });
      await rm(pathOf(`${round}.tar`));
    }
  } finally {
    isEnded = true;
    await Promise.allSettled(load.map(({ done }) => done));
  }
  await Promise.all(load.map(({ done }) => done));
  expect(Math.min(...load.map(({ acknowledged }) => acknowledged.length))).toBeGreaterThan(0);
});

/** The time up to which the last part of the log archive in a folder says that it is complete. */
async function archivedUntil(backups: string): Promise<number> {
  const store = createBackupFolder(backups);
  const [folderName = 'wal-none'] = (await readdir(backups)).filter((name) => name.startsWith('wal-'));
  const last = (await listParts(store, folderName)).at(-1);
  // A part is removed when a larger one replaces it.
  const part =
    last &&
    (await readPart(store, last, { archive: folderName.slice(-16), trust: trustOf(trusted) }).catch(() => undefined));
  return part === undefined ? 0 : Date.parse(part.header.created_at);
}

it('the log archive restores what was acknowledged before its end, after everything else is lost', async () => {
  // The service creates the data directory, so the log has the segments of the product.
  const installation = await createInstallation({}, true);
  onTestFinished(() => installation.remove());
  const backups = join(installation.folder, 'backups');
  const settings = { BACKUP_TO: backups, BACKUP_CONTINUOUS: 'true', SECRET_KEY: 'k'.repeat(40) };
  const service = await installation.start(settings);
  onTestFinished(() => service.stop('SIGKILL').then(() => undefined));
  const { api, adminKey: bearer } = service;
  await eventually('the first backup', async () => {
    const { body } = await api<BackupState>('GET', '/admin/v1/backups', { bearer });
    return body.backups.some(({ verified_at }) => verified_at !== null) && body.archive !== null ? true : undefined;
  });

  const { id: userId } = await createUser(service);
  const acknowledged: { id: string; at: number }[] = [];
  let isLost = false;
  const load = (async () => {
    while (!isLost) {
      const body = { user_id: userId, notification_type: 'payment', description: 'Lunch' };
      const answer = await api<{ id: string }>('POST', '/admin/v1/notifications', { bearer, body }).catch(
        () => undefined,
      );
      if (answer?.status === 201) acknowledged.push({ id: answer.body.id, at: Date.now() });
      if (pauseMs > 0) await wait(pauseMs);
    }
  })();
  await eventually('the first writes', async () => (acknowledged.length >= 10 ? true : undefined));
  const first = acknowledged.slice(0, 10);
  await eventually('an archive that says that it has them', async () =>
    (first.at(-1)?.at ?? 0) < (await archivedUntil(backups)) ? true : undefined,
  );

  process.kill(serverPid(installation.dataDir), 'SIGKILL');
  const killed = Date.now();
  await service.stop('SIGKILL');
  isLost = true;
  await load;
  await rm(installation.dataDir, { recursive: true });

  const target = pathOf('rescued');
  const restored = await runCommand(['backup', 'restore', backups, '--at', 'latest', '--to', target], settings);
  expect(restored).toMatchObject({ code: 0, stderr: '' });
  const end = Date.parse(/database of (\S+)/.exec(restored.stdout)?.[1] ?? '');
  const rows = await onCopy(target, (database) =>
    database.query<{ id: string }>(testSql('select id from notifications')),
  );
  const kept = new Set(rows.map(({ id }) => id));
  const lost = acknowledged.filter(({ id }) => !kept.has(id));
  expect(first.filter(({ id }) => !kept.has(id))).toEqual([]);
  expect(lost.filter((write) => write.at < end)).toEqual([]);
  const lostMs = killed - (lost[0]?.at ?? killed);
  console.log(`${acknowledged.length} acknowledged, ${lost.length} lost, which span the last ${lostMs} ms`);
  // With all tests, other processes may keep the archive waiting.
  if (isLong) expect(lostMs).toBeLessThan(10_000);
});
