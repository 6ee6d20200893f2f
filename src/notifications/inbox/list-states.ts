import type { InboxStates } from '../../contract/notification-states.js';
import type { Queryable } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { type ReadPositionRow, toMarker } from './read-position.js';
import { countCap, isArchived, isRead, ofPosition, positionColumns, unreadRows } from './unread.js';

/** A client's place in the changes of states: after a version, or within it after a sequence. */
export interface StatesQuery {
  readonly version: number;
  readonly sequence?: number;
  readonly limit: number;
}

/** The states of an inbox, and the version of the last one. */
export interface ListedStates {
  readonly answer: InboxStates;
  readonly version: number;
}

interface ListedState extends Omit<ReadPositionRow, 'user_id'> {
  seen: number;
  archived_through: number;
  state_version: number;
  forgotten: number;
  id: string | null;
  sequence: number;
  read: boolean;
  archived: boolean;
  snoozed_until: string | null;
  action_key: string | null;
  acted_at: string | null;
  version: number;
}

/** One statement, so that the states and the positions are from one snapshot: each state is read by its positions. */
const selectStates = statement<{ userId: string; version: number; sequence: number; limit: number }, ListedState>(
  'states_list',
  (p) => sql`
    select position.last_read as last_read_sequence, position.updated_at, position.seen, position.archived_through,
           position.state_version, position.forgotten, unread.count, state.*
    from (
      select inbox.user_id, updated_at, ${positionColumns}, coalesce(state_version, 0) as state_version,
             coalesce(forgotten_state_version, 0) as forgotten
      from inboxes inbox left join markers on markers.user_id = inbox.user_id
      where inbox.user_id = ${p.userId}
    ) position
      cross join lateral (
        select count(*) as count from (${unreadRows(ofPosition)} limit ${literal(countCap + 1)}) counted
      ) unread
      left join lateral (
        select notification.id, state.sequence, (is_hidden is true or ${isRead(sql`state.sequence`, sql`position.last_read`)}) as read,
               (is_hidden is true or ${isArchived(sql`state.sequence`, sql`position.archived_through`)}) as archived,
               state.snoozed_until, state.action_key, state.acted_at, state.version
        from notification_states state
          cross join lateral (
            select id, is_hidden from notifications where user_id = state.user_id and sequence = state.sequence limit 1
          ) notification
        where state.user_id = ${p.userId} and (state.version, state.sequence) > (${p.version}, ${p.sequence}::bigint)
        order by state.version, state.sequence
        limit ${p.limit}
      ) state on true
    order by state.version, state.sequence`,
);

/**
 * The states that changed after a position, and the positions of the user, from one snapshot.
 * @returns undefined when there is no such user
 */
export async function listStates(
  handle: Queryable,
  userId: string,
  { version, sequence = Number.MAX_SAFE_INTEGER, limit }: StatesQuery,
): Promise<ListedStates | undefined> {
  const rows = await handle.query(selectStates({ userId, version, sequence, limit: limit + 1 }));
  const [first] = rows;
  if (first === undefined) return undefined;
  const { state_version: newest, forgotten, seen, archived_through } = first;
  const positions = { marker: toMarker(first), seen, archived_through };
  if ((version > 0 && version < forgotten) || version > newest) {
    const answer = { states: [], ...positions, after: `${newest}`, has_more: false, reset: true };
    return { answer, version: newest };
  }
  const found = rows.filter((row) => row.id !== null);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  const answer = {
    states: page.map(stateOf),
    ...positions,
    after: hasMore ? `${last.version}-${last.sequence}` : `${newest}`,
    has_more: hasMore,
    reset: false,
  };
  return { answer, version: newest };
}

function stateOf({ id, sequence, read, archived, snoozed_until, action_key: key, acted_at }: ListedState) {
  const action = key === null || acted_at === null ? null : { key, acted_at };
  return { id: id ?? '', sequence, read, archived, snoozed_until, action };
}
