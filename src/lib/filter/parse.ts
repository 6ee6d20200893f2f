import type { FieldErrorCode } from '../../contract/errors/fields.js';
import { nearest, truncateInput } from '../nearest.js';
import { type FieldError, throwIfErrors } from '../problem.js';
import {
  type FilterClause,
  type FilterField,
  type FilterFields,
  type FilterOperator,
  kinds,
  operatorsOf,
} from './fields.js';

/*
 * The grammar of every filter:
 *
 *   filter   = clause *( ("," / "|") clause )              all of them must hold
 *   clause   = field ":" value                             exactly two pieces: eq, even if the value is the name of an operator
 *            / field ":" operator ":" values
 *   values   = value                                       gt gte lt lte like, and eq neq of strings and times: colons are literal
 *            / value *( ":" value )                        id, enum, key, number and integer fields
 *            / value *( ";" value ) / "[" … "]"            in
 *
 * A backslash escapes a following , | : ; [ ] or backslash. Before any other character it is an error, so that a missing
 * escape is noticed. `created_at:2020-01-01 10:00:00` is refused: it has four pieces, and the second is no operator. A
 * time needs an explicit operator.
 */
const clauseForm = 'field:operator:value';
const inForm = '[a;b]';
const escapable = ',|:;[]\\';

const maxLength = 2000;
const maxClauses = 20;
const maxValues = 100;

/** A part of the filter, still escaped, with its position in the filter: 0-based, in UTF-16 code units. */
interface Piece {
  readonly text: string;
  readonly start: number;
}

/** Records an error at a piece. Returns undefined, so that `return fail(…)` returns no clause. */
type Fail = (code: FieldErrorCode, piece: Piece, params?: Readonly<Record<string, string | number>>) => undefined;

/**
 * Parses a filter.
 *
 * @throws Problem `validation_failed` with the first error of every clause (see `collectFilter`).
 */
export function parseFilter(text: string, fields: FilterFields): FilterClause[] {
  const errors: FieldError[] = [];
  const clauses = collectFilter(text, fields, errors);
  throwIfErrors(errors);
  return clauses;
}

/**
 * Parses a filter and appends the first error of every clause to `errors`, for callers that check other parameters too.
 * The field of each error is `parameter`. Its `position` is the 1-based position of the invalid piece in UTF-16 code
 * units. Use the clauses only if nothing was appended.
 */
export function collectFilter(
  text: string,
  fields: FilterFields,
  errors: FieldError[],
  parameter = 'filter',
): FilterClause[] {
  const fail: Fail = (code, piece, params) => {
    errors.push({ field: parameter, code, params: { position: piece.start + 1, ...params } });
    return undefined;
  };
  const whole = { text, start: 0 };
  if (text.length > maxLength) {
    fail('too_long', { text: '', start: maxLength }, { max: maxLength });
    return [];
  }
  if (!isWellFormed(whole, fail)) return [];
  const pieces = split(whole, ',|');
  const excess = pieces[maxClauses];
  if (excess) {
    fail('too_many_filters', excess, { max: maxClauses });
    return [];
  }
  return pieces.flatMap((piece) => readClause(piece, fields, fail) ?? []);
}

/** Checks every escape, so that later steps can rely on them, and refuses characters that PostgreSQL cannot store. */
function isWellFormed({ text }: Piece, fail: Fail): boolean {
  for (let index = 0; index < text.length; index++) {
    const errorPosition = { text: '', start: index };
    const codePoint = text.codePointAt(index) ?? 0;
    if (codePoint === 0 || (codePoint >= 0xd800 && codePoint <= 0xdfff)) {
      fail('invalid_characters', errorPosition);
      return false;
    }
    if (codePoint > 0xffff) index++;
    if (text.charAt(index) !== '\\') continue;
    index++;
    if (index === text.length || !escapable.includes(text.charAt(index))) {
      const expected = [...escapable].map((character) => `\\${character}`).join(' ');
      fail('invalid_filter_syntax', errorPosition, { expected });
      return false;
    }
  }
  return true;
}

