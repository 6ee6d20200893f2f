import { describe, expect, it } from 'vitest';
import { message, refusalOf, startSns } from './vendors.js';

const error = (code: string, text = 'secret text') =>
  `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${text}</Message></Error><RequestId>1</RequestId></ErrorResponse>`;

describe('Amazon SNS', () => {
  it('publishes a transactional message with a signature of version 4', async () => {
    const sns = await startSns();
    const accepted = { provider: 'sns', reference: '567910cd-659e-55d4-8ccb-5aaf14679dc0' };
    for (const fallback of [undefined, '+15557654321', 'My Example']) {
      expect(await sns.sender({ senders: { fallback, rules: [] } }).send(message)).toEqual(accepted);
    }
    expect(sns.faults).toEqual([]);
    const attributes = sns.received.map(({ body }) => {
      const form = new URLSearchParams(body);
      return [1, 2].map((at) => [
        form.get(`MessageAttributes.entry.${at}.Name`),
        form.get(`MessageAttributes.entry.${at}.Value.StringValue`),
      ]);
    });
    const type = ['AWS.SNS.SMS.SMSType', 'Transactional'];
    expect(attributes).toEqual([
      [type, [null, null]],
      [type, ['AWS.MM.SMS.OriginationNumber', '+15557654321']],
      [type, ['AWS.SNS.SMS.SenderID', 'MyExample']],
    ]);
  });

  it.each([
    [
      400,
      error('InvalidParameter', 'Invalid parameter: PhoneNumber Reason: +12025550123 is not valid'),
      'invalid',
      'the number is not valid, code InvalidParameter (400)',
    ],
    [
      400,
      error('InvalidParameter', 'Invalid parameter: Message too long'),
      'unavailable',
      'the provider failed or did not understand the request (400)',
    ],
    [400, error('OptedOut'), 'invalid', 'the recipient has refused messages of this account, code OptedOut (400)'],
    [400, error('Throttling'), 'unavailable', 'too many messages at a time, code Throttling (400)'],
    [429, error('Throttled'), 'unavailable', 'too many messages at a time, code Throttled (429)'],
    [
      403,
      error('SignatureDoesNotMatch'),
      'unavailable',
      'the account or its credentials are refused, code SignatureDoesNotMatch (403)',
    ],
    [403, error('toString'), 'unavailable', 'the account or its credentials are refused (403)'],
    [500, error('InternalError'), 'unavailable', 'the provider failed, code InternalError (500)'],
  ])('maps the status %i with %s to the meaning of the refusal', async (status, body, failure, reason) => {
    const sns = await startSns();
    sns.answer({ status, body });
    const refusal = await refusalOf(sns, sns.sender().send(message));
    expect({ failure: refusal.failure, text: refusal.message }).toEqual({ failure, text: `sns: ${reason}` });
  });
});
