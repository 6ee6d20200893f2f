import { expect, it } from 'vitest';
import { message, refusalOf, startSes } from './mail-vendors.js';

it('Amazon SES gets the whole mail as bytes, signed, with the configuration set and the id as a tag', async () => {
  const ses = await startSes();
  await ses.sender({ logo: { png: Buffer.from('89504e470d0a1a0a', 'hex'), contentId: 'logo@postern' } }).send(message);
  const { Content, ...members } = JSON.parse(ses.received[0]?.body ?? '');
  expect(members).toEqual({
    Destination: { ToAddresses: ['ada@example.com'] },
    EmailTags: [{ Name: 'postern-id', Value: message.id }],
    ConfigurationSetName: 'postern',
  });
  const raw = Buffer.from(Content.Raw.Data, 'base64').toString();
  expect(raw).toMatch(/^To: ada@example\.com\r$/m);
  expect(raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  expect(raw).toMatch(/^Content-I[dD]: <logo@postern>\r$/m);
  expect(raw.split('\r\n').every((line) => !line.includes('\n'))).toBe(true);
});

it.each([
  [400, 'MessageRejected', 'secret text', 'refused', 'the provider refuses the mail, code MessageRejected (400)'],
  [
    ...([400, 'MessageRejected', 'Email address is not verified.', 'unavailable'] as const),
    'the account may send to verified addresses only, or its sender is not verified (400)',
  ],
  [400, 'BadRequestException', "Missing final '@domain'", 'invalid', 'the address is not valid (400)'],
  [
    400,
    'BadRequestException',
    'secret text',
    'unavailable',
    'the provider failed or did not understand the request (400)',
  ],
  [400, 'SendingPausedException', '', 'unavailable', 'the account is paused, code SendingPausedException (400)'],
  [
    429,
    'TooManyRequestsException',
    '',
    'unavailable',
    'too many messages at a time, code TooManyRequestsException (429)',
  ],
  [403, 'toString', '', 'unavailable', 'the account or its credentials are refused (403)'],
])(
  'the status %i of Amazon SES with the error %s and the text "%s" is %s',
  async (status, type, text, failure, reason) => {
    const ses = await startSes();
    ses.answer({
      status,
      body: JSON.stringify({ message: text }),
      headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/` },
    });
    const refusal = await refusalOf(ses, ses.sender().send(message));
    expect([refusal.failure, refusal.message]).toEqual([failure, `ses: ${reason}`]);
  },
);
