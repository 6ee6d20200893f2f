// The cost of backups: `npm run build && node bench/backup.mjs [rounds] [seconds]`. It backs up a database of 1 GB,
// alone and while notifications are published, and publishes with and without the archive of the write-ahead log. It
// writes bench/RESULTS.md.
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ownersOf } from './generate.mjs';
import { closedLoop } from './load.mjs';
import { shown, table, takeTurns } from './measure.mjs';
import { operations, sample } from './operations.mjs';
import { record } from './results.mjs';
import { withFilledPostern } from './service.mjs';

const [rounds = 3, seconds = 12] = process.argv.slice(2).map(Number);
const sizes = { users: 20_000, notifications: 100_000, inbox: 25_000 };
const owners = ownersOf(sizes);
const databaseBytes = 1e9;
const program = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url));
const run = promisify(execFile);
const say = (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);

const folder = await mkdtemp(join(tmpdir(), 'postern-bench-backups-'));
try {
  await withFilledPostern({ sizes }, async ({ postern, pool, dataDir, keep }) => {
    await fillUp(pool);
    const ops = operations(postern, await sample(pool, { ...sizes, owners }));
    const publish = (forSeconds) =>
      closedLoop({ url: postern.url, next: ops.publish, connections: 64, seconds: forSeconds });
    const text = `${await measureBackups({ dataDir, publish })}

${await measureArchive({ dataDir, pool, publish, archiver: keep(await startArchiver(dataDir)) })}`;
    console.log(text);
    await record('backup', text);
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Fills the database up to the size that is measured, with text that PostgreSQL does not compress. */
async function fillUp(pool) {
  const { rows } = await pool.query('select pg_database_size(current_database())::float8 as bytes');
  await pool.query('create table bench.ballast (part int, value text)');
  const missingRows = Math.ceil((databaseBytes - rows[0].bytes) / 1120);
  await pool.query(
    `insert into bench.ballast
     select n, (select string_agg(md5(n || '-' || m), '') from generate_series(1, 32) m) from generate_series(1, $1::int) n`,
    [missingRows],
  );
  await pool.query('vacuum analyze');
  await pool.query('checkpoint');
  say('filled');
}

/** @returns seconds and bytes */
async function backUp(dataDir) {
  const file = join(folder, 'backup.tar');
  const startedAt = performance.now();
  await run(process.execPath, [program, 'backup', 'create', '--to', file], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir },
  });
  const took = (performance.now() - startedAt) / 1000;
  const { size } = await stat(file);
  await rm(file);
  return { took, size };
}

async function measureBackups({ dataDir, publish }) {
  const alone = [];
  for (let round = 0; round < rounds; round += 1) alone.push(await backUp(dataDir));
  alone.sort((one, other) => one.took - other.took);
  const { took, size } = alone[Math.floor(rounds / 2)];
  say('backed up alone');
  const during = [];
  const [without, backedUp] = await takeTurns(
    [
      { name: 'without', run: () => publish(took) },
      {
        name: 'during a backup',
        async run() {
          const backup = backUp(dataDir);
          // A backup takes longer under load, so all of the load runs during the backup.
          const result = await publish(took);
          during.push((await backup).took);
          return result;
        },
      },
    ],
    rounds,
  );
  say('backed up under load');
  during.sort((one, other) => one - other);
  return `A backup of ${shown(size / 1e6)} MB to a folder on the same disk takes ${shown(took)} s alone, and ${shown(during[Math.floor(during.length / 2)])} s while 64
connections publish. The ratio is the median of ${rounds} rounds, compared with the same round without a backup.

${table([
  ['Publish one', 'a second', 'p99 ms', 'ratio'],
  ...[without, backedUp].map(({ name, rate, p99, ratio }) => [name, shown(rate), shown(p99), shown(1 / ratio)]),
])}`;
}

async function startArchiver(dataDir) {
  const child = fork(fileURLToPath(new URL('archiver.mjs', import.meta.url)), [dataDir, join(folder, 'archive')]);
  const ended = once(child, 'exit');
  await once(child, 'message');
  const tell = async (message) => {
    const answered = once(child, 'message');
    child.send(message);
    await answered;
  };
  return {
    pid: child.pid,
    begin: () => tell('start'),
    end: () => tell('stop'),
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

async function measureArchive({ dataDir, pool, publish, archiver }) {
  const results = await takeTurns(
    [
      { name: 'without', dataDir, run: () => publish(seconds) },
      {
        name: 'archived',
        pid: archiver.pid,
        dataDir,
        async run() {
          await archiver.begin();
          await waitForArchive(pool);
          const result = await publish(seconds);
          await archiver.end();
          return result;
        },
      },
    ],
    rounds,
  );
  say('archived');
  return `A separate process archives the log; its CPU time is in the table. The log from before the round is archived before the measurement begins.

${table([
  ['Publish one', 'a second', 'p99 ms', 'ratio', 'CPU µs of the archive'],
  ...results.map(({ name, rate, p99, ratio, cpu }) => [name, shown(rate), shown(p99), shown(1 / ratio), shown(cpu)]),
])}`;
}

/** Waits until the archive contains all that was written before this call. */
async function waitForArchive(pool) {
  const { rows } = await pool.query('select pg_current_wal_flush_lsn()::text as lsn');
  for (;;) {
    const { rows: slots } = await pool.query(
      "select from pg_replication_slots where starts_with(slot_name, 'postern_archive_') and restart_lsn >= $1",
      [rows[0].lsn],
    );
    if (slots.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
