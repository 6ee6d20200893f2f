import type { RouteOptions } from 'fastify';
import { isJsonObject } from '../../lib/json-object.js';
import { nearestSimilar, truncateInput } from '../../lib/nearest.js';
import { type FieldError, Problem } from '../../lib/problem.js';

/** The maximum number of errors in one response. */
export const maxReportedErrors = 100;

/** The error of a member or parameter that does not exist. It suggests the nearest name, or lists all names. */
export function unknownName(
  code: 'unknown_member' | 'unknown_parameter',
  name: string,
  knownNames: readonly string[],
  path: readonly string[] = [],
): FieldError {
  const suggestion = nearestSimilar(name, knownNames);
  const hint = suggestion === undefined ? { known: knownNames.join(', ') } : { suggestion };
  const params = { value: truncateInput(name), ...(knownNames.length > 0 && hint) };
  return { field: [...path, truncateInput(name)].join('.'), code, params };
}

/** An error for each unknown member of `value`; none if `value` is no object. */
export function unknownMembers(value: unknown, knownNames: readonly string[]): FieldError[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return unknownOf(Object.keys(value), knownNames).map((name) => unknownName('unknown_member', name, knownNames));
}

/** The names that are not known, at most `maxReportedErrors`. */
export function unknownOf(names: readonly string[], knownNames: readonly string[]): string[] {
  return names.filter((name) => !knownNames.includes(name)).slice(0, maxReportedErrors);
}

/**
 * Closes a schema: sets `additionalProperties` to false in every object that has `properties` and does not set it
 * itself.
 */
export function closed<Schema extends object>(schema: Schema): Schema;
export function closed(schema: object): object {
  const copy = closedSchemas.get(schema) ?? closedCopy(schema as Readonly<Record<string, unknown>>);
  closedSchemas.set(schema, copy);
  return copy;
}

/** By the open schema, so that the servers of a process compile each schema once. */
const closedSchemas = new WeakMap<object, object>();

function closedCopy(schema: Readonly<Record<string, unknown>>): object {
  const { properties, items, content, additionalProperties } = schema;
  return {
    ...schema,
    ...(isJsonObject(properties) && { properties: closedEach(properties) }),
    ...(isJsonObject(properties) && additionalProperties === undefined && { additionalProperties: false }),
    ...(isJsonObject(items) && { items: closed(items) }),
    // `content` maps media types to schemas.
    ...(isJsonObject(content) && { content: closedEach(content) }),
    ...(isJsonObject(schema.schema) && { schema: closed(schema.schema) }),
  };
}

function closedEach(schemas: object): object {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, isJsonObject(schema) ? closed(schema) : schema]),
  );
}

/** The names of a route's query parameters. */
export function parameterNames({ schema }: Pick<RouteOptions, 'schema'>): string[] {
  const { properties = {} } = (schema?.querystring ?? {}) as { readonly properties?: object };
  return Object.keys(properties);
}

/** The errors of the problem that `check` throws. @throws every other error of `check` */
export function errorsOf(check: () => unknown): readonly FieldError[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof Problem && error.code === 'validation_failed') return error.options.errors ?? [];
    throw error;
  }
}
