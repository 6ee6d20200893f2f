import type { Database } from '../database/database.js';
import { type UserRows, walkRows } from '../database/walk.js';
import type { ImageUrls } from './images/url.js';
import { type NotificationRow, notificationColumns } from './row.js';

/** What this module stores of a user, as lists for an export. */
export function notificationSections(database: Database, imageUrlsOf: ImageUrls) {
  const section = (name: string, rows: UserRows, shape: (row: object) => object = (row) => row) => ({
    name,
    async *items(userId: string) {
      for await (const some of walkRows(database.lane(userId), rows, userId)) yield some.map(shape);
    },
  });
  const uuid = { key: 'id', keyType: 'uuid' } as const;
  return [
    section(
      'notifications',
      { columns: notificationColumns, from: 'notifications', key: 'sequence', keyType: 'bigint' },
      (row) => withNumber(row as NotificationRow),
    ),
    section('markers', {
      columns: 'last_read_sequence, updated_at',
      from: 'markers',
      key: 'last_read_sequence',
      keyType: 'bigint',
    }),
    section('mutes', { columns: 'id, filter, created_at', from: 'mutes', ...uuid }),
    section('pushes', {
      columns: 'id, notification_id, device_id, channel, state, created_at, updated_at',
      from: 'push_deliveries',
      ...uuid,
    }),
    section('images', { columns: 'id, bytes, created_at, updated_at', from: 'images', ...uuid }, (row) => ({
      ...row,
      ...imageUrlsOf((row as { readonly id: string }).id),
    })),
  ];
}

/** At most 15 significant digits: a double holds them as they were. */
function withNumber({ object_data_number: text, ...row }: NotificationRow): object {
  return { ...row, object_data_number: text === null ? null : Number(text) };
}
