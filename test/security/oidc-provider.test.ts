import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.js';
import { createUser } from '../support/users.js';

let house: OpenIdProvider;
let neighbour: OpenIdProvider;
let postern: TestApp;
beforeAll(async () => {
  [house, neighbour] = await Promise.all([
    startOpenIdProvider(['our-app', 'their-app']),
    startOpenIdProvider(['our-app']),
  ]);
  postern = await start();
});
afterAll(async () => {
  await postern.close();
  await Promise.all([house.close(), neighbour.close()]);
});

const providers = () =>
  JSON.stringify({
    house: { issuer: house.url, client_ids: ['our-app'] },
    neighbour: { issuer: neighbour.url, client_ids: ['our-app'] },
  });
const start = () => startTestApp({ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', OIDC_PROVIDERS: providers() });
const begin = async (app = postern) => {
  const { body } = await app.api<Authentication>('POST', '/v1/tokens', {
    body: { authenticator: 'oidc:house', device: {} },
  });
  return { id: body.id, nonce: String(body.challenge?.nonce) };
};
const answer = async (id: string, secret: string, app = postern) => {
  const { status, body } = await app.api<Authentication>('POST', `/v1/tokens/${id}/secret`, { body: { secret } });
  return status === 201 ? body.status : status;
};
const link = async (subject: string) => {
  const user = await createUser(postern);
  const path = `/admin/v1/users/${user.id}/external-identities`;
  await postern.api('PUT', path, { bearer: postern.adminKey, body: { provider: 'house', subject } });
};

describe('a real provider with the authorization code flow', () => {
  test('can log in a linked user, once for each token', async () => {
    await link('ada');
    const { id, nonce } = await begin();
    const token = await house.login('ada', nonce);
    expect(await answer(id, token)).toBe('approved');
    expect(await answer(id, token)).toBe(400);
    expect(await answer((await begin()).id, token)).toBe(400);
  });

  test('cannot log in with a token for another login, client or person, or from another issuer', async () => {
    await link('grace');
    const another = await begin();
    const tries: ((nonce: string) => Promise<string>)[] = [
      () => house.login('grace', another.nonce),
      (nonce) => house.login('grace', nonce, 'their-app'),
      (nonce) => house.login('mallory', nonce),
      (nonce) => neighbour.login('grace', nonce),
    ];
    for (const attempt of tries) {
      const { id, nonce } = await begin();
      expect(await answer(id, await attempt(nonce))).toBe(400);
    }
  });

  test('keeps working after its keys have changed', async () => {
    await link('edsger');
    await house.rotate();
    // Another instance, which has not fetched the keys recently.
    const other = await postern.another();
    const { id, nonce } = await begin(other);
    expect(await answer(id, await house.login('edsger', nonce), other)).toBe('approved');
    await other.close();
  });
});
