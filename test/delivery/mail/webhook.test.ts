import { expect, it } from 'vitest';
import { message, messageId, refusalOf, startGateway } from './mail-vendors.js';

it('a gateway gets the mail, signed with each of the secrets', async () => {
  const gateway = await startGateway();
  await gateway.sender().send(message);
  const [request] = gateway.received;
  expect(String(request?.headers['webhook-signature']).split(' ')).toHaveLength(2);
  expect(gateway.faults).toEqual([]);
  expect(JSON.parse(request?.body ?? '')).toEqual({
    type: 'email.code',
    id: message.id,
    from: '"Café \\"Ltd\\"" <no-reply@example.org>',
    to: 'ada@example.com',
    subject: message.subject,
    text: message.text,
    html: message.html,
    headers: { 'Message-ID': messageId, 'Auto-Submitted': 'auto-generated' },
    code: '482913',
    authentication_id: message.authenticationId,
    expires_at: message.expiresAt,
  });
});

it.each([
  ['recipient_refused', false],
  ['unknown_mailbox', true],
])('a gateway can refuse the recipient with %s', async (error, isUnknownMailbox) => {
  const gateway = await startGateway();
  gateway.answer({ status: 422, body: JSON.stringify({ error }) });
  expect(await refusalOf(gateway, gateway.sender().send(message))).toMatchObject({
    failure: 'invalid',
    isUnknownMailbox,
  });
});

it('the same error with another status is no refusal of the recipient', async () => {
  const gateway = await startGateway();
  gateway.answer({ status: 400, body: '{"error":"unknown_mailbox"}' });
  expect((await refusalOf(gateway, gateway.sender().send(message))).failure).toBe('unavailable');
});
