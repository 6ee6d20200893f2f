import type { Queryable } from '../../database/database.js';
import type { MaintenanceTask } from '../../database/maintenance/tasks.js';
import { literal, sql, statement } from '../../database/sql.js';
import { nilId } from '../../lib/ids.js';

/** The number of states that one step looks at. */
const batch = 1000;

/** Milliseconds: once a day, because the task reads the whole table. */
const pauseMs = 86_400_000;

interface StateKey {
  user_id: string;
  sequence: number;
}

/**
 * SQL: whether a state can be removed: for 30 days it has been the same as what the positions of its user say (`markers`): up to them, all is
 * read or archived.
 */
const isNeedless = sql`state.action_key is null and state.updated_at < db_now() - interval '30 days'
      and coalesce(state.is_read, state.sequence <= last_read_sequence) = (state.sequence <= last_read_sequence)
      and coalesce(state.is_archived, state.sequence <= archived_through) = (state.sequence <= archived_through)
      and coalesce(state.snoozed_until <= db_now(), true)`;

const findStates = statement<{ userId: string; sequence: number }, StateKey & { is_needless: boolean }>(
  'states_find_needless',
  (p) => sql`
    select state.user_id, state.sequence, ${isNeedless} as is_needless
    from (
      select * from notification_states where (user_id, sequence) > (${p.userId}, ${p.sequence})
      order by user_id, sequence limit ${literal(batch)}
    ) state join markers on markers.user_id = state.user_id
    order by state.user_id, state.sequence`,
);

/** A change of states locks the row of the positions first. The next run handles users whose row is locked. */
const lockPositions = statement<{ userIds: readonly string[] }, { user_id: string }>(
  'states_lock_positions',
  (p) => sql`
    select user_id from markers where user_id = any (${p.userIds}::uuid[]) order by user_id for update skip locked`,
);

/** The user's row keeps the highest version number of removed states: a client that last synchronised before it must start again. */
const removeStates = statement<{ userIds: readonly string[]; sequences: readonly number[]; locked: readonly string[] }>(
  'states_remove',
  (p) => sql`
    with
    removed as (
      delete from notification_states state
      using unnest(${p.userIds}::uuid[], ${p.sequences}::bigint[]) needless (user_id, sequence), markers
      where state.user_id = needless.user_id and state.sequence = needless.sequence
        and markers.user_id = state.user_id and state.user_id = any (${p.locked}::uuid[]) and ${isNeedless}
      returning state.user_id, state.version
    ),
    forgotten as (
      update markers set forgotten_state_version = greatest(forgotten_state_version, last.version)
      from (select user_id, max(version) as version from removed group by user_id) last
      where markers.user_id = last.user_id
    )
    select 1 as removed from removed`,
);

/** Removes states that follow from the positions of their user. */
export const statesTask: MaintenanceTask = {
  name: 'notification states',
  pauseMs,
  async step(tx, from) {
    const states = await tx.query(
      findStates({ userId: from?.user_id ?? nilId, sequence: Number(from?.sequence ?? 0) }),
    );
    const removed = await remove(
      tx,
      states.filter((state) => state.is_needless),
    );
    const last = states.at(-1);
    if (last === undefined || states.length < batch) return { removed };
    return { removed, next: { user_id: last.user_id, sequence: `${last.sequence}` } };
  },
};

async function remove(tx: Queryable, states: readonly StateKey[]): Promise<number> {
  if (states.length === 0) return 0;
  const userIds = states.map((state) => state.user_id);
  const locked = (await tx.query(lockPositions({ userIds: [...new Set(userIds)] }))).map(({ user_id }) => user_id);
  const sequences = states.map((state) => state.sequence);
  return (await tx.query(removeStates({ userIds, sequences, locked }))).length;
}
