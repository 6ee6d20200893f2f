import { arrayText } from '../../database/array-text.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

/** The state of an inbox, from its row in `inboxes`. */
export interface InboxState {
  /** Grows with every change of the inbox. */
  readonly changeSequence: number;
  /**
   * The change sequence and the time of the last change. A restored database may repeat a change sequence, but not with the
   * same time.
   */
  readonly stamp: string;
}

export interface InboxRow {
  last_change_sequence: number;
  last_time: string;
}

/** SQL: the state of an inbox row. The time is text: it is -infinity in an inbox without changes. */
export const stateColumns = sql`last_change_sequence, last_time::text as last_time`;

const selectOne = statement<{ userId: string }, InboxRow>(
  'inboxes_state',
  (p) => sql`select ${stateColumns} from inboxes where user_id = ${p.userId}`,
);

/** The state of the inbox of a user. Undefined when there is no such inbox. */
export async function selectState(handle: Queryable, userId: string): Promise<InboxState | undefined> {
  const [row] = await handle.query(selectOne({ userId }));
  return row && stateOf(row);
}

/** The subquery is lateral and limited, so that the planner looks up each key by the index, for arrays of any length. */
const selectSeveral = statement<{ userIds: string }, InboxRow & { place: number }>(
  'inboxes_states',
  (p) => sql`
    select requested.place, ${stateColumns}
    from unnest((select ${p.userIds}::uuid[])) with ordinality requested (user_id, place)
      cross join lateral (select * from inboxes where user_id = requested.user_id limit 1) inbox`,
);

/** The states of several inboxes, in the order of the users. */
export async function selectStates(handle: Queryable, userIds: readonly string[]): Promise<(InboxState | undefined)[]> {
  const statesByPlace = new Map<number, InboxState>();
  for (const row of await handle.query(selectSeveral({ userIds: arrayText(userIds) }))) {
    statesByPlace.set(row.place, stateOf(row));
  }
  return userIds.map((_, index) => statesByPlace.get(index + 1));
}

/** The state of the inbox with this row. */
export function stateOf({ last_change_sequence: changeSequence, last_time: time }: InboxRow): InboxState {
  return { changeSequence, stamp: `${changeSequence} ${time}` };
}
