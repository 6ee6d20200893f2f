import { type Core, coreOf } from '../core.js';
import { UsageError } from '../errors.js';
import { type List, type ListQuery, listOf } from '../lists.js';
import type { Abortable } from '../platform.js';
import type { Postern } from '../types.js';
import type { DeliveryTrace, Image, Marker, Mute } from '../wire.js';
import { filterText, type NotificationFilter } from './filter.js';
import { changesOf, follow, type InboxEvent, type LiveQuery } from './live.js';
import type { Notification } from './notification.js';

/** What a list of notifications takes. */
export interface NotificationQuery extends Omit<ListQuery, 'filter'> {
  readonly filter?: NotificationFilter | undefined;
}

/** The notifications of the user who is signed in. */
export interface Inbox {
  /** `for await (const item of inbox.list())` sees each notification once, whatever arrives meanwhile. */
  readonly list: (query?: NotificationQuery) => List<Notification>;
  /** What happens from now on, or after a position. It connects again by itself, and misses nothing. */
  readonly live: (query?: LiveQuery) => AsyncIterable<InboxEvent>;
  /** What changed after a position, up to now. Without a position, everything. */
  readonly changes: (query?: LiveQuery) => AsyncIterable<InboxEvent>;
  /** Up to where the user has read, and the number of unread notifications. */
  readonly marker: (options?: Abortable) => Promise<Marker>;
  /** Moves the marker to a notification. It never moves back. */
  readonly markRead: (
    upTo: Pick<Notification, 'sequence'> | Pick<Notification, 'id'>,
    options?: Abortable,
  ) => Promise<Marker>;
  /** Filters of notifications that cause no push. They are listed all the same. */
  readonly mutes: {
    readonly list: (options?: Abortable) => Promise<readonly Mute[]>;
    readonly add: (filter: NotificationFilter, options?: Abortable) => Promise<Mute>;
    readonly remove: (id: string, options?: Abortable) => Promise<void>;
  };
  /** Why a notification did or did not arrive on each device. */
  readonly trace: (id: string, options?: Abortable) => Promise<DeliveryTrace>;
  /** Uploads a JPEG, PNG, WebP, GIF or AVIF of up to 5 MiB. With `url`, Postern fetches the image there. */
  readonly uploadImage: (file: Blob | { readonly url: string }, options?: Abortable) => Promise<Image>;
}

export interface InboxOptions {
  /**
   * `poll`: asks every 15 seconds, such as in a service worker, which cannot keep a stream. By default `tab`: a stream of its own.
   */
  readonly stream?: 'tab' | 'poll' | undefined;
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
export function createInbox(postern: Postern, { stream = 'tab' }: InboxOptions = {}): Inbox {
  const core: Core = coreOf(postern);
  if (stream !== 'tab' && stream !== 'poll') throw new UsageError("`stream` must be 'tab' or 'poll'.");
  const path = '/v1/notifications';
  return {
    list: ({ filter, ...query } = {}) => listOf(core, path, { ...query, filter: filterText(filter) }),
    live: (query = {}) => follow(core, query, stream === 'poll'),
    changes: (query = {}) => changesOf(core, query),
    marker: ({ signal } = {}) => core.call({ path: `${path}/marker`, signal }),
    markRead(upTo, { signal } = {}) {
      const body = 'sequence' in upTo ? { last_read_sequence: upTo.sequence } : { last_read_id: upTo.id };
      return core.call({ method: 'PUT', path: `${path}/marker`, body, signal });
    },
    mutes: {
      list: ({ signal } = {}) => core.call({ path: `${path}/mutes`, signal }),
      add: (filter, { signal } = {}) =>
        core.call({ method: 'POST', path: `${path}/mutes`, body: { filter: filterText(filter) }, signal }),
      remove: (id, { signal } = {}) =>
        core.call({ method: 'DELETE', path: `${path}/mutes/${encodeURIComponent(id)}`, signal }),
    },
    trace: (id, { signal } = {}) => core.call({ path: `${path}/${encodeURIComponent(id)}/deliveries`, signal }),
    uploadImage(file, { signal } = {}) {
      const body = file instanceof Blob ? new FormData() : file;
      if (body instanceof FormData) body.append('file', file as Blob, 'image');
      return core.call({ method: 'POST', path: '/v1/images', body, signal });
    },
  };
}
