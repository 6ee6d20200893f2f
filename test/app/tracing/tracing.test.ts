import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../../src/contract/authentication.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../../support/otlp/receiver.js';
import { createPushSteps } from '../../support/push.js';
import { type ApnsFake, startApns } from '../../support/push-fakes/apns.js';
import { createUser, newPhone, passwordLogin, signIn, smsLogin } from '../../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

/** The requests to one server, which is the provider of SMS and a custom authenticator. */
const providerRequests: { path: string; headers: IncomingHttpHeaders }[] = [];
const provider = createServer((request, response) => {
  providerRequests.push({ path: request.url ?? '', headers: request.headers });
  response.end(JSON.stringify({ approved: true }));
});

let otlp: OtlpReceiver;
let webhooks: WebhookReceiver;
let apns: ApnsFake;
let postern: TestApp;
const push = createPushSteps(() => postern);

/** Phone numbers and names of users. */
const personal: string[] = [];

/** A trace of a client. */
const clientTrace = '4bf92f3577b34da6a3ce929d0e0e4736';
const clientSpan = '00f067aa0ba902b7';
const sampled = { traceparent: `00-${clientTrace}-${clientSpan}-01`, tracestate: 'vendor=value' };

const webhookSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  [otlp, webhooks, apns] = await Promise.all([startOtlpReceiver(), startWebhookReceiver(), startApns()]);
  postern = await startTestApp({
    ...apns.env,
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_SERVICE_NAME: 'doors' },
    ...{ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20for-the-receiver' },
    ...{ OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test%20bench' },
    ...{ SMS_PROVIDER: 'webhook', SMS_WEBHOOK_URL: `${url}/sms?key=in-the-query` },
    ...{ SMS_WEBHOOK_SECRET: webhookSecret, NOTICES: 'none' },
    CUSTOM_AUTHENTICATORS: JSON.stringify({ badge: { url: `${url}/badge`, secret: webhookSecret } }),
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0' },
  });
});
afterAll(async () => {
  await postern.close();
  await Promise.all([otlp.close(), webhooks.close(), apns.close()]);
  provider.close();
});

const parentHeader = (span: ReceivedSpan) => `00-${span.traceId}-${span.spanId}-01`;
const childOf = (parent: ReceivedSpan) => (span: ReceivedSpan) => span.parentSpanId === parent.spanId;
/** The span of the request with this id. */
const requestSpan = (headers: Readonly<Record<string, string>>) =>
  otlp.wait('the span of a request', ({ attributes }) => attributes['postern.request_id'] === headers['request-id']);
const linkedTo = (cause: ReceivedSpan, name: string) =>
  otlp.wait(`${name} linked to ${cause.name}`, (span) => span.name === name && span.links[0]?.spanId === cause.spanId);

describe('a request', () => {
  test('continues the trace of the client, and its statements are children with names and without values', async () => {
    const user = await createUser(postern);
    const body = passwordLogin(user.username);
    const { headers } = await postern.api('POST', '/v1/tokens', { body, headers: sampled });
    const span = await requestSpan(headers);
    expect(span).toMatchObject({
      ...{ name: 'POST /v1/tokens', kind: 'server', traceId: clientTrace, parentSpanId: clientSpan, hasFailed: false },
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/tokens',
        'http.response.status_code': 201,
        'postern.request_id': headers['request-id'],
      },
      resource: {
        ...{ 'service.name': 'doors', 'deployment.environment.name': 'test bench', 'process.pid': process.pid },
        'service.version': expect.stringMatching(/^\d/),
      },
    });
    await otlp.wait('the statements of a login', (one) => childOf(span)(one) && one.name.includes('authentication'));
    const statements = otlp.spans.filter(childOf(span));
    expect(statements.length).toBeGreaterThanOrEqual(3);
    for (const { name, kind, attributes, traceId } of statements) {
      expect({ kind, traceId }).toEqual({ kind: 'client', traceId: clientTrace });
      expect(attributes).toEqual({ 'db.system.name': 'postgresql', 'db.query.summary': name });
      expect(name).toMatch(/^[a-z0-9_]+$/);
    }
  });

  test('without a trace begins one, also when a session check is answered in front of the framework', async () => {
    const { session } = await signIn(postern, await createUser(postern));
    const { headers } = await postern.api('POST', '/v1/sessions/verify', { bearer: session.token });
    const span = await requestSpan(headers);
    expect(span).toMatchObject({ name: 'POST /v1/sessions/verify', parentSpanId: undefined });
    expect(await otlp.wait('its statement', childOf(span))).toMatchObject({ traceId: span.traceId });
  });

  test('that the client does not record is not recorded, and neither is its work', async () => {
    const headers = { traceparent: sampled.traceparent.replace(/01$/, '00') };
    const phone = newPhone();
    await createUser(postern, { phone });
    const before = providerRequests.length;
    const answer = await postern.api('POST', '/v1/tokens', { body: smsLogin(phone), headers });
    await eventually('the code', async () =>
      providerRequests.slice(before).find(({ path }) => path.startsWith('/sms')),
    );
    const { headers: later } = await postern.api('GET', '/livez');
    await requestSpan(later);
    expect(
      otlp.spans.filter(({ attributes }) => attributes['postern.request_id'] === answer.headers['request-id']),
    ).toEqual([]);
  });

  test('with an unknown route has no part of its URL in its span', async () => {
    await fetch(`${postern.url}/in-the-path/${clientTrace}`, { headers: sampled });
    await otlp.wait('a span without a route', ({ name, traceId }) => name === 'GET' && traceId === clientTrace);
    expect(JSON.stringify(otlp.spans)).not.toContain('in-the-path');
  });
});

