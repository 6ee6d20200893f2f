import { isJsonObject } from '../../lib/json-object.js';

/** A JSON object of the document. */
export type JsonObject = { [member: string]: unknown };

/** The member as an object; empty if it is missing or no object. */
export function objectAt(parent: JsonObject, member: string): JsonObject {
  const value = parent[member];
  return isJsonObject(value) ? value : {};
}

/** Whether two values are equal as JSON. The order of members does not matter. */
export function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}

/** `not_found` and `Request-ID` become `NotFound` and `RequestId`. */
export function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase()}`).join('');
}
