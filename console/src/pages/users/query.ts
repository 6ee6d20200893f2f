import { filterValue } from '../../lib/filter-value.js';

/** The members of the URL of the list of users. */
export const members = [
  ...(['q', 'status', 'lock', 'role', 'appRole', 'factor', 'from', 'until', 'since', 'notSince', 'sort'] as const),
  // The open dialog.
  'act',
] as const;
export type UsersQuery = { readonly [Name in (typeof members)[number]]?: string };

/** The start of a day of the operator, as the API writes times. Undefined for a text that is no day. */
function startOfDay(day: string | undefined, plusDays = 0): string | undefined {
  const [year = 0, month = 0, date = 0] = /^\d{4}-\d\d-\d\d$/.test(day ?? '') ? (day ?? '').split('-').map(Number) : [];
  const time = new Date(year, month - 1, date + plusDays);
  return year === 0 || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

const locks: Readonly<Record<string, string>> = {
  operator: 'locked:true',
  guesses: 'guess_locked:true',
  none: 'locked:false,guess_locked:false',
};
const filterClause = (name: string, value: string | undefined) => (value === undefined ? [] : [`${name}:${value}`]);

/** The filter of the API. Undefined without one. */
export function filterOf(query: UsersQuery): string | undefined {
  const clauses = [
    ...filterClause('status', query.status),
    ...filterClause('role', query.role),
    ...filterClause('roles:eq', query.appRole && filterValue(query.appRole.trim())),
    ...filterClause('factor', query.factor),
    ...(locks[query.lock ?? ''] === undefined ? [] : [locks[query.lock ?? '']]),
    ...filterClause('created_at:gte', startOfDay(query.from)),
    ...filterClause('created_at:lt', startOfDay(query.until, 1)),
    ...filterClause('last_login_at:gte', startOfDay(query.since)),
    ...filterClause('last_login_at:lt', startOfDay(query.notSince)),
  ];
  return clauses.length === 0 ? undefined : clauses.join(',');
}
