import { type Core, coreOf } from '../core.js';
import { type Abortable, forCaller, throwIfAborted } from '../platform.js';
import { openValues } from '../storage/indexed-db.js';
import { loadPart } from '../transport.js';
import type { Postern } from '../types.js';
import type { Changes } from '../wire.js';
import type { CopyStore } from './copy-store.js';
import type { Notification } from './notification.js';
import type { CopyPosition } from './states/copy-states.js';
import type { StatefulNotification } from './states/types.js';
import { createUserCopies, eraseCopy } from './user-copies.js';

/**
 * Creates a copy in memory, for example for tests.
 *
 * @example
 * ```ts
 * import { createInboxCopy, memoryCopyStore, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * export const copy = createInboxCopy(postern, { storeOf: () => memoryCopyStore() });
 * ```
 */
export function memoryCopyStore(): CopyStore {
  let after: string | null = null;
  const items = new Map<string, Notification>();
  return {
    load: async () => ({ after, items: [...items.values()] }),
    async apply(change) {
      if (change.clear) items.clear();
      for (const item of change.put) items.set(item.id, item);
      for (const id of change.remove) items.delete(id);
      after = change.after;
    },
  };
}

/**
 * Creates a copy in IndexedDB, which survives a restart. Every script of the page can read it.
 *
 * @example
 * ```ts
 * import { createInboxCopy, indexedDbCopyStore, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * export const copy = createInboxCopy(postern, { storeOf: (userId) => indexedDbCopyStore(`my-app-${userId}`) });
 * ```
 */
export function indexedDbCopyStore(name = 'postern-inbox'): CopyStore {
  const values = openValues(name);
  return {
    async load() {
      const all = (await values.read((store) => store.getAll())) as readonly (
        | Notification
        | { readonly after: string }
      )[];
      const position = all.find((value) => 'after' in value);
      return { after: position?.after ?? null, items: all.filter((value) => 'id' in value) };
    },
    apply: ({ clear, put, remove, after }) =>
      values.write((store) => {
        if (clear) store.clear();
        for (const item of put) store.put(item, item.id);
        for (const id of remove) store.delete(id);
        if (after === null) store.delete('after');
        else store.put({ after }, 'after');
      }),
  };
}

/** A copy of an inbox that can be read without a network. */
export interface InboxCopy<Item extends Notification = Notification> {
  /** The notifications of the last synchronisation, newest first. */
  readonly items: () => Promise<readonly Item[]>;
  /**
   * Updates the copy. If it is interrupted, the next call continues. Parallel calls share one update, which continues if one caller aborts.
   */
  readonly sync: (options?: Abortable) => Promise<void>;
  /** Removes everything. */
  readonly erase: () => Promise<void>;
}

export interface InboxCopyOptions {
  /** Returns the store for the copy of a user. By default, the copy is in IndexedDB. */
  readonly storeOf?: ((userId: string) => CopyStore) | undefined;
  /** The maximum number of changes of each request, 1 to 1000. 500 by default. */
  readonly limit?: number | undefined;
  /** Adds `extra` to the notifications: the data of the app, and the state, which the copy keeps up to date. */
  readonly include?: 'extra' | undefined;
}

/**
 * Keeps a copy of the inbox of the user who is signed in. Each user has a separate copy. It is erased when the login ends. Create it when
 * your app starts, so that it is erased even if the login ended while the app was closed.
 *
 * @example
 * ```ts
 * import { createInboxCopy, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const copy = createInboxCopy(postern);
 * console.log(await copy.items()); // at once, also without a network
 * await copy.sync();
 * console.log(await copy.items());
 * ```
 */
export function createInboxCopy(
  postern: Postern,
  options: InboxCopyOptions & { readonly include: 'extra' },
): InboxCopy<StatefulNotification>;
export function createInboxCopy(postern: Postern, options?: InboxCopyOptions): InboxCopy;
export function createInboxCopy(
  postern: Postern,
  options: InboxCopyOptions = {},
): InboxCopy & InboxCopy<StatefulNotification> {
  const core = coreOf(postern);
  const { storeOf = (userId) => indexedDbCopyStore(`postern-inbox-${userId}`) } = options;
  const copies = createUserCopies(postern, core, storeOf);
  let syncing: { readonly store: CopyStore; readonly done: Promise<void> } | undefined;
  return {
    async items() {
      const { items } = await (await copies.current()).load();
      return (items as readonly StatefulNotification[]).slice().sort((a, b) => b.sequence - a.sequence);
    },
    async sync({ signal } = {}) {
      throwIfAborted(signal);
      const store = await forCaller(copies.current(), signal);
      if (syncing?.store !== store) {
        const done = copies
          .remember()
          .then(() => syncCopy(core, store, options, () => copies.isCurrent(store)))
          .finally(() => {
            if (syncing?.done === done) syncing = undefined;
          });
        syncing = { store, done };
      }
      // The signal ends the wait of one caller only. For example, the strict mode of React aborts the first of two calls.
      await forCaller(syncing.done, signal);
    },
    async erase() {
      await syncing?.done.catch(() => undefined);
      await eraseCopy(await copies.current());
    },
  };
}

/** Reads the changes since the last synchronisation into a copy. It stops when `isCurrent` says that another user has signed in. */
async function syncCopy(
  core: Core,
  store: CopyStore,
  { limit = 500, include }: InboxCopyOptions,
  isCurrent: () => boolean,
): Promise<void> {
  const stored = (await store.load()).after;
  /** With states, the position is JSON. A copy that was made without them begins again. */
  const hasStates = stored?.[0] === '{';
  let clear = Boolean(include) !== hasStates;
  let position: CopyPosition = { after: clear ? null : stored };
  if (hasStates && !clear) position = JSON.parse(stored);
  for (;;) {
    const query = { after: position.after ?? undefined, limit, include };
    const page = await core.call<Changes>({ path: '/v1/notifications/changes', query, expects: 'changes' });
    // Another user has signed in during the request.
    if (!isCurrent()) return;
    if (page.reset) {
      clear = true;
      position = { after: null };
      continue;
    }
    const put = page.changes.flatMap(({ notification }) =>
      notification === null ? [] : [notification as Notification],
    );
    const remove = page.changes.flatMap(({ id, notification }) => (notification === null ? [id] : []));
    position = { ...position, after: page.after };
    await store.apply({ clear, put, remove, after: include ? JSON.stringify(position) : page.after });
    clear = false;
    if (page.has_more) continue;
    await removeExpired(store, page, isCurrent);
    if (!include || !isCurrent()) return;
    const { syncStates } = await loadPart(() => import('./states/copy-states.js'));
    return syncStates(core, store, position, isCurrent);
  }
}

/**
 * Removes notifications that retention has deleted. Postern sends no change for each of them, only the time of the oldest one for each
 * type.
 */
async function removeExpired(
  store: CopyStore,
  { retained_from: times }: Changes,
  isCurrent: () => boolean,
): Promise<void> {
  const { items, after } = await store.load();
  const isOld = ({ notification_type: type, created_at }: Notification) => created_at < `${times[type] ?? ''}`;
  const remove = items.filter(isOld).map(({ id }) => id);
  // Not after the copy was erased: its position would stay.
  if (remove.length > 0 && isCurrent()) await store.apply({ clear: false, put: [], remove, after });
}
