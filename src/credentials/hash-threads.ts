import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { hash, type Options, verify } from '@node-rs/argon2';

/**
 * Runs argon2 on its own threads if more hashes are requested than may run at a time, so that hashes do not delay other
 * work of libuv's thread pool. Otherwise it uses this pool, as the library does by default. When a thread finishes a
 * hash, its next hash is already queued (decision 47).
 */
export interface HashThreads {
  /** @returns a PHC string. */
  hash(password: string, parameters: Options): Promise<string>;
  /**
   * @param storedHash a PHC string
   * @throws Error if it is not one
   */
  verify(storedHash: string, password: string): Promise<boolean>;
  /**
   * Runs a hash that only libuv's pool can compute. It counts as a requested hash like all others: the time of other
   * hashes must not show whether a user has such a hash.
   */
  runInPool<T>(compute: () => Promise<T>): Promise<T>;
}

export interface HashThreadsOptions {
  /** The maximum number of threads. Each takes one core, and 10 to 20 MB besides the memory of its hash. */
  readonly count: number;
  /** Milliseconds until an idle thread ends. The default is 10,000. */
  readonly idleTimeoutMs?: number;
  /**
   * Milliseconds without new threads after one was lost or could not start. Each attempt costs time and memory. The default
   * is 60,000.
   */
  readonly restartDelayMs?: number;
  /** Called with the reason when a thread was lost or could not start. Its hashes run in libuv's pool instead. */
  readonly onLost?: (error: Error) => void;
}

/** A function of the library by name, and its arguments. */
type Work = readonly ['hashSync' | 'verifySync', ...unknown[]];

interface Task {
  readonly work: Work;
  /** Computes the same hash in libuv's pool. */
  inPool(): Promise<unknown>;
}

type WorkerMessage = 'ready' | { readonly id: number; readonly value?: unknown; readonly error?: Error };

interface PendingTask {
  readonly task: Task;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface Thread {
  readonly worker: Worker;
  readonly pending: Map<number, PendingTask>;
  isReady: boolean;
  idle?: NodeJS.Timeout;
}

/** Maximum number of hashes that a thread has: one that runs and one that is queued. */
const maxTasks = 2;

/**
 * The nice value of a thread. Hashes can use all cores, and a request that hashes nothing must not wait for them. Only on
 * Linux: on other systems, the value would be that of the process.
 */
const threadPriority = 10;

/** CommonJS, so that it runs both from TypeScript and compiled. A thread handles its messages one after the other. */
const workerSource = `
  const { parentPort, workerData } = require('node:worker_threads');
  if (process.platform === 'linux') require('node:os').setPriority(${threadPriority});
  const argon2 = require(workerData);
  parentPort.on('message', ({ id, work: [name, ...values] }) => {
    try {
      parentPort.postMessage({ id, value: argon2[name](...values) });
    } catch (error) {
      parentPort.postMessage({ id, error });
    }
  });
  parentPort.postMessage('ready');`;
const libraryPath = createRequire(import.meta.url).resolve('@node-rs/argon2');

/** The threads of a process. */
interface Threads {
  /**
   * Finds a thread for one more hash: the first idle one, so that later threads become idle and end. Threads start one
   * at a time, because each start blocks the event loop for some milliseconds.
   */
  find(): Thread | undefined;
  send(thread: Thread, task: Task): Promise<unknown>;
}

/** Threads start one by one while many hashes are requested. Idle threads do not keep the process alive. */
function createThreads(options: HashThreadsOptions): Threads {
  const { count, idleTimeoutMs = 10_000, restartDelayMs = 60_000, onLost } = options;
  const threads = new Set<Thread>();
  /** Set after a thread was lost or could not start. Until this timer ends, no thread starts. */
  let pauseTimer: NodeJS.Timeout | undefined;
  let nextTaskId = 0;

  function start(): void {
    try {
      // The thread gets no environment: NODE_OPTIONS could preload code, and other variables contain secrets.
      const worker = new Worker(workerSource, {
        eval: true,
        workerData: libraryPath,
        execArgv: [],
        env: {},
        name: 'argon2',
      });
      const thread: Thread = { worker, pending: new Map(), isReady: false };
      threads.add(thread);
      worker.unref();
      worker.on('message', (answer: WorkerMessage) => onMessage(thread, answer));
      worker.on('messageerror', (error) => handleLoss(thread, error));
      worker.on('error', (error) => handleLoss(thread, error));
      worker.on('exit', (code) => handleLoss(thread, new Error(`a hashing thread ended with code ${code}`)));
    } catch (error) {
      pauseStarts(error as Error);
    }
  }

  function onMessage(thread: Thread, answer: WorkerMessage): void {
    if (answer === 'ready') {
      thread.isReady = true;
      markIdle(thread);
      return;
    }
    const { id, value, error } = answer;
    const pending = thread.pending.get(id);
    thread.pending.delete(id);
    if (thread.pending.size === 0) markIdle(thread);
    if (error === undefined) pending?.resolve(value);
    else pending?.reject(error);
  }

  function markIdle(thread: Thread): void {
    thread.worker.unref();
    thread.idle = setTimeout(() => {
      threads.delete(thread);
      void thread.worker.terminate();
    }, idleTimeoutMs).unref();
  }

  function handleLoss(thread: Thread, error: Error): void {
    // A thread that was ended on purpose, or lost already, is no longer in the set.
    if (!threads.delete(thread)) return;
    clearTimeout(thread.idle);
    void thread.worker.terminate();
    for (const { task, resolve, reject } of thread.pending.values()) task.inPool().then(resolve, reject);
    pauseStarts(error);
  }

  function pauseStarts(error: Error): void {
    clearTimeout(pauseTimer);
    pauseTimer = setTimeout(() => {
      pauseTimer = undefined;
    }, restartDelayMs).unref();
    onLost?.(error);
  }

  function find(): Thread | undefined {
    const ready = [...threads].filter(({ isReady }) => isReady);
    const idle = ready.find(({ pending }) => pending.size === 0);
    const isStarting = ready.length < threads.size;
    if (idle === undefined && !isStarting && pauseTimer === undefined && threads.size < count) start();
    return idle ?? ready.find(({ pending }) => pending.size < maxTasks);
  }

  function send({ worker, pending, idle }: Thread, task: Task): Promise<unknown> {
    return new Promise((resolve, reject) => {
      clearTimeout(idle);
      const id = nextTaskId++;
      pending.set(id, { task, resolve, reject });
      worker.ref();
      worker.postMessage({ id, work: task.work });
    });
  }

  return { find, send };
}

/** Creates the runner of hashes. It starts no thread before one is needed. */
export function createHashThreads(options: HashThreadsOptions): HashThreads {
  const threads = createThreads(options);
  let running = 0;

  /**
   * While at most `count` hashes of any kind run, no hash uses a thread: the time of a hash must not show whether another
   * hash runs on a thread.
   */
  async function run<T>(inPool: () => Promise<T>, work?: Work): Promise<T> {
    running += 1;
    try {
      const thread = running > options.count ? threads.find() : undefined;
      if (thread === undefined || work === undefined) return await inPool();
      return (await threads.send(thread, { work, inPool })) as T;
    } finally {
      running -= 1;
    }
  }

  return {
    hash: (password, parameters) => run(() => hash(password, parameters), ['hashSync', password, parameters]),
    verify: (storedHash, password) => run(() => verify(storedHash, password), ['verifySync', storedHash, password]),
    runInPool: (compute) => run(compute),
  };
}
