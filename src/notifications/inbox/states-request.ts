import type { StatesChange } from '../../contract/notification-states.js';
import type { FilterClause, FilterFields } from '../../lib/filter/fields.js';
import { collectFilter } from '../../lib/filter/parse.js';
import { type FieldError, throwIfErrors } from '../../lib/problem.js';
import { type Instant, parseTime } from '../../lib/times.js';

/** The values that a change sets. A value that is undefined stays as it is. */
export interface StateValues {
  readonly read: boolean | undefined;
  readonly archived: boolean | undefined;
  /** Null ends the snooze. */
  readonly snoozedUntil: Instant | null | undefined;
}

/** A change of states: of named notifications, or of those up to a sequence that match a filter. */
export type StatesRequest =
  | { readonly ids: readonly string[]; readonly through?: undefined; readonly values: StateValues }
  | {
      readonly ids?: undefined;
      readonly filter: readonly FilterClause[];
      readonly through: number;
      readonly values: StateValues;
    };

/** Checks what the schema of the request cannot. @throws Problem `validation_failed` with all errors */
export function readStatesChange(input: StatesChange, fields: FilterFields): StatesRequest {
  const { ids, filter, through, read, archived, snoozed_until } = input;
  const errors: FieldError[] = [];
  if (ids === undefined && filter === undefined) errors.push({ field: 'ids', code: 'required' });
  if (ids !== undefined && (filter !== undefined || through !== undefined)) {
    const params = { fields: filter === undefined ? 'ids, through' : 'ids, filter' };
    errors.push({ field: 'ids', code: 'conflicting_fields', params });
  }
  if (ids === undefined && filter !== undefined && through === undefined) {
    errors.push({ field: 'through', code: 'through_required' });
  }
  if (read === undefined && archived === undefined && snoozed_until === undefined) {
    errors.push({ field: 'read', code: 'required' });
  }
  const clauses = filter === undefined || filter === '' ? [] : collectFilter(filter, fields, errors);
  const snoozedUntil = typeof snoozed_until === 'string' ? parseTime(snoozed_until) : snoozed_until;
  if (typeof snoozed_until === 'string' && snoozedUntil === undefined) {
    errors.push({ field: 'snoozed_until', code: 'invalid_time' });
  }
  throwIfErrors(errors);
  const values = { read, archived, snoozedUntil };
  return ids === undefined ? { filter: clauses, through: through ?? 0, values } : { ids, values };
}
