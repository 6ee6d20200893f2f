import { expect, it } from 'vitest';
import { createPostmarkEvents } from '../../../../src/delivery/mail/events/postmark.js';

const [current, former] = ['postmark:a-password-of-the-url', 'postmark:a-former-password'];
const reader = createPostmarkEvents([current, former, 'a-password-without-a-user']);
const basic = (credentials: string) => ({ authorization: `Basic ${Buffer.from(credentials).toString('base64')}` });
const event = (members: object) =>
  JSON.stringify({ MessageID: 'of-postmark', Metadata: { 'postern-id': 'mail-1' }, ...members });
const read = (members: object, headers: Record<string, string> = basic(current)) =>
  reader.read({ headers, body: event(members) });

it('an event of Postmark is read with one of the passwords, and names the mail by its metadata', async () => {
  const bounce = { RecordType: 'Bounce', Type: 'HardBounce', Email: 'ada@example.com' };
  const expected = [{ reference: 'mail-1', address: 'ada@example.com', outcome: 'hard_bounce' }];
  expect(await read(bounce)).toEqual(expected);
  expect(await read(bounce, basic(former))).toEqual(expected);
  expect(await read(bounce, basic('any-user:a-password-without-a-user'))).toEqual(expected);
  for (const headers of [
    {},
    basic('postmark:'),
    basic(`${current}x`),
    basic('other:a-password-of-the-url'),
    basic('a-password-without-a-user:'),
    { authorization: `Bearer ${current}` },
  ]) {
    expect(await read(bounce, headers as Record<string, string>)).toBeUndefined();
  }
});

it.each([
  [{ RecordType: 'Delivery', Recipient: 'ada@example.com' }, ['delivered']],
  [{ RecordType: 'SpamComplaint', Type: 'SpamComplaint', Email: 'ada@example.com' }, ['complaint']],
  [{ RecordType: 'Bounce', Type: 'BadEmailAddress', Email: 'ada@example.com' }, ['hard_bounce']],
  [{ RecordType: 'Bounce', Type: 'SoftBounce', Email: 'ada@example.com' }, ['soft_bounce']],
  [{ RecordType: 'Bounce', Type: 'AutoResponder', Email: 'ada@example.com' }, []],
  [{ RecordType: 'Bounce', Type: 'toString', Email: 'ada@example.com' }, []],
  [{ RecordType: 'Bounce', Type: ['HardBounce'], Email: 'ada@example.com' }, []],
  [{ RecordType: 'Bounce', Type: 'HardBounce', Email: 7 }, []],
  [{ RecordType: 'Open', Recipient: 'ada@example.com' }, []],
])('the event %j of Postmark means %j', async (members, outcomes) => {
  expect((await read(members))?.map(({ outcome }) => outcome)).toEqual(outcomes);
});

it('an event of Postmark about a mail of another program has no reference', async () => {
  for (const Metadata of [{}, null, { other: 'mail-1' }, { 'postern-id': 7 }]) {
    expect(await read({ RecordType: 'Delivery', Recipient: 'ada@example.com', Metadata })).toMatchObject([
      { reference: '' },
    ]);
  }
});
