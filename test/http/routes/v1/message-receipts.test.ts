import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { OutboxMessage } from '../../../../src/contract/administration.js';
import type { System } from '../../../../src/contract/operation/system.js';
import type { DeliveryTrace } from '../../../../src/contract/push.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { scrape } from '../../../support/metrics.js';
import { rsaKeys } from '../../../support/rsa-keys.js';
import { testSql } from '../../../support/sql.js';
import { createUser, messageOf, newPhone, smsLogin } from '../../../support/users.js';

const accountSid = `AC${'0'.repeat(32)}`;
const authToken = 'twilio-auth-token-0123456789';
const signatureSecret = 'vonage-signature-secret-0123456789';
const publicUrl = 'https://login.example.com/auth';

/** What the fake of both vendors does with the next messages. */
let behaviour: { twilio: number; vonage: number; beforeAnswer?: (messageId: string, sid: string) => Promise<unknown> };
let sent: { readonly vendor: string; readonly reference: string }[] = [];
const vendor = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const isTwilio = request.url !== '/v1/messages';
  const reference = isTwilio ? `SM${randomUUID().replaceAll('-', '')}` : randomUUID();
  sent.push({ vendor: isTwilio ? 'twilio' : 'vonage', reference });
  const callback = isTwilio ? new URLSearchParams(text).get('StatusCallback') : JSON.parse(text).webhook_url;
  const messageId = new URL(callback).searchParams.get('message') ?? '';
  await behaviour.beforeAnswer?.(messageId, reference);
  const body = isTwilio ? { sid: reference } : { message_uuid: reference };
  response.writeHead(isTwilio ? behaviour.twilio : behaviour.vonage).end(JSON.stringify(body));
});

let postern: TestApp;
beforeAll(async () => {
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  const { privateKey } = rsaKeys();
  postern = await startTestApp({
    ...{ SMS_PROVIDER: 'twilio,vonage', SMS_SENDER: 'Example', PUBLIC_URL: publicUrl },
    ...{ TWILIO_ACCOUNT_SID: accountSid, TWILIO_AUTH_TOKEN: authToken, TWILIO_URL: url, VONAGE_URL: url },
    ...{ VONAGE_APPLICATION_ID: randomUUID(), VONAGE_SIGNATURE_SECRET: signatureSecret },
    VONAGE_PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', CODE_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off', METRICS_PORT: '0' },
  });
});
afterAll(async () => {
  await postern.close();
  vendor.close();
});
beforeEach(() => {
  behaviour = { twilio: 201, vonage: 202 };
  sent = [];
});

type State = OutboxMessage['state'];

/** Starts a login by SMS, and returns its message as soon as it has one of these states. */
async function sendUntil(...states: State[]): Promise<OutboxMessage> {
  const user = await createUser(postern, { phone: newPhone() });
  const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
  return messageOf(postern, body.id, states);
}

async function read(id: string): Promise<OutboxMessage> {
  const { body } = await postern.api<OutboxMessage[]>('GET', `/admin/v1/outbox?filter=id:${id}`, {
    bearer: postern.adminKey,
  });
  return body[0] ?? expect.unreachable('the message is gone');
}

const lastReference = () => sent.at(-1)?.reference ?? expect.unreachable('nothing was sent');

function post(path: string, body: string, headers: Record<string, string>): Promise<number> {
  return fetch(`${postern.url}/v1/message-receipts/${path}`, { method: 'POST', body, headers }).then(
    ({ status }) => status,
  );
}

function twilioReceipt(
  messageId: string,
  fields: Readonly<Record<string, string>>,
  { token = authToken, url = publicUrl, signed = fields } = {},
): Promise<number> {
  const path = `twilio?message=${messageId}`;
  const account = { AccountSid: accountSid };
  const sorted = Object.entries({ ...account, ...signed }).sort(([one], [other]) => (one < other ? -1 : 1));
  const data = `${url}/v1/message-receipts/${path}${sorted.flat().join('')}`;
  return post(path, new URLSearchParams({ ...account, ...fields }).toString(), {
    'content-type': 'application/x-www-form-urlencoded',
    'x-twilio-signature': createHmac('sha1', token).update(data).digest('base64'),
  });
}

