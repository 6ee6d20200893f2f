import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { network } from '../../src/limits/limit-counts.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { testSql } from '../support/sql.js';
import {
  codeLogins,
  createUser,
  emailLogin,
  messageOf,
  newEmail,
  newPhone,
  passwordLogin,
  signIn,
  smsLogin,
} from '../support/users.js';

const running: TestApp[] = [];
const start = async (env: Record<string, string>) => {
  const postern = await startTestApp(env);
  running.unshift(postern);
  return postern;
};
afterEach(async () => {
  for (const postern of running.splice(0)) await postern.close();
});

/** Two instances without limits for addresses. */
let unlimited: TestApp;
let unlimitedToo: TestApp;
beforeAll(async () => {
  // Requests of one user wait for each other, on a busy machine for a long time.
  unlimited = await startTestApp(
    { LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
    { queryTimeout: 60_000 },
  );
  unlimitedToo = await unlimited.another();
});
afterAll(async () => {
  await unlimitedToo.close();
  await unlimited.close();
});

const post = (postern: TestApp, body: object, headers: Record<string, string> = {}) =>
  postern.api<Authentication>('POST', '/v1/tokens', { body, headers });

describe('logins of one address', () => {
  test('are limited per minute over both steps and all instances, with the seconds to wait', async () => {
    const postern = await start({ LOGIN_LIMIT_PER_ADDRESS: '20' });
    const other = await postern.another();
    running.unshift(other);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const { api } = index % 2 === 0 ? postern : other;
        return index % 4 < 2
          ? api('POST', '/v1/tokens', { body: passwordLogin(`user${index}`, 'wrong') })
          : api('POST', `/v1/tokens/${randomUUID()}/secret`, { body: { secret: '123456', pin: '2468' } });
      }),
    );
    const refused = answers.filter(({ status }) => status === 429);
    // The limit refills by one login every three seconds. A busy machine may need longer than that for the requests.
    expect(refused.length).toBeGreaterThanOrEqual(10);
    expect(refused.length).toBeLessThanOrEqual(20);
    for (const { headers } of refused) {
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(3);
    }
  });

  test('are distinguished by X-Forwarded-For only behind a trusted proxy', async () => {
    const untrusting = await start({ LOGIN_LIMIT_PER_ADDRESS: '1' });
    const trusting = await start({ LOGIN_LIMIT_PER_ADDRESS: '1', TRUST_PROXY: '127.0.0.1' });
    const from = (postern: TestApp, address: string) =>
      post(postern, passwordLogin(`user${randomUUID()}`, 'wrong'), { 'x-forwarded-for': address }).then(
        ({ status }) => status,
      );
    expect([await from(untrusting, '192.0.2.1'), await from(untrusting, '192.0.2.2')]).toEqual([201, 429]);
    expect([await from(trusting, '192.0.2.1'), await from(trusting, '192.0.2.2')]).toEqual([201, 201]);
    expect([await from(trusting, '2001:db8::1'), await from(trusting, '2001:db8::2:1')]).toEqual([201, 429]);
    expect(await from(trusting, '::ffff:192.0.2.1')).toBe(429);
    // Addresses that the client sent itself are left of the proxy's entry.
    expect(await from(trusting, '203.0.113.9, 192.0.2.2')).toBe(429);
  });

  test('have no limit with 0', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, at) => post(unlimited, passwordLogin(`user${at}`, 'x'))),
    );
    expect(answers.every(({ status }) => status === 201)).toBe(true);
  });
});

