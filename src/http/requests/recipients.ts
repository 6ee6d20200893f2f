import type { NotificationInput } from '../../contract/notification.js';
import { isIdentityReference, type UserReferences } from '../../identities/user-references.js';
import { newId } from '../../lib/ids.js';

/** Whether an item names a user by an identity. Requests with ids only need no further query. */
export function namesExternally({ user_id: userId, user_ids: userIds = [] }: NotificationInput): boolean {
  return (userId !== undefined && isIdentityReference(userId)) || userIds.some(isIdentityReference);
}

/**
 * Replaces identities by the ids of their users, in one query. An identity that nobody has, or has not proven, is replaced by a new id.
 * Publishing then reports at this position that the user does not exist, together with all other errors.
 */
export async function withUserIds<Item extends NotificationInput>(
  references: UserReferences,
  items: readonly Item[],
): Promise<Item[]> {
  const named = items.filter(namesExternally).flatMap((item) => [...(item.user_ids ?? []), item.user_id ?? []].flat());
  const idsByReference = named.length === 0 ? new Map<string, string>() : await references.findRecipients(named);
  const unknown = new Map<string, string>();
  const idOf = (reference: string) => {
    const id = idsByReference.get(reference) ?? unknown.get(reference) ?? newId();
    if (!idsByReference.has(reference)) unknown.set(reference, id);
    return id;
  };
  return items.map((item) => {
    if (!namesExternally(item)) return item;
    const { user_id: userId, user_ids: userIds } = item;
    return {
      ...item,
      ...(userId !== undefined && { user_id: idOf(userId) }),
      ...(userIds !== undefined && { user_ids: userIds.map(idOf) }),
    };
  });
}
