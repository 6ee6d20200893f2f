import type { StatesChange } from '../../contract/notification-states.js';
import type { FilterClause, FilterFields } from '../../lib/filter/fields.js';
import { collectFilter, parseFilter } from '../../lib/filter/parse.js';
import { isJsonObject } from '../../lib/json-object.js';
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
  throwIfErrors(statesErrors(input, fields));
  const snoozedUntil = typeof snoozed_until === 'string' ? parseTime(snoozed_until) : snoozed_until;
  const values = { read, archived, snoozedUntil };
  if (ids !== undefined) return { ids, values };
  return {
    filter: filter === undefined || filter === '' ? [] : parseFilter(filter, fields),
    through: through ?? 0,
    values,
  };
}

/** All faults of a change of states, except those of its form. @param body of any form */
export function statesErrors(body: unknown, fields: FilterFields): FieldError[] {
  if (!isJsonObject(body)) return [];
  const { ids, filter, through, read, archived, snoozed_until } = body;
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
  if (typeof filter === 'string' && filter !== '') collectFilter(filter, fields, errors);
  if (typeof snoozed_until === 'string' && parseTime(snoozed_until) === undefined) {
    errors.push({ field: 'snoozed_until', code: 'invalid_time' });
  }
  return errors;
}
