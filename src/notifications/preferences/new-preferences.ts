import type { PreferenceChanges } from '../../contract/preferences.js';
import type { Queryable, Transaction } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import type { FieldError } from '../../lib/problem.js';
import type { KnownCategories } from '../categories/categories.js';
import { applyChanges, changeErrors, hasChoices, inboxChoicesOf, maxChosenTopics, noChoices } from './choices.js';
import { existingTopics, noteTopicChoices } from './preferences.js';
import { noZones, type TimeZones } from './time-zones.js';

const readClock = statement<object, { now: string }>('preferences_clock', () => sql`select db_now() as now`);

const insertChoices = statement<{ users: string }>(
  'preferences_insert',
  (p) => sql`
    insert into preferences (user_id, time_zone, quiet_hours, channels, categories, topics)
    select user_id, time_zone, nullif(quiet_hours, 'null'), channels, categories, topics
    from jsonb_to_recordset(${p.users}::jsonb)
      as chosen (user_id uuid, time_zone text, quiet_hours jsonb, channels jsonb, categories jsonb, topics jsonb)`,
);

/** The preferences of users that are being created. `ImportedPreferences` of the import describes the methods. */
export function createNewPreferences(
  handle: Queryable,
  { categories, timeZones }: { readonly categories: KnownCategories; readonly timeZones: TimeZones },
) {
  let zones = noZones;
  /** Imports run at the same time, so a topic stays until it is looked up again. */
  const topics = new Set<string>();
  return {
    async refreshFor(changes: readonly PreferenceChanges[]): Promise<void> {
      await categories.refreshFor(
        handle,
        changes.flatMap((each) => Object.keys(each.categories ?? {})),
      );
      if (changes.some((each) => typeof each.time_zone === 'string')) zones = await timeZones.names(handle);
      const named = [...new Set(changes.flatMap((each) => Object.keys(each.topics ?? {})))];
      const existing = await existingTopics(handle, named);
      for (const key of named) {
        if (existing.has(key)) topics.add(key);
        else topics.delete(key);
      }
    },
    errorsOf(changes: PreferenceChanges): FieldError[] {
      const errors = changeErrors(changes, { categories, zones, topics });
      const tooMany: FieldError = { field: 'topics', code: 'too_many_items', params: { max: maxChosenTopics } };
      return Object.keys(changes.topics ?? {}).length > maxChosenTopics ? [...errors, tooMany] : errors;
    },
    async insert(
      tx: Transaction,
      users: readonly { readonly userId: string; readonly changes: PreferenceChanges }[],
    ): Promise<void> {
      const [clock] = await tx.query(readClock({}));
      const now = clock?.now ?? '';
      const rows = users.map(({ userId, changes }) => ({
        user_id: userId,
        ...applyChanges(noChoices, changes, { now, known: categories }),
      }));
      await tx.query(insertChoices({ users: JSON.stringify(rows.filter(hasChoices)) }));
      await categories.noteInboxChoices(tx, [
        ...new Set(users.flatMap(({ changes }) => inboxChoicesOf(changes.categories))),
      ]);
      await noteTopicChoices(tx, [...new Set(users.flatMap(({ changes }) => inboxChoicesOf(changes.topics)))]);
    },
  };
}
