import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Notification } from '../../../src/contract/notification.js';
import { maintained, startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { testSql } from '../../support/sql.js';
import { createUser } from '../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

test('a start with NOTIFICATION_RETENTION removes old notifications, and lists neither show nor count them', async () => {
  const user = await createUser(postern);
  const list = () =>
    postern.api<Notification[]>('GET', `/admin/v1/users/${user.id}/notifications`, { bearer: postern.adminKey });
  for (const type of ['payment', 'pool', 'request']) {
    await postern.api('POST', '/admin/v1/notifications', {
      bearer: postern.adminKey,
      body: { user_id: user.id, notification_type: type, description: type },
    });
  }
  await postern.database.query(testSql(`update notifications set created_at = created_at - interval '40 days'`));
  expect((await list()).body).toHaveLength(3);

  const second = await postern.another({ NOTIFICATION_RETENTION: 'pool:90d,*:30d' }, maintained);
  const left = await eventually('the old notifications to be removed', async () => {
    const answer = await list();
    return answer.body.length === 1 ? answer : undefined;
  });
  await second.close();
  expect(left.body[0]?.notification_type).toBe('pool');
  expect(left.headers['x-total-count']).toBe('1');
});
