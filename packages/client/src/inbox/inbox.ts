import { type Core, coreOf } from '../core.js';
import { UsageError } from '../errors.js';
import { checkLimit, listFrom } from '../pages.js';
import type { Postern } from '../types.js';
import { type InboxParts, loadInboxParts, whenLoaded } from './load-more.js';
import type { Inbox, InboxOptions } from './types.js';

/**
 * The inbox of the user who is signed in.
 *
 * @example
 * ```ts
 * import { createInbox, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const inbox = createInbox(postern);
 * for await (const event of inbox.live()) {
 *   if (event.type === 'put') console.log(event.notification.description);
 * }
 * ```
 * @throws UsageError if the argument is not a client
 */
export function createInbox(postern: Postern, { stream = 'shared', workerUrl }: InboxOptions = {}): Inbox {
  const core: Core = coreOf(postern);
  if (!['shared', 'tab', 'poll'].includes(stream)) throw new UsageError("`stream` takes 'shared', 'tab' or 'poll'.");
  /** A function whose code is loaded with the stream. */
  const later =
    <A extends readonly unknown[], T>(select: (parts: InboxParts) => (core: Core, ...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> =>
      select(await loadInboxParts())(core, ...args);
  return {
    list(query = {}) {
      checkLimit(query.limit);
      return listFrom(async (at) => (await loadInboxParts()).listOfNotifications(core, query).page(at));
    },
    async *live(query = {}) {
      const { follow, followShared } = yield* whenLoaded(query.signal);
      const canShare = stream === 'shared' && 'SharedWorker' in globalThis;
      if (canShare && core.transport) yield* followShared(postern, core, core.transport, query, workerUrl);
      else yield* follow(core, query, stream === 'poll');
    },
    async *changes(query = {}) {
      yield* (await loadInboxParts()).changesOf(core, query);
    },
    marker: later(({ readMarker }) => readMarker),
    markRead: later(({ markRead }) => markRead),
    mutes: {
      list: later(({ listMutes }) => listMutes),
      add: later(({ addMute }) => addMute),
      remove: later(({ removeMute }) => removeMute),
    },
    trace: later(({ traceOf }) => traceOf),
    uploadImage: later(({ uploadImage }) => uploadImage),
  };
}
