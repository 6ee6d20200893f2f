import { expect, test } from 'vitest';
import { senderFor } from '../../../src/delivery/sms/sender-ids.js';

const rule = (provider: string | undefined, region: string | undefined, sender: string) => ({
  provider,
  region,
  sender,
});
const senders = {
  fallback: '+15550000000',
  rules: [
    rule(undefined, 'US', '+12025550100'),
    rule(undefined, 'GB', 'Example'),
    rule('vonage', undefined, '+447700900000'),
    rule('vonage', 'GB', 'ExampleGB'),
  ],
};

test.each([
  ['twilio', '+12025550123', '+12025550100'],
  ['twilio', '+447400123456', 'Example'],
  ['twilio', '+4915112345678', '+15550000000'],
  ['vonage', '+12025550123', '+447700900000'],
  ['vonage', '+447400123456', 'ExampleGB'],
  // Canada shares the calling code of the United States.
  ['twilio', '+15062345678', '+15550000000'],
  // Numbers that are not in use yet, or only in examples, have the main country of their calling code.
  ['twilio', '+15551234567', '+12025550100'],
  ['twilio', '+447700900123', 'Example'],
  ['twilio', 'junk', '+15550000000'],
])('%s sends to %s from %s', (provider, to, sender) => {
  expect(senderFor(senders, provider, to)).toBe(sender);
});

test('without rules and without a default sender, no sender is chosen', () => {
  expect(senderFor({ fallback: undefined, rules: [] }, 'sns', '+12025550123')).toBeUndefined();
});
