import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Event } from '../../../../src/contract/administration.js';
import type { Channel } from '../../../../src/contract/channel.js';
import type { System } from '../../../../src/contract/operation/system.js';
import type { DeliveryTrace } from '../../../../src/contract/push.js';
import { createAdministration } from '../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { startFakeGateway } from '../../../support/mail-gateway.js';
import { scrape } from '../../../support/metrics.js';
import { testSql } from '../../../support/sql.js';
import { createUser, emailLogin, messageOf, newEmail } from '../../../support/users.js';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
let gateway: Awaited<ReturnType<typeof startFakeGateway>>;
let postern: TestApp;
beforeAll(async () => {
  gateway = await startFakeGateway();
  postern = await startTestApp({
    ...{ MAIL_PROVIDER: 'webhook', MAIL_FROM: 'no-reply@example.org', PIN_POLICY: 'off', METRICS_PORT: '0' },
    PUBLIC_URL: 'http://localhost:8080',
    ...{ MAIL_WEBHOOK_URL: gateway.url, MAIL_WEBHOOK_SECRET: secret, ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
    CODE_LIMIT_PER_ADDRESS: '0',
  });
});
afterAll(async () => {
  await postern.close();
  await gateway.close();
});
beforeEach(async () => {
  await postern.database.query(testSql('delete from mail_deliveries'));
  await put('email', false);
});

const { admin } = createAdministration(() => postern);
const put = (name: string, paused: boolean) => admin<Channel>('PUT', `/channels/${name}`, { paused });
const email = async () => (await admin<Channel[]>('GET', '/channels')).body.find(({ name }) => name === 'email');
const changes = async () =>
  (await admin<Event[]>('GET', '/events?filter=type:in:channel.paused;channel.resumed&limit=5')).body;

/** Mails of notifications that providers have accepted, of which the first ones came back or were reported. @param isCode with codes instead */
const store = (mails: number, { complaints = 0, hardBounces = 0 }, isCode = false) =>
  postern.database.query(
    testSql(
      `insert into mail_deliveries
         (user_id, id, provider, provider_reference, address_digest, created_at, complained_at, hard_bounced_at,
          notification_id)
       select gen_random_uuid(), gen_random_uuid(), 'webhook', n::text, '\\x00', db_now(),
              case when n <= $2 then db_now() end, case when n <= $3 then db_now() end,
              case when $4 then null else gen_random_uuid() end
       from generate_series(1, $1::int) n`,
      [mails, complaints, hardBounces, isCode],
    ),
  );

/** Checks the stored mails, as after a report. */
async function check(mails: number, reports: { complaints?: number; hardBounces?: number }) {
  await store(mails, reports);
  await postern.services.channels.checkMails();
  return email();
}

test('a pause holds a channel on all instances within two seconds, and codes go on', async () => {
  const other = await postern.another({ METRICS_PORT: '' }, { blockInterval: 100 });
  try {
    const { status, body } = await put('email', true);
    expect([status, body]).toEqual([
      200,
      { name: 'email', paused: true, paused_at: expect.stringMatching(/Z$/), reason: 'operator' },
    ]);
    expect(postern.services.channels.isPaused('email')).toBe(true);
    expect(postern.services.channels.isPaused('sms')).toBe(false);
    await eventually(
      'the other instance to hold it',
      async () => other.services.channels.isPaused('email') || undefined,
    );
    const user = await createUser(postern, { email: newEmail() });
    const code = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: emailLogin(user.email) });
    expect((await messageOf(postern, code.body.id)).state).toBe('sent');
    await put('email', false);
    await eventually(
      'the other instance to go on',
      async () => !other.services.channels.isPaused('email') || undefined,
    );
  } finally {
    await other.close();
  }
});

test('each change has an audit event, and the same again changes nothing', async () => {
  const first = await put('sms', true);
  expect((await put('sms', true)).body).toEqual(first.body);
  await put('sms', false);
  await put('sms', false);
  const events = (await changes()).slice(0, 2).reverse();
  expect(events.map(({ type, data }) => [type, data])).toEqual([
    ['channel.paused', { channel: 'sms', reason: 'operator' }],
    ['channel.resumed', { channel: 'sms' }],
  ]);
});

test('the list has all channels, and others do not exist', async () => {
  const { body } = await admin<Channel[]>('GET', '/channels');
  expect(body.map(({ name, paused, reason }) => [name, paused, reason])).toEqual([
    ['push', false, null],
    ['email', false, null],
    ['sms', false, null],
  ]);
  expect((await put('fax', true)).status).toBe(404);
  expect((await put('__proto__', true)).status).toBe(404);
  expect((await admin('PUT', '/channels/email', {})).status).toBe(422);
});

