// A Postern as deployed: the built service in its own process, on an embedded PostgreSQL with fsync.
import { fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { connectionFields, migrate, openTarget } from '../dist/tools.js';
import { generate } from './generate.mjs';

const program = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url));
const silent = { info() {}, warn: console.error, error: console.error };

/** Connects to the PostgreSQL of a data directory, or starts it. It runs at least until `close`. */
export async function openPostgres(dataDir) {
  const open = await openTarget({ DATA_DIR: dataDir }, silent);
  const pools = [];
  const pool = (options = {}) => {
    pools.push(new pg.Pool({ ...connectionFields(open.target), max: 4, ...options }));
    return pools.at(-1);
  };
  return {
    target: open.target,
    migrate: () => migrate(open.target, silent),
    pool,
    async close() {
      await Promise.all(pools.map((each) => each.end()));
      await open.close();
    },
  };
}

/** A Node.js process that has printed its URL: `… http://…` on its standard output. */
export async function startProcess(args, env = {}) {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8');
  let output = '';
  const url = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`${args[0]} has ended: ${output}`)));
    child.stdout.on('data', (text) => {
      output += text;
      const [found] = /http:\/\/[\d.:]+(?=\s)/.exec(output) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    url,
    pid: child.pid,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** The service on a data directory, without rate limits, because thousands of logins come from one address. */
export async function startPostern(dataDir, env = {}) {
  const adminKey = randomBytes(24).toString('hex');
  const started = await startProcess([program, 'serve'], {
    PORT: '0',
    DATA_DIR: dataDir,
    ADMIN_API_KEY: adminKey,
    LOGIN_LIMIT_PER_ADDRESS: '0',
    LOG_LEVEL: 'warn',
    ...env,
  });
  return { ...started, adminKey };
}

/** The bare operations of bare.mjs, in a separate process. */
export async function startBare(dataDir) {
  const child = fork(fileURLToPath(new URL('bare.mjs', import.meta.url)), [dataDir]);
  const ended = once(child, 'exit');
  const failure = ended.then(() => Promise.reject(new Error('bare.mjs has ended')));
  // The process also ends on request, and then no round waits for an answer.
  failure.catch(() => undefined);
  const answer = async () => {
    const [result] = await Promise.race([once(child, 'message'), failure]);
    return result;
  };
  await answer();
  return {
    pid: child.pid,
    /** One round of a kind of work. */
    run(work) {
      child.send(work);
      return answer();
    },
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/**
 * Runs `work` with a Postern on a filled database, and stops everything afterwards.
 * @param {{ sizes: object, settings?: object, folder?: string, before?: (parts: { pool: pg.Pool, dataDir: string }) => Promise<void> }} options sizes: of `generate`; settings: more
 * environment variables; folder: filled once and kept, instead of a temporary one; before: work on the database before the
 * service starts, which would take the jobs
 * @param {(parts: { postern: object, pool: pg.Pool, dataDir: string, keep: <T>(started: T) => T }) => Promise<void>}
 * work keep: registers other parts that were started, so that they are stopped too
 */
export async function withFilledPostern({ sizes, settings = {}, folder, before }, work) {
  const dataDir = folder ?? (await mkdtemp(join(tmpdir(), 'postern-bench-')));
  const stops = folder === undefined ? [() => rm(dataDir, { recursive: true, force: true })] : [];
  const keep = (started) => {
    stops.unshift(() => started.stop());
    return started;
  };
  try {
    const postgres = await openPostgres(dataDir);
    stops.unshift(() => postgres.close());
    await postgres.migrate();
    const pool = postgres.pool();
    const { rows } = await pool.query("select to_regnamespace('bench') as filled");
    if (rows[0].filled === null) await generate(pool, sizes);
    await before?.({ pool, dataDir });
    await work({ postern: keep(await startPostern(dataDir, settings)), pool, dataDir, keep });
  } finally {
    for (const stop of stops) await stop();
  }
}
