import { content } from './operations.mjs';

/**
 * The columns and the kind of id that the service writes. The user does not exist, so that no inbox gets rows that are
 * missing in its counts.
 */
export const insertNotification = `insert into notifications (user_id, id, sequence, change_sequence, actor_id, actor,
    notification_type, notification_key, object_id, object_data_number, object_data_string, description, image_id,
    created_at, updated_at)
  select gen_random_uuid(), uuidv7(), n, n, null, '${content.actor}', '${content.notification_type}', null, null,
    ${content.object_data_number}, '', '${content.description}', null, now(), now()`;
