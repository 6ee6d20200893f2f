// The parts of the inbox that a page loads when it first uses one of them.
import type { Core } from '../core.js';
import type { DeliveryTrace, Image, Marker, Mute } from '../wire.js';
import { filterText } from './filter.js';
import type { InboxRequests } from './types.js';

export { filterText } from './filter.js';
export { follow } from './live.js';
export { changesOf } from './polling.js';
export { followShared } from './shared/follow-shared.js';
export { createViewUpdates } from './view-updates.js';

const path = '/v1/notifications';

/** The requests of an inbox, except those of its list. */
export function createRequests(core: Core): InboxRequests {
  return {
    marker: ({ signal } = {}) => core.call<Marker>({ path: `${path}/marker`, signal, expects: 'unread_count' }),
    markRead(upTo, { signal } = {}) {
      const body = 'sequence' in upTo ? { last_read_sequence: upTo.sequence } : { last_read_id: upTo.id };
      return core.call<Marker>({ method: 'PUT', path: `${path}/marker`, body, signal, expects: 'unread_count' });
    },
    mutes: {
      list: ({ signal } = {}) => core.call<readonly Mute[]>({ path: `${path}/mutes`, signal }),
      add: async (filter, { signal } = {}) =>
        core.call<Mute>({ method: 'POST', path: `${path}/mutes`, body: { filter: filterText(filter) }, signal }),
      remove: (id, { signal } = {}) =>
        core.call<void>({ method: 'DELETE', path: `${path}/mutes/${encodeURIComponent(id)}`, signal }),
    },
    trace: (id, { signal } = {}) =>
      core.call<DeliveryTrace>({ path: `${path}/${encodeURIComponent(id)}/deliveries`, signal }),
    uploadImage(file, { signal } = {}) {
      const body = file instanceof Blob ? new FormData() : file;
      if (body instanceof FormData) body.append('file', file as Blob, 'image');
      return core.call<Image>({ method: 'POST', path: '/v1/images', body, signal });
    },
  };
}
