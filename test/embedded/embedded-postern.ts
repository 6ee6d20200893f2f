import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { DatabaseAddress } from '../../src/embedded/server.js';

interface Reply {
  id: number;
  result?: unknown;
  error?: { code: string; message: string };
}

/** The id of the first reply, after the program has started or failed to start. */
const START = 0;

let publicCopy: string | undefined;

/** A copy of Node.js that any account can run: the original may be in a home folder. One for all tests of this process. */
export function publicNode(): string {
  publicCopy ??= copyNode();
  return publicCopy;
}

function copyNode(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-node-'));
  chmodSync(folder, 0o755);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const copy = join(folder, 'node');
  copyFileSync(process.execPath, copy);
  chmodSync(copy, 0o755);
  return copy;
}

/** A process of its own, in a group of its own, that runs the program of an installation on a data directory. */
export class PosternProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (reply: Omit<Reply, 'id'>) => void>();
  #commands = START;
  /** Resolves when it has started, or rejects with its error. */
  readonly started: Promise<unknown>;

  constructor(program: string, dataDir: string, account: { uid?: number; gid?: number } = {}) {
    const execPath = account.uid === undefined ? process.execPath : publicNode();
    this.#child = fork(program, [dataDir], { ...account, execPath, execArgv: [], cwd: '/', detached: true });
    this.started = this.#reply(START);
    this.#child.on('message', (reply: Reply) => this.#waiting.get(reply.id)?.(reply));
    this.#child.once('exit', (code, signal) => {
      for (const settle of this.#waiting.values()) {
        settle({ error: { code: 'ended', message: `The process has ended (${signal ?? code})` } });
      }
    });
  }

  /** Runs one statement on a connection of its own. */
  async query(text: string): Promise<unknown[]> {
    const rows = await this.#command('query', text);
    return Array.isArray(rows) ? rows : [];
  }

  /** The messages that it has logged. */
  async logs(): Promise<string[]> {
    const logs = await this.#command('logs');
    return Array.isArray(logs) ? logs.map(String) : [];
  }

  /** Leaves PostgreSQL. The process ends by itself. */
  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    await this.#command('stop');
    await ended;
  }

  /** Kills it and all processes in its process group. */
  async kill(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    process.kill(-pid, 'SIGKILL');
    await ended;
  }

  #command(command: string, argument?: string): Promise<unknown> {
    this.#commands += 1;
    const id = this.#commands;
    const reply = this.#reply(id);
    this.#child.send({ id, command, argument }, (error) => {
      if (error !== null) this.#waiting.get(id)?.({ error: { code: 'ended', message: error.message } });
    });
    return reply;
  }

  #reply(id: number): Promise<unknown> {
    const reply = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        this.#waiting.delete(id);
        if (error === undefined) resolve(result);
        else reject(Object.assign(new Error(error.message), { code: error.code }));
      });
    });
    // Some tests do not wait for the start, or kill the process in the middle of a statement.
    reply.catch(() => undefined);
    return reply;
  }
}

/** Runs one statement on a connection of its own. */
export async function query(server: { address: DatabaseAddress }, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client(server.address);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    client.end().catch(() => undefined);
  }
}

/** The process id that PostgreSQL has written into its data directory. */
export function serverPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

/** The ids of the processes, without zombies, whose command line contains `text`. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && commandLine(pid).includes(text));
}

/** The command line of a process. Empty for a zombie and for a process that has ended. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