async function vonageReceipt(
  body: object,
  { secret = signatureSecret, hashed = JSON.stringify(body), alg = 'HS256' } = {},
): Promise<number> {
  const claims = { api_key: 'abcd1234', payload_hash: createHash('sha256').update(hashed).digest('hex') };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg })
    .setIssuedAt()
    .setIssuer('Vonage')
    .sign(new TextEncoder().encode(secret));
  return post('vonage', JSON.stringify(body), {
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
  });
}

// This test is the first one, because Postern would skip Twilio for a time after several failures.
test('the metrics count messages by provider, also those that another provider sends and those with a receipt', async () => {
  const counts = async () => {
    const { value } = await scrape(postern.metricsUrl ?? '');
    return ['twilio sent', 'vonage sent', 'twilio delivered', 'vonage delivered'].map((series) => {
      const [provider = '', outcome = ''] = series.split(' ');
      return value('postern_messages_total', { channel: 'sms', provider, outcome });
    });
  };
  const before = await counts();
  const { id } = await sendUntil('sent');
  await twilioReceipt(id, { MessageSid: lastReference(), MessageStatus: 'delivered' });
  behaviour.twilio = 500;
  await sendUntil('sent');
  const increases = (await counts()).map((count, index) => count - (before[index] ?? 0));
  expect(increases).toEqual([1, 1, 1, 0]);
});

describe('receipts of Twilio', () => {
  test('say that a message has arrived, also when they are repeated or come in another order', async () => {
    const { id } = await sendUntil('sent');
    const receiptWith = (MessageStatus: string) => ({ MessageSid: lastReference(), MessageStatus, To: '+1 202&x=y' });
    for (const status of ['queued', 'sent']) expect(await twilioReceipt(id, receiptWith(status))).toBe(204);
    expect(await read(id)).toMatchObject({ state: 'sent', provider: 'twilio' });
    for (const status of ['delivered', 'delivered', 'sent', 'undelivered'])
      expect(await twilioReceipt(id, receiptWith(status))).toBe(204);
    expect(await read(id)).toMatchObject({ state: 'delivered', last_error: null });
  });

  test('say why a message did not arrive, and a later delivery wins', async () => {
    const { id, user_id } = await sendUntil('sent');
    const failed = { MessageSid: lastReference(), MessageStatus: 'undelivered', ErrorCode: '30003' };
    expect(await twilioReceipt(id, failed)).toBe(204);
    expect(await twilioReceipt(id, failed)).toBe(204);
    const reason = 'twilio: the phone cannot be reached, code 30003';
    expect(await read(id)).toMatchObject({ state: 'undelivered', last_error: reason });
    const { body: events } = await postern.api<{ data: object }[]>(
      'GET',
      `/admin/v1/events?filter=user_id:${user_id},type:message.undelivered`,
      { bearer: postern.adminKey },
    );
    expect(events).toMatchObject([{ data: { message_id: id, provider: 'twilio', reason } }]);
    await twilioReceipt(id, { MessageSid: lastReference(), MessageStatus: 'delivered' });
    expect(await read(id)).toMatchObject({ state: 'delivered', last_error: null });
  });

  test.each([
    ['with another token', { token: 'another-token-0123456789' }],
    ['for another URL', { url: 'https://other.example.com' }],
    ['for other fields', { signed: { MessageSid: 'SM1', MessageStatus: 'sent' } }],
  ])('that are signed %s are refused', async (_what, options) => {
    const { id } = await sendUntil('sent');
    expect(await twilioReceipt(id, { MessageSid: lastReference(), MessageStatus: 'failed' }, options)).toBe(403);
    expect((await read(id)).state).toBe('sent');
  });

  test('about unknown messages, other references and other attempts change nothing', async () => {
    const { id } = await sendUntil('sent');
    for (const [message, MessageSid] of [
      [id, 'SM0'],
      [id, ''],
      [randomUUID(), lastReference()],
      ['x', lastReference()],
    ])
      expect(await twilioReceipt(message ?? '', { MessageSid: MessageSid ?? '', MessageStatus: 'failed' })).toBe(204);
    expect((await read(id)).state).toBe('sent');
  });

  test('that come before the message is stored as sent are kept', async () => {
    behaviour.beforeAnswer = (id, MessageSid) =>
      twilioReceipt(id, { MessageSid, MessageStatus: 'failed', ErrorCode: '30005' });
    expect(await sendUntil('undelivered')).toMatchObject({
      state: 'undelivered',
      provider: 'twilio',
      last_error: 'twilio: the number is not known, code 30005',
    });
    behaviour.beforeAnswer = (id, MessageSid) => twilioReceipt(id, { MessageSid, MessageStatus: 'delivered' });
    expect(await sendUntil('delivered')).toMatchObject({ state: 'delivered', last_error: null });
  });

  test('of an earlier attempt do not end a retry', async () => {
    const { id } = await sendUntil('sent');
    const first = { MessageSid: lastReference(), MessageStatus: 'failed' };
    await twilioReceipt(id, first);
    behaviour.beforeAnswer = () => twilioReceipt(id, first);
    const { status } = await postern.api('POST', `/admin/v1/outbox/${id}/retry`, { bearer: postern.adminKey });
    expect(status).toBe(200);
    await eventually('the second attempt', async () => ((await read(id)).state === 'sent' ? true : undefined));
    await twilioReceipt(id, first);
    expect(await read(id)).toMatchObject({ state: 'sent', attempts: 2 });
    expect(sent).toHaveLength(2);
  });
});

