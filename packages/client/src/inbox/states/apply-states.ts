import type { InboxStates, NotificationExtra } from '../../wire.js';
import type { ItemState, ItemsPart, StatefulNotification } from './types.js';

/** The read position and the archive position. Notifications that were marked one by one are exceptions. */
export interface Positions extends Pick<InboxStates, 'archived_through'> {
  readonly marker: Pick<InboxStates['marker'], 'last_read_sequence'>;
}

/**
 * The state of a notification after an answer. The answer has the notifications that were marked one by one. The state of all others
 * follows from the positions.
 * @param from the positions of the last answer; null for the first answer, which has all notifications that were ever marked
 */
export function stateAfter(
  { sequence, extra: { state } }: Pick<StatefulNotification, 'sequence' | 'extra'>,
  listed: ItemState | undefined,
  from: Positions | null,
  { marker, archived_through: archivedThrough }: Positions,
): ItemState {
  if (listed !== undefined) {
    const { read, archived, snoozed_until, action } = listed;
    return { read, archived, snoozed_until, action };
  }
  const isRead = sequence <= marker.last_read_sequence;
  const isArchived = sequence <= archivedThrough;
  if (from === null) return { read: isRead, archived: isArchived, snoozed_until: null, action: null };
  const read = state.read || (isRead && sequence > from.marker.last_read_sequence);
  const archived = state.archived || (isArchived && sequence > from.archived_through);
  return read === state.read && archived === state.archived ? state : { ...state, read, archived };
}

export const isSnoozed = ({ snoozed_until: until }: ItemState, now: number) =>
  until !== null && Date.parse(until) > now;

/**
 * The part of the inbox that has a notification now, such as for an `InboxCopy`. Null: it has expired, and is in no part.
 *
 * @example
 * ```ts
 * import { createInboxCopy, partOf, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const items = await createInboxCopy(postern, { include: 'extra' }).items();
 * console.log(items.filter((item) => partOf(item) === 'inbox'));
 * ```
 * @param now in milliseconds, as `Date.now()`
 */
export function partOf(
  { extra: { state, expires_at: end } }: { readonly extra: Pick<NotificationExtra, 'state' | 'expires_at'> },
  now = Date.now(),
): ItemsPart | null {
  if (state.archived) return 'archived';
  if (isSnoozed(state, now)) return 'snoozed';
  return end !== null && Date.parse(end) <= now ? null : 'inbox';
}
