import { fieldsWith } from '../../contract/notification-fields.js';
import { type FilterExpressions, filterCondition } from '../../database/listing.js';
import { join, type Sql, sql } from '../../database/sql.js';
import type { FilterClause, FilterField, FilterFields } from '../../lib/filter/fields.js';
import { matches } from '../../lib/filter/match.js';

/**
 * The fields that notifications can be filtered by: every scalar of the notification. All texts have the operator `like`.
 * @param notificationTypes the types of this installation: an operator may have added some
 */
export function notificationFilterFields(notificationTypes: readonly string[]): FilterFields {
  const filterField = (kind: FilterField['kind']): FilterField => {
    if (kind === 'enum') return { kind, values: notificationTypes };
    return kind === 'string' ? { kind, like: true } : { kind };
  };
  return Object.fromEntries(
    fieldsWith('filter').map(([name, { filter }]) => [
      name,
      // The name of a type may be a category.
      name === 'category' ? { ...filterField(filter), values: notificationTypes } : filterField(filter),
    ]),
  );
}

/** SQL: the name of the category of a row of `notifications`. */
export const categoryOf: Sql = sql`coalesce(category, notification_type)`;
const expressions: FilterExpressions = { category: categoryOf };

/** SQL: the condition of a filter of notifications; `true` for an empty one. */
export function notificationCondition(filter: readonly FilterClause[]): Sql {
  if (filter.length === 0) return sql`true`;
  const conditions = filter.map((clause) => filterCondition([clause], findsByIndex(clause) ? {} : expressions));
  return join(conditions, ' and ');
}

/** Whether only rows that name their category can match: the index has those rows. */
const findsByIndex = ({ name, operator, field, values }: FilterClause) =>
  name === 'category' && operator === 'eq' && !values.some((value) => field.values?.includes(value));

/** Whether a notification matches a filter. @param category the name of its category */
export function matchesNotification(
  filter: readonly FilterClause[],
  notification: object,
  category: string | null,
): boolean {
  return filter.length === 0 || matches(filter, { ...notification, category });
}
