import { setTimeout as wait } from 'node:timers/promises';
import type { Described, Member } from './plugin-messages.js';
import { PluginFailure, type PluginThread, type PluginThreadOptions, startPluginThread } from './plugin-thread.js';

export interface SupervisionOptions extends PluginThreadOptions {
  /** Called with the reason when a thread was lost or could not restart. */
  readonly onLost: (reason: string) => void;
  /** Milliseconds before the second attempt, doubled for each further one up to `last`. The default is 250 and 10,000. */
  readonly pauses?: { readonly first: number; readonly last: number };
}

/** A plug-in whose thread restarts when it is lost. */
export interface SupervisedPlugin {
  readonly described: Described | undefined;
  /** Waits for a thread that is starting, and fails at once during a pause between attempts. @throws PluginFailure */
  call(member: Member, args: readonly unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

/** Milliseconds. After a thread has run for longer than this, its loss counts as the first one again. */
const stableAfterMs = 30_000;

/** @throws Error with the reason why the plug-in did not start, for the operator */
export async function supervisePlugin(options: SupervisionOptions): Promise<SupervisedPlugin> {
  const { onLost, pauses = { first: 250, last: 10_000 } } = options;
  const closing = new AbortController();
  const first = await startPluginThread(options);
  let current: Promise<PluginThread> | undefined = Promise.resolve(first);

  /** The first attempt has no pause, so a single loss fails only the logins that are running. */
  async function restart(losses: number): Promise<PluginThread | undefined> {
    for (let attempt = losses; ; attempt += 1) {
      const pause = attempt === 1 ? 0 : Math.min(pauses.first * 2 ** (attempt - 2), pauses.last);
      await wait(pause, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      if (closing.signal.aborted) return undefined;
      try {
        current = startPluginThread(options).then((thread) => requireSame(thread, first));
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
    described: first.described,
    async call(member, given) {
      const thread = await current?.catch(() => undefined);
      if (thread === undefined) throw new PluginFailure({ kind: 'has no thread now', frames: [] });
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

/** A module may return another object at the second start, but only the first object was checked. */
async function requireSame(thread: PluginThread, first: PluginThread): Promise<PluginThread> {
  if (JSON.stringify(thread.described) === JSON.stringify(first.described)) return thread;
  await thread.end();
  throw new Error('it has restarted as another authenticator');
}
