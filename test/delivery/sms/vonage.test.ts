import { describe, expect, it } from 'vitest';
import { message, refusalOf, startVonage } from './vendors.js';

const problem = (fragment: string, more: object = {}) =>
  JSON.stringify({
    ...{ type: `https://developer.vonage.com/api-errors/messages#${fragment}`, title: 'secret text' },
    ...{ detail: `secret text about ${message.to}`, instance: 'bf0ca0bf' },
    ...more,
  });

describe('Vonage', () => {
  it('sends a message with a signed token and its own id', async () => {
    const vonage = await startVonage();
    expect(await vonage.sender().send(message)).toEqual({
      provider: 'vonage',
      reference: 'aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab',
    });
    await vonage.sender({ senders: { fallback: 'Example', rules: [] } }).send(message);
    expect(vonage.received.map(({ body }) => JSON.parse(body).from)).toEqual(['15557654321', 'Example']);
    expect(vonage.faults).toEqual([]);
  });

  it.each([
    [422, problem('1170'), 'invalid', 'the number is not valid, code 1170 (422)'],
    [
      422,
      problem('1150', { invalid_parameters: [{ name: 'to', reason: 'secret text' }] }),
      'invalid',
      'the number is not valid (422)',
    ],
    [
      422,
      problem('1150', { invalid_parameters: [{ name: 'from', reason: 'x' }, null] }),
      'unavailable',
      'the provider failed or did not understand the request (422)',
    ],
    [422, problem('1120'), 'refused', 'the sender is not allowed, code 1120 (422)'],
    [
      401,
      problem('unauthorized'),
      'unavailable',
      'the account or its credentials are refused, code unauthorized (401)',
    ],
    [402, problem('low-balance'), 'unavailable', 'the account has no credit, code low-balance (402)'],
    [402, '', 'unavailable', 'the account has no credit (402)'],
    [429, problem('throttled'), 'unavailable', 'too many messages at a time, code throttled (429)'],
    [500, problem('constructor'), 'unavailable', 'the provider failed or did not understand the request (500)'],
  ])('maps the status %i with %s to the meaning of the refusal', async (status, body, failure, reason) => {
    const vonage = await startVonage();
    vonage.answer({ status, body });
    const refusal = await refusalOf(vonage, vonage.sender().send(message));
    expect({ failure: refusal.failure, text: refusal.message }).toEqual({ failure, text: `vonage: ${reason}` });
  });
});
