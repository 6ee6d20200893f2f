import { expect, test } from 'vitest';
import { checkSms } from '../../../src/app/doctor/checks.js';
import { createSmsSender } from '../../../src/app/domains/messages.js';
import { type Config, readConfig } from '../../../src/config/config.js';
import { createOutbound } from '../../../src/delivery/outbound.js';
import { errorsOf } from '../../support/config.js';

/** A configuration that no check has seen. */
const unchecked: Config = { ...readConfig({}), ...JSON.parse('{ "SMS_PROVIDER": "pigeon" }') };

test('an unknown SMS_PROVIDER is a configuration error', () => {
  expect(errorsOf({ SMS_PROVIDER: 'pigeon' })).toEqual(['SMS_PROVIDER must be one of: console, webhook, none']);
});

test('an unknown SMS_PROVIDER never sends to the webhook', async () => {
  const outbound = createOutbound({ allowPrivateNetworkTargets: false });
  expect(() => createSmsSender(unchecked, outbound, () => undefined)).toThrow('unknown SMS_PROVIDER pigeon');
  await outbound.close();
});

test('the doctor fails for an unknown SMS_PROVIDER', async () => {
  expect(await checkSms(unchecked)).toEqual({ level: 'FAIL', what: 'sms', detail: 'SMS_PROVIDER pigeon is unknown' });
});
