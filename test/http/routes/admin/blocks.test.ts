import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, IssuedApiKey } from '../../../../src/contract/administration.js';
import type { Block } from '../../../../src/contract/block.js';
import { createAdministration } from '../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { testSql } from '../../../support/sql.js';
import { createUser, signIn } from '../../../support/users.js';

let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ TRUST_PROXY: '127.0.0.1' }, { blockInterval: 100 });
  other = await postern.another();
});
afterAll(async () => {
  await other.close();
  await postern.close();
});

const { admin, refused } = createAdministration(() => postern);
let lastAddress = 0;
/** An address that no other test blocks. */
const newAddress = () => {
  lastAddress += 1;
  return `203.0.113.${lastAddress}`;
};
const block = async (body: object) => (await admin<Block>('POST', '/blocks', body)).body;
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
/** The status and error code of a request from this address. */
const statusFrom = (address: string, on = postern) =>
  on
    .api<ProblemAnswer>('GET', '/v1/login-options', from(address))
    .then(({ status, body }) => [status, body.errors?.[0]?.code]);

describe('a block', () => {
  test('refuses the requests of an address on every instance, with a clear 403, until it is deleted', async () => {
    const address = newAddress();
    const created = await admin<Block>('POST', '/blocks', { address, reason: 'Guesses passwords' });
    expect([created.status, created.body]).toEqual([
      201,
      {
        id: expect.any(String),
        address,
        reason: 'Guesses passwords',
        ends_at: null,
        created_by: 'key:environment',
        created_at: expect.any(String),
      },
    ]);
    await eventually('both instances to know the block', async () => {
      const answers = await Promise.all([statusFrom(address), statusFrom(address, other)]);
      return answers.every(([status]) => status === 403) ? answers : undefined;
    });
    expect(await statusFrom(address)).toEqual([403, 'address_blocked']);
    expect(await statusFrom(newAddress())).toEqual([200, undefined]);
    expect((await admin('DELETE', `/blocks/${created.body.id}`)).status).toBe(204);
    await eventually('both instances to know that it ended', async () => {
      const answers = await Promise.all([statusFrom(address), statusFrom(address, other)]);
      return answers.every(([status]) => status === 200) ? answers : undefined;
    });
    const { body } = await admin<Event[]>('GET', '/events?filter=type:in:block.created;block.deleted&limit=2');
    const data = { block_id: created.body.id, address, reason: 'Guesses passwords', ends_at: null };
    expect(body).toMatchObject([
      { type: 'block.deleted', actor: 'key:environment', data },
      { type: 'block.created', actor: 'key:environment', data },
    ]);
  });

  test('ends the open streams of an address on every instance, and no others', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    const [blocked, free] = [newAddress(), newAddress()];
    const stream = async (on: TestApp, address: string) => {
      const headers = { authorization: `Bearer ${session.token}`, ...from(address).headers };
      const aborting = new AbortController();
      const response = await fetch(`${on.url}/v1/notifications/stream`, { headers, signal: aborting.signal });
      expect(response.status).toBe(200);
      let hasEnded = false;
      const ended = response.text().then(
        () => (hasEnded = true),
        () => (hasEnded = true),
      );
      return { ended, hasEnded: () => hasEnded, stop: () => aborting.abort() };
    };
    const ending = await Promise.all([stream(postern, blocked), stream(other, blocked)]);
    const staying = await Promise.all([stream(postern, free), stream(other, free)]);
    const { id } = await block({ address: blocked });
    await Promise.all(ending.map(({ ended }) => ended));
    expect(staying.map(({ hasEnded }) => hasEnded())).toEqual([false, false]);
    for (const { stop } of staying) stop();
    await admin('DELETE', `/blocks/${id}`);
  });

  test('applies to session checks on the fast path and to every other route, but not to probes', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    const address = newAddress();
    const check = (headers: Record<string, string> = {}) =>
      postern.api('POST', '/v1/sessions/verify', { bearer: session.token, headers }).then(({ status }) => status);
    const { id } = await block({ address: `${address}/32` });
    for (const client of [address, `::ffff:${address}`, `${address}:4711`, `198.51.100.1, ${address}`]) {
      expect([client, await check({ 'x-forwarded-for': client })]).toEqual([client, 403]);
    }
    expect([await check(), await check({ 'x-forwarded-for': newAddress() })]).toEqual([200, 200]);
    // Only the address that the trusted proxy names counts.
    expect(await check({ 'x-forwarded-for': `${address}, ${newAddress()}` })).toBe(200);
    for (const path of ['/v1/notifications', '/admin/v1/users', '/unknown', '/openapi.json', '/console']) {
      const { status } = await fetch(postern.url + path, from(address));
      expect([path, status]).toEqual([path, 403]);
    }
    for (const path of ['/livez', '/readyz']) {
      expect((await fetch(postern.url + path, from(address))).status).toBe(200);
    }
    await admin('DELETE', `/blocks/${id}`);
    expect(await check({ 'x-forwarded-for': address })).toBe(200);
  });

  test('whose `ends_at` has passed refuses nothing, and the list still shows it', async () => {
    const address = newAddress();
    await block({ address, ends_at: new Date(Date.now() + 3_600_000).toISOString() });
    expect(await statusFrom(address)).toEqual([403, 'address_blocked']);
    const end = "update address_blocks set ends_at = db_now() - interval '1 second' where network = $1::cidr";
    await postern.database.query(testSql(end, [address]));
    await eventually('the block to end', async () => ((await statusFrom(address))[0] === 200 ? true : undefined));
    const [listed] = (await admin<Block[]>('GET', `/blocks?filter=address:${address}`)).body;
    expect(listed?.address).toBe(address);
  });

  test('of the same range is replaced, also in a race', async () => {
    const [a, b] = [randomInt(256), randomInt(256)];
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        admin<Block>('POST', '/blocks', { address: `198.${a}.${b}.${index}/24`, reason: `round ${index}` }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const { body } = await admin<Block[]>('GET', `/blocks?filter=address:eq:198.${a}.${b}.0/24`);
    expect(body).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer.body.id))).toEqual(new Set([body[0]?.id]));
  });

  test('that is written by SQL takes effect too', async () => {
    const address = newAddress();
    const write = (text: string, ...values: string[]) => postern.database.query(testSql(text, values));
    await write(
      "insert into address_blocks (id, network, created_by, created_at) values (gen_random_uuid(), $1::cidr, 'sql', now())",
      address,
    );
    await eventually('the block', async () => ((await statusFrom(address))[0] === 403 ? true : undefined));
    await write('truncate address_blocks');
    await eventually('its end', async () => ((await statusFrom(address))[0] === 200 ? true : undefined));
  });

  test("of the caller's own address is refused, unless the caller allows it", async () => {
    const address = newAddress();
    const own = (body: object) =>
      postern.api<ProblemAnswer>('POST', '/admin/v1/blocks', { bearer: postern.adminKey, body, ...from(address) });
    for (const range of [address, `${address}/8`, `::ffff:${address}`, '0.0.0.0/0']) {
      const { status, body } = await own({ address: range });
      expect([range, status, body.errors[0]?.code]).toEqual([range, 422, 'own_address']);
    }
    expect((await own({ address, allow_own: true })).status).toBe(201);
    expect((await own({ address: newAddress() })).status).toBe(403);
  });

  test('of the address of a backend is refused too, if the backend names its client', async () => {
    const [backend, client] = [newAddress(), newAddress()];
    const blockFromBackend = (address: string) =>
      postern.api<ProblemAnswer>('POST', '/admin/v1/blocks', {
        bearer: postern.adminKey,
        body: { address },
        headers: { 'x-forwarded-for': backend, 'postern-client-address': client },
      });
    for (const address of [backend, client]) {
      const { status, body } = await blockFromBackend(address);
      expect([address, status, body.errors[0]?.code]).toEqual([address, 422, 'own_address']);
    }
    expect((await blockFromBackend(newAddress())).status).toBe(201);
  });

  test('is refused with all errors', async () => {
    expect(await refused('POST', '/blocks', { address: '0x7f.1', ends_at: 'tomorrow' })).toEqual({
      status: 422,
      errors: [
        ['address', 'invalid_network'],
        ['ends_at', 'invalid_time'],
      ],
    });
    expect(await refused('POST', '/blocks', { address: newAddress(), ends_at: '2020-01-01T00:00:00Z' })).toEqual({
      status: 422,
      errors: [['ends_at', 'time_in_past']],
    });
    expect((await refused('DELETE', `/blocks/${randomUUID()}`)).status).toBe(404);
  });

  test('needs the scope admin', async () => {
    const scopes = ['users:read', 'users:write', 'notifications:write', 'sessions:verify', 'clients:forward'];
    const key = await admin<IssuedApiKey>('POST', '/keys', { name: 'all others', scopes });
    for (const [method, path] of [
      ['POST', ''],
      ['GET', ''],
      ['GET', '/page'],
      ['DELETE', `/${randomUUID()}`],
    ] as const) {
      const body = method === 'POST' ? { address: newAddress() } : undefined;
      const { status } = await admin(method, `/blocks${path}`, body, { bearer: key.body.token });
      expect([method, status]).toEqual([method, 403]);
    }
  });
});
