import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { PluginContext, PluginRequest } from './plugin.js';
import type {
  FromThread,
  PluginDescription,
  PluginFunction,
  Thrown,
  ToThread,
  WorkerStart,
} from './plugin-messages.js';

export interface PluginThreadOptions {
  /** The URL of the module. */
  readonly url: string;
  readonly context: PluginContext;
  /** Called for unhandled errors of the plug-in. */
  readonly onUnhandled: (failure: PluginFailure) => void;
  /** Milliseconds for each call. The default is 10,000. */
  readonly timeoutMs?: number;
  /** Milliseconds for the start. The default is 30,000. */
  readonly startTimeoutMs?: number;
}

/** A plug-in in its own thread. At worst, its code ends the thread (decision 72). */
export interface PluginThread {
  /** Undefined: the module returned no object. */
  readonly description: PluginDescription | undefined;
  /** Resolves with the reason, for the log, when the thread ends without `end`. */
  readonly lost: Promise<string>;
  /** @throws PluginFailure */
  call(member: PluginFunction, args: readonly unknown[]): Promise<unknown>;
  end(): Promise<void>;
}

/**
 * The plug-in threw, timed out, or lost its thread. If it threw, this contains only the class and the file positions.
 */
export class PluginFailure extends Error {
  override readonly name = 'PluginFailure';
  constructor({ kind, frames }: Thrown) {
    super(kind);
    this.stack = [kind, ...frames.map((frame) => `    at ${frame}`)].join('\n');
  }
}

/** The memory of a plug-in in megabytes, without buffers. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
/** Milliseconds for a thread to answer a ping. */
const pongTimeoutMs = 1000;
const levels = ['info', 'warn', 'error'] as const;

interface OpenCall {
  readonly timer: NodeJS.Timeout;
  /** Runs work in the asynchronous context of the call, so that traces include the requests of the plug-in. */
  readonly inContext: <T>(work: () => T) => T;
  resolve(value: unknown): void;
  reject(failure: PluginFailure): void;
}

/**
 * Starts the thread and the plug-in in it.
 * @throws Error with the reason why the plug-in did not start, for the operator
 */
export async function startPluginThread(options: PluginThreadOptions): Promise<PluginThread> {
  const { url, context, startTimeoutMs = 30_000 } = options;
  const { port1: port, port2 } = new MessageChannel();
  const worker = startWorker({ url, env: context.env, port: port2 });
  const { lost, terminateBecause: terminate } = watch(worker);
  const calls = createCalls(options, (message) => port.postMessage(message), terminate);
  void lost.then((reason) => {
    calls.failAll(reason);
    port.close();
  });

  const started = new Promise<PluginDescription | undefined>((resolve, reject) => {
    port.on('message', (message: FromThread) => {
      try {
        if (message.type === 'started') resolve(message.description);
        else if (message.type === 'not started') reject(new Error(message.message));
        else calls.receive(message);
      } catch {
        terminate('it has sent an unreadable message');
      }
    });
  });
  try {
    const description = await Promise.race([started, failWhenLost(lost), failAfter(startTimeoutMs)]);
    // Without calls, the thread must not keep the process running.
    worker.unref();
    port.unref();
    return { description, lost, call: calls.call, end: () => worker.terminate().then(() => undefined) };
  } catch (error) {
    await worker.terminate();
    throw error;
  }
}

function startWorker(beginning: WorkerStart): Worker {
  const worker = new Worker(new URL('./plugin-worker.mjs', import.meta.url), {
    // The thread does not get the environment of the process, which contains secrets.
    env: { ...beginning.env },
    resourceLimits,
    name: 'plug-in',
    // The output of a plug-in is discarded: it may contain a secret.
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  // These are messages of the plug-in itself. Without a listener, they would accumulate.
  worker.on('message', () => undefined);
  worker.postMessage(beginning, [beginning.port]);
  return worker;
}

/** Reports only the code of an error: the message may come from the plug-in. */
function watch(worker: Worker) {
  let reason: string | undefined;
  worker.on('error', ({ code }: NodeJS.ErrnoException) => {
    reason ??= code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it has used all its memory' : 'it did not catch an error';
  });
  const lost = new Promise<string>((resolve) => {
    worker.once('exit', (code) => resolve(reason ?? `it has ended with code ${code}`));
  });
  return {
    lost,
    terminateBecause(cause: string): void {
      reason ??= cause;
      void worker.terminate();
    },
  };
}

async function failWhenLost(lost: Promise<string>): Promise<never> {
  throw new Error(`the plug-in did not start: ${await lost}`);
}

async function failAfter(milliseconds: number): Promise<never> {
  await wait(milliseconds, undefined, { ref: false });
  throw new Error(`the plug-in did not start within ${milliseconds / 1000} s`);
}

const runHere = <T>(work: () => T): T => work();

function createCalls(
  { context, onUnhandled, timeoutMs = 10_000 }: PluginThreadOptions,
  send: (message: ToThread) => void,
  endFor: (reason: string) => void,
) {
  const open = new Map<number, OpenCall>();
  let last = 0;
  let pongTimer: NodeJS.Timeout | undefined;

  function close(id: number): OpenCall | undefined {
    const call = open.get(id);
    open.delete(id);
    clearTimeout(call?.timer);
    return call;
  }

  /** A thread that does not answer a ping is in an endless loop, and blocks all its calls. */
  function expectPong(): void {
    send({ type: 'ping' });
    pongTimer ??= setTimeout(() => endFor('it is in an endless loop'), pongTimeoutMs).unref();
  }

  async function serve(message: Extract<FromThread, { type: 'log' | 'fetch' | 'unhandled' }>): Promise<void> {
    const { id } = message;
    try {
      if (message.type === 'fetch') {
        const inContext = open.get(message.call ?? 0)?.inContext ?? runHere;
        const request = message.request as PluginRequest;
        return send({ type: 'done', id, value: await inContext(() => context.fetch(message.url, request)) });
      }
      if (message.type === 'unhandled') onUnhandled(new PluginFailure(message.thrown));
      else context.log(levels.find((level) => level === message.level) ?? 'info', message.message);
      send({ type: 'done', id });
    } catch (error) {
      const { message: text, name, code, status } = error as Error & { code?: string; status?: number };
      const details = { ...(code !== undefined && { code }), ...(status !== undefined && { status }) };
      send({ type: 'done', id, error: { message: text, name, ...details } });
    }
  }

  return {
    call: (member: PluginFunction, args: readonly unknown[]) =>
      new Promise<unknown>((resolve, reject) => {
        last += 1;
        const id = last;
        const timeOut = () => {
          close(id)?.reject(new PluginFailure({ kind: 'TimeoutError', frames: [] }));
          expectPong();
        };
        const inContext = AsyncLocalStorage.snapshot();
        open.set(id, { resolve, reject, timer: setTimeout(timeOut, timeoutMs), inContext });
        send({ type: 'call', id, member, args });
      }),
    receive(message: FromThread): void {
      if (message.type === 'answer') close(message.id)?.resolve(JSON.parse(message.json));
      else if (message.type === 'failure') close(message.id)?.reject(new PluginFailure(message.thrown));
      else if (message.type === 'pong') {
        clearTimeout(pongTimer);
        pongTimer = undefined;
      } else if (message.type === 'log' || message.type === 'fetch' || message.type === 'unhandled') {
        void serve(message);
      }
    },
    failAll(reason: string): void {
      clearTimeout(pongTimer);
      const failure = new PluginFailure({ kind: `lost its thread: ${reason}`, frames: [] });
      for (const id of [...open.keys()]) close(id)?.reject(failure);
    },
  };
}