function readClause(clause: Piece, fields: FilterFields, fail: Fail): FilterClause | undefined {
  const [namePiece, second, third, ...more] = split(clause, ':');
  if (!namePiece || !second) return fail('invalid_filter_syntax', clause, { expected: clauseForm });

  const name = unescaped(namePiece);
  // Looks only at the object's own members, because `constructor` is no field.
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!field) {
    const suggestion = nearest(name, Object.keys(fields)) ?? '';
    const allowed = Object.keys(fields).join(', ');
    return fail('unknown_filter_field', namePiece, { value: truncateInput(name), suggestion, allowed });
  }
  if (!third) return makeClause(name, field, 'eq', [second], fail);

  const operator = readOperator(second, field, fail);
  if (!operator) return undefined;
  const rest = { text: clause.text.slice(third.start - clause.start), start: third.start };
  const values = operator === 'in' ? splitIn(rest, field, fail) : splitColons(rest, [third, ...more], field, operator);
  return values && makeClause(name, field, operator === 'in' ? 'eq' : operator, values, fail);
}

function readOperator(piece: Piece, field: FilterField, fail: Fail): FilterOperator | undefined {
  const word = unescaped(piece);
  const operators = operatorsOf(field);
  const operator = operators.find((candidate) => candidate === word);
  if (operator) return operator;
  const suggestion = nearest(word, operators) ?? '';
  return fail('unknown_filter_op', piece, { value: truncateInput(word), suggestion, allowed: operators.join(', ') });
}

function splitColons(rest: Piece, pieces: Piece[], field: FilterField, operator: FilterOperator): Piece[] {
  const takesSeveral = kinds[field.kind].separatedByColon && (operator === 'eq' || operator === 'neq');
  return takesSeveral ? pieces : [rest];
}

/** The values of `in`. Refuses brackets that are not one pair around all values, and a pair around nothing. */
function splitIn(rest: Piece, field: FilterField, fail: Fail): Piece[] | undefined {
  const separators = kinds[field.kind].separatedByColon ? ';:' : ';';
  const [before, within, after, ...more] = split(rest, '[]');
  if (!before || !within) return split(rest, separators);
  const isPair = before.text === '' && after?.text === '' && more.length === 0;
  const isBracketed = isPair && rest.text.startsWith('[') && rest.text.endsWith(']') && within.text !== '';
  if (isBracketed) return split(within, separators);
  return fail('invalid_filter_syntax', { text: '', start: within.start - 1 }, { expected: inForm });
}

function makeClause(
  name: string,
  field: FilterField,
  operator: FilterClause['operator'],
  pieces: readonly Piece[],
  fail: Fail,
): FilterClause | undefined {
  const excess = pieces[maxValues];
  if (excess) return fail('too_many_items', excess, { max: maxValues });
  const values: string[] = [];
  for (const piece of pieces) {
    const text = unescaped(piece);
    const value = kinds[field.kind].read(text, field);
    if (value === undefined) {
      const expected = field.values?.join(', ') ?? kinds[field.kind].notation;
      return fail('invalid_filter_value', piece, { value: truncateInput(text), expected });
    }
    values.push(value);
  }
  return { name, field, operator, values };
}

/** Splits at each unescaped separator. @returns at least one piece */
function split(piece: Piece, separators: string): Piece[] {
  const pieces: Piece[] = [];
  let begin = 0;
  for (let index = 0; index < piece.text.length; index++) {
    const character = piece.text.charAt(index);
    if (character === '\\') {
      index++;
    } else if (separators.includes(character)) {
      pieces.push({ text: piece.text.slice(begin, index), start: piece.start + begin });
      begin = index + 1;
    }
  }
  pieces.push({ text: piece.text.slice(begin), start: piece.start + begin });
  return pieces;
}

function unescaped(piece: Piece): string {
  return piece.text.replace(/\\(.)/g, '$1');
}
