import {
  createInbox,
  createInboxView,
  type InboxSnapshot,
  type InboxView,
  type NotificationQuery,
  type Snapshot,
} from '@postern/client';
import { useMemo, useSyncExternalStore } from 'react';
import { type Scope, useScope } from './context.js';
import { shareStreams } from './live.js';
import { getOrCreate, missingDataError, unsubscribeLater } from './shared.js';

/** Which notifications a list shows. */
export type UseInboxQuery = Pick<NotificationQuery, 'filter' | 'limit'>;

/** A list of notifications with a count, and what can be done with it. */
export interface UseInbox extends InboxSnapshot, Pick<InboxView, 'loadMore' | 'markRead' | 'markAllRead'> {
  /** `pending` until the first page was read, or could not be read: see `error`. */
  readonly status: 'pending' | 'ready';
}

const isPending = ({ loading, items }: InboxSnapshot) => loading && items.length === 0;
const keyOf = ({ filter, limit = 20 }: UseInboxQuery) => JSON.stringify([filter, limit]);

/** The query of the list in a snapshot. */
function queryIn(snapshot: Snapshot | undefined): UseInboxQuery | undefined {
  const { filter, page } = snapshot?.inbox ?? {};
  return page && { filter, limit: page.page.limit };
}

/** The view of a query, which all components with the same query share. */
function sourceOf({ postern, snapshot, inbox: options }: Scope, query: UseInboxQuery) {
  const snapshotQuery = queryIn(snapshot);
  const isInSnapshot = snapshotQuery !== undefined && keyOf(snapshotQuery) === keyOf(query);
  const viewOptions = { ...query, snapshot: isInSnapshot ? snapshot : undefined };
  let sharedView: InboxView | undefined;
  const view = () => {
    sharedView ??= getOrCreate(postern, `inbox ${keyOf(query)}`, () => {
      const inbox = getOrCreate(postern, 'inbox', () => shareStreams(postern, createInbox(postern, options)));
      return createInboxView(postern, inbox, viewOptions);
    });
    return sharedView;
  };
  let hydrationSnapshot: InboxSnapshot | undefined;
  return {
    current: () => view().current,
    subscribe: (listener: () => void) => unsubscribeLater(view().onChange(listener)),
    /** The state before hydration. It does not use the shared view, because a server must keep no data of a user. */
    first() {
      if (hydrationSnapshot === undefined) {
        const { current } = createInboxView(postern, createInbox(postern, options), viewOptions);
        hydrationSnapshot = { ...current, ...(snapshot?.session === null && { loading: false }) };
      }
      return hydrationSnapshot;
    },
    waitFor: (shown: InboxSnapshot) =>
      shown === hydrationSnapshot ? missingDataError('the inbox') : firstPageRead(view()),
    actions: {
      loadMore: () => view().loadMore(),
      markRead: (upTo: Parameters<InboxView['markRead']>[0]) => view().markRead(upTo),
      markAllRead: () => view().markAllRead(),
    },
  };
}

/** How long the list of a component that suspends is kept up to date until the component is shown, in milliseconds. */
const graceMs = 5000;
const firstPageReads = /* @__PURE__ */ new WeakMap<InboxView, Promise<void>>();

/** Resolves when the first page was read. */
function firstPageRead(view: InboxView): Promise<void> {
  const existing = firstPageReads.get(view);
  if (existing !== undefined) return existing;
  const read = new Promise<void>((resolve) => {
    const unsubscribe = view.subscribe((shown) => {
      if (isPending(shown)) return;
      firstPageReads.delete(view);
      resolve();
      setTimeout(() => unsubscribe(), graceMs);
    });
  });
  if (isPending(view.current)) firstPageReads.set(view, read);
  return read;
}

/**
 * A list of notifications that keeps itself up to date. Components with the same query share a list, and lists with the same filter
 * share a stream. The stream ends with the last component. With `suspense`, the component waits for the first page.
 *
 * @example
 * ```tsx
 * import { useInbox } from '@postern/react';
 *
 * export function Inbox() {
 *   const { items, hasMore, loadMore, markAllRead } = useInbox({ limit: 10 });
 *   return (
 *     <section>
 *       <button onClick={markAllRead}>Mark all as read</button>
 *       <ul>
 *         {items.map(({ id, description, isUnread }) => (
 *           <li key={id}>{isUnread ? <b>{description}</b> : description}</li>
 *         ))}
 *       </ul>
 *       {hasMore && <button onClick={loadMore}>More</button>}
 *     </section>
 *   );
 * }
 * ```
 * @throws UsageError without a provider
 */
export function useInbox(
  query: UseInboxQuery & { readonly suspense: true },
): Omit<UseInbox, 'status'> & { readonly status: 'ready' };
export function useInbox(query?: UseInboxQuery & { readonly suspense?: boolean | undefined }): UseInbox;
export function useInbox({
  filter,
  limit,
  suspense = false,
}: UseInboxQuery & { readonly suspense?: boolean | undefined } = {}): UseInbox {
  const scope = useScope();
  // Text, because most components pass a new object in each rendering.
  const key = JSON.stringify({ filter, limit });
  const source = useMemo(() => sourceOf(scope, JSON.parse(key)), [scope, key]);
  const shown = useSyncExternalStore(source.subscribe, source.current, source.first);
  const status = isPending(shown) ? 'pending' : 'ready';
  if (suspense && status === 'pending') throw source.waitFor(shown);
  return useMemo(() => ({ ...shown, status, ...source.actions }), [shown, status, source]);
}

/**
 * The number of unread notifications, for a badge. The component renders again only when the number changes.
 *
 * @example
 * ```tsx
 * import { useUnreadCount } from '@postern/react';
 *
 * export function Badge() {
 *   const { count, capped } = useUnreadCount();
 *   return <span>{capped ? `${count}+` : count} new</span>;
 * }
 * ```
 * @throws UsageError without a provider
 */
export function useUnreadCount(): { readonly count: number; readonly capped: boolean } {
  const scope = useScope();
  const source = useMemo(() => sourceOf(scope, queryIn(scope.snapshot) ?? { limit: 1 }), [scope]);
  const { subscribe, current, first } = source;
  const count = useSyncExternalStore(
    subscribe,
    () => current().unread.unread_count,
    () => first().unread.unread_count,
  );
  const capped = useSyncExternalStore(
    subscribe,
    () => current().unread.unread_count_capped,
    () => first().unread.unread_count_capped,
  );
  return { count, capped };
}
