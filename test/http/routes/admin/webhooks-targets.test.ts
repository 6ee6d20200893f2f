import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedWebhook, WebhookDelivery, WebhookTest } from '../../../../src/contract/webhooks.js';
import { blocked, loopbackForms, urlOf } from '../../../delivery/addresses.js';
import { startTcp } from '../../../delivery/local-server.js';
import { createAdministration } from '../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { testSql } from '../../../support/sql.js';
import { createUser } from '../../../support/users.js';

// This service may call public addresses only, as in production.
let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const { admin, refused } = createAdministration(() => postern);
const events = ['user.*'];

test('a webhook is neither created nor changed with a URL that may not be called', async () => {
  const { body: webhook } = await admin<IssuedWebhook>('POST', '/webhooks', { url: 'https://example.com/', events });
  // One address of each range: the others are checked at the connection, in webhook-sender.test.ts.
  const ranges = new Map(blocked);
  const urls = [
    ...[...ranges.values()].map(urlOf),
    ...loopbackForms.map((host) => `https://${host}/`),
    ...['http://example.com/', 'ftp://example.com/', 'https://user@example.com/', 'https://example.com:25/'],
    ...['https://[fe80::1%25eth0]/', 'https://example.com:0/', 'https://exa mple.com/'],
  ];
  for (const url of urls) {
    const expected = { status: 422, errors: [['url', 'invalid_url']] };
    expect([url, await refused('POST', '/webhooks', { url, events })]).toEqual([url, expected]);
  }
  for (const url of urls.slice(0, 3)) {
    const change = await refused('PATCH', `/webhooks/${webhook.id}`, { url });
    expect([url, change]).toEqual([url, { status: 422, errors: [['url', 'invalid_url']] }]);
  }
  await admin('DELETE', `/webhooks/${webhook.id}`);
});

test('each connection is checked: tests and deliveries do not reach a name or a stored URL of a private address', async () => {
  const target = await startTcp(() => expect.unreachable('connected'));
  const url = `https://localhost:${target.port}/`;
  const { status, body: webhook } = await admin<IssuedWebhook>('POST', '/webhooks', { url, events });
  expect([status, webhook]).toEqual([201, expect.anything()]);
  const sendTest = () => admin<WebhookTest>('POST', `/webhooks/${webhook.id}/test`);
  const error = 'localhost has an address that is not public';
  expect((await sendTest()).body).toMatchObject({ ok: false, status: null, error });
  await createUser(postern);
  const delivery = await eventually('the attempt', async () => {
    const { body } = await admin<WebhookDelivery[]>('GET', `/webhooks/${webhook.id}/deliveries`);
    return body.find(({ attempts }) => attempts > 0);
  });
  expect(delivery).toMatchObject({ state: 'pending', status: null, error });
  // Stores a URL that today's rules refuse, as if it was stored when other rules applied.
  await postern.database.query(
    testSql('update webhook_endpoints set url = $1', [`https://[::ffff:127.0.0.1]:${target.port}/`]),
  );
  expect((await sendTest()).body).toMatchObject({ ok: false, status: null, error: 'the address is not public' });
  await admin('DELETE', `/webhooks/${webhook.id}`);
});
