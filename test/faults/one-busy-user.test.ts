import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { HashThreads } from '../../src/credentials/hash-threads.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { fastHashes } from '../support/fast-hashes.js';
import { createUser, passwordLogin, signIn } from '../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

/**
 * One user uses a shared part as much as it allows, and another user needs it once. Other files test the queue
 * (crowded-queue, silent-push-endpoints), the connections (one-locked-row, expensive-lists), streams (streams) and images (images).
 */

/** How many wrong passwords have been hashed. Each hash waits until `hold` resolves. */
let wrongHashes = 0;
let hold: Promise<void> | undefined;
const heldHashes: HashThreads = {
  ...fastHashes,
  async verify(stored, secret) {
    if (secret === 'wrong') {
      wrongHashes += 1;
      await hold;
    }
    return fastHashes.verify(stored, secret);
  },
};

let receiver: WebhookReceiver;
let postern: TestApp;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  const env = { LOGIN_LIMIT_PER_ADDRESS: '0', ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOG_LEVEL: 'silent' };
  // Many requests wait for connections, on a busy machine for a long time.
  postern = await startTestApp(env, { hashThreads: heldHashes, queryTimeout: 60_000 });
});
afterAll(async () => {
  await postern.close();
  await receiver.close();
});

test('a hundred parallel logins of one user need no more hashes than guesses', async () => {
  const busy = await createUser(postern);
  let release: () => void = () => undefined;
  hold = new Promise((resolve) => {
    release = resolve;
  });
  onTestFinished(release);
  const flood = Array.from({ length: 100 }, async () => {
    const { status } = await postern.api<Authentication>('POST', '/v1/tokens', {
      body: passwordLogin(busy.username, 'wrong'),
    });
    return status;
  });
  await eventually('the first hash', async () => (wrongHashes > 0 ? true : undefined));
  release();
  const statuses = await Promise.all(flood);
  expect(statuses.filter((status) => status === 201)).toHaveLength(5);
  // Each login waits for a guess before it needs a hash, so other users do not wait for a hundred hashes.
  expect(wrongHashes).toBe(5);
});

test('a receiver gets the event of one user while it answers none of another one', async () => {
  const [busy, other] = [await createUser(postern), await createUser(postern)];
  await postern.api('POST', '/admin/v1/webhooks', {
    bearer: postern.adminKey,
    body: { url: receiver.url, events: ['user.*', 'device.*', 'login.*'] },
  });
  const eventsOf = ({ id }: { readonly id: string }) =>
    receiver.received.filter(({ data }) => data.user_id === id).length;
  receiver.answer = ({ data }) => (data.user_id === busy.id ? 500 : 204);
  for (let at = 0; at < 100; at += 1) {
    await postern.api('PATCH', `/admin/v1/users/${busy.id}`, { bearer: postern.adminKey, body: { name: `No ${at}` } });
  }
  await signIn(postern, other);
  await eventually('the events of the other user', async () => (eventsOf(other) >= 2 ? true : undefined));
  // The first event of the busy user is tried again, and the others wait for it.
  expect(eventsOf(busy)).toBeLessThan(20);
});
