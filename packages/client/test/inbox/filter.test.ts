import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createInbox, type NotificationConditions, type NotificationFilter, type Postern } from '../../src/index.js';
import { createNetwork, signedIn } from '../support.js';

let app: TestApp;
let postern: Postern;
let userId: string;
const network = createNetwork();
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
  const signed = await signedIn(app, { fetch: network.fetch });
  postern = signed.postern;
  userId = signed.user.id;
  const rows = [
    { notification_type: 'payment', notification_key: 'sent', actor: 'Linus, the 2nd', description: 'You paid 30' },
    { notification_type: 'pool', actor: 'Ada: [x];y|z\\', description: 'paid you', object_data_number: 12 },
    { notification_type: 'request', description: 'asks', object_data_number: 30 },
  ];
  for (const row of rows) await publish(row);
});
afterAll(() => app.close());

const publish = (row: object) =>
  app.api('POST', '/admin/v1/notifications', {
    ...{ bearer: app.adminKey, body: { user_id: userId, ...row } },
    headers: { 'idempotency-key': randomUUID() },
  });

async function found(filter: NotificationFilter): Promise<string[]> {
  const { data } = await createInbox(postern).list({ filter, sort: 'created_at:asc' }).page();
  return data.map(({ notification_type }) => notification_type);
}

test.each<[string, NotificationFilter, string[]]>([
  ['a value', { notification_type: 'pool' }, ['pool']],
  ['any of several values', { notification_type: ['pool', 'payment'] }, ['payment', 'pool']],
  ['none of several values', { notification_type: { neq: ['pool', 'payment'] } }, ['request']],
  ['a part of a text', { description: { like: 'PAID' } }, ['payment', 'pool']],
  ['a text with a comma', { actor: 'Linus, the 2nd' }, ['payment']],
  ['a text with every special character', { actor: 'Ada: [x];y|z\\' }, ['pool']],
  ['none of several texts', { actor: { neq: ['Linus, the 2nd', 'Ada: [x];y|z\\'] } }, ['request']],
  ['a range of numbers', { object_data_number: { gt: 12, lte: 30 } }, ['request']],
  ['times', { created_at: { gte: new Date(0), lt: '2100-01-01T00:00:00Z' } }, ['payment', 'pool', 'request']],
  ['two conditions', { description: { like: 'paid' }, notification_type: 'pool' }, ['pool']],
  ['a condition that is not set', { actor: undefined, notification_type: 'pool' }, ['pool']],
  ['the grammar of the service', 'notification_type:in:pool;request', ['pool', 'request']],
  ['nothing', {}, ['payment', 'pool', 'request']],
])('a filter by %s finds exactly the notifications that it describes', async (_name, filter, types) => {
  expect(await found(filter)).toEqual(types);
});

test('a condition without a value is refused before anything is sent', async () => {
  const sent = network.sent.length;
  await expect(
    createInbox(postern)
      .list({ filter: { actor: [] } })
      .page(),
  ).rejects.toThrow(/needs a value/);
  expect(network.sent).toHaveLength(sent);
});

test('a filter for any text finds exactly that text', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' }), async (text) => {
      await publish({ notification_type: 'payment', description: 'x', object_data_string: text });
      const filter: NotificationConditions = { object_data_string: { eq: text }, description: 'x' };
      expect(await found(filter)).toContain('payment');
    }),
    { numRuns: 30 },
  );
});

test('the live inbox and mutes take conditions too', async () => {
  const inbox = createInbox(postern);
  const mute = await inbox.mutes.add({ notification_type: ['pool', 'request'] });
  expect(mute.filter).toBe('notification_type:in:pool;request');
  await inbox.mutes.remove(mute.id);
  const changed = [];
  for await (const event of inbox.changes({ filter: { notification_type: 'pool' } }))
    changed.push(event.type === 'put' ? event.notification.notification_type : event.type);
  expect(new Set(changed)).toEqual(new Set(['pool']));
});
