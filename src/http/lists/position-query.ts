import { Type } from 'typebox';
import type { FieldError } from '../../lib/problem.js';
import type { QueryParameters } from '../requests/parameters.js';

const limits = { min: 1, max: 1000, usual: 100 };

/** The parameters of a route that continues after a position, for clients that keep a copy of an inbox. */
export const positionParameters = {
  after: Type.Optional(
    Type.String({ description: 'The `after` of the last response. Missing or 0: everything from the start.' }),
  ),
  limit: Type.Optional(
    Type.Unsafe<string>({
      type: 'integer',
      minimum: limits.min,
      maximum: limits.max,
      default: limits.usual,
      description: 'The maximum number of items.',
    }),
  ),
};

/** A position: `42`, or `7-42` with a second number. */
export interface Position {
  readonly first: number;
  readonly second?: number;
}

/** The value of a parameter that may be sent once. It adds to `errors`. */
export function singleParameter(query: QueryParameters, field: string, errors: FieldError[]): string | undefined {
  const value = query[field];
  if (value !== undefined && typeof value !== 'string') errors.push({ field, code: 'repeated_parameter' });
  return typeof value === 'string' ? value : undefined;
}

/** Parses `after` and `limit`. It adds to `errors`; with errors, the result is of no use. */
export function parsePositionQuery(
  query: QueryParameters,
  errors: FieldError[],
): Position & { readonly limit: number } {
  const text = singleParameter(query, 'after', errors) ?? '0';
  const [, first, second] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(text) ?? [];
  if (first === undefined) errors.push({ field: 'after', code: 'invalid_format' });
  const limitText = singleParameter(query, 'limit', errors) ?? `${limits.usual}`;
  const limit = /^[1-9]\d{0,3}$/.test(limitText) ? Number(limitText) : Number.NaN;
  if (!(limit <= limits.max)) errors.push({ field: 'limit', code: 'invalid_limit', params: limits });
  return { first: Number(first), ...(second !== undefined && { second: Number(second) }), limit };
}
