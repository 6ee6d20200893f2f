import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedWebhook, WebhookDelivery } from '../../../src/contract/webhooks.js';
import { expiryTasks } from '../../../src/database/maintenance/expiry.js';
import { runMaintenanceOnce } from '../../../src/database/maintenance/tasks.js';
import { createAdministration } from '../../support/administration.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { stepClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { testSql } from '../../support/sql.js';
import { createUser } from '../../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

let postern: TestApp;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [postern, receiver] = await Promise.all([
    startTestApp({ ALLOW_PRIVATE_NETWORK_TARGETS: 'true' }),
    startWebhookReceiver(),
  ]);
});
afterAll(async () => {
  await postern.close();
  await receiver.close();
});

const { admin } = createAdministration(() => postern);
const countRows = async (table: string) => {
  const [row] = await postern.database.query<{ count: number }>(testSql(`select count(*)::int as count from ${table}`));
  return row?.count;
};
const removeExpired = () => runMaintenanceOnce(postern.database, expiryTasks(365 * 86_400_000));
/** Removes expired rows until the tables have so many. The maintenance of the service may have taken a task at the moment. */
const removeUntil = (counts: Readonly<Record<string, number>>) =>
  eventually('the removal of expired rows', async () => {
    await removeExpired();
    const left = await Promise.all(Object.keys(counts).map(async (table) => [table, await countRows(table)] as const));
    return left.every(([table, count]) => count === counts[table]) || undefined;
  });

test('events and deliveries are kept for 30 days, and the last event number of a user as long as a next event is possible', async () => {
  const { body: webhook } = await admin<IssuedWebhook>('POST', '/webhooks', { url: receiver.url, events: ['*'] });
  const [existing, erased] = [await createUser(postern), await createUser(postern)];
  await admin('DELETE', `/users/${erased.id}`);
  const deliveries = () => admin<WebhookDelivery[]>('GET', `/webhooks/${webhook.id}/deliveries?filter=state:delivered`);
  await eventually('all deliveries', async () => {
    const { body } = await deliveries();
    return body.some(({ type }) => type === 'user.deleted') && body.length >= 3 ? true : undefined;
  });
  const [events = 0, all = 0] = [await countRows('webhook_events'), await countRows('webhook_deliveries')];

  await stepClock(postern.database, '29 days 23 hours');
  await removeExpired();
  expect([await countRows('webhook_events'), await countRows('webhook_deliveries')]).toEqual([events, all]);
  expect(await countRows('webhook_users')).toBe(2);

  await stepClock(postern.database, '30 days 1 hour');
  // The user who still exists goes on with the next number.
  await removeUntil({ webhook_events: 0, webhook_deliveries: 0, webhook_users: 1 });
  await admin('PATCH', `/users/${existing.id}`, { name: 'Ada' });
  const next = await receiver.wait('/', 'the next event', ({ type }) => type === 'user.updated');
  expect(next.data).toMatchObject({ user_id: existing.id, sequence: 2 });

  await admin('POST', `/webhooks/${webhook.id}/replay`, { from: existing.created_at });
  await admin('DELETE', `/webhooks/${webhook.id}`);
  expect(await countRows('webhook_replays')).toBe(0);
  await stepClock(postern.database, '61 days');
  await removeUntil({
    webhook_users: 0,
    webhook_events: 0,
    webhook_deliveries: 0,
    webhook_queues: 0,
    webhook_health: 0,
    webhook_outbox: 0,
  });
});
