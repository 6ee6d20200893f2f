import { coreOf } from '../../core.js';
import { listOf } from '../../lists.js';
import type { Abortable } from '../../platform.js';
import type { Postern } from '../../types.js';
import type { ChangedStates, InboxCounts, InboxStates, TakenAction } from '../../wire.js';
import { filterText } from '../filter.js';
import type { ItemStates, ItemsSelection } from './types.js';

const path = '/v1/notifications';

/**
 * Reads and changes the states of single notifications of the user who is signed in. `createItemsView` keeps a list of them up to date.
 *
 * @example
 * ```ts
 * import { createItemStates, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const states = createItemStates(postern);
 * const [newest] = (await states.list({ view: 'inbox' }).page()).data;
 * if (newest) {
 *   const { unread } = await states.markRead({ through: newest.sequence });
 *   console.log(unread); // what has arrived meanwhile
 * }
 * ```
 * @throws UsageError if the argument is not a client
 */
export function createItemStates(postern: Postern): ItemStates {
  const core = coreOf(postern);
  const change = (items: ItemsSelection, values: object, { signal }: Abortable = {}) => {
    const selected =
      'through' in items ? { through: items.through, filter: filterText(items.filter) ?? '' } : { ids: items };
    const body = { ...selected, ...values };
    return core.call<ChangedStates>({ method: 'PATCH', path: `${path}/states`, body, signal, expects: 'unread' });
  };
  return {
    list: ({ filter, view, ...query } = {}) =>
      listOf(core, path, query, () => ({ include: 'extra', view, filter: filterText(filter) })),
    markRead: (items, options) => change(items, { read: true }, options),
    markUnread: (items, options) => change(items, { read: false }, options),
    archive: (items, options) => change(items, { archived: true }, options),
    unarchive: (items, options) => change(items, { archived: false }, options),
    snooze: (items, until, options) =>
      change(items, { snoozed_until: until instanceof Date ? until.toISOString() : until }, options),
    act: (id, key, { signal } = {}) => {
      const [item, action] = [id, key].map(encodeURIComponent);
      return core.call<TakenAction>({
        method: 'POST',
        path: `${path}/${item}/actions/${action}`,
        signal,
        expects: 'key',
      });
    },
    seen: (through, { signal } = {}) =>
      core.call<InboxCounts>({ method: 'PUT', path: `${path}/seen`, body: { through }, signal, expects: 'unseen' }),
    counts: ({ by, signal } = {}) =>
      core.call<InboxCounts>({ path: `${path}/counts`, query: { by }, signal, expects: 'unseen' }),
    changes: (after, { signal } = {}) =>
      core.call<InboxStates>({ path: `${path}/states`, query: { after, limit: 1000 }, signal, expects: 'states' }),
  };
}
