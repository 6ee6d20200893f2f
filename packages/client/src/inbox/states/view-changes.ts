import type { NotificationFilter } from '../filter.js';
import type { ItemState, ItemStates, ItemsView } from './types.js';

/** What the user changes in a list: notifications by id, or everything up to the newest one that is shown. */
export type ViewChanges = Pick<
  ItemsView,
  'markRead' | 'markUnread' | 'archive' | 'unarchive' | 'snooze' | 'act' | 'markAllRead' | 'archiveAll'
>;

/**
 * @param through the sequence of the newest notification that is shown, or 0
 * @param send shows a change at once, sends it and reads the states after it. `items`: ids, or the sequence up to which everything changes
 */
export function createViewChanges(
  states: ItemStates,
  filter: NotificationFilter | undefined,
  through: () => number,
  send: (
    items: readonly string[] | number,
    values: Partial<ItemState>,
    request: () => Promise<unknown>,
  ) => Promise<void>,
): ViewChanges {
  const changeAll = async (values: Partial<ItemState>, method: 'markRead' | 'archive') => {
    const last = through();
    if (last > 0) await send(last, values, () => states[method]({ through: last, filter }));
  };
  const timeOf = (until: Date | string | null) => (until instanceof Date ? until.toISOString() : until);
  return {
    markRead: (ids) => send(ids, { read: true }, () => states.markRead(ids)),
    markUnread: (ids) => send(ids, { read: false }, () => states.markUnread(ids)),
    archive: (ids) => send(ids, { archived: true }, () => states.archive(ids)),
    unarchive: (ids) => send(ids, { archived: false }, () => states.unarchive(ids)),
    snooze: (ids, until) => send(ids, { snoozed_until: timeOf(until) }, () => states.snooze(ids, until)),
    act: (id, key) =>
      send([id], { read: true, action: { key, acted_at: new Date().toISOString() } }, () => states.act(id, key)),
    markAllRead: () => changeAll({ read: true }, 'markRead'),
    archiveAll: () => changeAll({ archived: true }, 'archive'),
  };
}
