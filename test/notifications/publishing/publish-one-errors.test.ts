import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NotificationInput } from '../../../src/contract/notification.js';
import type { Notifications } from '../../../src/notifications/notifications.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createInbox, createTestNotifications, errorsOf } from '../../support/inbox.js';

let db: TestDatabase;
let notifications: Notifications;
let userId: string;
beforeAll(async () => {
  db = await createTestDatabase();
  notifications = createTestNotifications(db.database);
  userId = await createInbox(db.database);
});
afterAll(() => db.drop());

test.each<[string, () => NotificationInput]>([
  ['no user', () => ({ notification_type: 'payment', description: 'A payment' })],
  ['an unknown user', () => ({ user_id: randomUUID(), notification_type: 'payment', description: 'A payment' })],
  ['an unknown type', () => ({ user_id: userId, notification_type: 'gift', description: 'A gift' })],
  [
    'an unknown user and an unknown type',
    () => ({ user_id: randomUUID(), notification_type: 'gift', description: 'A gift' }),
  ],
])('publishing one and publishing many refuse the same errors: %s', async (_, make) => {
  const input = make();
  const one = await errorsOf(notifications.publishOne(input));
  const many = await errorsOf(db.database.transaction((tx) => notifications.publish(tx, input)));
  expect(one).not.toEqual([]);
  expect(one).toEqual(many);
});
