import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded/embedded.js';
import { eventually } from '../support/eventually.js';
import { type Installation, install } from './embedded-installation.js';
import { commandLine, PosternProcess, processesWith, query, serverPid } from './embedded-postern.js';

const ENDLESS = 'do $$ begin loop perform 1; end loop; end $$';

let installation: Installation;
let folder: string;
/** One for all tests: each leaves it without a server. */
let dataDir: string;
const cleanUps: (() => unknown)[] = [];

async function start(path = dataDir): Promise<EmbeddedPostgres> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const server = await startEmbeddedPostgres({ dataDir: path, log });
  cleanUps.push(() => server.stop());
  return server;
}

function launch(path = dataDir): PosternProcess {
  const postern = new PosternProcess(installation.program, path);
  cleanUps.push(() => postern.kill());
  return postern;
}

async function launchAndWait(): Promise<PosternProcess> {
  const postern = launch();
  await postern.started;
  return postern;
}

/** The cluster name in the command lines of all processes of the server. */
function clusterName(): string {
  const options = readFileSync(join(dataDir, 'postgres', 'postmaster.opts'), 'utf8');
  return /postern-[0-9a-f]{16}/.exec(options)?.[0] ?? 'unknown';
}

/** Ends PostgreSQL as a crash would, while one of its backends is too busy to notice. */
async function crash(postern: PosternProcess): Promise<number> {
  postern.query(`/* endless */ ${ENDLESS}`).catch(() => undefined);
  const active = "select 1 from pg_stat_activity where state = 'active' and query like '/* endless */ do%'";
  await eventually('the busy backend', async () => (await postern.query(active))[0]);
  const pid = serverPid(dataDir);
  process.kill(pid, 'SIGKILL');
  return pid;
}

beforeAll(async () => {
  installation = install();
  folder = mkdtempSync(join(tmpdir(), 'postern-sharing-'));
  dataDir = join(folder, 'data');
  const server = await start();
  await query(server, 'create table kept (value text)');
  await server.stop();
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  // If a failed test has left a server running, this joins it and stops it.
  if (existsSync(join(dataDir, 'postgres', 'postmaster.pid'))) await (await start()).stop();
});

afterAll(() => Promise.all([folder, installation.root].map((path) => rm(path, { recursive: true }))));

describe('several processes on one data directory', () => {
  test('share one server, and the last one stops it', async () => {
    const [one, other] = [await launchAndWait(), await launchAndWait()];
    const pid = serverPid(dataDir);
    await one.query("insert into kept values ('shared')");
    expect(await other.query("select value from kept where value = 'shared'")).toEqual([{ value: 'shared' }]);

    await one.stop();
    expect(await other.query('select 1 as one')).toEqual([{ one: 1 }]);
    expect(serverPid(dataDir)).toBe(pid);

    await other.stop();
    expect(commandLine(pid)).toBe('');
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
  });

  test('five that start at once without data all join the same server', async () => {
    const empty = join(folder, 'empty');
    const posterns = Array.from({ length: 5 }, () => launch(empty));
    await Promise.all(posterns.map((postern) => postern.started));
    const pids = await Promise.all(posterns.map((postern) => postern.query("select pg_read_file('postmaster.pid')")));
    expect(new Set(pids.map((rows) => JSON.stringify(rows))).size).toBe(1);
    const pid = serverPid(empty);
    await Promise.all(posterns.map((postern) => postern.stop()));
    expect(commandLine(pid)).toBe('');
  });

  test('one that joins while the last one leaves gets a running server, 6 times', async () => {
    let current = await start();
    for (let round = 0; round < 6; round += 1) {
      const [next] = await Promise.all([start(), current.stop()]);
      expect(await query(next, 'select 1 as one')).toEqual([{ one: 1 }]);
      current = next;
    }
    await current.stop();
  });

  test('when two leave at once, one of them stops the server, 5 times', async () => {
    for (let round = 0; round < 5; round += 1) {
      const servers = await Promise.all([start(), start()]);
      const pid = serverPid(dataDir);
      await Promise.all(servers.map((server) => server.stop()));
      expect(commandLine(pid)).toBe('');
    }
  });

  test('a second stop has no effect', async () => {
    const server = await start();
    await Promise.all([server.stop(), server.stop()]);
    await expect(server.stop()).resolves.toBeUndefined();
  });
});

describe('a server that dies', () => {
  test('is restarted for all its users, even if a busy child process is still running', async () => {
    const [one, other] = [await launchAndWait(), await launchAndWait()];
    const name = clusterName();
    await one.query("insert into kept values ('acknowledged')");
    const pid = await crash(one);
    for (const postern of [one, other]) {
      const select = "select value from kept where value = 'acknowledged'";
      const row = await eventually('an answer', async () => (await postern.query(select).catch(() => []))[0]);
      expect(row).toEqual({ value: 'acknowledged' });
      const log = /Lost .*\n(Restarted|Rejoined) /;
      await eventually('its log', async () => (log.test((await postern.logs()).join('\n')) ? true : undefined));
    }
    expect(serverPid(dataDir)).not.toBe(pid);
    // One that lost the race for the data directory may still be about to end.
    const [postmaster] = await eventually('a single postmaster', async () => {
      const found = processesWith(name).filter((id) => !commandLine(id).startsWith('postgres: '));
      return found.length === 1 ? found : undefined;
    });
    expect(postmaster).toBe(serverPid(dataDir));
    await one.stop();
    await other.stop();
  });

  test('does not prevent Postern from stopping when it dies during the stop', async () => {
    const server = await start();
    process.kill(serverPid(dataDir), 'SIGKILL');
    await expect(server.stop()).resolves.toBeUndefined();
    expect(await query(await start(), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('is recovered by the next start when Postern dies too', async () => {
    const postern = await launchAndWait();
    await postern.query("insert into kept values ('before the crash')");
    const name = clusterName();
    const pid = await crash(postern);
    await postern.kill();
    const orphans = processesWith(name).filter((id) => id !== pid);
    expect(orphans.length).toBeGreaterThan(0);

    const next = await start();
    const rows = await query(next, "select value from kept where value = 'before the crash'");
    expect(rows).toEqual([{ value: 'before the crash' }]);
    expect(orphans.map(commandLine).filter((line) => line.includes(name))).toEqual([]);
  });

  test('is recovered when another program has its process id', async () => {
    const { uid, gid } = statSync(join(dataDir, 'postgres'));
    const stranger = spawn('sleep', ['60'], process.getuid?.() === 0 ? { uid, gid } : {});
    cleanUps.push(() => stranger.kill());
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      writeFileSync(join(dataDir, 'postgres', name), `${stranger.pid}\n/proc/self/fd/3\n`, { mode: 0o600 });
    }
    expect(await query(await start(), 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  });
});

test('a killed Postern leaves a running server, and the next one joins it', async () => {
  const postern = await launchAndWait();
  const pid = serverPid(dataDir);
  await postern.kill();
  const next = await start();
  expect(await query(next, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect(serverPid(dataDir)).toBe(pid);
  await next.stop();
  expect(commandLine(pid)).toBe('');
});
