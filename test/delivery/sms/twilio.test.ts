import { describe, expect, it } from 'vitest';
import { message, refusalOf, startTwilio } from './vendors.js';

const error = (code: number) => JSON.stringify({ code, message: `secret text about ${message.to}`, status: 400 });

describe('Twilio', () => {
  it('sends a message from a number, a name or a messaging service', async () => {
    const twilio = await startTwilio();
    const service = `MG${'a'.repeat(32)}`;
    for (const fallback of ['+15557654321', 'Example', service]) {
      expect(await twilio.sender({ senders: { fallback, rules: [] } }).send(message)).toEqual({
        provider: 'twilio',
        reference: 'SM123',
      });
    }
    const forms = twilio.received.map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
    expect(forms.map(({ From, MessagingServiceSid }) => From ?? MessagingServiceSid)).toEqual([
      '+15557654321',
      'Example',
      service,
    ]);
    expect(forms[2]).not.toHaveProperty('From');
    expect(twilio.faults).toEqual([]);
  });

  it.each([
    [400, 21211, 'invalid', 'the number is not valid, code 21211 (400)'],
    [400, 21614, 'invalid', 'the number cannot receive text messages, code 21614 (400)'],
    [400, 21610, 'invalid', 'the recipient has refused messages of this sender (STOP), code 21610 (400)'],
    [400, 21408, 'refused', 'the account may not send to this country, code 21408 (400)'],
    [400, 21606, 'unavailable', 'the account may not send from this sender, code 21606 (400)'],
    [401, 20003, 'unavailable', 'the account or its credentials are refused, code 20003 (401)'],
    [429, 20429, 'unavailable', 'too many messages at a time, code 20429 (429)'],
    [400, 99999, 'unavailable', 'the provider failed or did not understand the request (400)'],
    [500, 20500, 'unavailable', 'the provider failed or did not understand the request (500)'],
  ])('maps the status %i with the code %i to the meaning of the refusal', async (status, code, failure, reason) => {
    const twilio = await startTwilio();
    twilio.answer({ status, body: error(code) });
    const refusal = await refusalOf(twilio, twilio.sender().send(message));
    expect({ failure: refusal.failure, text: refusal.message }).toEqual({ failure, text: `twilio: ${reason}` });
    expect(refusal.permanent).toBe(failure !== 'unavailable');
    expect(twilio.received).toHaveLength(1);
  });
});
