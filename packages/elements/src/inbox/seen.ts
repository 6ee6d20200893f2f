import type { InboxItem, InboxSnapshot, InboxView } from '@postern/client';

/**
 * The items that this page has shown, and those that the user has opened. They are in memory, because the service stores only one read
 * position.
 */
export interface Seen {
  /** The list is on the screen, so the badge disappears. The items stay unread. */
  see(snapshot: InboxSnapshot): void;
  /** The user has opened an item. The read position moves only if it passes no unread item. */
  open(item: InboxItem, view: InboxView, isWhole: boolean): void;
  isUnread(item: InboxItem): boolean;
  /** How many unread items have arrived since the list was last seen. */
  unseen(snapshot: InboxSnapshot): { readonly count: number; readonly capped: boolean };
}

export function createSeen(): Seen {
  const opened = new Set<string>();
  let seenUpTo = 0;
  const isUnread = (item: InboxItem) => item.isUnread && !opened.has(item.id);
  return {
    isUnread,
    see({ items }) {
      seenUpTo = Math.max(seenUpTo, items[0]?.sequence ?? 0);
    },
    open(item, view, isWhole) {
      opened.add(item.id);
      const { items, unread, hasMore } = view.current;
      // A filtered list, or one whose end is not loaded, may hide items that nobody has opened.
      const reachesRead = !hasMore || items.some(({ sequence }) => sequence <= unread.last_read_sequence);
      if (!isWhole || !reachesRead) return;
      let last: InboxItem | undefined;
      for (const next of [...items].reverse()) {
        if (isUnread(next)) break;
        last = next;
      }
      if (last !== undefined && last.sequence > unread.last_read_sequence) void view.markRead(last);
    },
    unseen({ items, unread }) {
      const { unread_count: count, unread_count_capped: capped } = unread;
      if (seenUpTo === 0) return { count, capped };
      const isNew = (item: InboxItem) => item.sequence > seenUpTo && isUnread(item);
      return { count: items.filter(isNew).length, capped: false };
    },
  };
}