test('an IPv4 address is counted alone, and an IPv6 address with its network /64', () => {
  expect(network('192.0.2.1')).toBe('192.0.2.1');
  expect(network('::ffff:192.0.2.1')).toBe('192.0.2.1');
  expect(network('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
  // Clients behind a NAT64 share a /64, and no IPv4 address.
  expect(network('64:ff9b::c000:201')).toBe('192.0.2.1');
  expect(network('64:ff9b::192.0.2.2')).toBe('192.0.2.2');
  expect(network('64:ff9b:1::c000:201')).toBe('192.0.2.1');
  expect(network('64:ff9b:1:ab:cd::192.0.2.1')).toBe('192.0.2.1');
  expect(network('64:ff9b:2::c000:201')).toBe('64:ff9b:2:0::/64');
  expect(network('64:ff9b::1:0:c000:201')).toBe('64:ff9b:0:0::/64');
  expect(network('2001:db8:1:2::')).toBe('2001:db8:1:2::/64');
  expect(network('2001:db8:1:3::')).not.toBe(network('2001:db8:1:2::'));
  expect(network('rubbish')).toBe('unknown');
});

describe.each(codeLogins)('codes by $authenticator of one identity', ({ field, newAddress, loginOf }) => {
  test('are limited to one a minute, even with thirty parallel requests on two instances, also for unknown identities', async () => {
    for (const address of [(await createUser(unlimited, { [field]: newAddress() }))[field], newAddress()]) {
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) => post(index % 2 === 0 ? unlimited : unlimitedToo, loginOf(address))),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      for (const { status, headers } of answers.filter((answer) => answer.status !== 201)) {
        expect(status).toBe(429);
        expect(Number(headers['retry-after'])).toBeGreaterThan(30);
        expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
      }
    }
  });

  test('are limited to five an hour and ten a day', async () => {
    const { [field]: address } = await createUser(unlimited, { [field]: newAddress() });
    const passTime = (time: string) =>
      unlimited.database.query(
        testSql(
          `update message_limits set sent_at = (select array_agg(t - $1::interval order by t desc) from unnest(sent_at) t)`,
          [time],
        ),
      );
    const statuses = [];
    for (let count = 0; count < 7; count += 1) {
      const { status, headers } = await post(unlimited, loginOf(address));
      statuses.push(status === 429 ? Number(headers['retry-after']) > 60 : status);
      await passTime('1 minute');
    }
    expect(statuses).toEqual([201, 201, 201, 201, 201, true, true]);
    await passTime('1 hour');
    for (let count = 0; count < 5; count += 1) {
      expect((await post(unlimited, loginOf(address))).status).toBe(201);
      await passTime('2 minutes');
    }
    await passTime('1 hour');
    expect(Number((await post(unlimited, loginOf(address))).headers['retry-after'])).toBeGreaterThan(3600);
    await passTime('22 hours');
    expect((await post(unlimited, loginOf(address))).status).toBe(201);
  });

  test('have a limit of their own for a known device, so that a stranger cannot use up the owner’s', async () => {
    const user = await createUser(unlimited, { [field]: newAddress() });
    const device = { id: randomUUID() };
    await signIn(unlimited, user, device);
    expect((await post(unlimited, loginOf(user[field]))).status).toBe(201);
    expect((await post(unlimited, loginOf(user[field]))).status).toBe(429);
    const own = await post(unlimited, loginOf(user[field], device));
    expect(own.status).toBe(201);
    expect((await messageOf(unlimited, own.body.id, ['sent'])).recipient).toBe(user[field]);
  });

  test('requested through another identity of the same account get 201 and are not sent', async () => {
    const user = await createUser(unlimited, { [field]: newAddress() });
    const first = await post(unlimited, loginOf(user[field]));
    await messageOf(unlimited, first.body.id, ['sent']);
    const byName = { ...loginOf(null), identity: { type: 'username', value: user.username } };
    const second = await post(unlimited, byName);
    expect(second.status).toBe(201);
    await messageOf(unlimited, second.body.id, ['dropped']);
    expect((await post(unlimited, byName)).status).toBe(429);
  });
});

describe('codes of one address, one prefix and in total', () => {
  test('an address has a limit of codes an hour, over all accounts', async () => {
    const postern = await start({ CODE_LIMIT_PER_ADDRESS: '3' });
    const statuses = [];
    for (let count = 0; count < 5; count += 1) statuses.push((await post(postern, smsLogin(newPhone()))).status);
    expect(statuses).toEqual([201, 201, 201, 429, 429]);
  });
});

