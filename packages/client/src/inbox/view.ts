import { coreOf } from '../core.js';
import { isPosternError } from '../errors.js';
import { once, wait } from '../platform.js';
import { startSignedOut } from '../postern/signed-out.js';
import { createStore } from '../store.js';
import type { Postern } from '../types.js';
import { loadInboxParts } from './load-more.js';
import { emptyInbox, itemsOf } from './shown.js';
import type { Inbox, InboxSnapshot, InboxView, InboxViewOptions } from './types.js';

/**
 * A list of notifications that keeps itself up to date while somebody subscribes to it.
 *
 * @example
 * ```ts
 * import { createInbox, createInboxView, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const view = createInboxView(postern, createInbox(postern), { limit: 10 });
 * view.subscribe(({ items, unread }) => console.log(unread.unread_count, items.map((item) => item.description)));
 * ```
 */
export function createInboxView(postern: Postern, inbox: Inbox, options: InboxViewOptions = {}): InboxView {
  const core = coreOf(postern);
  if (options.snapshot?.session === null) startSignedOut(core);
  const store = createStore<InboxSnapshot>(initialSnapshot(options), () => {
    const ended = new AbortController();
    void start(ended.signal).catch(core.onError);
    return () => ended.abort();
  });

  const load = once(async () => (await loadInboxParts()).createViewUpdates(postern, inbox, store, options));
  const updates = () =>
    load().catch((error) => {
      if (isPosternError(error)) store.set({ ...store.current, connection: 'offline', loading: false, error });
      throw error;
    });

  async function start(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      try {
        const view = await updates();
        if (!ended.aborted) view.start(ended);
        return;
      } catch {
        await wait(5000, ended);
      }
    }
  }

  return Object.assign(store, {
    loadMore: async () => (await updates()).loadMore(),
    markRead: async (upTo: Parameters<InboxView['markRead']>[0]) => (await updates()).markRead(upTo),
    markAllRead: async () => (await updates()).markAllRead(),
  });
}

function initialSnapshot({ snapshot }: InboxViewOptions): InboxSnapshot {
  if (!snapshot?.session || !snapshot.inbox) return emptyInbox;
  const { page, marker: unread } = snapshot.inbox;
  const hasMore = page.page.next_cursor !== null;
  return { ...emptyInbox, items: itemsOf(page.data, unread), unread, hasMore, loading: false };
}
