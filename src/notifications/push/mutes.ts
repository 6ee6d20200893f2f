import type { Notification } from '../../contract/notification.js';
import type { Mute } from '../../contract/push.js';
import { arrayText } from '../../database/array-text.js';
import type { Database, Queryable } from '../../database/database.js';
import { sql, statement, unprepared } from '../../database/sql.js';
import type { FilterClause, FilterFields } from '../../lib/filter/fields.js';
import { matches } from '../../lib/filter/match.js';
import { collectFilter, parseFilter } from '../../lib/filter/parse.js';
import { newId } from '../../lib/ids.js';
import { Problem, throwIfErrors } from '../../lib/problem.js';
import { type PushChoices, pushChoices } from '../preferences/pushes.js';

/** Filters of a user. A notification that matches one is listed, but not pushed. */
export interface Mutes {
  /** The mutes of a user, the newest first. */
  list(userId: string): Promise<Mute[]>;
  /**
   * Adds a mute. If the user has a mute with the same filter, it returns that mute.
   * @returns the mute, and whether it is new
   * @throws Problem `validation_failed`; `invalid_session_token` when the user was deleted in the meantime
   */
  add(userId: string, filter: string): Promise<{ readonly mute: Mute; readonly isNew: boolean }>;
  /** Removes a mute. @throws Problem `not_found` */
  remove(userId: string, id: string): Promise<void>;
}

const maxMutes = 100;

const selectMutes = statement<{ userId: string }, Mute>(
  'mutes_list',
  (p) => sql`select id, filter, created_at from mutes where user_id = ${p.userId} order by created_at desc, id`,
);

/**
 * Locks the inbox row, so that parallel additions cannot exceed the limit. If there is no inbox row, the user is being
 * deleted.
 */
const lockUser = statement<{ userId: string }, { user_id: string }>(
  'mutes_lock',
  (p) => sql`select user_id from inboxes where user_id = ${p.userId} for no key update`,
);

const insertMute = statement<{ userId: string; id: string; filter: string }, Mute>(
  'mutes_insert',
  (p) => sql`
    insert into mutes (user_id, id, filter, created_at) values (${p.userId}, ${p.id}, ${p.filter}, db_now())
    returning id, filter, created_at`,
);

const deleteMute = statement<{ userId: string; id: string }, { id: string }>(
  'mutes_delete',
  (p) => sql`delete from mutes where user_id = ${p.userId} and id = ${p.id} returning id`,
);

/** One statement for mutes and preferences: a fan-out reads both, and most users have neither. */
const selectRefusals = unprepared(
  statement<{ userIds: string }, { user_id: string; filter: string | null; choices: PushChoices | null }>(
    'push_refusals_of_users',
    (p) => sql`
      select user_id, filter, null::jsonb as choices from mutes where user_id = any (${p.userIds}::uuid[])
      union all
      select user_id, null, ${pushChoices} from preferences where user_id = any (${p.userIds}::uuid[])`,
  ),
);

/** Creates the mutes of users. */
export function createMutes(database: Database, fields: FilterFields): Mutes {
  return {
    list: (userId) => database.user(userId).query(selectMutes({ userId })),
    add(userId, filter) {
      parseFilter(filter, fields);
      return database.user(userId).transaction(async (tx) => {
        const [row] = await tx.query(lockUser({ userId }));
        if (row === undefined) throw new Problem('invalid_session_token');
        const mutes = await tx.query(selectMutes({ userId }));
        const same = mutes.find((mute) => mute.filter === filter);
        if (same !== undefined) return { mute: same, isNew: false };
        if (mutes.length >= maxMutes) throwIfErrors([{ code: 'too_many_items', params: { max: maxMutes } }]);
        const [mute] = await tx.query(insertMute({ userId, id: newId(), filter }));
        if (mute === undefined) throw new Error('an insert returned no row');
        return { mute, isNew: true };
      });
    },
    async remove(userId, id) {
      const deleted = await database.user(userId).query(deleteMute({ userId, id }));
      if (deleted.length === 0) throw new Problem('not_found');
    },
  };
}

/** A filter that was read once, to be compared with many notifications. */
export type MuteFilter = readonly FilterClause[];

/**
 * Reads filters of mutes. The operator may have removed a type in the meantime: a filter with that type is invalid and
 * matches nothing.
 */
export function readMutes(filters: readonly string[], fields: FilterFields): MuteFilter[] {
  return filters.flatMap((filter) => {
    const errors: Parameters<typeof collectFilter>[2] = [];
    const clauses = collectFilter(filter, fields, errors);
    return errors.length === 0 ? [clauses] : [];
  });
}

/** The mutes of these users, by user id. Users without mutes, and those who chose nothing, are absent. */
export async function refusalsOf(
  handle: Queryable,
  fields: FilterFields,
  userIds: readonly string[],
): Promise<{
  readonly mutes: ReadonlyMap<string, readonly MuteFilter[]>;
  readonly choices: ReadonlyMap<string, PushChoices>;
}> {
  const mutes = new Map<string, MuteFilter[]>();
  const choices = new Map<string, PushChoices>();
  if (userIds.length === 0) return { mutes, choices };
  for (const row of await handle.query(selectRefusals({ userIds: arrayText(userIds) }))) {
    if (row.choices !== null) choices.set(row.user_id, row.choices);
    if (row.filter === null) continue;
    const own = mutes.get(row.user_id) ?? [];
    own.push(...readMutes([row.filter], fields));
    mutes.set(row.user_id, own);
  }
  return { mutes, choices };
}

/** Whether one of the filters matches the notification, so that it is not pushed. */
export function isMuted(
  filters: readonly MuteFilter[],
  notification: Omit<Notification, 'sequence' | 'image'>,
  category: string,
): boolean {
  return filters.some((clauses) => matches(clauses, { ...notification, category }));
}
