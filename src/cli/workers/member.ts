import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Environment, FromWorker, ToWorker } from './messages.js';
import { STOP_DEADLINE } from './stop-deadline.js';

/** One worker, from its start to its end, as the primary sees it. */
export interface Member {
  /** In every line of its log. */
  readonly worker: number;
  readonly pid: number | undefined;
  /** Where it listens; undefined when it ended before. */
  readonly ready: Promise<string | undefined>;
  readonly ended: Promise<Ended>;
  /**
   * Asks it to end: to `stop` when it has answered what it has begun, or to `retire` while others go on, when its
   * clients have been told to connect anew. Resolves with the end; false when it had to be killed.
   */
  end(how: 'stop' | 'retire'): Promise<boolean>;
}

/** How a worker came to its end. */
export interface Ended {
  readonly wasReady: boolean;
  /** It was asked to. */
  readonly asked: boolean;
  /** Milliseconds that it lived. */
  readonly lived: number;
  /** Why it could not start, in words for the operator, if it said so itself. */
  readonly reason: string | undefined;
  /** An exit code or the name of a signal. */
  readonly how: string;
}

const program = fileURLToPath(new URL('./worker.js', import.meta.url));

/** Milliseconds. A little earlier, so that a worker that hangs does not outlive the primary. */
const KILL_AFTER = STOP_DEADLINE - 2000;

/**
 * All workers wait for connections on one socket, and the kernel gives each to one that has time. Node's default,
 * where the primary accepts them and passes them on, leaves a client hanging for good when the worker that its
 * connection is on the way to dies.
 */
export function prepareWorkers(): void {
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: program, args: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

export function startMember(environment: Environment): Member {
  const startedAt = performance.now();
  const worker = cluster.fork();
  let asked = false;
  let url: string | undefined;
  let reason: string | undefined;
  let announce: (url: string | undefined) => void = () => undefined;
  const ready = new Promise<string | undefined>((resolve) => {
    announce = resolve;
  });
  const tell = (order: ToWorker) => {
    // One that has just died cannot be told, and its end is heard anyway.
    if (worker.isConnected()) worker.send(order, () => undefined);
  };
  worker.on('message', (message: FromWorker) => {
    if (message === 'here') tell(asked ? 'stop' : { start: environment });
    else if ('failed' in message) reason = message.failed;
    else {
      url = message.ready;
      announce(url);
    }
  });
  const ended = new Promise<Ended>((resolve) => {
    const end = (how: string) => {
      announce(undefined);
      resolve({ wasReady: url !== undefined, asked, lived: performance.now() - startedAt, reason, how });
    };
    worker.on('exit', (code, signal) => end(signal ?? `exit code ${code}`));
    // There may be no process at all: the system has no room for one more.
    worker.on('error', (error) => {
      if (worker.process.pid === undefined) end(error.message);
    });
  });
  return {
    worker: worker.id,
    pid: worker.process.pid,
    ready,
    ended,
    async end(how) {
      asked = true;
      tell(how);
      let inTime = true;
      const late = setTimeout(() => {
        inTime = false;
        worker.process.kill('SIGKILL');
      }, KILL_AFTER);
      await ended;
      clearTimeout(late);
      return inTime;
    },
  };
}
