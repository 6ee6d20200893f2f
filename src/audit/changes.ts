import type { EventChange } from '../contract/administration.js';

/** The maximum number of characters of a value's JSON that an event stores. */
const maxLength = 1000;

/** A change of a secret: the event names the field, without the values. */
export function secretChange(field: string): EventChange {
  return { field, before: null, after: null, withheld: true };
}

/** The change of one field. @returns nothing if the values are equal */
export function changeOf(field: string, before: unknown, after: unknown): EventChange[] {
  const [from, to] = [before ?? null, after ?? null];
  const [fromText, toText] = [JSON.stringify(from), JSON.stringify(to)];
  if (fromText === toText) return [];
  if (fromText.length > maxLength || toText.length > maxLength) return [secretChange(field)];
  return [{ field, before: from, after: to, withheld: false }];
}

/** The changed members among `fields`. A member that `after` does not have is unchanged. */
export function changesBetween<Field extends string>(
  fields: readonly Field[],
  before: Readonly<Partial<Record<Field, unknown>>>,
  after: Readonly<Partial<Record<Field, unknown>>>,
): EventChange[] {
  return fields.flatMap((field) => (after[field] === undefined ? [] : changeOf(field, before[field], after[field])));
}

/** The changed members of an object, such as `metadata.plan`. */
export function memberChanges(
  field: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): EventChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  // `hasOwn`, because a member may have the name of an inherited method, such as `toString`.
  const member = (source: object, name: string): unknown =>
    Object.hasOwn(source, name) ? Reflect.get(source, name) : null;
  return names.flatMap((name) => changeOf(`${field}.${name}`, member(before, name), member(after, name)));
}
