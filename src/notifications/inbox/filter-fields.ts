import { fieldsWith } from '../../contract/notification-fields.js';
import type { FilterField, FilterFields } from '../../lib/filter/fields.js';

/**
 * The fields that notifications can be filtered by: every scalar of the notification. All texts have the operator `like`.
 * @param notificationTypes the types of this installation: an operator may have added some
 */
export function notificationFilterFields(notificationTypes: readonly string[]): FilterFields {
  const filterField = (kind: FilterField['kind']): FilterField => {
    if (kind === 'enum') return { kind, values: notificationTypes };
    return kind === 'string' ? { kind, like: true } : { kind };
  };
  return Object.fromEntries(fieldsWith('filter').map(([name, { filter }]) => [name, filterField(filter)]));
}
