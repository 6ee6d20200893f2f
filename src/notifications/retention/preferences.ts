import type { MaintenanceTask } from '../../database/maintenance/tasks.js';
import { literal, sql, statement } from '../../database/sql.js';
import { nilId } from '../../lib/ids.js';

/** The number of users that one step looks at. */
const batch = 1000;

/** The deleted categories whose choices have been kept long enough. */
const findDue = statement<object, { name: string }>(
  'preferences_categories_due',
  () => sql`
    select name from notification_categories, jsonb_each_text(deleted) deletion (name, time)
    where time::timestamptz < (select db_now()) - interval '30 days'`,
);

/** A category that was created again during the run keeps its choices. @returns the last user that the step has looked at */
const removeChoices = statement<{ after: string; names: readonly string[] }, { last: string | null; removed: number }>(
  'preferences_remove_choices',
  (p) => sql`
    with due as materialized (
      select array(select name from jsonb_object_keys(deleted) name where name = any (${p.names}::text[])) as names
      from notification_categories
    ),
    users as materialized (
      select user_id, categories ?| due.names as has_choices, due.names from preferences cross join due
      where user_id > ${p.after} order by user_id limit ${literal(batch)}
    ),
    changed as (
      update preferences set categories = preferences.categories - users.names
      from users where users.has_choices and preferences.user_id = users.user_id
      returning 1
    )
    select (select user_id from users order by user_id desc limit 1) as last, (select count(*)::int from changed) as removed`,
);

const forget = statement<{ names: readonly string[] }>(
  'preferences_categories_forget',
  (p) => sql`
    update notification_categories
    set deleted = deleted - ${p.names}::text[],
        inbox_choices = array(select unnest(inbox_choices) except select unnest(${p.names}::text[]))`,
);

/**
 * Removes choices about a category 30 days after its deletion. If the category is created again before, the choices apply again. An empty
 * row stays until its user is deleted.
 */
export const preferencesTask: MaintenanceTask = {
  name: 'preferences of deleted categories',
  pauseMs: 3_600_000,
  async step(tx, position) {
    const names = position === undefined ? (await tx.query(findDue({}))).map(({ name }) => name) : namesOf(position);
    if (names.length === 0) return { removed: 0 };
    const [step] = await tx.query(removeChoices({ after: position?.after ?? nilId, names }));
    const { last = null, removed = 0 } = step ?? {};
    if (last !== null) return { removed, next: { after: last, names: JSON.stringify(names) } };
    await tx.query(forget({ names }));
    return { removed };
  },
};

/** The names of the run that has begun: another category may be due meanwhile. */
const namesOf = ({ names = '[]' }: Readonly<Record<string, string>>): string[] => JSON.parse(names);
