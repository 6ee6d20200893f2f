import { type FieldKind, type FilterClause, kinds } from './fields.js';

/**
 * Whether a record in its wire form (lower-case ids, `Instant` times, numbers or their decimal text) matches every
 * clause. It gives the same results as `filterCondition`, for filters outside the database: streams and mutes.
 */
export function matches(clauses: readonly FilterClause[], record: Readonly<Record<string, unknown>>): boolean {
  return clauses.every((clause) => matchesClause(clause, record[clause.name]));
}

function matchesClause({ field: { kind }, operator, values }: FilterClause, member: unknown): boolean {
  if (member === null || member === undefined) return operator === 'neq';
  const text = String(member);
  const [value = ''] = values;
  switch (operator) {
    case 'eq':
      return values.some((candidate) => compare(kind, text, candidate) === 0);
    case 'neq':
      return values.every((candidate) => compare(kind, text, candidate) !== 0);
    case 'gt':
      return compare(kind, text, value) > 0;
    case 'gte':
      return compare(kind, text, value) >= 0;
    case 'lt':
      return compare(kind, text, value) < 0;
    case 'lte':
      return compare(kind, text, value) <= 0;
    case 'like':
      return foldCase(text).includes(foldCase(value));
  }
}

/** Doubles are exact here: numbers have at most 15 significant digits and integers are safe ones. */
function compare(kind: FieldKind, left: string, right: string): number {
  if (kinds[kind].isNumeric) return Number(left) - Number(right);
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * Converts to lower case as PostgreSQL's ILIKE does: each character alone. `toLowerCase` of a whole string depends on the
 * neighbours of a final sigma, and turns a capital I with dot into two characters.
 */
function foldCase(text: string): string {
  return text.replaceAll('İ', 'i').replaceAll('Σ', 'σ').toLowerCase();
}
