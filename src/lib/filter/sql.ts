import { type FilterClause, kinds } from './fields.js';

const comparators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/**
 * The SQL condition of a filter, safe to join with AND; `true` for an empty one. Values are appended to `params` and
 * appear as `$n` with an explicit type; the only names inside are columns of the field table. Same meaning as
 * `matches`, where null counts as false.
 */
export function filterSql(clauses: readonly FilterClause[], params: unknown[]): string {
  if (clauses.length === 0) return 'true';
  return clauses.map((clause) => clauseSql(clause, params)).join(' AND ');
}

function clauseSql({ name, field, operator, values }: FilterClause, params: unknown[]): string {
  const column = field.column ?? name;
  const type = kinds[field.kind].sqlType;
  const [value] = values;
  const isSingle = values.length === 1;
  params.push(operator === 'like' ? likePattern(value ?? '') : isSingle ? value : values);
  const placeholder = `$${params.length}::${isSingle ? type : `${type}[]`}`;
  switch (operator) {
    case 'eq':
      return isSingle ? `${column} = ${placeholder}` : `${column} = ANY(${placeholder})`;
    case 'neq':
      return isSingle
        ? `${column} IS DISTINCT FROM ${placeholder}`
        : `(${column} IS NULL OR ${column} <> ALL(${placeholder}))`;
    case 'like':
      return `${column} ILIKE ${placeholder}`;
    default:
      return `${column} ${comparators[operator]} ${placeholder}`;
  }
}

/** Backslash is the escape character of LIKE unless a query says otherwise. */
function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
