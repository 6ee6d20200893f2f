import type { PosternError } from '../errors.js';
import type { List, ListQuery } from '../lists.js';
import type { Abortable } from '../platform.js';
import type { Snapshot } from '../snapshot.js';
import type { Store } from '../store.js';
import type { DeliveryTrace, Image, InboxStates, Marker, Mute } from '../wire.js';
import type { NotificationFilter } from './filter.js';
import type { Notification } from './notification.js';

/** `polling`: no stream can be opened, or the tab is hidden, so the client asks for changes again and again. */
export type Connection = 'connecting' | 'live' | 'polling' | 'offline';

/** What happens in an inbox. Pass `position` as `after` to continue there later. */
export type InboxEvent =
  /** A notification was created or changed: store it by its id. */
  | { readonly type: 'put'; readonly notification: Notification; readonly position: string }
  | { readonly type: 'delete'; readonly id: string; readonly sequence: number; readonly position: string }
  | { readonly type: 'marker'; readonly marker: Marker }
  /** The client was away for too long: discard your copy and list again. */
  | { readonly type: 'reset'; readonly position: string }
  | { readonly type: 'connection'; readonly connection: Connection };

/** What happens in an inbox that is followed with `include: 'extra'`. */
export type StatefulInboxEvent =
  | InboxEvent
  /** States have changed. After a reconnection, read `states.changes` once, because these events have no position. */
  | { readonly type: 'state'; readonly states: InboxStates };

export interface LiveQuery extends Abortable {
  /** The position to continue from. By default, now. */
  readonly after?: string | undefined;
  readonly filter?: NotificationFilter | undefined;
  /** Adds `extra` to notifications: the data of the app, and the state. */
  readonly include?: 'extra' | undefined;
}

/** The options of a list of notifications. */
export interface NotificationQuery extends Omit<ListQuery<'created_at' | 'updated_at'>, 'filter'> {
  readonly filter?: NotificationFilter | undefined;
}

/** The notifications of the user who is signed in. */
export interface Inbox {
  /** `for await (const item of inbox.list())` sees each notification once, even if others arrive during the iteration. */
  readonly list: (query?: NotificationQuery) => List<Notification>;
  /** Yields events from now on, or after a position. It reconnects automatically, and misses nothing. */
  readonly live: {
    (query?: LiveQuery & { readonly include?: undefined }): AsyncIterable<InboxEvent>;
    /** Also sends the event `state`. */
    (query: LiveQuery): AsyncIterable<StatefulInboxEvent>;
  };
  /** The changes after a position, up to now. Without a position, the whole inbox. */
  readonly changes: (query?: LiveQuery) => AsyncIterable<InboxEvent>;
  /** The read position of the user, and the number of unread notifications. */
  readonly marker: (options?: Abortable) => Promise<Marker>;
  /** Moves the marker to a notification. It never moves back. */
  readonly markRead: (
    upTo: Pick<Notification, 'sequence'> | Pick<Notification, 'id'>,
    options?: Abortable,
  ) => Promise<Marker>;
  /** Filters of notifications that cause no push. They are still listed. */
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

/** The requests of an inbox whose code loads when one is first used. */
export type InboxRequests = Pick<Inbox, 'marker' | 'markRead' | 'mutes' | 'trace' | 'uploadImage'>;

export interface InboxOptions {
  /**
   * `shared`, the default: one stream for all tabs, in a SharedWorker. If there is none, and with a `fetch` of your own, it is `tab`: a
   * stream for each tab that the user sees. `poll`: asks every 15 seconds, such as in a service worker, which cannot keep a stream.
   */
  readonly stream?: 'shared' | 'tab' | 'poll' | undefined;
  /**
   * Where your app serves the file of the worker, `@postern/client/worker`, if your bundler does not write it. It must be on the
   * origin of the page.
   */
  readonly workerUrl?: string | URL | undefined;
}

export interface InboxItem extends Notification {
  readonly isUnread: boolean;
}

/** What a list with a bell shows. */
export interface InboxSnapshot {
  /** Newest first, without gaps. */
  readonly items: readonly InboxItem[];
  readonly unread: Marker;
  readonly connection: Connection;
  readonly hasMore: boolean;
  /** The first page or `loadMore` is being read. */
  readonly loading: boolean;
  /** Why the last read or change failed. Earlier items stay, and the client reads again within 30 seconds. */
  readonly error: PosternError | null;
}

export interface InboxView extends Store<InboxSnapshot> {
  /** Shows one more page. Never rejects: see `error`. */
  readonly loadMore: () => Promise<void>;
  /** Moves the marker at once. If the request fails, the marker moves back: see `error`. */
  readonly markRead: (upTo: Pick<Notification, 'sequence'>) => Promise<void>;
  readonly markAllRead: () => Promise<void>;
}

export interface InboxViewOptions extends Pick<NotificationQuery, 'filter' | 'limit'> {
  /** Shown until the list is read, such as in a page that a server rendered. It must have the same filter and limit. */
  readonly snapshot?: Snapshot | undefined;
}