describe('receipts of Vonage', () => {
  const receipt = (id: string, status: string, more: object = {}) => ({
    ...{ message_uuid: lastReference(), client_ref: id, channel: 'sms', status, timestamp: '2026-02-03T12:14:25Z' },
    ...more,
  });

  test('say that a message has arrived, or why it did not', async () => {
    behaviour.twilio = 500;
    const { id } = await sendUntil('sent');
    expect(await read(id)).toMatchObject({ provider: 'vonage' });
    expect(await vonageReceipt(receipt(id, 'submitted'))).toBe(204);
    expect((await read(id)).state).toBe('sent');
    const error = { type: 'https://developer.vonage.com/api-errors/messages#1180', title: 1180 };
    const detail = 'Absent Subscriber Temporary <b>';
    expect(await vonageReceipt(receipt(id, 'undeliverable', { error: { ...error, detail } }))).toBe(204);
    expect(await read(id)).toMatchObject({
      state: 'undelivered',
      last_error: 'vonage: Absent Subscriber Temporary b, code 1180',
    });
    expect(await vonageReceipt(receipt(id, 'delivered'))).toBe(204);
    expect(await read(id)).toMatchObject({ state: 'delivered', last_error: null });
  });

  test.each([
    ['with another secret', { secret: 'another-secret-0123456789-0123456789' }],
    ['for another body', { hashed: '{}' }],
    ['by another algorithm', { alg: 'HS512' }],
  ])('that are signed %s are refused', async (_what, options) => {
    behaviour.twilio = 500;
    const { id } = await sendUntil('sent');
    expect(await vonageReceipt(receipt(id, 'rejected'), options)).toBe(403);
    expect((await read(id)).state).toBe('sent');
  });
});

test('other requests to the route are refused', async () => {
  expect(await post('twilio', '', { 'content-type': 'application/x-www-form-urlencoded' })).toBe(403);
  expect(await post('vonage', '{}', { 'content-type': 'application/json', authorization: 'Bearer x' })).toBe(403);
  expect(await post('sns', '{}', { 'content-type': 'application/json' })).toBe(404);
  expect(await post('constructor', '{}', { 'content-type': 'application/json' })).toBe(404);
  expect(await post('twilio', '<x/>', { 'content-type': 'application/xml' })).toBe(415);
});

test('the state of the system names the provider that fails, until it works again', async () => {
  const providers = async () =>
    (await postern.api<System>('GET', '/admin/v1/system', { bearer: postern.adminKey })).body.providers.filter(
      ({ channel }) => channel === 'sms',
    );
  behaviour.twilio = 500;
  for (let count = 0; count < 3; count += 1) await sendUntil('sent');
  const failing = await eventually('the failure', async () => {
    const all = await providers();
    return all[0]?.failing_since === null ? undefined : all;
  });
  expect(failing).toEqual([
    {
      ...{ channel: 'sms', name: 'twilio', has_receipts: true, failing_since: expect.any(String) },
      last_error: 'twilio: the provider failed or did not understand the request (500)',
    },
    { channel: 'sms', name: 'vonage', has_receipts: true, failing_since: null, last_error: null },
  ]);
  // Both providers fail, so Postern tries Twilio although it skips it for now.
  behaviour = { twilio: 201, vonage: 500 };
  await sendUntil('sent');
  await eventually('the recovery', async () => ((await providers())[0]?.failing_since === null ? true : undefined));
});

