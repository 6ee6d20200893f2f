import { type Core, coreOf } from '../core.js';
import { UsageError } from '../errors.js';
import { listOf } from '../lists.js';
import type { Call } from '../transport.js';
import type { Postern } from '../types.js';
import type { NotificationFilter } from './filter.js';
import { loadInboxParts, whenLoaded } from './load-more.js';
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
  if (!['shared', 'tab', 'poll'].includes(stream)) throw new UsageError("`stream` must be 'shared', 'tab' or 'poll'.");
  const path = '/v1/notifications';
  return {
    list({ filter, ...query } = {}) {
      const call = async <T>(request: Call): Promise<T> =>
        core.call<T>({ ...request, query: { ...request.query, filter: await filterOf(filter) } });
      return listOf({ call }, path, query);
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
    marker: ({ signal } = {}) => core.call({ path: `${path}/marker`, signal }),
    markRead(upTo, { signal } = {}) {
      const body = 'sequence' in upTo ? { last_read_sequence: upTo.sequence } : { last_read_id: upTo.id };
      return core.call({ method: 'PUT', path: `${path}/marker`, body, signal });
    },
    mutes: {
      list: async (options) => (await loadInboxParts()).listMutes(core, options),
      add: async (filter, options) => (await loadInboxParts()).addMute(core, filter, options),
      remove: async (id, options) => (await loadInboxParts()).removeMute(core, id, options),
    },
    trace: async (id, options) => (await loadInboxParts()).traceOf(core, id, options),
    uploadImage: async (file, options) => (await loadInboxParts()).uploadImage(core, file, options),
  };
}

/** @throws UsageError for a condition without values */
const filterOf = async (filter: NotificationFilter | undefined) =>
  typeof filter === 'object' ? (await loadInboxParts()).filterText(filter) : filter;
