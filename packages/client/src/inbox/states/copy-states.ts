import type { Core } from '../../core.js';
import type { Call } from '../../transport.js';
import type { InboxStates } from '../../wire.js';
import type { CopyStore } from '../copy-store.js';
import { type Positions, stateAfter } from './apply-states.js';
import type { ItemState, StatefulNotification } from './types.js';

/** How far a copy has come. Stores keep it as one text. */
export interface CopyPosition {
  readonly after: string | null;
  /** The last answer about states. Undefined before the first one, and in a copy without states. */
  readonly states?: Positions & { readonly after: string };
}

/**
 * Brings the states of a copy up to date, in one write. If it is interrupted, the next call begins again.
 *
 * @param isCurrent whether the copy still belongs to the user who is signed in
 */
export async function syncStates(
  core: Pick<Core, 'call'>,
  store: CopyStore,
  { after, states }: CopyPosition,
  isCurrent: () => boolean,
): Promise<void> {
  const loaded = (await store.load()).items as readonly StatefulNotification[];
  let items = loaded;
  let from = states ?? null;
  /** Everything that was ever marked, if this is the first answer. */
  const listed = new Map<string, ItemState>();
  let isFirst = from === null;
  for (;;) {
    const query: Call['query'] = { after: from?.after, limit: 1000 };
    const next: InboxStates = await core.call({ path: '/v1/notifications/states', query, expects: 'states' });
    // Another user has signed in during the request.
    if (!isCurrent()) return;
    if (next.reset) {
      listed.clear();
      from = null;
      isFirst = true;
      continue;
    }
    if (!isFirst) listed.clear();
    for (const state of next.states) listed.set(state.id, state);
    const positions = {
      marker: { last_read_sequence: next.marker.last_read_sequence },
      archived_through: next.archived_through,
    };
    if (!isFirst || !next.has_more) {
      const former = isFirst ? null : from;
      items = items.map((item) => {
        const state = stateAfter(item, listed.get(item.id), former, positions);
        return state === item.extra.state ? item : { ...item, extra: { ...item.extra, state } };
      });
    }
    from = { after: next.after, ...positions };
    if (next.has_more) continue;
    const put = items.filter((item, index) => item !== loaded[index]);
    await store.apply({ clear: false, put, remove: [], after: JSON.stringify({ after, states: from }) });
    return;
  }
}
