import type { Chore } from '../database/chores.js';
import { sql } from '../database/database.js';

/** Rows that a step removes at most. */
const mostRemoved = 1000;

const moveFloor = sql(
  `insert into session_changes_floor as f (floor, next_floor)
   select now.xmin, now.xmin from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) now
   on conflict (only_one) do update set floor = least(f.next_floor, excluded.next_floor), next_floor = excluded.next_floor`,
);
/** Numbers that no transaction had yet are of another server, from which the tables were copied. */
const removeBelow = sql(
  `delete from session_changes where (xid, user_id) in (
     select xid, user_id from session_changes
     where xid < (select floor from session_changes_floor) or xid >= pg_snapshot_xmax(pg_current_snapshot())
     limit ${mostRemoved} for update skip locked)
   returning 1 as removed`,
);

/**
 * Takes the notes of changes away that whoever checks sessions has seen. Who checks none for longer than a rest finds
 * the floor above what it saw last, and forgets what it knows.
 */
export const sessionChangesChore: Chore = {
  name: 'expire session_changes',
  rest: 60_000,
  async step(tx, from) {
    if (from === undefined) await tx.query(moveFloor);
    const removed = (await tx.query(removeBelow)).length;
    return removed < mostRemoved ? { removed } : { removed, next: {} };
  },
};
