import { setTimeout as wait } from 'node:timers/promises';
import type { PluginDescription, PluginFunction } from './plugin-messages.js';
import { PluginFailure, type PluginThread, type PluginThreadOptions, startPluginThread } from './plugin-thread.js';

export interface SupervisionOptions extends PluginThreadOptions {
  /** Called with the reason when a thread has ended by itself or could not restart. */
  readonly onLost: (reason: string) => void;
  /** Milliseconds before the second attempt, doubled for each further one up to `max`. The default is 250 and 10,000. */
  readonly pauses?: { readonly first: number; readonly max: number };
}

/** A plug-in that gets a new thread when its thread has ended by itself. */
export interface SupervisedPlugin {
  /** The description of the first thread. Undefined: the module returned no object. */
  readonly description: PluginDescription | undefined;
  /** Waits for a thread that is starting, and fails at once during a pause between attempts. @throws PluginFailure */
  call(name: PluginFunction, args: readonly unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

/** Milliseconds. A thread that ran for longer than this restarts without a pause. */
const stableAfterMs = 30_000;

/** @throws Error with the reason why the plug-in did not start, for the operator */
export async function supervisePlugin(options: SupervisionOptions): Promise<SupervisedPlugin> {
  const { onLost, pauses = { first: 250, max: 10_000 } } = options;
  const closing = new AbortController();
  const first = await startPluginThread(options);
  let current: Promise<PluginThread> | undefined = Promise.resolve(first);

  /** The first attempt has no pause, so if a thread is lost once, only the logins that are running fail. */
  async function restart(losses: number): Promise<PluginThread | undefined> {
    for (let attempt = losses; ; attempt += 1) {
      const pause = attempt === 1 ? 0 : Math.min(pauses.first * 2 ** (attempt - 2), pauses.max);
      await wait(pause, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      if (closing.signal.aborted) return undefined;
      try {
        current = startPluginThread(options).then((thread) => requireSameDescription(thread, first));
        return await current;
      } catch (error) {
        current = undefined;
        onLost(error instanceof Error ? error.message : 'it could not start');
      }
    }
  }

  async function supervise(): Promise<void> {
    let thread: PluginThread | undefined = first;
    for (let losses = 0; thread !== undefined; ) {
      const startedAt = performance.now();
      const reason = await thread.lost;
      current = undefined;
      if (closing.signal.aborted) return;
      onLost(reason);
      losses = performance.now() - startedAt > stableAfterMs ? 1 : losses + 1;
      thread = await restart(losses);
    }
  }

  const supervision = supervise();
  return {
    description: first.description,
    async call(name, args) {
      const thread = await current?.catch(() => undefined);
      if (thread === undefined) throw new PluginFailure({ kind: 'ThreadRestarting', frames: [] });
      return thread.call(name, args);
    },
    async close() {
      closing.abort();
      const thread = await current?.catch(() => undefined);
      await thread?.end();
      await supervision;
    },
  };
}

/** Refuses a thread whose module describes another authenticator than at the first start: only the first one was checked. */
async function requireSameDescription(thread: PluginThread, first: PluginThread): Promise<PluginThread> {
  if (JSON.stringify(thread.description) === JSON.stringify(first.description)) return thread;
  await thread.end();
  throw new Error('it has restarted as another authenticator');
}
