import type { RouteOptions } from 'fastify';
import { alike, echo } from '../../lib/nearest.js';
import { type FieldError, Problem } from '../../lib/problem.js';

/** Faults that one answer names at most: enough to correct a request by. */
export const mostFaults = 100;

/** The fault of a member or parameter that does not exist: what was probably meant, else all that exist. */
export function unknownName(
  code: 'unknown_member' | 'unknown_parameter',
  name: string,
  known: readonly string[],
  path: readonly string[] = [],
): FieldError {
  const suggestion = alike(name, known);
  const hint = suggestion === undefined ? { known: known.join(', ') } : { suggestion };
  const params = { value: echo(name), ...(known.length > 0 && hint) };
  return { field: [...path, echo(name)].join('.'), code, params };
}

/** The members of `value` that are not known, as faults; none of what is no object. */
export function unknownMembers(value: unknown, known: readonly string[]): FieldError[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return unknownOf(Object.keys(value), known).map((name) => unknownName('unknown_member', name, known));
}

/** Those of the names that are not known, as many as are named. */
export function unknownOf(names: readonly string[], known: readonly string[]): string[] {
  return names.filter((name) => !known.includes(name)).slice(0, mostFaults);
}

/**
 * A schema in which no object may have members that it does not name: `additionalProperties` is false wherever members are
 * named and nothing else is said.
 */
export function closed<Schema extends object>(schema: Schema): Schema;
export function closed(schema: Readonly<Record<string, unknown>>): object {
  const { properties, items, content, additionalProperties } = schema;
  return {
    ...schema,
    ...(isObject(properties) && { properties: closedEach(properties) }),
    ...(isObject(properties) && additionalProperties === undefined && { additionalProperties: false }),
    ...(isObject(items) && { items: closed(items) }),
    // By media type.
    ...(isObject(content) && { content: closedEach(content) }),
    ...(isObject(schema.schema) && { schema: closed(schema.schema) }),
  };
}

function closedEach(schemas: object): object {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, isObject(schema) ? closed(schema) : schema]),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The names of a route's query parameters. */
export function parameterNames({ schema }: Pick<RouteOptions, 'schema'>): string[] {
  const { properties = {} } = (schema?.querystring ?? {}) as { readonly properties?: object };
  return Object.keys(properties);
}

/** What a check throws as faults. @throws whatever else it throws */
export function faultsOf(check: () => unknown): readonly FieldError[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof Problem && error.code === 'validation_failed') return error.options.errors ?? [];
    throw error;
  }
}
