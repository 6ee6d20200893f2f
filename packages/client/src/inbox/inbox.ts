import { type Core, coreOf } from '../core.js';
import { UsageError } from '../errors.js';
import { type List, type ListQuery, listOf } from '../lists.js';
import type { Abortable } from '../platform.js';
import type { Postern } from '../types.js';
import type { DeliveryTrace, Image, Marker, Mute, Notification } from '../wire.js';
import { changesOf, follow, type InboxEvent, type LiveQuery } from './live.js';

/** The notifications of the user who is signed in. */
export interface Inbox {
  /** `for await (const item of inbox.list())` sees each notification once, whatever arrives meanwhile. */
  readonly list: (query?: ListQuery) => List<Notification>;
  /** What happens from now on, or after a position. It connects again by itself, and misses nothing. */
  readonly live: (query?: LiveQuery) => AsyncIterable<InboxEvent>;
  /** What changed after a position, up to now. Without a position, everything. */
  readonly changes: (query?: LiveQuery) => AsyncIterable<InboxEvent>;
  /** Up to where the user has read, and the number of unread notifications. */
  readonly marker: (options?: Abortable) => Promise<Marker>;
  /** Moves the marker to a notification. It never moves back. */
  readonly markRead: (upTo: Pick<Notification, 'sequence'>, options?: Abortable) => Promise<Marker>;
  /** Filters of notifications that cause no push. They are listed all the same. */
  readonly mutes: {
    readonly list: (options?: Abortable) => Promise<readonly Mute[]>;
    readonly add: (filter: string, options?: Abortable) => Promise<Mute>;
    readonly remove: (id: string, options?: Abortable) => Promise<void>;
  };
  /** Why a notification did or did not arrive on each device. */
  readonly trace: (id: string, options?: Abortable) => Promise<DeliveryTrace>;
  /** Uploads a JPEG, PNG, WebP, GIF or AVIF of up to 5 MiB. */
  readonly uploadImage: (file: Blob, options?: Abortable) => Promise<Image>;
}

export interface InboxOptions {
  /** `poll`: asks every 15 seconds, such as in a service worker, which cannot keep a stream. `stream` by default. */
  readonly connection?: 'stream' | 'poll' | undefined;
}

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
 * @throws UsageError for something that is no client
 */
export function createInbox(postern: Postern, { connection = 'stream' }: InboxOptions = {}): Inbox {
  const core: Core = coreOf(postern);
  if (connection !== 'stream' && connection !== 'poll')
    throw new UsageError("`connection` must be 'stream' or 'poll'.");
  const path = '/v1/notifications';
  return {
    list: (query = {}) => listOf(core, path, query),
    live: (query = {}) => follow(core, query, connection === 'poll'),
    changes: (query = {}) => changesOf(core, query),
    marker: ({ signal } = {}) => core.call({ path: `${path}/marker`, signal }),
    markRead({ sequence }, { signal } = {}) {
      const body = { last_read_sequence: sequence };
      return core.call({ method: 'PUT', path: `${path}/marker`, body, signal });
    },
    mutes: {
      list: ({ signal } = {}) => core.call({ path: `${path}/mutes`, signal }),
      add: (filter, { signal } = {}) => core.call({ method: 'POST', path: `${path}/mutes`, body: { filter }, signal }),
      remove: (id, { signal } = {}) =>
        core.call({ method: 'DELETE', path: `${path}/mutes/${encodeURIComponent(id)}`, signal }),
    },
    trace: (id, { signal } = {}) => core.call({ path: `${path}/${encodeURIComponent(id)}/deliveries`, signal }),
    uploadImage(file, { signal } = {}) {
      const body = new FormData();
      body.append('file', file, 'image');
      return core.call({ method: 'POST', path: '/v1/images', body, signal });
    },
  };
}