describe('later work is linked to the request that caused it', () => {
  test('a code: from the request over the job to the provider', async () => {
    const phone = newPhone();
    personal.push(phone, (await createUser(postern, { phone })).username ?? '');
    const before = providerRequests.length;
    const { headers } = await postern.api<Authentication>('POST', '/v1/tokens', {
      body: smsLogin(phone),
      headers: sampled,
    });
    const job = await linkedTo(await requestSpan(headers), 'message.send');
    expect(job).toMatchObject({ kind: 'consumer', parentSpanId: undefined, hasFailed: false });
    expect(job.traceId).not.toBe(clientTrace);
    const call = await otlp.wait('the call', (span) => childOf(job)(span) && span.name === 'POST');
    expect(call).toMatchObject({
      kind: 'client',
      attributes: {
        'http.request.method': 'POST',
        'server.address': '127.0.0.1',
        'server.port': (provider.address() as AddressInfo).port,
        'http.response.status_code': 200,
      },
    });
    const sent = providerRequests.slice(before).find(({ path }) => path.startsWith('/sms'));
    expect(sent?.headers.traceparent).toBe(parentHeader(call));
  });

  test('a push: from the publication over the job to the push service', async () => {
    const phone = await push.newPhone('ios');
    const { status, headers } = await postern.api('POST', '/admin/v1/notifications', {
      bearer: postern.adminKey,
      body: { user_id: phone.user.id, notification_type: 'payment', description: 'in the body' },
    });
    expect(status).toBe(201);
    const job = await linkedTo(await requestSpan(headers), 'push.send.apns');
    const call = await otlp.wait('the call', (span) => childOf(job)(span) && span.name === 'POST');
    const arrived = await eventually('the push', async () => apns.received.find(({ to }) => to === phone.token));
    expect(arrived.headers.traceparent).toBe(parentHeader(call));
  });

  test('a webhook: from the change over the delivery to the endpoint', async () => {
    const path = '/traced';
    const body = { url: `${webhooks.url}${path}`, events: ['user.created'] };
    expect((await postern.api('POST', '/admin/v1/webhooks', { bearer: postern.adminKey, body })).status).toBe(201);
    const user = await createUser(postern);
    const event = await webhooks.wait(path, 'the event', ({ data }) => data.user_id === user.id);
    const call = await otlp.wait('the call', ({ spanId }) => event.headers.traceparent?.includes(spanId) === true);
    const delivery = await otlp.wait('the delivery', ({ spanId }) => spanId === call.parentSpanId);
    expect(delivery).toMatchObject({
      name: 'webhook.deliver',
      kind: 'consumer',
      attributes: { 'postern.event_type': 'user.created' },
    });
    const cause = await otlp.wait('the request', ({ spanId }) => spanId === delivery.links[0]?.spanId);
    expect(cause.name).toBe('POST /admin/v1/users');
  });

  test('an erasure: from the request over the job to its statements', async () => {
    const { id } = await createUser(postern);
    const { headers } = await postern.api('DELETE', `/admin/v1/users/${id}`, { bearer: postern.adminKey });
    const job = await linkedTo(await requestSpan(headers), 'user.erase');
    await otlp.wait('its statements', childOf(job));
  });
});

test('a custom authenticator is called in the trace of the login', async () => {
  const { username } = await createUser(postern);
  const body = { ...passwordLogin(username), authenticator: 'custom:badge' };
  const { headers, status } = await postern.api('POST', '/v1/tokens', { body });
  expect(status).toBe(201);
  const span = await requestSpan(headers);
  const call = await otlp.wait('the call', (one) => childOf(span)(one) && one.name === 'POST');
  expect(providerRequests.find(({ path }) => path === '/badge')?.headers.traceparent).toBe(parentHeader(call));
});

test('the receiver gets valid requests with the configured headers, without other settings and personal data', () => {
  expect(otlp.errors).toEqual([]);
  for (const { headers } of otlp.requests) {
    expect(headers).toMatchObject({
      authorization: 'Bearer for-the-receiver',
      'content-type': 'application/x-protobuf',
    });
  }
  expect(personal).toHaveLength(2);
  const exported = Buffer.concat(otlp.requests.map(({ body }) => body)).toString('latin1');
  for (const text of ['in-the-query', 'in the body', 'a question', 'for-the-receiver', postern.adminKey, ...personal]) {
    expect(exported.includes(text), text).toBe(false);
  }
});
