import {
  createInbox,
  createItemsView,
  type InboxCounts,
  type ItemsSnapshot,
  type ItemsView,
  type ItemsViewOptions,
} from '@postern/client';
import { useMemo, useSyncExternalStore } from 'react';
import { type Scope, useScope } from './context.js';
import { shareStreams } from './live.js';
import { getOrCreate, unsubscribeLater } from './shared.js';

type ItemActions = Omit<ItemsView, 'show' | 'current' | 'subscribe' | 'onChange'>;

/** A part of the inbox with the states of its notifications, and what can be done with them. */
export interface UseItems extends ItemsSnapshot, ItemActions {
  /** `pending` until the first page was read, or could not be read: see `error`. */
  readonly status: 'pending' | 'ready';
}

/** The view of a query, which all components with the same query share. */
function sourceOf({ postern, snapshot, inbox: options }: Scope, query: ItemsViewOptions) {
  const { view: part = 'inbox', filter, limit = 20, countsBy } = query;
  const key = JSON.stringify([part, filter, limit, countsBy]);
  const view = () =>
    getOrCreate(postern, `items ${key}`, () => {
      const inbox = getOrCreate(postern, 'inbox', () => shareStreams(postern, createInbox(postern, options)));
      return createItemsView(postern, inbox, query);
    });
  let hydrationSnapshot: ItemsSnapshot | undefined;
  return {
    current: () => view().current,
    subscribe: (listener: () => void) => unsubscribeLater(view().onChange(listener)),
    /** The state before hydration. It does not use the shared view, because a server must keep no data of a user. */
    first() {
      if (hydrationSnapshot === undefined) {
        const { current } = createItemsView(postern, createInbox(postern, options), query);
        hydrationSnapshot = { ...current, ...(snapshot?.session === null && { loading: false }) };
      }
      return hydrationSnapshot;
    },
    actions: {
      loadMore: () => view().loadMore(),
      markRead: (ids) => view().markRead(ids),
      markUnread: (ids) => view().markUnread(ids),
      archive: (ids) => view().archive(ids),
      unarchive: (ids) => view().unarchive(ids),
      snooze: (ids, until) => view().snooze(ids, until),
      act: (id, key) => view().act(id, key),
      markAllRead: () => view().markAllRead(),
      archiveAll: () => view().archiveAll(),
      seen: () => view().seen(),
    } satisfies ItemActions as ItemActions,
  };
}

function useSource(query: ItemsViewOptions) {
  const scope = useScope();
  // Text, because most components pass a new object in each rendering.
  const key = JSON.stringify(query);
  return useMemo(() => sourceOf(scope, JSON.parse(key)), [scope, key]);
}

/**
 * A part of the inbox with the state of each notification, which keeps itself up to date on all devices of the user. Components with the same
 * query share a list. A component that only needs the read position uses `useInbox`, which loads less.
 *
 * @example
 * ```tsx
 * import { useItems } from '@postern/react';
 *
 * export function Inbox() {
 *   const { items, counts, archive, markRead } = useItems({ view: 'inbox', limit: 10 });
 *   return (
 *     <section aria-label={`${counts.unread} unread`}>
 *       {items.map(({ id, description, isUnread }) => (
 *         <p key={id}>
 *           {isUnread ? <b>{description}</b> : description}
 *           <button onClick={() => markRead([id])}>Read</button>
 *           <button onClick={() => archive([id])}>Archive</button>
 *         </p>
 *       ))}
 *     </section>
 *   );
 * }
 * ```
 * @throws UsageError without a provider
 */
export function useItems({ view, filter, limit, countsBy }: ItemsViewOptions = {}): UseItems {
  const source = useSource({ view, filter, limit, countsBy });
  const shown = useSyncExternalStore(source.subscribe, source.current, source.first);
  const status = shown.loading && shown.items.length === 0 ? 'pending' : 'ready';
  return useMemo(() => ({ ...shown, status, ...source.actions }), [shown, status, source]);
}

/**
 * The numbers for a badge: `unseen`, what has arrived since the user opened the inbox, and `unread`. The component renders again only when
 * they change.
 *
 * @example
 * ```tsx
 * import { useInboxCounts } from '@postern/react';
 *
 * export function Badge() {
 *   const { unseen } = useInboxCounts();
 *   return unseen > 0 && <span>{unseen > 99 ? '99+' : unseen} new</span>;
 * }
 * ```
 * @param options with `countsBy`, also the numbers of each type, in `by`
 * @throws UsageError without a provider
 */
export function useInboxCounts({ countsBy }: Pick<ItemsViewOptions, 'countsBy'> = {}): InboxCounts {
  const source = useSource({ countsBy });
  return useSyncExternalStore(
    source.subscribe,
    () => source.current().counts,
    () => source.first().counts,
  );
}
