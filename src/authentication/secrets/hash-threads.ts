import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { hash, type Options, verify } from '@node-rs/argon2';

/**
 * argon2 on threads of its own where hashes come together, and by the library's own way, libuv's pool, where one comes
 * alone. A thread finds its next hash waiting when it is done with one; in the pool it would first have to be sent for,
 * and other work of the pool would wait behind hashes (decision 56).
 */
export interface HashThreads {
  /** @returns a PHC string. */
  hash(password: string, parameters: Options): Promise<string>;
  /** @param stored a PHC string. @throws Error for what is none */
  verify(stored: string, password: string): Promise<boolean>;
}

export interface HashThreadsOptions {
  /** How many; each takes a core, and 12 MB beside what it hashes with. */
  readonly count: number;
  /** Milliseconds until they end that have nothing to do. */
  readonly idleFor?: number;
}

/** What a thread does, by the name of the library's function. */
type Task = readonly ['hashSync' | 'verifySync', ...unknown[]];

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: Error;
}

interface Thread {
  readonly worker: Worker;
  readonly open: Map<number, { resolve(value: unknown): void; reject(error: Error): void }>;
}

/** CommonJS, so that it is the same in TypeScript and compiled. Messages come one after the other. */
const source = `
  const { parentPort, workerData } = require('node:worker_threads');
  const argon2 = require(workerData);
  parentPort.on('message', ({ id, task: [name, ...values] }) => {
    try {
      parentPort.postMessage({ id, value: argon2[name](...values) });
    } catch (error) {
      parentPort.postMessage({ id, error });
    }
  });`;
const library = createRequire(import.meta.url).resolve('@node-rs/argon2');

/** They begin with the first hashes that come together. Idle ones do not keep the process from ending. */
export function createHashThreads({ count, idleFor = 10_000 }: HashThreadsOptions): HashThreads {
  const threads = new Set<Thread>();
  let underWay = 0;
  let tasks = 0;
  let idle: NodeJS.Timeout | undefined;

  function start(): Thread {
    const worker = new Worker(source, { eval: true, workerData: library, execArgv: [], name: 'argon2' });
    const thread: Thread = { worker, open: new Map() };
    worker.on('message', ({ id, value, error }: Answer) => {
      const task = thread.open.get(id);
      thread.open.delete(id);
      if (thread.open.size === 0) worker.unref();
      if (error === undefined) task?.resolve(value);
      else task?.reject(error);
    });
    const end = (error: Error) => {
      threads.delete(thread);
      for (const { reject } of thread.open.values()) reject(error);
      thread.open.clear();
    };
    worker.on('error', end);
    worker.on('exit', () => end(new Error('a thread that hashes has ended')));
    threads.add(thread);
    return thread;
  }

  function send(task: Task): Promise<unknown> {
    const [least] = [...threads].sort((one, other) => one.open.size - other.open.size);
    const thread = least === undefined || (least.open.size > 0 && threads.size < count) ? start() : least;
    return new Promise((resolve, reject) => {
      const id = tasks++;
      thread.open.set(id, { resolve, reject });
      thread.worker.ref();
      thread.worker.postMessage({ id, task });
    });
  }

  function endIdle(): void {
    for (const { worker } of threads) void worker.terminate();
    threads.clear();
  }

  async function run<T>(alone: () => Promise<T>, task: Task): Promise<T> {
    clearTimeout(idle);
    underWay += 1;
    try {
      return underWay === 1 ? await alone() : ((await send(task)) as T);
    } finally {
      underWay -= 1;
      if (underWay === 0 && threads.size > 0) idle = setTimeout(endIdle, idleFor).unref();
    }
  }

  return {
    hash: (password, parameters) => run(() => hash(password, parameters), ['hashSync', password, parameters]),
    verify: (stored, password) => run(() => verify(stored, password), ['verifySync', stored, password]),
  };
}
