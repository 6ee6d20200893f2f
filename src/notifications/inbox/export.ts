import type { Database } from '../../database/database.js';
import { iterateRows, type UserRowsSource } from '../../database/maintenance/keyset.js';
import { sql } from '../../database/sql.js';
import type { ImageUrls } from '../images/url.js';
import { type NotificationRow, notificationColumns, toNumber } from './row.js';

/** A user's notifications and what belongs to them, as lists for an export. */
export function notificationSections(database: Database, imageUrlsOf: ImageUrls) {
  const section = (name: string, rows: UserRowsSource, shape: (row: object) => object = (row) => row) => ({
    name,
    async *items(userId: string) {
      for await (const batch of iterateRows(database.user(userId), rows, userId)) yield batch.map(shape);
    },
  });
  return [
    section(
      'notifications',
      {
        columns: sql`${notificationColumns}, category, replace_key, expires_at, extra`,
        from: 'notifications',
        key: 'sequence',
        keyType: 'bigint',
      },
      (row) => withNumber(row as NotificationRow),
    ),
    section('markers', {
      columns: sql`last_read_sequence, seen_sequence, archived_through, updated_at`,
      from: 'markers',
      key: 'last_read_sequence',
      keyType: 'bigint',
    }),
    section('notification_states', {
      columns: sql`sequence, is_read, is_archived, snoozed_until, action_key, acted_at, updated_at`,
      from: 'notification_states',
      key: 'sequence',
      keyType: 'bigint',
    }),
    section('mutes', { columns: sql`id, filter, created_at`, from: 'mutes', key: 'id', keyType: 'uuid' }),
    section('preferences', {
      columns: sql`time_zone, quiet_hours, channels, categories, topics`,
      from: 'preferences',
      key: 'user_id',
      keyType: 'uuid',
    }),
    section('category_caps', {
      columns: sql`name, notification_ids, times`,
      from: 'category_caps',
      key: 'name',
      keyType: 'text',
    }),
    section('digests', {
      columns: sql`category, channel, closed_through, due_at`,
      from: 'digests',
      key: 'category',
      keyType: 'text',
    }),
    section('subscriptions', {
      columns: sql`topic_id, (select key from topics where id = topic_id) as topic, created_at`,
      from: 'subscriptions',
      key: 'topic_id',
      keyType: 'uuid',
    }),
    section('pushes', {
      columns: sql`id, notification_id, device_id, channel, state, created_at, updated_at`,
      from: 'push_deliveries',
      key: 'id',
      keyType: 'uuid',
    }),
    section('notification_messages', {
      columns: sql`id, notification_id, digest_category, member_ids, channel, state, reason, created_at, updated_at`,
      from: 'step_deliveries',
      key: 'id',
      keyType: 'uuid',
    }),
    section(
      'images',
      { columns: sql`id, bytes, created_at, updated_at`, from: 'images', key: 'id', keyType: 'uuid' },
      (row) => ({ ...row, ...imageUrlsOf((row as { readonly id: string }).id) }),
    ),
  ];
}

function withNumber(row: NotificationRow): object {
  return { ...row, object_data_number: toNumber(row.object_data_number) };
}
