import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedWebhook, Webhook, WebhookDelivery } from '../../src/contract/webhooks.js';
import { createAdministration } from '../support/administration.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';
import { createUser } from '../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

let postern: TestApp;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  postern = await startTestApp({ ALLOW_PRIVATE_NETWORK_TARGETS: 'true' });
});
afterAll(async () => {
  await postern.close();
  await receiver.close();
});

const { admin } = createAdministration(() => postern);
const rows = <T extends object>(text: string, values: unknown[] = []) =>
  postern.database.query<T>(testSql(text, values));

test('a queue whose deliveries have expired is removed, and is not taken again and again', async () => {
  const webhook = { url: `${receiver.url}/expired`, events: ['user.created'] };
  const { id } = (await admin<IssuedWebhook>('POST', '/webhooks', webhook)).body;
  await admin('PATCH', `/webhooks/${id}`, { enabled: false });
  const [expired, partly] = [randomUUID(), (await createUser(postern)).id];
  // After 30 days, the maintenance removes deliveries, also those of a disabled webhook.
  await rows(
    `with users (id, sequence) as (values ($1::uuid, null::bigint), ($2, 1))
     insert into webhook_queues (user_id, endpoint_id, pending, due_at) select id, $3, 3, now() from users`,
    [expired, partly, id],
  );
  await eventually('the event', async () => {
    const [event] = await rows(
      `insert into webhook_deliveries (user_id, id, endpoint_id, sequence, event_id, type, created_at)
       select user_id, gen_random_uuid(), $2, sequence, id, type, now() from webhook_events where user_id = $1
       returning id`,
      [partly, id],
    );
    return event;
  });
  await admin('PATCH', `/webhooks/${id}`, { enabled: true });
  await receiver.wait('/expired', 'the delivery', ({ data }) => data.user_id === partly);
  await eventually(
    'the removal of the queues',
    async () => (await rows('select from webhook_queues where endpoint_id = $1', [id])).length === 0 || undefined,
  );
  expect((await admin<Webhook>('GET', `/webhooks/${id}`)).body.pending).toBe(0);
  const { body } = await admin<WebhookDelivery[]>('GET', `/webhooks/${id}/deliveries`);
  expect(body.map(({ user_id, state }) => [user_id, state])).toEqual([[partly, 'delivered']]);
});
