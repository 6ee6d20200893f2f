import { randomInt } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { patient, startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type FaultyProvider, startFaultyProvider } from '../support/fault-injection/provider.js';
import { createUser, messageOf, newPhone, passwordLogin, smsLogin } from '../support/users.js';

/** The number of messages that the queue of one instance sends in parallel. */
const workers = 10;
const crowd = 40;

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A service whose workers all wait for a provider that hangs. */
async function startWithBusyWorkers(): Promise<{ postern: TestApp; provider: FaultyProvider }> {
  const provider = await startFaultyProvider();
  cleanUps.push(() => provider.close());
  const env = {
    ...{ ...provider.env, TRUST_PROXY: '127.0.0.1', NOTICES: 'sms', GUESS_LIMIT: '1', LOG_LEVEL: 'silent' },
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
  };
  const postern = await startTestApp(env, patient);
  cleanUps.push(() => postern.close());
  provider.behave('hang');
  await Promise.all(Array.from({ length: workers }, (_, at) => startLogin(postern, `198.51.100.${at}`)));
  await eventually('every worker to have a request that hangs', async () =>
    provider.received.length === workers ? true : undefined,
  );
  return { postern, provider };
}

const newUser = (postern: TestApp) => createUser(postern, { phone: newPhone(), password: undefined });

/** Starts a login by SMS from an address, to a new user unless a number is given. */
async function startLogin(postern: TestApp, address: string, number?: string): Promise<{ id: string; phone: string }> {
  const phone = number ?? (await newUser(postern)).phone ?? '';
  const headers = { 'x-forwarded-for': address };
  const { status, body } = await postern.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(phone), headers });
  expect(status).toBe(201);
  return { id: body.id, phone };
}

const isPending = ({ api }: TestApp, id: string) =>
  eventually(`${id} to be pending`, async () =>
    (await api('GET', `/v1/tokens/${id}`)).body.status === 'pending' ? true : undefined,
  );

const many = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

test('codes for unknown users need no worker, and this is not visible to the client', async () => {
  const { postern, provider } = await startWithBusyWorkers();
  const address = '192.0.2.1';
  const unknown = await many(crowd, () => startLogin(postern, address, newPhone()));
  const known = await many(3, () => startLogin(postern, address));
  for (const { id } of [...unknown, ...known]) await isPending(postern, id);
  for (const { id } of unknown) await messageOf(postern, id, ['dropped']);
  for (const { id } of known) await messageOf(postern, id, ['queued']);
  provider.behave('accept');
  provider.acceptHanging();
});

/** Jobs that can be in the queue before the code of another user. */
const crowds = {
  'codes of an address that requests many': (postern: TestApp) =>
    many(crowd, async () => isPending(postern, (await startLogin(postern, '192.0.2.1')).id)),
  'notices of locks': async (postern: TestApp) => {
    const users = await many(crowd, () => newUser(postern));
    for (const { username } of users) {
      const headers = { 'x-forwarded-for': `192.0.2.${randomInt(256)}` };
      await postern.api('POST', '/v1/tokens', { body: passwordLogin(username, 'wrong'), headers });
    }
    const path = '/admin/v1/outbox?filter=kind:sms.account_locked&limit=100';
    await eventually('the notices to wait', async () => {
      const { body } = await postern.api<object[]>('GET', path, { bearer: postern.adminKey });
      return body.length === crowd ? true : undefined;
    });
  },
};

test.each(Object.keys(crowds) as (keyof typeof crowds)[])('a code does not wait for %s', async (which) => {
  const { postern, provider } = await startWithBusyWorkers();
  await crowds[which](postern);
  // Count here and not earlier. When a request to the provider times out, its worker sends another message of the crowd.
  const before = provider.received.length;
  const { id, phone } = await startLogin(postern, '203.0.113.7');
  await isPending(postern, id);
  provider.behave('accept');
  provider.acceptHanging();
  await messageOf(postern, id);
  // It is among the first messages when workers are free, before the other jobs.
  const place = provider.received.slice(before).findIndex(({ to }) => to === phone);
  expect(place).toBeGreaterThanOrEqual(0);
  expect(place).toBeLessThan(crowd / 2);
});
