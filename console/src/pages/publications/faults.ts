import { ProblemError } from '../../api/problem.js';
import { fieldNames } from '../notifications/content.js';
import type { DataErrors, FieldErrors } from '../notifications/fields.js';

export interface Faults {
  readonly to: string | undefined;
  readonly sendAt: string | undefined;
  readonly rate: string | undefined;
  readonly fields: FieldErrors;
  readonly data: DataErrors;
  /** Whether each fault is at its field. */
  readonly areShown: boolean;
}

/** The faults of the service, each for the field that shows it. */
export function faultsOf(error: unknown): Faults {
  const errors = error instanceof ProblemError && error.status === 422 ? error.errors : [];
  const at = (pattern: RegExp) => errors.find(({ field = '' }) => pattern.test(field))?.message;
  const fields = Object.entries(fieldNames).flatMap(([name, field]) => {
    const message = at(new RegExp(`^notification\\.${name}$`));
    return message === undefined ? [] : [[field, message] as const];
  });
  const data = errors.flatMap(({ field = '', message }) => {
    const [, name] = /^notification\.data(?:\.(\w+))?/.exec(field) ?? [];
    return /^notification\.data/.test(field) ? [[name ?? 'json', message] as const] : [];
  });
  const known = new RegExp(`^(to|send_at$|rate$|notification\\.(data|${Object.keys(fieldNames).join('|')})(\\.|$))`);
  return {
    to: at(/^to(\.|$)/),
    sendAt: at(/^send_at$/),
    rate: at(/^rate$/),
    fields: Object.fromEntries(fields),
    data: Object.fromEntries(data),
    areShown: errors.length > 0 && errors.every(({ field = '' }) => known.test(field)),
  };
}