describe.each(['SMS_LIMIT_PER_PREFIX', 'SMS_LIMIT_TOTAL'])('with %s', (limit) => {
  let postern: TestApp;
  beforeAll(async () => {
    postern = await startTestApp({ [limit]: '2' });
  });
  afterEach(() => postern.database.query(testSql('delete from request_limits')));
  afterAll(() => postern.close());

  test('nothing is sent over the limit, and the response does not change', async () => {
    const states = [];
    for (let count = 0; count < 3; count += 1) {
      const { phone } = await createUser(postern, { phone: `+1555123${String(count).padStart(4, '0')}` });
      const { status, body } = await post(postern, smsLogin(phone));
      expect(status).toBe(201);
      states.push((await messageOf(postern, body.id, ['sent', 'dropped'])).state);
    }
    expect(states).toEqual(['sent', 'sent', 'dropped']);
    // Mail is not limited.
    const { email } = await createUser(postern, { email: newEmail() });
    const { body } = await post(postern, emailLogin(email));
    expect((await messageOf(postern, body.id, ['sent', 'dropped'])).state).toBe('sent');
  });

  test('unknown numbers and numbers behind a username are counted like all others', async () => {
    const numbers = ['+15551240001', '+15551240002', '+15551240003'] as const;
    const name = `user${randomUUID()}`;
    await createUser(postern, { username: name, phone: numbers[1] });
    await createUser(postern, { phone: numbers[2] });
    const stateOf = async (body: object) =>
      (await messageOf(postern, (await post(postern, body)).body.id, ['sent', 'dropped'])).state;
    const byName = (value: string) => stateOf({ ...smsLogin(null), identity: { type: 'username', value } });
    expect(await stateOf(smsLogin(numbers[0]))).toBe('dropped');
    expect(await byName('nobody-of-this-name')).toBe('dropped');
    // A username does not show the prefix of its number, so usernames have a limit of their own.
    const isLimitOfPrefix = limit === 'SMS_LIMIT_PER_PREFIX';
    expect(await byName(name)).toBe(isLimitOfPrefix ? 'sent' : 'dropped');
    expect(await stateOf(smsLogin(numbers[2]))).toBe(isLimitOfPrefix ? 'sent' : 'dropped');
    expect(await byName('another-nobody')).toBe('dropped');
    await createUser(postern, { username: `${name}x`, phone: '+15559990001' });
    expect(await byName(`${name}x`)).toBe('dropped');
  });
});

test('a stranger who uses up an account’s logins does not lock out its known devices', async () => {
  const postern = await start({ LOGIN_LIMIT_PER_ADDRESS: '10', TRUST_PROXY: '127.0.0.1', GUESS_LIMIT: '1000' });
  const user = await createUser(postern);
  const device = { id: randomUUID() };
  await signIn(postern, user, device);
  const from = (address: string, body: object) => post(postern, body, { 'x-forwarded-for': address });
  const stranger = [];
  for (let at = 1; at <= 15; at += 1) stranger.push(from(`192.0.2.${at}`, passwordLogin(user.username, 'wrong')));
  expect((await Promise.all(stranger)).some(({ status }) => status === 429)).toBe(true);
  const owner = await from('198.51.100.1', passwordLogin(user.username, undefined, device));
  expect(owner.body.status).toBe('approved');
});

test('the address from a proxy is used without port and zone, and never breaks a login', async () => {
  const postern = await start({ TRUST_PROXY: '1' });
  const user = await createUser(postern);
  const forwarded = {
    '192.0.2.7:5678': '192.0.2.7',
    '[2001:db8::1]:443': '2001:db8::1',
    'fe80::1%eth0': 'fe80::1',
    unknown: '127.0.0.1',
    '10.0.0.0/8': '127.0.0.1',
  };
  for (const [header, address] of Object.entries(forwarded)) {
    const { status } = await post(postern, passwordLogin(user.username, 'wrong'), { 'x-forwarded-for': header });
    expect(status).toBe(201);
    const { body } = await postern.api<{ address: string }[]>('GET', `/admin/v1/users/${user.id}/activity`, {
      bearer: postern.adminKey,
    });
    expect(body[0]?.address).toBe(address);
    await postern.api('POST', `/admin/v1/users/${user.id}/unlock`, { bearer: postern.adminKey });
  }
});
