import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { createRedirectSteps, type LoginBody, publicUrl, returnTo } from '../../support/redirects.js';
import { startVendor, type Vendor } from '../../support/vendor.js';

/** What the configuration demands of the login at the provider: `acr_values` and `max_age` (ASVS 5.0, 6.8.4). */

let vendor: Vendor;
let postern: TestApp;
beforeAll(async () => {
  vendor = await startVendor();
  const client = { client_id: 'ours', client_secret: 'a secret', issuer: vendor.url, sign_up: true };
  postern = await startTestApp({
    ...{ ALLOW_PRIVATE_NETWORK_TARGETS: 'true', LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' },
    ...{ PUBLIC_URL: publicUrl, REDIRECT_URIS: returnTo },
    OIDC_PROVIDERS: JSON.stringify({
      strong: { ...client, acr_values: ['phr', 'phrh'] },
      recent: { ...client, max_age: 600 },
    }),
  });
});
afterAll(async () => {
  await postern.close();
  await vendor.close();
});
beforeEach(() => vendor.reset());

const { begin, goThrough, logIn } = createRedirectSteps(() => ({ postern, vendor }));
const seconds = () => Math.floor(Date.now() / 1000);

describe('acr_values', () => {
  test('are asked of the provider, and the id_token has to name one', async () => {
    vendor.account = { sub: randomUUID(), acr: 'phrh' };
    expect((await logIn('oidc:strong')).body.status).toBe('approved');
    expect(vendor.authorizations.at(-1)?.get('acr_values')).toBe('phr phrh');
  });

  test.each<[string, object]>([
    ['none', {}],
    ['another', { acr: '0' }],
    ['a list', { acr: ['phr'] }],
    ['a part of one', { acr: 'ph' }],
  ])('refuse an id_token with %s', async (_title, claims) => {
    vendor.account = { sub: randomUUID(), ...claims };
    const { app } = await goThrough((await begin('oidc:strong')).url);
    expect(app.get('error')).toBe('failed');
    await eventually('the problem', async () => {
      const { body } = await postern.api<{ name: string; problems: { code: string }[] }[]>(
        'GET',
        '/admin/v1/login-providers',
        { bearer: postern.adminKey },
      );
      return (
        body.find(({ name }) => name === 'strong')?.problems.some(({ code }) => code === 'acr_missing') || undefined
      );
    });
  });

  test('hold for id_tokens of native apps too', async () => {
    const start = async () =>
      (await postern.api<LoginBody>('POST', '/v1/tokens', { body: { authenticator: 'oidc:strong', device: {} } })).body;
    const answer = async (claims: object) => {
      const { id, challenge } = await start();
      const secret = await vendor.sign({ aud: 'ours', sub: randomUUID(), nonce: challenge?.nonce, ...claims });
      return (await postern.api('POST', `/v1/tokens/${id}/secret`, { body: { secret } })).status;
    };
    expect(await answer({ acr: 'phr' })).toBe(201);
    expect(await answer({})).toBe(400);
  });
});

describe('max_age', () => {
  test('is asked of the provider, and auth_time has to be that recent', async () => {
    vendor.account = { sub: randomUUID(), auth_time: seconds() - 300 };
    expect((await logIn('oidc:recent')).body.status).toBe('approved');
    expect(vendor.authorizations.at(-1)?.get('max_age')).toBe('600');
  });

  test.each<[string, () => object]>([
    ['none', () => ({})],
    ['an old one', () => ({ auth_time: seconds() - 900 })],
    ['a text', () => ({ auth_time: String(seconds()) })],
  ])('refuses an id_token with %s', async (_title, claims) => {
    vendor.account = { sub: randomUUID(), ...claims() };
    const { app } = await goThrough((await begin('oidc:recent')).url);
    expect(app.get('error')).toBe('failed');
  });
});
