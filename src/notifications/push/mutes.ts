import type { Notification } from '../../contract/notification.js';
import type { Mute } from '../../contract/push.js';
import { type Database, prepared, type Queryable, sql } from '../../database/database.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import { matches } from '../../lib/filter/match.js';
import { collectFilter, parseFilter } from '../../lib/filter/parse.js';
import { newId } from '../../lib/ids.js';
import { Problem, refuseFaults } from '../../lib/problem.js';

/** Filters of a user: what matches one is listed, but not pushed. */
export interface Mutes {
  /** The newest first. */
  list(userId: string): Promise<Mute[]>;
  /**
   * @returns the mute, and whether it is new: a filter that is there already is not added again
   * @throws Problem `validation_failed`; `invalid_session_token` when the user was deleted meanwhile
   */
  add(userId: string, filter: string): Promise<{ readonly mute: Mute; readonly isNew: boolean }>;
  /** @throws Problem `not_found` */
  remove(userId: string, id: string): Promise<void>;
}

const maxMutes = 100;

const selectMutes = prepared(
  'mutes_list',
  'select id, filter, created_at from mutes where user_id = $1 order by created_at desc, id',
);
/** Additions of a user take turns, or two could pass the limit together. Without a head the user is being deleted. */
const lockUser = prepared('mutes_lock', 'select user_id from inboxes where user_id = $1 for no key update');
const insertMute = prepared(
  'mutes_insert',
  `insert into mutes (user_id, id, filter, created_at) values ($1, $2, $3, db_now())
   returning id, filter, created_at`,
);
const deleteMute = prepared('mutes_delete', 'delete from mutes where user_id = $1 and id = $2 returning id');
/** Planned at each use, as all that is asked of many users at once. */
const selectFilters = sql('select user_id, filter from mutes where user_id = any ($1::uuid[])');

export function createMutes(database: Database, fields: FilterFields): Mutes {
  return {
    list: (userId) => database.query<Mute>(selectMutes, [userId]),
    add(userId, filter) {
      parseFilter(filter, fields);
      return database.lane(userId).transaction(async (tx) => {
        const [head] = await tx.query(lockUser, [userId]);
        if (head === undefined) throw new Problem('invalid_session_token');
        const mutes = await tx.query<Mute>(selectMutes, [userId]);
        const same = mutes.find((mute) => mute.filter === filter);
        if (same !== undefined) return { mute: same, isNew: false };
        if (mutes.length >= maxMutes) refuseFaults([{ code: 'too_many_items', params: { max: maxMutes } }]);
        const [mute] = await tx.query<Mute>(insertMute, [userId, newId(), filter]);
        if (mute === undefined) throw new Error('an insert returned no row');
        return { mute, isNew: true };
      });
    },
    async remove(userId, id) {
      const deleted = await database.query(deleteMute, [userId, id]);
      if (deleted.length === 0) throw new Problem('not_found');
    },
  };
}

/** The filters of these users' mutes. Users without any are absent. */
export async function mutesOf(handle: Queryable, userIds: readonly string[]): Promise<Map<string, readonly string[]>> {
  const filters = new Map<string, string[]>();
  if (userIds.length === 0) return filters;
  const rows = await handle.query<{ user_id: string; filter: string }>(selectFilters, [userIds]);
  for (const { user_id, filter } of rows) filters.set(user_id, [...(filters.get(user_id) ?? []), filter]);
  return filters;
}

/** Whether one of the filters keeps the notification from being pushed. */
export function isMuted(
  filters: readonly string[],
  fields: FilterFields,
  notification: Omit<Notification, 'sequence' | 'image'>,
): boolean {
  return filters.some((filter) => {
    const faults: Parameters<typeof collectFilter>[2] = [];
    const clauses = collectFilter(filter, fields, faults);
    // A filter on a type that the operator has since removed says nothing any more.
    return faults.length === 0 && matches(clauses, notification);
  });
}
