import type { NotificationInput } from '../../contract/notification.js';
import { isJsonObject } from '../../lib/json-object.js';
import type { FieldError } from '../../lib/problem.js';

/**
 * The errors in the meaning of those members of a request that have the right form, so that one answer names all errors.
 * @param faults the errors of form
 * @param check finds the errors of each item, without the place of the item in its field names
 */
export async function errorsOfFaultyPublication(
  body: unknown,
  faults: readonly FieldError[],
  check: (items: readonly NotificationInput[]) => Promise<readonly (readonly FieldError[])[]>,
): Promise<FieldError[]> {
  const isMany = Array.isArray(body);
  const faultyMembers = membersByItem(faults, isMany);
  const items = (isMany ? body : [body]).flatMap((item: unknown, place) => {
    if (!isJsonObject(item)) return [];
    const path = isMany ? `${place}.` : '';
    const faulty = faultyMembers.get(path) ?? new Set<string>();
    // Together they name the recipients.
    if (faulty.has('user_ids')) faulty.add('user_id');
    return [{ path, faulty, input: Object.fromEntries(Object.entries(item).filter(([name]) => !faulty.has(name))) }];
  });
  const errors = await check(items.map(({ input }) => input as unknown as NotificationInput));
  return items.flatMap(({ path, faulty }, place) =>
    (errors[place] ?? [])
      .filter(({ field = '' }) => !faulty.has(field.split('.', 1)[0] ?? ''))
      .map((error) => ({ ...error, field: `${path}${error.field ?? ''}` })),
  );
}

/**
 * The members with errors of each item, by its place in the request and a dot. One pass, because a chunk of lines can have hundreds of
 * errors.
 */
function membersByItem(faults: readonly FieldError[], isMany: boolean): Map<string, Set<string>> {
  const byItem = new Map<string, Set<string>>();
  for (const { field } of faults) {
    if (field === undefined) continue;
    const parts = field.split('.', 2);
    const path = isMany ? `${parts.shift()}.` : '';
    const [member] = parts;
    if (member !== undefined) byItem.set(path, (byItem.get(path) ?? new Set()).add(member));
  }
  return byItem;
}
