import { expect, test } from 'vitest';
import { withPushHealth } from '../../../src/delivery/providers/provider-health.js';
import type { PushOutcome } from '../../../src/notifications/push/sender.js';
import { pushMessage } from '../push-message.js';

test('a push service fails after three refusals in a row, and a token that is gone shows that it works', async () => {
  const reports: (string | undefined)[] = [];
  let next: PushOutcome = { outcome: 'failed', reason: '403 InvalidProviderToken' };
  const sender = withPushHealth(
    { channel: 'apns', send: async () => next, close: async () => undefined },
    { onHealth: ({ provider, error }) => reports.push(`${provider}: ${error}`) },
  );
  const send = async (outcome: PushOutcome) => {
    next = outcome;
    expect(await sender.send('token', pushMessage())).toBe(outcome);
  };
  await send({ outcome: 'failed', reason: '403 InvalidProviderToken' });
  await send({ outcome: 'retry', reason: '503 Shutdown' });
  expect(reports).toEqual([]);
  await send({ outcome: 'failed', reason: '403 InvalidProviderToken' });
  expect(reports).toEqual(['apns: 403 InvalidProviderToken']);
  await send({ outcome: 'gone', reason: '410 Unregistered' });
  expect(reports.at(-1)).toBe('apns: undefined');
});
