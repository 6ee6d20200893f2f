import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IssuedApiKey } from '../../../src/contract/administration.js';
import { createAdministration } from '../../support/administration.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { createUser, signIn } from '../../support/users.js';

interface Line {
  readonly level: string;
  readonly security_event?: string;
  readonly address?: string;
  readonly request_id?: string;
  readonly caller?: string;
  readonly route?: string;
  readonly count?: number;
}

const linesOf = ({ logged }: TestApp) =>
  logged.map((line) => JSON.parse(line) as Line).filter(({ security_event: event }) => event !== undefined);

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ TRUST_PROXY: '127.0.0.1', REQUEST_LIMIT_PER_SESSION: '3' });
});
afterAll(() => postern.close());
const { admin } = createAdministration(() => postern);

async function createKey(scopes: readonly string[]): Promise<{ id: string; token: string }> {
  const { body } = await admin<IssuedApiKey>('POST', '/keys', { name: 'test', scopes });
  return { id: body.id, token: body.token };
}

/** Sends a request from an address that no other test uses, and returns the lines about this address. */
async function refuse(address: string, method: string, path: string, options: object = {}): Promise<readonly Line[]> {
  const headers = { 'x-forwarded-for': address, ...(options as { headers?: object }).headers };
  const { status, headers: answered } = await postern.api(method, path, { ...options, headers });
  expect(status).toBeGreaterThanOrEqual(400);
  const lines = linesOf(postern).filter((line) => line.address === address);
  expect(lines[0]?.request_id).toMatch(/^[0-9a-f-]{36}$/);
  if (lines.length === 1) expect(lines[0]).toMatchObject({ level: 'warn', request_id: answered['request-id'] });
  return lines;
}

describe('a security event', () => {
  test('is a wrong key, with the address and the id of the request', async () => {
    const lines = await refuse('192.0.2.1', 'GET', '/admin/v1/users', { bearer: 'psk_wrong' });
    expect(lines).toEqual([
      expect.objectContaining({ security_event: 'invalid_api_key', route: '/admin/v1/users', method: 'GET' }),
    ]);
  });

  test('is an authentication token that nobody has, or that was changed', async () => {
    const user = await createUser(postern);
    const { token } = await signIn(postern, user);
    for (const [address, basic] of [
      ['192.0.2.8', 'psa_wrong'],
      ['192.0.2.9', token.replace(/.{8}$/, 'AAAAAAAA')],
    ] as const) {
      expect(await refuse(address, 'POST', '/v1/sessions', { basic })).toMatchObject([
        { security_event: 'invalid_authentication_token', route: '/v1/sessions' },
      ]);
    }
  });

  test('is a call of the admin API that the key does not allow', async () => {
    const { token } = await createKey(['sessions:verify']);
    const [line] = await refuse('192.0.2.2', 'GET', '/admin/v1/users', { bearer: token });
    expect(line?.security_event).toBe('insufficient_scope');
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    const [other] = await refuse('192.0.2.3', 'GET', '/admin/v1/users', { bearer: session.token });
    expect(other?.security_event).toBeDefined();
    const [missing] = await refuse('192.0.2.4', 'GET', '/admin/v1/users');
    expect(missing?.security_event).toBe('missing_credentials');
  });

  test('is a request of another site, and a code of a set-up link that does not exist', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    const [line] = await refuse('192.0.2.5', 'POST', '/console/session', { headers });
    expect(line?.security_event).toBe('cross_site_request');
  });

  test('is an exceeded limit', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    for (let sent = 0; sent < 3; sent += 1) await postern.api('GET', '/v1/account', { bearer: session.token });
    const [line] = await refuse('192.0.2.6', 'GET', '/v1/account', { bearer: session.token });
    expect(line).toMatchObject({ security_event: 'too_many_requests', caller: `user:${user.id}` });
  });

  test('is not a mistake: an unknown path, a faulty body, an expired session of a user', async () => {
    for (const [method, path, options] of [
      ['GET', '/v1/nothing', {}],
      ['POST', '/v1/tokens', { body: {} }],
      ['GET', '/v1/account', {}],
    ] as const) {
      await postern.api(method, path, { ...options, headers: { 'x-forwarded-for': '192.0.2.7' } });
    }
    expect(linesOf(postern).filter(({ address }) => address === '192.0.2.7')).toEqual([]);
  });
});

test('repeats of one kind and address are counted in one line, and a stop writes the count', async () => {
  const other = await postern.another({ LOG_ADDRESSES: 'masked' });
  for (let sent = 0; sent < 5; sent += 1) {
    await other.api('GET', '/admin/v1/users', { bearer: 'psk_wrong', headers: { 'x-forwarded-for': '198.51.100.7' } });
  }
  expect(linesOf(other)).toHaveLength(1);
  await other.close();
  const [first, rest, ...more] = linesOf(other);
  expect(more).toEqual([]);
  expect(first).toMatchObject({ address: '198.51.100.0', security_event: 'invalid_api_key' });
  expect(rest).toMatchObject({ address: '198.51.100.0', security_event: 'invalid_api_key', count: 4 });
});

test('the access log has the address, the key, and the operator or user of each request', async () => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const other = await postern.another({ ACCESS_LOG: 'json' }, { accessLog: { write } });
  const { id, token } = await createKey(['users:read']);
  await other.api('GET', '/admin/v1/users', { bearer: token, headers: { 'x-forwarded-for': '198.51.100.8' } });
  await other.close();
  expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({ route: '/admin/v1/users', address: '198.51.100.8', key_id: id }),
  );
});
