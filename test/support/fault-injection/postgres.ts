import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { eventually } from '../eventually.js';
import { freePort } from '../free-port.js';

/** The programs of the distribution's oldest PostgreSQL. */
function programs(): string {
  const [version] = readdirSync('/usr/lib/postgresql').sort((a, b) => Number(a) - Number(b));
  return `/usr/lib/postgresql/${version}/bin`;
}

/** PostgreSQL refuses to run as root. setpriv replaces itself with the program, so the process id stays the same. */
const asPostgres = process.getuid?.() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups'] : [];

/** Runs a program in a folder that belongs to the account of the servers. */
export interface ServerFolder {
  readonly path: string;
  /** Runs a program to its end. */
  run(program: string, ...args: readonly string[]): Promise<void>;
  /** Starts a program that runs until the end of the test. */
  start(program: string, ...args: readonly string[]): ChildProcess;
  remove(): Promise<void>;
}

export async function createServerFolder(): Promise<ServerFolder> {
  const path = await mkdtemp(join(tmpdir(), 'postern-servers-'));
  if (asPostgres.length > 0) {
    const entry = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
    await chown(path, Number(entry?.[1]), Number(entry?.[2]));
  }
  await chmod(path, 0o755);
  const command = (program: string, args: readonly string[]) => [...asPostgres, program, ...args] as const;
  const started: ChildProcess[] = [];
  return {
    path,
    async run(program, ...args) {
      const [first = '', ...rest] = command(program, args);
      await promisify(execFile)(first, rest, { cwd: path });
    },
    start(program, ...args) {
      const [first = '', ...rest] = command(program, args);
      const child = spawn(first, rest, { cwd: path, stdio: 'ignore' });
      started.push(child);
      return child;
    },
    async remove() {
      for (const child of started) child.kill('SIGKILL');
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** A server of the distribution's PostgreSQL. The role `postgres` connects without a password. */
export interface PostgresServer {
  readonly port: number;
  query(text: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Ends the server and all its connections at once, like a power failure. */
  kill(): void;
}

/** Creates and starts a primary. */
export async function startPrimary(folder: ServerFolder): Promise<PostgresServer> {
  const data = join(folder.path, 'primary');
  const options = ['-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8', '-A', 'trust', '--no-sync'];
  await folder.run(`${programs()}/initdb`, '-D', data, ...options);
  const server = await startServer(folder, data, await freePort());
  await server.query('create database postern');
  return server;
}

/**
 * Copies a running server to a standby. Each commit of the server then waits for the standby.
 * @param port of a server that has ended, which the standby replaces
 */
export async function startStandby(
  folder: ServerFolder,
  of: PostgresServer,
  name: string,
  port?: number,
): Promise<PostgresServer> {
  const data = join(folder.path, name);
  const from = ['-h', '127.0.0.1', '-p', `${of.port}`, '-U', 'postgres'];
  await folder.run(`${programs()}/pg_basebackup`, ...from, '-D', data, '-R', '-c', 'fast', '--no-sync');
  const standby = await startServer(folder, data, port ?? (await freePort()));
  await of.query("alter system set synchronous_standby_names = '*'");
  await of.query('select pg_reload_conf()');
  await eventually('the standby to be synchronous', async () =>
    (await of.query("select 1 as found from pg_stat_replication where sync_state = 'sync'")).at(0),
  );
  return standby;
}

async function startServer(folder: ServerFolder, data: string, port: number): Promise<PostgresServer> {
  const options = ['-h', '127.0.0.1', '-p', `${port}`, '-k', '', '-c', 'fsync=off', '-c', 'max_connections=200'];
  const child = folder.start(`${programs()}/postgres`, '-D', data, ...options);
  const query = async (text: string, database = 'postgres') => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      client.end().catch(() => undefined);
    }
  };
  await eventually('the server to start', () => query('select 1').catch(() => undefined));
  return {
    port,
    query,
    kill() {
      const children = childrenOf(child.pid);
      child.kill('SIGKILL');
      for (const pid of children) endProcess(pid);
    },
  };
}

function childrenOf(parent: number | undefined): number[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map(Number).filter((pid) => {
    try {
      return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) === parent;
    } catch {
      return false;
    }
  });
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended when its parent did.
  }
}
