import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createGatewayEvents, createResendEvents } from '../../../../src/delivery/mail/events/signed.js';

const [secret, former, foreign] = ['a', 'b', 'c'].map(
  (letter) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`,
) as [string, string, string];
const minutes = (count: number) => new Date(Date.now() + count * 60_000);

function requestOf(event: object, { key = secret, at = new Date(), prefix = 'svix' } = {}) {
  const body = JSON.stringify(event);
  const headers = {
    [`${prefix}-id`]: 'event-1',
    [`${prefix}-timestamp`]: String(Math.floor(at.getTime() / 1000)),
    [`${prefix}-signature`]: new Webhook(key).sign('event-1', at, body),
  };
  return { headers, body };
}

const resendEvent = (type: string, bounce?: object) => ({
  ...{ type, created_at: '2026-11-22T23:41:12.126Z' },
  data: { email_id: 'mail-1', from: 'a@example.org', to: ['ada@example.com'], ...(bounce && { bounce }) },
});
const gatewayEvent = (type: string) => ({ type, id: 'mail-1', email: 'ada@example.com' });

describe.each([
  ['Resend', createResendEvents([secret, former]), resendEvent('email.complained'), 'svix'],
  ['a gateway', createGatewayEvents([secret, former]), gatewayEvent('mail.complained'), 'webhook'],
])('an event of %s', (_name, reader, event, prefix) => {
  const complaint = [{ reference: 'mail-1', address: 'ada@example.com', outcome: 'complaint' }];

  it('is read if one of the secrets has signed it', async () => {
    expect(await reader.read(requestOf(event, { prefix }))).toEqual(complaint);
    expect(await reader.read(requestOf(event, { prefix, key: former }))).toEqual(complaint);
  });

  it('is refused without a signature, with a foreign one, and if it was changed', async () => {
    const { headers, body } = requestOf(event, { prefix });
    expect(await reader.read({ headers: {}, body })).toBeUndefined();
    expect(await reader.read({ headers, body: body.replace('ada', 'bob') })).toBeUndefined();
    expect(await reader.read(requestOf(event, { prefix, key: foreign }))).toBeUndefined();
    for (const value of ['', 'v1,', 'v1a,abc', '\u{1f600}', 'v1,'.repeat(5000)]) {
      expect(await reader.read({ headers: { ...headers, [`${prefix}-signature`]: value }, body })).toBeUndefined();
    }
  });

  it('is refused if it is more than five minutes old, or of the future', async () => {
    for (const [age, isRead] of [
      [-6, false],
      [-4, true],
      [4, true],
      [6, false],
    ] as const) {
      const events = await reader.read(requestOf(event, { prefix, at: minutes(age) }));
      expect([age, events !== undefined]).toEqual([age, isRead]);
    }
  });

  it('with another content tells nothing', async () => {
    for (const other of [
      {},
      { type: 'toString' },
      { type: 'email.opened', data: null },
      [],
      7,
      { type: ['mail.complained'] },
    ]) {
      expect(await reader.read(requestOf(other as object, { prefix }))).toEqual([]);
    }
  });
});

it('the types of Resend and of a gateway have outcomes', async () => {
  const outcomeOf = async (event: object, reader = createResendEvents([secret]), prefix = 'svix') =>
    (await reader.read(requestOf(event, { prefix })))?.map(({ outcome }) => outcome);
  expect(await outcomeOf(resendEvent('email.delivered'))).toEqual(['delivered']);
  expect(await outcomeOf(resendEvent('email.bounced', { type: 'Permanent' }))).toEqual(['hard_bounce']);
  expect(await outcomeOf(resendEvent('email.bounced', { type: 'Transient' }))).toEqual(['soft_bounce']);
  expect(await outcomeOf(resendEvent('email.bounced'))).toEqual(['soft_bounce']);
  expect(await outcomeOf(resendEvent('email.opened'))).toEqual([]);
  const gateway = createGatewayEvents([secret]);
  for (const [type, outcome] of [
    ['mail.delivered', 'delivered'],
    ['mail.soft_bounced', 'soft_bounce'],
    ['mail.hard_bounced', 'hard_bounce'],
  ] as const) {
    expect(await outcomeOf(gatewayEvent(type), gateway, 'webhook')).toEqual([outcome]);
  }
});
