import { expect, test } from 'vitest';
import { type ProviderHealth, withMailHealth, withPushHealth } from '../../src/delivery/provider-health.js';
import type { MailMessage } from '../../src/messages/mail-sender.js';
import type { PushOutcome } from '../../src/notifications/push/sender.js';
import { pushMessage } from './push-message.js';

const mail: MailMessage = {
  id: '1',
  to: 'a@example.com',
  subject: 's',
  text: 't',
  html: '<p>t',
  code: null,
  authenticationId: null,
};

/** A mail server. Each `send` fails with the given error, or is accepted if there is none. */
function createTestMail() {
  const reports: ProviderHealth[] = [];
  let time = 0;
  let next: Error | undefined;
  const sender = withMailHealth(
    {
      name: 'smtp',
      async send() {
        if (next !== undefined) throw next;
      },
    },
    { onHealth: (health) => reports.push(health), now: () => time },
  );
  return {
    reports: () => reports.splice(0).map(({ provider, error }) => error ?? `${provider} works`),
    advanceClock(milliseconds: number) {
      time += milliseconds;
    },
    async send(error?: Error) {
      next = error;
      if (error === undefined) await sender.send(mail);
      else await expect(sender.send(mail)).rejects.toBe(error);
    },
  };
}

const broken = new Error('the mail server answered 535 to AUTH');
const refused = Object.assign(new Error('the mail server answered 550 to RCPT TO'), { permanent: true });

test('a mail server fails after three failures in a row, until it accepts a mail', async () => {
  const { send, reports } = createTestMail();
  await send();
  expect(reports()).toEqual(['smtp works']);
  await send();
  await send(broken);
  await send(broken);
  expect(reports()).toEqual([]);
  await send(broken);
  expect(reports()).toEqual([broken.message]);
  await send();
  expect(reports()).toEqual(['smtp works']);
});

test('a mail that the server refuses because of its recipient shows that the server works', async () => {
  const { send, reports } = createTestMail();
  await send(broken);
  await send(broken);
  await send(refused);
  await send(broken);
  await send(broken);
  expect(reports()).toEqual(['smtp works']);
});

test('a failure that lasts is reported again from time to time', async () => {
  const { send, reports, advanceClock } = createTestMail();
  for (let count = 0; count < 10; count += 1) await send(broken);
  expect(reports()).toEqual([broken.message]);
  advanceClock(60_000);
  await send(broken);
  await send(broken);
  expect(reports()).toEqual([broken.message]);
});

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
