import type { InboxStates } from '../../wire.js';
import { partOf, stateAfter } from './apply-states.js';
import type { ItemsPart, StatefulNotification } from './types.js';

/** The rows that are shown, and whether there are more. */
export interface ShownRows {
  readonly items: readonly StatefulNotification[];
  readonly hasMore: boolean;
}

/**
 * Yields the rows that an answer about states changes, one after the other. Each row includes all earlier changes.
 *
 * @param shown reads the rows that are shown at the time
 * @returns whether the list must be read again, because a row may have come into the part that is shown
 */
export function* changedRows(
  shown: () => ShownRows,
  part: ItemsPart,
  from: InboxStates,
  next: InboxStates,
): Generator<StatefulNotification, boolean> {
  const { items, hasMore } = shown();
  const listed = new Map(next.states.map((state) => [state.id, state]));
  const ids = new Set(items.map(({ id }) => id));
  const last = hasMore ? (items.at(-1)?.sequence ?? 0) : 0;
  const comesIn = next.states.some(
    (state) => !ids.has(state.id) && state.sequence > last && partOf({ extra: { state, expires_at: null } }) === part,
  );
  for (const id of ids) {
    const row = shown().items.find((item) => item.id === id);
    if (row === undefined) continue;
    const state = stateAfter(row, listed.get(id), from, next);
    if (state !== row.extra.state) yield { ...row, extra: { ...row.extra, state } };
  }
  return comesIn || (part === 'archived' && next.archived_through > from.archived_through);
}
