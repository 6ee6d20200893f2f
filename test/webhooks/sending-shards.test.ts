import { afterAll, beforeAll, expect, test } from 'vitest';
import { startShardedApp, type TestApp } from '../support/app.js';
import { createTestShards } from '../support/shards.js';
import { createUser, login } from '../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

let app: TestApp;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  app = await startShardedApp(await createTestShards(3), {
    LOGIN_LIMIT_PER_ADDRESS: '0',
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
  });
});
afterAll(async () => {
  await app.close();
  await receiver.close();
});

test('the events of users on each server reach an endpoint, in the order of each user', async () => {
  const { status } = await app.api('POST', '/admin/v1/webhooks', {
    bearer: app.adminKey,
    body: { url: `${receiver.url}/hook`, events: ['user.*', 'login.*'] },
  });
  expect(status).toBe(201);
  const servers = new Set<string>();
  while (servers.size < 3) {
    const user = await createUser(app);
    servers.add(app.database.shardOf(user.id).name);
    await login(app, user);
    await receiver.wait(
      '/hook',
      `the login of ${user.id}`,
      ({ type, data }) => type === 'login.approved' && data.user_id === user.id,
    );
    const events = receiver.received.filter(({ data }) => data.user_id === user.id);
    expect(events.map(({ type, data }) => [type, data.sequence])).toEqual([
      ['user.created', 1],
      ['login.approved', 2],
    ]);
  }
});
