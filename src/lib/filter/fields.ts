import { parseId } from '../ids.js';
import { parseTime, timeFormat } from '../times.js';

export type FilterOperator = 'eq' | 'neq' | 'gt' | 'gte' | 'lt' | 'lte' | 'like' | 'in';

export type FieldKind = 'id' | 'string' | 'enum' | 'key' | 'number' | 'integer' | 'time';

/** A field that a filter can use. */
export interface FilterField {
  readonly kind: FieldKind;
  /** The values of a field of kind `enum`. */
  readonly values?: readonly string[];
  /** Whether a `string` field has the operator `like`. */
  readonly like?: boolean;
}

/** The fields that a filter can use, by their names on the wire. */
export type FilterFields = Readonly<Record<string, FilterField>>;

/**
 * One condition of a filter. A list of conditions is a conjunction. The parser turns `in` into `eq` with several values.
 *
 * - `eq`: the field is one of the values. A null field never matches.
 * - `neq`: the field is none of the values. A null field matches.
 * - `gt`, `gte`, `lt`, `lte`: compares with the single value. A null field never matches.
 * - `like`: the field contains the single value, ignoring case. `%` and `_` are literal. A null field never matches.
 *
 * Only `parseFilter` creates clauses. Store a filter as its text and parse it again.
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
  /** Whether a colon after the operator separates values (`eq:a:b`). For kinds whose values contain colons it is literal. */
  readonly separatedByColon: boolean;
  readonly sqlType: 'uuid' | 'text' | 'numeric' | 'bigint' | 'timestamptz';
  /** Whether values are compared as numbers. All others are compared as text. */
  readonly isNumeric?: true;
  /** The form of a value, for error messages: the same in all languages. */
  readonly notation: string;
  /** The canonical form of a value, or undefined if the text is no valid value. */
  read(text: string, field: FilterField): string | undefined;
}

const equality: readonly FilterOperator[] = ['eq', 'neq', 'in'];
const comparison: readonly FilterOperator[] = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in'];

/** The rules of each kind of field. Kinds are defined only here. */
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
    notation: timeFormat,
    read: parseTime,
  },
};

/** The operators of a field. */
export function operatorsOf(field: FilterField): readonly FilterOperator[] {
  const { operators } = kinds[field.kind];
  return field.kind === 'string' && field.like === true ? [...operators, 'like'] : operators;
}

// The grammar of RFC 8259, section 6, so that a client can send a number as it received it.
const numberPattern = /^-?((?:0|[1-9]\d*)(?:\.\d+)?)(?:e[-+]?\d{1,3})?$/i;
const maxDigits = 15;
// Within these limits a double distinguishes any two decimals of 15 digits, keeps their order and prints them exactly.
const minMagnitude = 1e-300;
const maxMagnitude = 1e300;

function readNumber(text: string): string | undefined {
  const digits = numberPattern.exec(text)?.[1];
  if (digits === undefined) return undefined;
  if (digits.length > maxDigits && significantDigits(digits) > maxDigits) return undefined;
  const value = Number(text);
  const magnitude = Math.abs(value);
  const isExact = magnitude <= maxMagnitude && (magnitude >= minMagnitude || significantDigits(digits) === 0);
  return isExact ? String(value) : undefined;
}

/** The number of significant digits: zeros at the beginning and at the end do not count. */
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
