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
import { sharingStreams } from './live.js';
import { later, missing, shared } from './shared.js';

/** Which notifications a list shows. */
export type UseInboxQuery = Pick<NotificationQuery, 'filter' | 'limit'>;

/** A list of notifications with a count, and what can be done with it. */
export interface UseInbox extends InboxSnapshot, Pick<InboxView, 'loadMore' | 'markRead' | 'markAllRead'> {
  /** `pending` until the first page was read, or could not be read: see `error`. */
  readonly status: 'pending' | 'ready';
}

const isPending = ({ loading, items }: InboxSnapshot) => loading && items.length === 0;
const keyOf = ({ filter, limit = 20 }: UseInboxQuery) => JSON.stringify([filter, limit]);

/** The query whose list a snapshot has. */
function queryIn(snapshot: Snapshot | undefined): UseInboxQuery | undefined {
  const { filter, page } = snapshot?.inbox ?? {};
  return page && { filter, limit: page.page.limit };
}

/** The view of a query, which all components with the same query share. */
function sourceOf({ postern, snapshot, inbox: options }: Scope, query: UseInboxQuery) {
  const seen = queryIn(snapshot);
  const isSeen = seen !== undefined && keyOf(seen) === keyOf(query);
  const start = { ...query, snapshot: isSeen ? snapshot : undefined };
  let own: InboxView | undefined;
  const view = () => {
    own ??= shared(postern, `inbox ${keyOf(query)}`, () => {
      const inbox = shared(postern, 'inbox', () => sharingStreams(postern, createInbox(postern, options)));
      return createInboxView(postern, inbox, start);
    });
    return own;
  };
  let first: InboxSnapshot | undefined;
  return {
    current: () => view().current,
    subscribe: (listener: () => void) => later(view().onChange(listener)),
    /** Before the hydration. It is not made of the shared view, because a server must keep nothing of a user. */
    first() {
      if (first === undefined) {
        const { current } = createInboxView(postern, createInbox(postern, options), start);
        first = { ...current, ...(snapshot?.session === null && { loading: false }) };
      }
      return first;
    },
    waitFor: (shown: InboxSnapshot) => (shown === first ? missing('the inbox') : listed(view())),
    actions: {
      loadMore: () => view().loadMore(),
      markRead: (upTo: Parameters<InboxView['markRead']>[0]) => view().markRead(upTo),
      markAllRead: () => view().markAllRead(),
    },
  };
}

/** How long the list of a component that suspends is kept up to date until the component is shown, in milliseconds. */
const graceMs = 5000;
const waiting = /* @__PURE__ */ new WeakMap<InboxView, Promise<void>>();

/** Resolves when the first page was read. */
function listed(view: InboxView): Promise<void> {
  const found = waiting.get(view);
  if (found !== undefined) return found;
  const made = new Promise<void>((resolve) => {
    const end = view.subscribe((shown) => {
      if (isPending(shown)) return;
      waiting.delete(view);
      resolve();
      setTimeout(() => end(), graceMs);
    });
  });
  if (isPending(view.current)) waiting.set(view, made);
  return made;
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
  // Its text, because most components make a new object each time.
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
