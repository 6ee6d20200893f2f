import { parseId } from '../ids.js';
import { parseTime, TIME_FORMAT } from '../times.js';

export type FilterOperator = 'eq' | 'neq' | 'gt' | 'gte' | 'lt' | 'lte' | 'like' | 'in';

export type FieldKind = 'id' | 'string' | 'enum' | 'key' | 'number' | 'integer' | 'time';

/** One field that a list can be filtered by. */
export interface FilterField {
  readonly kind: FieldKind;
  /** The words that a field of kind `enum` may have. */
  readonly values?: readonly string[];
  /** The SQL column where it is not called like the field. It goes into SQL as it stands: never from a client. */
  readonly column?: string;
  /** Whether a `string` field has the operator `like`. */
  readonly like?: boolean;
}

/** What a list can be filtered by: the field's name on the wire -> the field. */
export type FilterFields = Readonly<Record<string, FilterField>>;

/**
 * One condition of a filter; a list of them is a conjunction. `in` has become `eq` with several values.
 *
 * - `eq`: the field is one of the values. An absent (null) field never is.
 * - `neq`: the field is none of the values. An absent (null) field is none of them, so it matches.
 * - `gt`, `gte`, `lt`, `lte`: compared with the one value. Null never matches.
 * - `like`: the field contains the one value, letter case ignored; `%` and `_` mean themselves. Null never matches.
 *
 * Clauses come from `parseFilter` only. Whoever keeps a filter keeps its text, since `field.column` is SQL.
 */
export interface FilterClause {
  readonly name: string;
  readonly field: FilterField;
  readonly operator: Exclude<FilterOperator, 'in'>;
  /** At least one, in the canonical form of the field's kind (`KindRules.read`). */
  readonly values: readonly string[];
}

interface KindRules {
  readonly operators: readonly FilterOperator[];
  /** Whether a colon behind the operator separates values (`eq:a:b`). Where values hold colons it is literal. */
  readonly separatedByColon: boolean;
  readonly sqlType: string;
  /** Whether values compare as numbers; all others compare as text. */
  readonly isNumeric?: true;
  /** What a value looks like, for error messages: a notation instead of words, so that it needs no translation. */
  readonly notation: string;
  /** The canonical form of a value, or undefined when it is none. */
  read(text: string, field: FilterField): string | undefined;
}

const equality: readonly FilterOperator[] = ['eq', 'neq', 'in'];
const comparison: readonly FilterOperator[] = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in'];

/** The rules of each kind of field: the one place where a kind is defined. */
export const kinds: Readonly<Record<FieldKind, KindRules>> = {
  id: {
    operators: equality,
    separatedByColon: true,
    sqlType: 'uuid',
    notation: 'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx',
    read: parseId,
  },
  string: { operators: equality, separatedByColon: false, sqlType: 'text', notation: 'text', read: (text) => text },
  enum: {
    operators: equality,
    separatedByColon: true,
    sqlType: 'text',
    notation: 'key',
    read: (text, field) => (field.values?.includes(text) ? text : undefined),
  },
  key: {
    operators: equality,
    separatedByColon: true,
    sqlType: 'text',
    notation: 'key',
    read: (text) => (text === '' ? undefined : text),
  },
  number: {
    operators: comparison,
    separatedByColon: true,
    sqlType: 'numeric',
    isNumeric: true,
    notation: '123.45',
    read: readNumber,
  },
  integer: {
    operators: comparison,
    separatedByColon: true,
    sqlType: 'bigint',
    isNumeric: true,
    notation: '123',
    read: readInteger,
  },
  time: {
    operators: comparison,
    separatedByColon: false,
    sqlType: 'timestamptz',
    notation: TIME_FORMAT,
    read: parseTime,
  },
};

/** The operators that a field has. */
export function operatorsOf(field: FilterField): readonly FilterOperator[] {
  const { operators } = kinds[field.kind];
  return field.kind === 'string' && field.like === true ? [...operators, 'like'] : operators;
}

// The grammar of RFC 8259, section 6, so that a number can be sent back as it was received.
const NUMBER = /^-?((?:0|[1-9]\d*)(?:\.\d+)?)(?:e[-+]?\d{1,3})?$/i;
const SIGNIFICANT_DIGITS = 15;
// Within these bounds a double tells any two decimals of 15 digits apart, keeps their order and prints them exactly.
const LEAST_MAGNITUDE = 1e-300;
const GREATEST_MAGNITUDE = 1e300;

function readNumber(text: string): string | undefined {
  const digits = NUMBER.exec(text)?.[1];
  if (digits === undefined) return undefined;
  if (digits.length > SIGNIFICANT_DIGITS && significantDigits(digits) > SIGNIFICANT_DIGITS) return undefined;
  const value = Number(text);
  const magnitude = Math.abs(value);
  const isExact = magnitude <= GREATEST_MAGNITUDE && (magnitude >= LEAST_MAGNITUDE || significantDigits(digits) === 0);
  return isExact ? String(value) : undefined;
}

/** Zeros before the first and after the last other digit are not significant: they only place the point. */
function significantDigits(digits: string): number {
  const plain = digits.replace('.', '');
  let end = plain.length;
  while (end > 0 && plain[end - 1] === '0') end--;
  let start = 0;
  while (start < end && plain[start] === '0') start++;
  return end - start;
}

function readInteger(text: string): string | undefined {
  const value = /^-?(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
