import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { hash, type Options, verify } from '@node-rs/argon2';

/**
 * argon2 on threads of its own where more hashes come together than run at a time, and in libuv's pool, the library's own
 * way, where they do not or there is no such thread. A thread finds its next hash waiting when it is done with one; in the
 * pool that would first have to be sent for, and other work of the pool would wait behind hashes (decision 56).
 */
export interface HashThreads {
  /** @returns a PHC string. */
  hash(password: string, parameters: Options): Promise<string>;
  /** @param stored a PHC string. @throws Error for what is none */
  verify(stored: string, password: string): Promise<boolean>;
  /**
   * What only the pool can make. It counts among the hashes that come together: those beside it must not tell by their time
   * whether a user has such a hash.
   */
  inPool<T>(make: () => Promise<T>): Promise<T>;
}

export interface HashThreadsOptions {
  /** Hashes at a time: so many threads at most. Each takes a core, and 10 to 20 MB beside what it hashes with. */
  readonly count: number;
  /** Milliseconds until one ends that has nothing to do. */
  readonly idleFor?: number;
  /** Milliseconds until another begins after one was lost or could not begin: each such attempt costs time and memory. */
  readonly pauseFor?: number;
  /** Hears why a thread was lost, or could not begin. Its hashes are made in the pool. */
  readonly onLost?: (error: Error) => void;
}

/** What a thread does, by the name of the library's function. */
type Work = readonly ['hashSync' | 'verifySync', ...unknown[]];

interface Task {
  readonly work: Work;
  /** The same in the pool. */
  inPool(): Promise<unknown>;
}

type Answer = 'ready' | { readonly id: number; readonly value?: unknown; readonly error?: Error };

interface Open {
  readonly task: Task;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface Thread {
  readonly worker: Worker;
  readonly open: Map<number, Open>;
  isReady: boolean;
  idle?: NodeJS.Timeout;
}

/** Hashes that a thread has at a time: one under way, and the next. */
const seats = 2;

/** CommonJS, so that it is the same in TypeScript and compiled. Messages come one after the other. */
const source = `
  const { parentPort, workerData } = require('node:worker_threads');
  const argon2 = require(workerData);
  parentPort.on('message', ({ id, work: [name, ...values] }) => {
    try {
      parentPort.postMessage({ id, value: argon2[name](...values) });
    } catch (error) {
      parentPort.postMessage({ id, error });
    }
  });
  parentPort.postMessage('ready');`;
const library = createRequire(import.meta.url).resolve('@node-rs/argon2');

/** They begin one by one while many hashes come together. Those that hash nothing do not keep the process from ending. */
export function createHashThreads(options: HashThreadsOptions): HashThreads {
  const { count, idleFor = 10_000, pauseFor = 60_000, onLost } = options;
  const threads = new Set<Thread>();
  /** Runs after one was lost. */
  let pause: NodeJS.Timeout | undefined;
  let underWay = 0;
  let tasks = 0;

  function begin(): void {
    try {
      // Without NODE_OPTIONS, whose preloads are for the process, and without its secrets.
      const worker = new Worker(source, { eval: true, workerData: library, execArgv: [], env: {}, name: 'argon2' });
      const thread: Thread = { worker, open: new Map(), isReady: false };
      threads.add(thread);
      worker.unref();
      worker.on('message', (answer: Answer) => hear(thread, answer));
      worker.on('messageerror', (error) => lose(thread, error));
      worker.on('error', (error) => lose(thread, error));
      worker.on('exit', (code) => lose(thread, new Error(`a thread that hashes has ended with code ${code}`)));
    } catch (error) {
      report(error as Error);
    }
  }

  function hear(thread: Thread, answer: Answer): void {
    if (answer === 'ready') {
      thread.isReady = true;
      rest(thread);
      return;
    }
    const { id, value, error } = answer;
    const open = thread.open.get(id);
    thread.open.delete(id);
    if (thread.open.size === 0) rest(thread);
    if (error === undefined) open?.resolve(value);
    else open?.reject(error);
  }

  function rest(thread: Thread): void {
    thread.worker.unref();
    thread.idle = setTimeout(() => {
      threads.delete(thread);
      void thread.worker.terminate();
    }, idleFor).unref();
  }

  function lose(thread: Thread, error: Error): void {
    // Not one that was to end, nor one that is lost already.
    if (!threads.delete(thread)) return;
    clearTimeout(thread.idle);
    void thread.worker.terminate();
    for (const { task, resolve, reject } of thread.open.values()) task.inPool().then(resolve, reject);
    report(error);
  }

  function report(error: Error): void {
    clearTimeout(pause);
    pause = setTimeout(() => {
      pause = undefined;
    }, pauseFor).unref();
    onLost?.(error);
  }

  /**
   * A thread for one more hash: the first one that is idle, so that those behind it may end. Where none is, another begins,
   * one at a time, since each keeps the event loop for some milliseconds. None for the first hashes, which need not wait for
   * each other, of whatever kind they are: whether one of them is at a thread must not show in the time of another.
   */
  function threadWithSeat(): Thread | undefined {
    if (underWay <= count) return undefined;
    const ready = [...threads].filter(({ isReady }) => isReady);
    const idle = ready.find(({ open }) => open.size === 0);
    const isBeginning = ready.length < threads.size;
    if (idle === undefined && !isBeginning && pause === undefined && threads.size < count) begin();
    return idle ?? ready.find(({ open }) => open.size < seats);
  }

  function send({ worker, open, idle }: Thread, task: Task): Promise<unknown> {
    return new Promise((resolve, reject) => {
      clearTimeout(idle);
      const id = tasks++;
      open.set(id, { task, resolve, reject });
      worker.ref();
      worker.postMessage({ id, work: task.work });
    });
  }

  async function run<T>(inPool: () => Promise<T>, work?: Work): Promise<T> {
    underWay += 1;
    try {
      const thread = threadWithSeat();
      if (thread === undefined || work === undefined) return await inPool();
      return (await send(thread, { work, inPool })) as T;
    } finally {
      underWay -= 1;
    }
  }

  return {
    hash: (password, parameters) => run(() => hash(password, parameters), ['hashSync', password, parameters]),
    verify: (stored, password) => run(() => verify(stored, password), ['verifySync', stored, password]),
    inPool: (make) => run(make),
  };
}