describe('a receipt about the SMS of a notification', () => {
  const admin = (method: 'PUT' | 'POST' | 'GET', path: string, body?: object) =>
    postern.api<never>(method, `/admin/v1${path}`, { bearer: postern.adminKey, ...(body && { body }) });
  beforeAll(async () => {
    expect((await admin('PUT', '/categories/alarm', { steps: [{ channel: 'sms' }] })).status).toBe(201);
  });
  const smsOf = async (id: string) => {
    const { body } = await admin('GET', `/notifications/${id}/deliveries`);
    const [sms] = (body as DeliveryTrace).sms;
    return `${sms?.state}/${sms?.reason}${sms?.error === null ? '' : `: ${sms?.error}`}`;
  };
  const until = (id: string, wanted: string) =>
    eventually(`the SMS to be ${wanted}`, async () => ((await smsOf(id)) === wanted ? true : undefined));
  /** Publishes, and returns the notification and what the receipts name. */
  async function publish(): Promise<{ id: string; names: string }> {
    const user = await createUser(postern, { phone: newPhone() });
    const { body } = await admin('POST', '/notifications', {
      ...{ user_id: user.id, notification_type: 'payment', category: 'alarm', description: 'The pump stands still' },
    });
    const { id } = body as { id: string };
    const names = await eventually('the delivery to exist', async () => {
      const [row] = await postern.database.query<{ names: string }>(
        testSql(`select user_id || '.' || id as names from step_deliveries where notification_id = $1`, [id]),
      );
      return row?.names;
    });
    return { id, names };
  }

  test('says that it has arrived, and a later one changes nothing', async () => {
    const { id, names } = await publish();
    await until(id, 'sent/accepted');
    const MessageSid = lastReference();
    expect(await twilioReceipt(names, { MessageSid, MessageStatus: 'delivered' })).toBe(204);
    expect(await smsOf(id)).toBe('delivered/delivered');
    expect(await twilioReceipt(names, { MessageSid, MessageStatus: 'undelivered', ErrorCode: '30003' })).toBe(204);
    expect(await smsOf(id)).toBe('delivered/delivered');
  });

  test('says why it has not arrived, also by the second vendor', async () => {
    behaviour.twilio = 500;
    const { id, names } = await publish();
    await until(id, 'sent/accepted');
    const body = {
      client_ref: names,
      message_uuid: lastReference(),
      status: 'undeliverable',
      error: { detail: 'Absent' },
    };
    expect(await vonageReceipt(body)).toBe(204);
    expect(await smsOf(id)).toBe('bounced/undelivered: vonage: Absent');
  });

  test('counts before the answer of the vendor is stored, in either outcome', async () => {
    behaviour.beforeAnswer = (names, MessageSid) =>
      twilioReceipt(names, { MessageSid, MessageStatus: 'undelivered', ErrorCode: '30003' });
    const undelivered = await publish();
    await until(undelivered.id, 'bounced/undelivered: twilio: the phone cannot be reached, code 30003');
    behaviour.beforeAnswer = (names, MessageSid) => twilioReceipt(names, { MessageSid, MessageStatus: 'delivered' });
    const delivered = await publish();
    await until(delivered.id, 'delivered/delivered');
    expect(sent).toHaveLength(2);
  });

  test('with another reference, or names of another delivery, changes nothing', async () => {
    const { id, names } = await publish();
    await until(id, 'sent/accepted');
    const [userId = '', deliveryId = ''] = names.split('.');
    const MessageSid = lastReference();
    const fields = { MessageSid, MessageStatus: 'undelivered' };
    expect(await twilioReceipt(names, { ...fields, MessageSid: 'SM1' })).toBe(204);
    const foreign = [deliveryId, `${deliveryId}.${userId}`, `${randomUUID()}.${deliveryId}`, `${names}.x`, `.${names}`];
    for (const other of foreign) expect(await twilioReceipt(other, fields)).toBe(204);
    expect(await twilioReceipt(names, fields, { token: 'forged' })).toBe(403);
    expect(await smsOf(id)).toBe('sent/accepted');
  });
});
