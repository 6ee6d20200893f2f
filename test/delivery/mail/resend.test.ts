import { expect, it } from 'vitest';
import { message, messageId, refusalOf, startResend } from './mail-vendors.js';

it('Resend gets the mail as text and HTML, with the logo as a part', async () => {
  const resend = await startResend();
  const png = Buffer.from('89504e470d0a1a0a', 'hex');
  await resend.sender({ logo: { png, contentId: 'logo@postern' } }).send(message);
  expect(JSON.parse(resend.received[0]?.body ?? '')).toEqual({
    from: '"Café \\"Ltd\\"" <no-reply@example.org>',
    to: ['ada@example.com'],
    subject: message.subject,
    text: message.text,
    html: message.html,
    headers: { 'Message-ID': messageId, 'Auto-Submitted': 'auto-generated' },
    attachments: [
      { filename: 'logo.png', content_type: 'image/png', content: png.toString('base64'), content_id: 'logo@postern' },
    ],
  });
});

it.each([
  [
    422,
    'validation_error',
    'Invalid `to` field. The email address needs to …',
    'invalid',
    'the address is not valid (422)',
  ],
  [
    422,
    'validation_error',
    'secret text',
    'unavailable',
    'the provider failed or did not understand the request (422)',
  ],
  [
    409,
    'concurrent_idempotent_requests',
    '',
    'unclear',
    'the provider still works on the same mail, code concurrent_idempotent_requests (409)',
  ],
  [
    409,
    'invalid_idempotent_request',
    '',
    'refused',
    'the provider has another mail with this id, code invalid_idempotent_request (409)',
  ],
  [
    429,
    'daily_quota_exceeded',
    '',
    'unavailable',
    'the account has reached its limit, code daily_quota_exceeded (429)',
  ],
  [403, 'invalid_api_key', '', 'unavailable', 'the account or its credentials are refused, code invalid_api_key (403)'],
])('the status %i of Resend with the error %s and the text "%s" is %s', async (status, name, text, failure, reason) => {
  const resend = await startResend();
  resend.answer({ status, body: JSON.stringify({ statusCode: status, name, message: text }) });
  const refusal = await refusalOf(resend, resend.sender().send(message));
  expect([refusal.failure, refusal.message]).toEqual([failure, `resend: ${reason}`]);
});
