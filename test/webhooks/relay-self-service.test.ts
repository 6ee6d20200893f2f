import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Account } from '../../src/contract/account/account.js';
import { codeTo, createSelfService } from '../support/account.js';
import { createAdministration } from '../support/administration.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { newEmail, password } from '../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

// Here, requests of users cause the events. The other tests of events insert the audit events themselves.
let postern: TestApp;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [postern, receiver] = await Promise.all([
    startTestApp({
      ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
      CODE_LIMIT_PER_ADDRESS: '0',
      LOGIN_LIMIT_PER_ADDRESS: '0',
      REGISTRATION: 'on',
      GUESTS: 'on',
    }),
    startWebhookReceiver(),
  ]);
  const events = ['user.*', 'identity.*', 'registration.*', 'recovery.*', 'credential.*', 'guest.*'];
  await admin('POST', '/webhooks', { url: receiver.url, events });
});
afterAll(async () => {
  await postern.close();
  await receiver.close();
});

const { admin, eventsOf } = createAdministration(() => postern);
const { person, ask } = createSelfService(() => postern);

/** The events that the receiver got about a user, once it has one of the given type. */
async function receivedOf({ id }: { id: string }, last: string) {
  const own = () => receiver.received.filter(({ data }) => data.user_id === id);
  await eventually(`the event ${last}`, async () => own().find(({ type }) => type === last));
  return own();
}

test('the events of a registration have the id of the new user, and are in the activity of this user', async () => {
  const email = newEmail();
  const { body: begun } = await postern.api('POST', '/v1/registrations', {
    body: { identity: { type: 'email', value: email } },
  });
  const { body: account } = await postern.api<Account>('POST', `/v1/registrations/${begun.id}`, {
    body: { secret: await codeTo(postern, email) },
  });
  expect(
    (await receivedOf(account, 'registration.completed')).map(({ type, data }) => [type, data.identity_type]),
  ).toEqual([
    ['user.created', undefined],
    ['identity.verified', 'email'],
    ['registration.completed', undefined],
  ]);
  expect((await eventsOf(account.id)).map(({ type }) => type)).toEqual([
    'user.created',
    'identity.verified',
    'registration.completed',
  ]);
});

test('a user who proves a new address causes the events identity.verified and user.updated', async () => {
  const known = await person();
  const email = newEmail();
  const { body: begun } = await ask<{ id: string }>(known, 'POST', '/email', {
    email,
    proof: { type: 'password', secret: password },
  });
  await ask(known, 'POST', `/email/${begun.id}`, { secret: await codeTo(postern, email) });
  await receivedOf(known.user, 'user.updated');
  const received = await receivedOf(known.user, 'identity.verified');
  expect(received.find(({ type }) => type === 'identity.verified')?.data).toMatchObject({ identity_type: 'email' });
  expect(received.find(({ type }) => type === 'user.updated')?.data).toMatchObject({ changed_fields: ['email'] });
});

test('the event of a recovery says what was recovered', async () => {
  const email = newEmail();
  const { body: user } = await admin('POST', '/users', { username: `user${randomUUID()}`, email, password });
  const { body: begun } = await postern.api('POST', '/v1/recoveries', {
    body: { identity: { type: 'email', value: email }, purpose: 'password' },
  });
  const recovered = { secret: await codeTo(postern, email), password: 'there and back by sea' };
  expect((await postern.api('POST', `/v1/recoveries/${begun.id}`, { body: recovered })).status).toBe(200);
  const received = await receivedOf(user, 'recovery.completed');
  expect(received.at(-1)?.data).toMatchObject({ recovers: 'password' });
  expect(received.map(({ type }) => type)).toContain('credential.changed');
});

test('the merge of a guest causes the events guest.merged and user.deleted', async () => {
  const { body: guest } = await postern.api<{ token: string; user_id: string }>('POST', '/v1/tokens', {
    body: { authenticator: 'guest', device: {} },
  });
  const known = await person();
  const body = { token: guest.token };
  expect((await postern.api('PUT', '/v1/account/guest', { bearer: known.bearer, body })).status).toBe(200);
  const merged = await receivedOf(known.user, 'guest.merged');
  expect(merged.find(({ type }) => type === 'guest.merged')?.data).toMatchObject({ guest_id: guest.user_id });
  await receivedOf({ id: guest.user_id }, 'user.deleted');
});
