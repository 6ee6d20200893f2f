import { coreOf } from '../core.js';
import type { MutableStore } from '../store.js';
import { startTimer } from '../time.js';
import type { Postern } from '../types.js';
import { canPass } from './live.js';
import type { Marker, Notification } from './notification.js';
import { emptyInbox } from './shown.js';
import type { Inbox, InboxSnapshot, InboxViewOptions } from './types.js';
import { createViewReads } from './view-reads.js';
import { createViewRows, type ViewRows } from './view-rows.js';

/** How long the first list waits for the stream, in milliseconds. If the stream opens later, the list is read again. */
const firstReadMs = 1000;

/** Keeps the store of a view up to date. A page loads this code with the stream, because it needs both at the same time. */
export function createViewUpdates(
  postern: Postern,
  inbox: Inbox,
  store: MutableStore<InboxSnapshot>,
  options: InboxViewOptions,
) {
  const { filter, snapshot } = options;
  const core = coreOf(postern);
  let view = createViewRows(core, store, snapshot);
  let running: ReturnType<typeof createViewReads> | undefined;
  let user = snapshot?.session?.user_id;

  /** Follows the user who is signed in, and removes the rows of the previous user. */
  function start(ended: AbortSignal): void {
    const followUser = () => {
      const { current } = postern;
      if (current.status === 'starting') return;
      const nextUser = current.status === 'signed_in' ? current.user_id : undefined;
      // The view already follows this user, or still follows nobody.
      if (nextUser === user && (running !== undefined || nextUser === undefined)) return;
      stop();
      // Rows of a snapshot or of an earlier subscription stay until the list is read again.
      if (nextUser !== user) {
        view = createViewRows(core, store);
        store.set(nextUser === undefined ? { ...emptyInbox, loading: false, connection: 'offline' } : emptyInbox);
      }
      user = nextUser;
      if (nextUser === undefined) return;
      running = createViewReads(core, inbox, view, options);
      void followEvents(inbox, filter, view, running);
    };
    const end = postern.subscribe(followUser);
    ended.addEventListener('abort', () => {
      end();
      stop();
    });
  }
  function stop(): void {
    running?.end();
    running = undefined;
  }

  async function loadMore(): Promise<void> {
    if (view.cursor === null || store.current.loading || running === undefined) return;
    view.show({ loading: true, error: null });
    await running.read('more');
  }
  async function markRead({ sequence }: Pick<Notification, 'sequence'>): Promise<void> {
    if (sequence <= store.current.unread.last_read_sequence) return;
    const current = view;
    let marker: Marker | undefined;
    let failure: unknown;
    // Shows the position at once, as if the service had it.
    current.sent.add(sequence);
    current.show();
    try {
      marker = await inbox.markRead({ sequence });
    } catch (error) {
      failure = error;
    }
    // Another user may be signed in now.
    if (current !== view) return;
    current.sent.delete(sequence);
    current.setMarker(marker ?? current.marker);
    if (failure === undefined) return;
    current.showError(failure);
    if (canPass(failure)) void running?.readLater('marker');
  }

  return {
    start,
    loadMore,
    markRead,
    async markAllRead() {
      const [newest] = view.rows;
      if (newest !== undefined) await markRead(newest);
    },
  };
}

/** Shows the events of the stream until the reads end. */
async function followEvents(
  inbox: Inbox,
  filter: InboxViewOptions['filter'],
  view: ViewRows,
  reads: ReturnType<typeof createViewReads>,
): Promise<void> {
  const { signal } = reads;
  let isFollowing = false;
  const firstRead = startTimer(() => void reads.read('list'), firstReadMs);
  try {
    for await (const event of inbox.live({ filter, signal })) {
      if (signal.aborted) return;
      if (event.type === 'connection') {
        view.show({ connection: event.connection });
        if (isFollowing || (event.connection !== 'live' && event.connection !== 'polling')) continue;
        isFollowing = true;
        clearTimeout(firstRead);
      }
      // From the position of the stream on, no change is missed.
      if (event.type === 'connection' || event.type === 'reset') void reads.read('list');
      else if (event.type === 'marker') view.setMarker(event.marker);
      else reads.apply(event);
    }
  } catch (error) {
    if (!signal.aborted) view.showError(error);
  } finally {
    clearTimeout(firstRead);
  }
}