test('a paused channel is a finding on the overview, and a metric', async () => {
  const paused = async () =>
    (await scrape(postern.metricsUrl ?? '')).value('postern_channel_paused', { channel: 'push' });
  expect(await paused()).toBe(0);
  await put('push', true);
  expect(await paused()).toBe(1);
  // Findings are kept for half a minute, and another instance has none yet.
  const other = await postern.another({ METRICS_PORT: '' });
  const { body } = await other.api<System>('GET', '/admin/v1/system', { bearer: postern.adminKey });
  await other.close();
  expect(
    body.findings.filter(({ what, level }) => what === 'push' && level === 'warn').map(({ detail }) => detail),
  ).toEqual([expect.stringMatching(/^the steps of notifications are held since .* by an operator$/)]);
  await put('push', false);
});

test.each([
  ['3 complaints about 1,000 mails', 1000, { complaints: 3 }, null],
  ['4 complaints about 1,000 mails', 1000, { complaints: 4 }, 'complaints'],
  ['3 complaints about the first 3 mails', 3, { complaints: 3 }, null],
  ['4 complaints about 200 mails', 200, { complaints: 4 }, 'complaints'],
  ['100 hard bounces of 1,000 mails', 1000, { hardBounces: 100 }, null],
  ['101 hard bounces of 1,000 mails', 1000, { hardBounces: 101 }, 'hard_bounces'],
  ['1 hard bounce of 3 mails', 3, { hardBounces: 1 }, null],
  ['11 hard bounces of 12 mails', 12, { hardBounces: 11 }, 'hard_bounces'],
] as const)('%s: mail pauses by itself, or not', async (_case, mails, reports, reason) => {
  expect(await check(mails, reports)).toMatchObject({ paused: reason !== null, reason });
});

test('only the last 1,000 mails count, and only those since the last pause', async () => {
  await store(200, { hardBounces: 200 });
  await postern.database.query(testSql(`update mail_deliveries set created_at = created_at - interval '1 minute'`));
  expect(await check(1000, {})).toMatchObject({ paused: false });
  expect(await check(20, { hardBounces: 20 })).toMatchObject({ paused: false });
  expect(await check(200, { hardBounces: 200 })).toMatchObject({ reason: 'hard_bounces' });
  await put('email', false);
  expect(await check(1, { hardBounces: 1 })).toMatchObject({ paused: false });
});

test('mails with codes do not count: anybody can ask for them, to any address', async () => {
  await store(200, { hardBounces: 200 }, true);
  expect(await check(10, {})).toMatchObject({ paused: false });
});

test('a paused channel hands no mail of a notification over, and codes go on', async () => {
  await admin('PUT', '/categories/invoice', { steps: [{ channel: 'email' }] });
  const user = await createUser(postern, { email: newEmail() });
  const publish = async () => {
    const body = { user_id: user.id, notification_type: 'payment', category: 'invoice', description: 'Ada paid you' };
    const { status, body: published } = await admin<{ id: string }>('POST', '/notifications', body);
    expect(status).toBe(201);
    return published.id;
  };
  const mailOf = async (id: string) =>
    (await admin<DeliveryTrace>('GET', `/notifications/${id}/deliveries`)).body.email[0];
  const inState = (id: string, state: string) =>
    eventually(`the mail to be ${state}`, async () => ((await mailOf(id))?.state === state ? true : undefined));
  const mails = () =>
    gateway.received.filter(({ to, type }) => to === user.email && type === 'email.notification').length;
  await inState(await publish(), 'sent');
  expect(mails()).toBe(1);
  await put('email', true);
  const held = await publish();
  const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: emailLogin(user.email) });
  expect((await messageOf(postern, body.id)).state).toBe('sent');
  expect((await mailOf(held))?.state).not.toBe('sent');
  expect(mails()).toBe(1);
  await put('email', false);
  await inState(held, 'sent');
  expect(mails()).toBe(2);
});

test('a report causes the check, on the instance that got it, and the pause has an audit event', async () => {
  const user = await createUser(postern, { email: newEmail() });
  const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: emailLogin(user.email) });
  const message = await messageOf(postern, body.id);
  await store(100, { complaints: 4 });
  const event = JSON.stringify({ type: 'mail.complained', id: `gateway-${message.id}`, email: user.email });
  const [eventId, now] = [randomUUID(), new Date()];
  await fetch(`${postern.url}/v1/mail-events/webhook`, {
    method: 'POST',
    body: event,
    headers: {
      'content-type': 'application/json',
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(eventId, now, event),
    },
  });
  await eventually('mail to pause', async () => postern.services.channels.isPaused('email') || undefined);
  expect((await changes())[0]).toMatchObject({
    ...{ type: 'channel.paused', actor: 'system', data: { channel: 'email', reason: 'complaints' } },
  });
});
