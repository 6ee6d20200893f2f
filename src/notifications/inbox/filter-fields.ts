import type { FilterFields } from '../../lib/filter/fields.js';

/**
 * The fields that notifications can be filtered by: every scalar of the notification.
 * @param notificationTypes the types of this installation: an operator may have added some
 */
export function notificationFilterFields(notificationTypes: readonly string[]): FilterFields {
  return {
    id: { kind: 'id' },
    user_id: { kind: 'id' },
    sequence: { kind: 'integer' },
    actor_id: { kind: 'id' },
    actor: { kind: 'string', like: true },
    notification_type: { kind: 'enum', values: notificationTypes },
    notification_key: { kind: 'key' },
    object_id: { kind: 'id' },
    object_data_number: { kind: 'number' },
    object_data_string: { kind: 'string', like: true },
    description: { kind: 'string', like: true },
    created_at: { kind: 'time' },
    updated_at: { kind: 'time' },
  };
}
