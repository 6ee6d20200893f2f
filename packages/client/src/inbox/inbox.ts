import { type Core, coreOf } from '../core.js';
import { UsageError } from '../errors.js';
import { listOf } from '../lists.js';
import { once } from '../platform.js';
import type { Postern } from '../types.js';
import { loadInboxParts, whenLoaded } from './load-more.js';
import type { Inbox, InboxOptions, InboxRequests, LiveQuery } from './types.js';

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
  const load = once(async () => (await loadInboxParts()).createRequests(core));
  /** A request whose code is loaded with the stream. */
  const later =
    <A extends readonly unknown[], T>(select: (requests: InboxRequests) => (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> =>
      select(await load())(...args);
  return {
    list: ({ filter, ...query } = {}) =>
      listOf(core, '/v1/notifications', query, async () => ({
        filter: typeof filter === 'object' ? (await loadInboxParts()).filterText(filter) : filter,
      })),
    live: async function* (query: LiveQuery = {}) {
      const { follow, followShared } = yield* whenLoaded(query.signal);
      const canShare = stream === 'shared' && 'SharedWorker' in globalThis;
      if (canShare && core.transport) yield* followShared(postern, core, core.transport, query, workerUrl);
      else yield* follow(core, query, stream === 'poll');
    } as Inbox['live'],
    async *changes(query = {}) {
      yield* (await loadInboxParts()).changesOf(core, query);
    },
    marker: later((requests) => requests.marker),
    markRead: later((requests) => requests.markRead),
    mutes: {
      list: later(({ mutes }) => mutes.list),
      add: later(({ mutes }) => mutes.add),
      remove: later(({ mutes }) => mutes.remove),
    },
    trace: later((requests) => requests.trace),
    uploadImage: later((requests) => requests.uploadImage),
  };
}
