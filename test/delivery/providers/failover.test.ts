import { describe, expect, it, test } from 'vitest';
import { createFailover } from '../../../src/delivery/providers/failover.js';
import { ProviderError, type ProviderFailure } from '../../../src/delivery/providers/provider-error.js';
import type { ProviderHealth } from '../../../src/delivery/providers/provider-health.js';
import { message, startSns, startTwilio, startVonage } from '../sms/vendors.js';

const unavailable = { status: 500 };
const invalidNumber = { status: 400, body: '{"code":21211}' };
const noCountry = { status: 400, body: '{"code":21408}' };

async function twoVendors(options: { readonly totalTimeoutMs?: number } = {}) {
  const [twilio, vonage] = [await startTwilio(), await startVonage()];
  let time = 0;
  const providers = [twilio.sender(options), vonage.sender()];
  const sms = createFailover({ providers, now: () => time });
  const send = async () => (await sms.send(message)).provider;
  const counts = () => [twilio.received.length, vonage.received.length];
  const advanceClock = (milliseconds: number) => {
    time += milliseconds;
  };
  return { twilio, vonage, sms, send, counts, advanceClock };
}

describe('several providers', () => {
  it('send a message through the first one, while it works', async () => {
    const { sms, send, counts } = await twoVendors();
    expect(sms.name).toBe('twilio,vonage');
    expect([await send(), await send(), counts()]).toEqual(['twilio', 'twilio', [2, 0]]);
  });

  it.each([
    ['fails', unavailable],
    ['limits the rate', { status: 429 }],
    ['refuses the account', { status: 401 }],
    ['does not serve the country', noCountry],
  ])('send a message through the next one when the first one %s', async (_what, answer) => {
    const { twilio, send, counts } = await twoVendors();
    twilio.answer(answer);
    expect([await send(), counts()]).toEqual(['vonage', [1, 1]]);
  });

  it('send a message through the next one when the first one does not answer', async () => {
    const { twilio, send } = await twoVendors({ totalTimeoutMs: 300 });
    twilio.answer('hang');
    expect(await send()).toBe('vonage');
  });

  it.each([
    ['broken', '{"sid":'],
    ['empty', ''],
  ])('send a message once when the first one accepts it with a body that is %s', async (_what, body) => {
    const { twilio, send, counts } = await twoVendors();
    twilio.answer({ status: 201, body });
    expect([await send(), counts()]).toEqual(['twilio', [1, 0]]);
  });

  it('do not try a number that is not valid again', async () => {
    const { twilio, sms, counts } = await twoVendors();
    twilio.answer(invalidNumber);
    await expect(sms.send(message)).rejects.toMatchObject({ permanent: true, provider: 'twilio', failure: 'invalid' });
    expect(counts()).toEqual([1, 0]);
  });

  it('name all reasons when none accepts the message', async () => {
    const { twilio, vonage, sms } = await twoVendors();
    twilio.answer(noCountry);
    vonage.answer(unavailable);
    await expect(sms.send(message)).rejects.toMatchObject({
      message:
        'twilio: the account may not send to this country, code 21408 (400); vonage: the provider failed or did not understand the request (500)',
      permanent: false,
    });
    twilio.answer(noCountry);
    vonage.answer({ status: 422, body: '{"type":"https://developer.vonage.com/api-errors/messages#1120"}' });
    await expect(sms.send(message)).rejects.toMatchObject({ permanent: true, failure: 'refused' });
  });

  it('skip a provider that fails, try it once after each pause, and return to it when it works', async () => {
    const { twilio, send, counts, advanceClock } = await twoVendors();
    twilio.answer(unavailable, unavailable, unavailable, unavailable);
    expect([await send(), await send(), await send(), counts()]).toEqual(['vonage', 'vonage', 'vonage', [3, 3]]);
    expect([await send(), await send(), counts()]).toEqual(['vonage', 'vonage', [3, 5]]);
    advanceClock(15_000);
    expect(await Promise.all([send(), send(), send()])).toEqual(['vonage', 'vonage', 'vonage']);
    expect(counts()).toEqual([4, 8]);
    advanceClock(15_000);
    expect([await send(), counts()]).toEqual(['vonage', [4, 9]]);
    advanceClock(15_000);
    expect([await send(), await send(), counts()]).toEqual(['twilio', 'twilio', [6, 9]]);
  });

  it('report which one fails, and when it works again', async () => {
    const twilio = await startTwilio();
    const health: (string | undefined)[] = [];
    let time = 0;
    const sms = createFailover({
      providers: [twilio.sender()],
      now: () => time,
      onHealth: ({ provider, error }) => health.push(error ?? `${provider} works`),
    });
    const attempt = () => sms.send(message).catch(() => undefined);
    await attempt();
    await attempt();
    expect(health).toEqual(['twilio works']);
    const failure = 'twilio: the provider failed or did not understand the request (500)';
    twilio.answer(...Array.from({ length: 3 }, () => unavailable));
    for (let count = 0; count < 3; count += 1) await attempt();
    expect(health).toEqual(['twilio works', failure]);
    time = 15_000;
    await attempt();
    await attempt();
    expect(health).toEqual(['twilio works', failure, 'twilio works']);
  });

  it('still use a provider that failed when the others fail too', async () => {
    const { twilio, vonage, send, counts } = await twoVendors();
    twilio.answer(unavailable, unavailable, unavailable);
    for (let count = 0; count < 3; count += 1) await send();
    vonage.answer(unavailable);
    expect([await send(), counts()]).toEqual(['twilio', [4, 4]]);
  });

  it('do not skip a provider that refuses numbers', async () => {
    const { twilio, sms, send, counts } = await twoVendors();
    twilio.answer(invalidNumber, invalidNumber, invalidNumber, invalidNumber);
    for (let count = 0; count < 4; count += 1) await expect(sms.send(message)).rejects.toThrow('not valid');
    expect([await send(), counts()]).toEqual(['twilio', [5, 0]]);
  });

  it('are not required: the caller gets the unchanged error of a single provider', async () => {
    const sns = await startSns();
    const error = new Error('out of order');
    const broken = { name: 'webhook', send: () => Promise.reject(error) };
    await expect(createFailover({ providers: [broken] }).send(message)).rejects.toBe(error);
    expect(await createFailover({ providers: [broken, sns.sender()] }).send(message)).toMatchObject({
      provider: 'sns',
    });
  });
});

