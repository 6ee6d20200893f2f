import { ProblemError } from '../../api/problem.js';
import type { FieldError } from '../../api/schema.js';

/** The faults of a category, each for the field that shows it. */
export interface Faults {
  /** The message for a field, such as `steps.0.after`. */
  at(...fields: readonly string[]): string | undefined;
  /** The message for anything inside of a field, such as `data_schema`. */
  within(field: string): string | undefined;
  /** Faults that belong to no field of the form. */
  readonly others: readonly FieldError[];
  readonly count: number;
}

/**
 * @param own faults that the console has found
 * @param shown whether the form has a field for a fault of the service
 */
export function faultsOf(
  error: unknown,
  own: Readonly<Record<string, string>>,
  shown: (field: string) => boolean,
): Faults {
  const all = error instanceof ProblemError ? error.errors : [];
  // The language is a field of its own in the form.
  const errors = all.map((each) =>
    each.code === 'invalid_locale' ? { ...each, field: `${each.field} locale` } : each,
  );
  const messageOf = (matches: (field: string) => boolean) => {
    const found = Object.entries(own).find(([field]) => matches(field));
    return found?.[1] ?? errors.find(({ field }) => field !== undefined && matches(field))?.message;
  };
  return {
    at: (...fields) => messageOf((field) => fields.includes(field)),
    within: (name) => messageOf((field) => field === name || field.startsWith(`${name}.`)),
    others: all.filter(({ field }) => field === undefined || !shown(field)),
    count: Object.keys(own).length + errors.filter(({ field }) => field !== undefined).length,
  };
}
