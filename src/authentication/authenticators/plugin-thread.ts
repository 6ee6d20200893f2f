import { setTimeout as wait } from 'node:timers/promises';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { PluginContext, PluginRequest } from './plugin.js';
import type { Beginning, Described, FromThread, Member, Thrown, ToThread } from './plugin-messages.js';

export interface PluginThreadOptions {
  /** Of the module. */
  readonly url: string;
  readonly context: PluginContext;
  /** Hears what the plug-in left behind: errors that nobody waited for. */
  readonly onUnhandled: (failure: PluginFailure) => void;
  /** Milliseconds for each answer; 10,000. */
  readonly patience?: number;
  /** Milliseconds until the plug-in must have started; 30,000. */
  readonly startPatience?: number;
}

/** A plug-in in a thread of its own. What it does there ends the thread at most (decision 72). */
export interface PluginThread {
  /** Undefined: the module makes no object. */
  readonly described: Described | undefined;
  /** Resolves with the reason, in words for the log, when the thread has ended without being told to. */
  readonly lost: Promise<string>;
  /** @throws PluginFailure */
  call(member: Member, given: readonly unknown[]): Promise<unknown>;
  end(): Promise<void>;
}

/** The plug-in has thrown, has not answered in time, or has lost its thread. Holds nothing of what was thrown but its class. */
export class PluginFailure extends Error {
  override readonly name = 'PluginFailure';
  constructor({ kind, frames }: Thrown) {
    super(kind);
    this.stack = [kind, ...frames.map((frame) => `    at ${frame}`)].join('\n');
  }
}

/** Memory of a plug-in, in megabytes. Buffers are not counted. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
/** Milliseconds that a thread has to say that it is not in a loop. */
const pongPatience = 1000;
const levels = ['info', 'warn', 'error'] as const;

interface OpenCall {
  readonly timer: NodeJS.Timeout;
  resolve(value: unknown): void;
  reject(failure: PluginFailure): void;
}

/**
 * Starts the thread and the plug-in in it.
 * @throws Error whose message says why the plug-in has not started, for the operator
 */
export async function startPluginThread(options: PluginThreadOptions): Promise<PluginThread> {
  const { url, context, startPatience = 30_000 } = options;
  const { port1: port, port2 } = new MessageChannel();
  const worker = beginWorker({ url, env: context.env, port: port2 });
  const { lost, endFor } = watch(worker);
  const calls = createCalls(options, (message) => port.postMessage(message), endFor);
  void lost.then((reason) => {
    calls.failAll(reason);
    port.close();
  });

  const started = new Promise<Described | undefined>((resolve, reject) => {
    port.on('message', (message: FromThread) => {
      try {
        if (message.type === 'started') resolve(message.described);
        else if (message.type === 'not started') reject(new Error(message.message));
        else calls.hear(message);
      } catch {
        endFor('it has sent what cannot be read');
      }
    });
  });
  try {
    const described = await Promise.race([started, endsBeforeStart(lost), tooLate(startPatience)]);
    // Calls have timers; a thread without one does not keep the process from ending.
    worker.unref();
    port.unref();
    return { described, lost, call: calls.call, end: () => worker.terminate().then(() => undefined) };
  } catch (error) {
    await worker.terminate();
    throw error;
  }
}

function beginWorker(beginning: Beginning): Worker {
  const worker = new Worker(new URL('./plugin-worker.mjs', import.meta.url), {
    // Not the process's own, whose secrets are no business of a plug-in.
    env: { ...beginning.env },
    resourceLimits,
    name: 'plug-in',
    // What a plug-in prints goes nowhere: it may hold a secret, and others read the output of the service.
    ...{ stdout: true, stderr: true },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  // Of the plug-in itself. Nobody reads them, and they would pile up.
  worker.on('message', () => undefined);
  worker.postMessage(beginning, [beginning.port]);
  return worker;
}

/** Of an error only the code is told: its message may be that of the plug-in. */
function watch(worker: Worker) {
  let reason: string | undefined;
  worker.on('error', ({ code }: NodeJS.ErrnoException) => {
    reason ??= code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it has used all its memory' : 'an error was not caught';
  });
  const lost = new Promise<string>((resolve) => {
    worker.once('exit', (code) => resolve(reason ?? `it has ended with code ${code}`));
  });
  return {
    lost,
    endFor(why: string): void {
      reason ??= why;
      void worker.terminate();
    },
  };
}

async function endsBeforeStart(lost: Promise<string>): Promise<never> {
  throw new Error(`the plug-in has not started: ${await lost}`);
}

async function tooLate(milliseconds: number): Promise<never> {
  await wait(milliseconds, undefined, { ref: false });
  throw new Error(`the plug-in has not started within ${milliseconds / 1000} s`);
}

function createCalls(
  { context, onUnhandled, patience = 10_000 }: PluginThreadOptions,
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

  /** A thread that does not even say that it lives is in a loop, and all its calls wait for it. */
  function expectPong(): void {
    send({ type: 'ping' });
    pongTimer ??= setTimeout(() => endFor('it is in a loop without end'), pongPatience).unref();
  }

  async function serve(message: Extract<FromThread, { type: 'log' | 'fetch' | 'unhandled' }>): Promise<void> {
    const { id } = message;
    try {
      if (message.type === 'fetch') {
        return send({ type: 'done', id, value: await context.fetch(message.url, message.request as PluginRequest) });
      }
      if (message.type === 'unhandled') onUnhandled(new PluginFailure(message.thrown));
      else context.log(levels.find((level) => level === message.level) ?? 'info', message.message);
      send({ type: 'done', id });
    } catch (error) {
      const { message: text, name, code, status } = error as Error & { code?: string; status?: number };
      const more = { ...(code !== undefined && { code }), ...(status !== undefined && { status }) };
      send({ type: 'done', id, error: { message: text, name, ...more } });
    }
  }

  return {
    call: (member: Member, given: readonly unknown[]) =>
      new Promise<unknown>((resolve, reject) => {
        last += 1;
        const id = last;
        const late = () => {
          close(id)?.reject(new PluginFailure({ kind: 'TimeoutError', frames: [] }));
          expectPong();
        };
        open.set(id, { resolve, reject, timer: setTimeout(late, patience) });
        send({ type: 'call', id, member, given });
      }),
    hear(message: FromThread): void {
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
