import { describe, expect, it } from 'vitest';
import { message, refusalOf, startSns, startTwilio, startVonage } from '../sms/vendors.js';

describe.each([
  ['twilio', startTwilio],
  ['vonage', startVonage],
  ['sns', startSns],
])('the answers of %s', (name, start) => {
  it.each([
    ['is empty', ''],
    ['is broken', '{"sid":'],
    ['is binary', Buffer.from([0, 255, 254]).toString('latin1')],
    ['has another form', '{"sid":7,"message_uuid":null,"MessageId":[]}'],
    ['has an id that is too long', `{"sid":"${'x'.repeat(300)}","message_uuid":"${'x'.repeat(300)}"}`],
    ['is far too large', 'x'.repeat(200_000)],
  ])('accept a message with 2xx although the body %s', async (_what, body) => {
    const vendor = await start();
    vendor.answer({ status: 200, body });
    expect(await vendor.sender().send(message)).toEqual({ provider: name, reference: null });
    expect(vendor.received).toHaveLength(1);
  });

  it.each(['', '<html>', '[]', '{"code":"x","type":7}', '<Code></Code>'])(
    'of 400 with the body %j refuse the message',
    async (body) => {
      const vendor = await start();
      vendor.answer({ status: 400, body });
      const { failure, message: text } = await refusalOf(vendor, vendor.sender().send(message));
      expect({ failure, text }).toEqual({
        failure: 'unavailable',
        text: `${name}: the provider failed or did not understand the request (400)`,
      });
    },
  );

  it('of 429 and 503 can say when the provider accepts the next message', async () => {
    const vendor = await start();
    vendor.answer(
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 503, headers: { 'retry-after': 'soon' } },
    );
    const sender = vendor.sender();
    expect((await refusalOf(vendor, sender.send(message))).retryAfter).toBe(7);
    expect((await refusalOf(vendor, sender.send(message))).retryAfter).toBeUndefined();
  });

  it('can be missing, because the provider hangs or only redirects', async () => {
    const vendor = await start();
    vendor.answer('hang', { status: 307, headers: { location: '/elsewhere' } });
    const hanging = await refusalOf(vendor, vendor.sender({ totalTimeoutMs: 300 }).send(message));
    expect({ failure: hanging.failure, text: hanging.message }).toEqual({
      failure: 'unavailable',
      text: `${name}: 127.0.0.1 did not answer in time`,
    });
    expect((await refusalOf(vendor, vendor.sender().send(message))).failure).toBe('unavailable');
    expect(vendor.received).toHaveLength(2);
  });

  it('are never requested from a private address, unless private targets are allowed', async () => {
    const vendor = await start();
    const guarded = vendor.sender({ allowPrivateNetworkTargets: false });
    await expect(guarded.send(message)).rejects.toThrow(`${name}: the scheme must be https`);
    expect(vendor.received).toEqual([]);
  });
});