/** A provider. Each message fails with the next error, or is accepted if there is none. */
function createTestProvider(name: string, ...errors: (Error | undefined)[]) {
  const received: string[] = [];
  return {
    name,
    received,
    async send(id: string) {
      received.push(id);
      const error = errors.shift();
      if (error !== undefined) throw error;
      return { provider: name, reference: id };
    },
  };
}
const failure = (kind: ProviderFailure) => new ProviderError('first', kind, 'a reason');

describe('an unclear answer', () => {
  test('sends the message twice more to the same provider with the same id, and then to the next one', async () => {
    const first = createTestProvider('first', failure('unclear'), failure('unclear'), failure('unclear'));
    const second = createTestProvider('second');
    const accepted = await createFailover({ providers: [first, second] }).send('a');
    expect([accepted, first.received, second.received]).toEqual([
      { provider: 'second', reference: 'a' },
      ['a', 'a', 'a'],
      ['a'],
    ]);
  });

  test('and then a clear one ends the repeats', async () => {
    for (const [kind, provider] of [
      ['unavailable', 'second'],
      ['refused', 'second'],
      [undefined, 'first'],
    ] as const) {
      const first = createTestProvider('first', failure('unclear'), kind && failure(kind));
      const second = createTestProvider('second');
      expect((await createFailover({ providers: [first, second] }).send('a')).provider).toBe(provider);
      expect(first.received).toHaveLength(2);
    }
    const first = createTestProvider('first', failure('unclear'), failure('invalid'));
    const second = createTestProvider('second');
    await expect(createFailover({ providers: [first, second] }).send('a')).rejects.toMatchObject({
      failure: 'invalid',
    });
    expect(second.received).toEqual([]);
  });

  test('of the only provider can be tried again later', async () => {
    const first = createTestProvider('first', failure('unclear'), failure('unclear'), failure('unclear'));
    const sending = createFailover({ providers: [first] }).send('a');
    await expect(sending).rejects.toMatchObject({ failure: 'unclear', permanent: false });
    expect(first.received).toHaveLength(3);
  });
});

/** A single provider with its reports. */
function createReported() {
  const reports: ProviderHealth[] = [];
  let time = 0;
  let next: Error | undefined;
  const sender = createFailover({
    providers: [
      {
        name: 'smtp',
        async send() {
          if (next !== undefined) throw next;
          return { provider: 'smtp', reference: null };
        },
      },
    ],
    onHealth: (health) => reports.push(health),
    now: () => time,
  });
  return {
    reports: () => reports.splice(0).map(({ provider, error }) => error ?? `${provider} works`),
    advanceClock(milliseconds: number) {
      time += milliseconds;
    },
    async send(error?: Error) {
      next = error;
      if (error === undefined) await sender.send('a');
      else await expect(sender.send('a')).rejects.toBe(error);
    },
  };
}

const broken = new Error('the mail server answered 535 to AUTH');
const refused = Object.assign(new Error('the mail server answered 550 to RCPT TO'), { permanent: true });

test('a mail server fails after three failures in a row, until it accepts a mail', async () => {
  const { send, reports } = createReported();
  await send();
  expect(reports()).toEqual(['smtp works']);
  await send();
  await send(broken);
  await send(broken);
  expect(reports()).toEqual([]);
  await send(broken);
  expect(reports()).toEqual([`smtp: ${broken.message}`]);
  await send();
  expect(reports()).toEqual(['smtp works']);
});

test('a mail that the server refuses because of its recipient shows that the server works', async () => {
  const { send, reports } = createReported();
  await send(broken);
  await send(broken);
  await send(refused);
  await send(broken);
  await send(broken);
  expect(reports()).toEqual(['smtp works']);
});

test('a failure that lasts is reported again from time to time', async () => {
  const { send, reports, advanceClock } = createReported();
  for (let count = 0; count < 10; count += 1) await send(broken);
  expect(reports()).toEqual([`smtp: ${broken.message}`]);
  advanceClock(60_000);
  await send(broken);
  await send(broken);
  expect(reports()).toEqual([`smtp: ${broken.message}`]);
});
