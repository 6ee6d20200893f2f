import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createOutbound, type OutboundOptions } from '../../../src/delivery/outbound.js';
import { createWebPush } from '../../../src/delivery/push/web-push.js';
import type { PushContent } from '../../../src/notifications/push/sender.js';
import { startWebPushService, type WebPushFake } from '../../support/push-fakes/web-push.js';
import { startTcp } from '../local-server.js';
import { pushMessage } from '../push-message.js';

let service: WebPushFake;
beforeAll(async () => {
  service = await startWebPushService();
});
afterAll(() => service.close());

function sender(options: Partial<OutboundOptions> = {}) {
  const outbound = createOutbound({ allowPrivateNetworkTargets: true, ...options });
  onTestFinished(() => outbound.close());
  return createWebPush({
    publicKey: service.publicKey,
    privateKey: service.env.VAPID_PRIVATE_KEY ?? '',
    subject: 'mailto:ops@example.com',
    outbound,
  });
}

const subscriptionAt = (endpoint: string) => JSON.stringify({ ...service.subscribe().subscription, endpoint });

describe('Web Push', () => {
  it.each([
    [201, {}, { outcome: 'sent' }],
    [202, {}, { outcome: 'sent' }],
    [404, {}, { outcome: 'gone', reason: 'the push service answered 404' }],
    [410, {}, { outcome: 'gone', reason: 'the push service answered 410' }],
    [429, { 'retry-after': '17' }, { outcome: 'retry', reason: 'the push service answered 429', afterSeconds: 17 }],
    [500, {}, { outcome: 'retry', reason: 'the push service answered 500' }],
    [301, { location: 'https://example.com' }, { outcome: 'failed', reason: 'the push service answered 301' }],
    [403, {}, { outcome: 'failed', reason: 'the push service answered 403' }],
  ])('maps the status %i to its outcome', async (status, headers, expected) => {
    const { subscription, path } = service.subscribe();
    service.behave({ status, headers }, path);
    expect(await sender().send(JSON.stringify(subscription), pushMessage())).toEqual(expected);
    expect(service.violations).toEqual([]);
  });

  it('sends the urgency and the time to live of a push', async () => {
    const { subscription, path } = service.subscribe();
    await sender().send(JSON.stringify(subscription), { ...pushMessage(), ttl: 61, urgency: 'normal' });
    const pushed = service.received.find(({ to }) => to === path);
    expect(pushed?.headers).toMatchObject({ ttl: '61', urgency: 'normal' });
  });

  it('says with which tag a push is shown if it is not the id', async () => {
    const { subscription, path } = service.subscribe();
    const message = pushMessage();
    const tag = '8d1f6a52-0000-4000-8000-5b3f4e0c9a11';
    await sender().send(JSON.stringify(subscription), { ...message, collapseId: (message.content as PushContent).id });
    await sender().send(JSON.stringify(subscription), { ...message, collapseId: tag });
    const contents = service.received.filter(({ to }) => to === path).map(({ content }) => content);
    expect(contents).toEqual([message.content, { ...message.content, tag }]);
  });

  it.each(['https://127.0.0.1/x', 'https://[::1]/x', 'https://169.254.169.254/latest', 'https://localhost/x'])(
    'never calls %s',
    async (endpoint) => {
      const outcome = await sender({ allowPrivateNetworkTargets: false }).send(subscriptionAt(endpoint), pushMessage());
      expect(outcome).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('not public') });
    },
  );

  it('never calls a name that now resolves to a private address', async () => {
    const outbound = { allowPrivateNetworkTargets: false, resolve: async () => ['10.0.0.7'] };
    const outcome = await sender(outbound).send(subscriptionAt('https://push.example.com/x'), pushMessage());
    expect(outcome).toMatchObject({ outcome: 'failed' });
  });

  it('retries after the service hangs', async () => {
    const { port } = await startTcp(() => undefined);
    const outcome = await sender({ totalTimeoutMs: 100 }).send(
      subscriptionAt(`http://127.0.0.1:${port}/x`),
      pushMessage(),
    );
    expect(outcome).toEqual({ outcome: 'retry', reason: '127.0.0.1 did not answer in time', isUnanswered: true });
  });

  it('decides by the status even if the body is too long', async () => {
    const { subscription, path } = service.subscribe();
    service.behave({ status: 201, body: { much: 'x'.repeat(100_000) } }, path);
    expect(await sender().send(JSON.stringify(subscription), pushMessage())).toEqual({ outcome: 'sent' });
  });
});
