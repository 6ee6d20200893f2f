import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { UserDevice } from '../../../../src/contract/administration.js';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { testSql } from '../../../../test/support/sql.js';
import { memoryStorage, type PosternStorage } from '../../src/index.js';
import { clientOf, createNetwork, signedIn } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

const boundOf = async (userId: string) => {
  const { body } = await app.api<UserDevice[]>('GET', `/admin/v1/users/${userId}/devices`, { bearer: app.adminKey });
  return body.map(({ is_bound }) => is_bound);
};
const tokenIn = async (storage: PosternStorage): Promise<string> =>
  JSON.parse((await storage.get('postern.login')) ?? '{}').token;

describe('a client whose storage keeps keys', () => {
  test('binds its login, gets sessions with one request each, and logs out', async () => {
    const network = createNetwork();
    const storage = memoryStorage();
    const { user, postern } = await signedIn(app, { storage, fetch: network.fetch });
    expect(await boundOf(user.id)).toEqual([true]);
    for (let count = 0; count < 3; count += 1) {
      expect(await postern.getSession({ fresh: true })).toMatchObject({ user_id: user.id });
    }
    expect(network.count('POST /v1/sessions')).toBe(3);
    const token = await tokenIn(storage);
    expect((await app.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
    expect(await postern.logOut()).toEqual({ revoked: true });
    expect(network.count('DELETE /v1/tokens')).toBe(1);
  });

  test('keeps the private key where no script can export it, and uses one key for all logins', async () => {
    const storage = memoryStorage();
    const { postern } = await signedIn(app, { storage });
    const pair = (await storage.getKey?.('postern.key')) as { readonly privateKey: { readonly extractable: boolean } };
    expect(pair.privateKey.extractable).toBe(false);
    await postern.logOut();
    await signedIn(app, { storage });
    expect(await storage.getKey?.('postern.key')).toBe(pair);
  });

  test('requests a nonce after a restart, and continues', async () => {
    const storage = memoryStorage();
    const { user } = await signedIn(app, { storage });
    const network = createNetwork();
    const next = clientOf(app, { storage, fetch: network.fetch });
    expect(await next.getSession()).toMatchObject({ user_id: user.id });
    expect(network.count('POST /v1/sessions')).toBe(2);
    await next.getSession({ fresh: true });
    expect(network.count('POST /v1/sessions')).toBe(3);
  });

  test('does not depend on the clock of the device', async () => {
    const storage = memoryStorage();
    const { user } = await signedIn(app, { storage });
    const wrong = vi.spyOn(Date, 'now').mockReturnValue(0);
    try {
      expect(await clientOf(app, { storage }).getSession()).toMatchObject({ user_id: user.id });
    } finally {
      wrong.mockRestore();
    }
  });

  test('is signed out with the problem if the key is lost, without a request that would alarm the user', async () => {
    const { getKey: _, ...withoutKeys } = memoryStorage();
    const storage = memoryStorage();
    await signedIn(app, { storage });
    await withoutKeys.set('postern.login', (await storage.get('postern.login')) ?? '');
    const network = createNetwork();
    const next = clientOf(app, { storage: withoutKeys, fetch: network.fetch });
    expect(await next.getSession()).toBeNull();
    expect(next.current).toMatchObject({
      ...{ status: 'signed_out', reason: 'ended' },
      problem: { code: 'invalid_dpop_proof', message: 'The key of this login is gone. Log in again.' },
    });
    expect(network.sent).toEqual([]);
  });

  test('is signed out with the problem if the service refuses the key', async () => {
    const storage = memoryStorage();
    const { postern } = await signedIn(app, { storage });
    await postern.getSession();
    await app.database.query(
      testSql(`update authentications set key_thumbprint = 'another' where key_thumbprint is not null`),
    );
    expect(await postern.getSession({ fresh: true })).toBeNull();
    expect(postern.current).toMatchObject({ status: 'signed_out', problem: { code: 'invalid_dpop_proof' } });
  });
});

test('a client whose storage keeps text only is not bound', async () => {
  const { get, set, delete: remove } = memoryStorage();
  const { user, postern } = await signedIn(app, { storage: { get, set, delete: remove } });
  expect(await boundOf(user.id)).toEqual([false]);
  expect(await postern.getSession()).toMatchObject({ user_id: user.id });
});
