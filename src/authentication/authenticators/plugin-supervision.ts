import { setTimeout as wait } from 'node:timers/promises';
import type { Described, Member } from './plugin-messages.js';
import { PluginFailure, type PluginThread, type PluginThreadOptions, startPluginThread } from './plugin-thread.js';

export interface SupervisionOptions extends PluginThreadOptions {
  /** Hears why a thread was lost, or could not start again. */
  readonly onLost: (reason: string) => void;
  /** Milliseconds before the second attempt, doubled for each further one up to the last; 250 and 10,000. */
  readonly pauses?: { readonly first: number; readonly last: number };
}

/** A plug-in whose thread is started again when it is lost. */
export interface SupervisedPlugin {
  readonly described: Described | undefined;
  /** Waits for a thread that starts; fails at once while none may start. @throws PluginFailure */
  call(member: Member, given: readonly unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

/** A thread that lived this many milliseconds was not lost for the cause of the loss before. */
const settled = 30_000;

/** @throws Error whose message says why the plug-in has not started, for the operator */
export async function supervisePlugin(options: SupervisionOptions): Promise<SupervisedPlugin> {
  const { onLost, pauses = { first: 250, last: 10_000 } } = options;
  const closing = new AbortController();
  const first = await startPluginThread(options);
  let current: Promise<PluginThread> | undefined = Promise.resolve(first);

  /** The first attempt is made at once, so that a single loss costs the logins under way and no more. */
  async function startAgain(losses: number): Promise<PluginThread | undefined> {
    for (let attempt = losses; ; attempt += 1) {
      const pause = attempt === 1 ? 0 : Math.min(pauses.first * 2 ** (attempt - 2), pauses.last);
      await wait(pause, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      if (closing.signal.aborted) return undefined;
      try {
        current = startPluginThread(options).then((thread) => alike(thread, first));
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
      losses = performance.now() - startedAt > settled ? 1 : losses + 1;
      thread = await startAgain(losses);
    }
  }

  const supervision = supervise();
  return {
    described: first.described,
    async call(member, given) {
      const thread = await current?.catch(() => undefined);
      if (thread === undefined) throw new PluginFailure({ kind: 'has no thread at the moment', frames: [] });
      return thread.call(member, given);
    },
    async close() {
      closing.abort();
      const thread = await current?.catch(() => undefined);
      await thread?.end();
      await supervision;
    },
  };
}

/** A module may make something else the second time. What was checked is the first. */
async function alike(thread: PluginThread, first: PluginThread): Promise<PluginThread> {
  if (JSON.stringify(thread.described) === JSON.stringify(first.described)) return thread;
  await thread.end();
  throw new Error('it has started as another authenticator than before');
}
