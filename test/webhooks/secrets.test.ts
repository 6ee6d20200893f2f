import { createWebhookVerifier } from '@postern/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedWebhook, WebhookPublicKey } from '../../src/contract/webhooks.js';
import type { Position } from '../../src/database/maintenance/tasks.js';
import { countOldKeyUses, reencryptionTask } from '../../src/keys/old-keys.js';
import { countUnreadable } from '../../src/keys/unreadable.js';
import { createSecretKeys } from '../../src/lib/crypto/secret-keys.js';
import { createAdministration } from '../support/administration.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser } from '../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const [oldKey, newKey] = ['old-'.repeat(10), 'new-'.repeat(10)];

/** Only the new key is configured. */
let postern: TestApp;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [postern, receiver] = await Promise.all([
    startTestApp({ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', SECRET_KEY: newKey }),
    startWebhookReceiver(),
  ]);
});
afterAll(async () => {
  await postern.close();
  await receiver.close();
});

test('after a rotation of the secret key, deliveries have the same signatures without the old key', async () => {
  // An instance with the old key creates the endpoint, and replaces its secret.
  const before = await postern.another({ SECRET_KEY: oldKey });
  const { admin } = createAdministration(() => before);
  const endpoint = { url: `${receiver.url}/rotated`, events: ['user.created'] };
  const { body: webhook } = await admin<IssuedWebhook>('POST', '/webhooks', endpoint);
  const { body: rotated } = await admin<{ secret: string }>('POST', `/webhooks/${webhook.id}/rotate-secret`);
  const { body: jwks } = await before.api<{ keys: WebhookPublicKey[] }>('GET', '/.well-known/jwks.json');
  await before.close();

  const { database } = postern;
  const encryptedWithOldKey = [
    { kind: 'secrets of webhooks', count: 1 },
    { kind: 'previous secrets of webhooks', count: 1 },
    { kind: 'signing keys of webhooks', count: 1 },
  ];
  const during = createSecretKeys([newKey, oldKey]);
  expect(await countOldKeyUses(database, during)).toEqual(encryptedWithOldKey);
  // The instance has run this task at its start, when nothing was stored. So it is not due.
  const task = reencryptionTask(during);
  let position: Position | undefined;
  do position = (await database.transaction((tx) => task.step(tx, position))).next;
  while (position !== undefined);
  expect(await countOldKeyUses(database, during)).toEqual([]);
  expect(await countUnreadable(database, createSecretKeys([newKey]))).toEqual([]);

  const user = await createUser(postern);
  const event = await receiver.wait('/rotated', 'the creation', ({ data }) => data.user_id === user.id);
  const message = { headers: event.headers as Record<string, string>, body: event.text };
  const verifiers = [
    createWebhookVerifier({ secrets: [rotated.secret] }),
    createWebhookVerifier({ secrets: [webhook.secret] }),
    createWebhookVerifier({ jwks }),
  ];
  for (const verify of verifiers) expect((await verify(message)).id).toBe(event.id);
});
