import { type FieldKind, type FilterClause, kinds } from './fields.js';

/**
 * Whether a record in its wire form (lower-case ids, `Instant` times, numbers or their decimal text) meets every
 * clause. Same meaning as `filterSql`, for what is filtered outside the database: streams, mutes, webhooks.
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
 * Lower case as ILIKE of PostgreSQL does it, character by character. `toLowerCase` of a whole string looks at the
 * neighbours of a final sigma, and makes two characters of a capital I with dot.
 */
function foldCase(text: string): string {
  return text.replaceAll('İ', 'i').replaceAll('Σ', 'σ').toLowerCase();
}
