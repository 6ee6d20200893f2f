import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { newEmail } from '../../../../test/support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../../../test/support/webhook-receiver.js';
import { createWebhookVerifier, type PosternServer, type WebhookEventPattern } from '../../src/index.js';
import { backendOf } from '../support.js';

let app: TestApp;
let receiver: WebhookReceiver;
let server: PosternServer;
beforeAll(async () => {
  [app, receiver] = await Promise.all([
    startTestApp({ ALLOW_PRIVATE_NETWORK_TARGETS: 'true' }),
    startWebhookReceiver(),
  ]);
  ({ server } = backendOf(app));
});
afterAll(async () => {
  await app?.close();
  await receiver?.close();
});

const once = () => ({ idempotencyKey: randomUUID() });
const subscribe = (path: string, events: readonly WebhookEventPattern[]) =>
  server.webhooks.create({ url: `${receiver.url}${path}`, events, payload: 'full' }, once());

test('a delivery of Postern passes the verifier, by the secret and by the public keys, with the types of its event', async () => {
  const path = `/${randomUUID()}`;
  const { id, secret } = await subscribe(path, ['user.created']);
  const email = newEmail();
  const user = await server.users.create({ email }, once());
  const { headers, text: body } = await receiver.wait(path, 'the event', ({ data }) => data.user_id === user.id);
  for (const options of [{ secrets: [secret] }, { jwks: server }] as const) {
    const { payload } = await createWebhookVerifier(options)({ headers, body });
    if (payload.type !== 'user.created') throw new Error(`It is ${payload.type}.`);
    expect(payload.endpoint_id).toBe(id);
    expect(payload.data).toMatchObject({ user_id: user.id, sequence: 1, user: { email } });
  }
  // An event that is sent again has the same id.
  const [delivery] = (await server.webhooks.deliveries(id).page()).data;
  await server.webhooks.replay(id, { delivery_ids: [delivery?.id ?? ''] });
  await eventually('the replay', async () => {
    const all = receiver.received.filter((message) => message.path === path && message.id === delivery?.event_id);
    return all.length === 2 ? all : undefined;
  });
  await server.webhooks.replay(id, { from: new Date(Date.now() - 3_600_000) });
  await eventually('the replay of an hour', async () => {
    const all = receiver.received.filter((message) => message.path === path && message.id === delivery?.event_id);
    return all.length === 3 ? all : undefined;
  });
  await server.webhooks.delete(id);
});

test('a webhook is read, tested, changed and deleted, and its secret is replaced', async () => {
  const path = `/${randomUUID()}`;
  const { id, secret } = await subscribe(path, ['login.*']);
  expect((await server.webhooks.list().page()).data.map((webhook) => webhook.id)).toContain(id);
  expect(await server.webhooks.test(id, { type: 'login.locked' })).toMatchObject({ ok: true, status: 204 });
  expect((await receiver.wait(path, 'the test event')).type).toBe('login.locked');
  expect(await server.webhooks.test(id)).toMatchObject({ ok: true });
  expect((await server.webhooks.rotateSecret(id)).secret).not.toBe(secret);
  expect(await server.webhooks.change(id, { enabled: false, events: ['*'] })).toMatchObject({ enabled: false });
  expect(await server.webhooks.get(id)).toMatchObject({ events: ['*'], disabled_reason: 'operator' });
  await server.webhooks.delete(id);
  expect(await server.webhooks.get(id)).toBeNull();
});
