import { describe, expect, it } from 'vitest';
import { message, refusalOf, startGateway, startResend, startSes } from './mail-vendors.js';

describe.each([
  ['resend', startResend],
  ['ses', startSes],
  ['webhook', startGateway],
])('a mail by %s', (name, start) => {
  it('has the id of the message as Message-ID and as the key, and the reference of the provider', async () => {
    const vendor = await start();
    expect(await vendor.sender().send(message)).toEqual({ provider: name, reference: vendor.reference });
    expect([vendor.received.length, vendor.faults]).toEqual([1, []]);
  });

  it('cannot get a second recipient or another header through its recipient or subject', async () => {
    const vendor = await start();
    for (const to of [
      'ada@example.com, eve@example.com',
      'ada@example.com\r\nBcc: eve@example.com',
      '<ada@example.com>',
    ]) {
      expect(await refusalOf(vendor, vendor.sender().send({ ...message, to }))).toMatchObject({ failure: 'invalid' });
    }
    expect(vendor.received).toEqual([]);
    await vendor.sender().send({ ...message, subject: 'one\r\nBcc: eve@example.com\r\n\r\nand a body' });
    const [{ body = '' } = {}] = vendor.received;
    const { Content, headers } = JSON.parse(body);
    if (name === 'ses') expect(Buffer.from(Content.Raw.Data, 'base64').toString()).not.toMatch(/^Bcc:/im);
    else expect(Object.keys(headers)).toEqual(['Message-ID', 'Auto-Submitted']);
  });

  it('has further headers, such as those to unsubscribe', async () => {
    const vendor = await start();
    const further = { 'List-Id': '<billing.example.com>', 'List-Unsubscribe': '<https://example.com/u/abc>' };
    await vendor.sender().send({ ...message, headers: further });
    const [{ body = '' } = {}] = vendor.received;
    const { Content, headers } = JSON.parse(body);
    if (name === 'ses') {
      const lines = Buffer.from(Content.Raw.Data, 'base64').toString().split('\r\n');
      const lower = lines.map((line) => line.toLowerCase());
      for (const [header, value] of Object.entries(further))
        expect(lower).toContain(`${header}: ${value}`.toLowerCase());
    } else expect(headers).toMatchObject(further);
  });

  it.each([
    ['empty', ''],
    ['broken', '{"id":'],
    ['of another form', '{"id":7,"MessageId":[]}'],
    ['with an id that is too long', `{"id":"${'x'.repeat(300)}","MessageId":"${'x'.repeat(300)}"}`],
    ['far too large', 'x'.repeat(200_000)],
  ])('is accepted once by 2xx with a body that is %s', async (_what, body) => {
    const vendor = await start();
    vendor.answer({ status: 200, body });
    const reference = name === 'webhook' ? message.id : null;
    expect(await vendor.sender().send(message)).toEqual({ provider: name, reference });
    expect(vendor.received).toHaveLength(1);
  });

  it('is not lost or sent elsewhere, whatever the provider answers', async () => {
    const vendor = await start();
    const failureOf = async (answer: Parameters<typeof vendor.answer>[0], options = {}) => {
      vendor.answer(answer);
      return (await refusalOf(vendor, vendor.sender(options).send(message))).failure;
    };
    // No clear answer: the provider may have accepted the mail.
    expect(await failureOf('hang', { totalTimeoutMs: 300 })).toBe('unclear');
    expect(await failureOf('reset')).toBe('unclear');
    for (const status of [408, 500, 502, 504]) expect(await failureOf({ status, body: 'secret text' })).toBe('unclear');
    for (const status of [400, 401, 403, 404, 410, 422, 429, 503]) {
      expect(await failureOf({ status, body: '{"message":"secret text","name":"toString","error":"toString"}' })).toBe(
        'unavailable',
      );
    }
    expect(await failureOf({ status: 307, headers: { location: '/elsewhere' } })).toBe('unavailable');
    expect(vendor.faults).toEqual([]);
  });

  it('waits as long as the provider says', async () => {
    const vendor = await start();
    vendor.answer({ status: 429, headers: { 'retry-after': '7' } });
    expect((await refusalOf(vendor, vendor.sender().send(message))).retryAfter).toBe(7);
  });

  it('does not go to a private address, and was certainly not sent then', async () => {
    const vendor = await start();
    const refusal = await refusalOf(vendor, vendor.sender({ allowPrivateNetworkTargets: false }).send(message));
    expect(refusal.failure).toBe('unavailable');
    expect(vendor.received).toEqual([]);
  });
});
