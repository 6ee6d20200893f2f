// The gateways of docs/access-tokens.md, which check access tokens by themselves.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { get } from 'node:http';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessToken } from '../../src/contract/access-token.js';
import { createSecretKeys } from '../../src/lib/crypto/secret-keys.js';
import { rotateSigningKeys } from '../../src/sessions/access-tokens/signing-keys.js';
import { createAdministration } from '../support/administration.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { freePort } from '../support/free-port.js';
import {
  type EchoBackend,
  type RunningProxy,
  startEchoBackend,
  startTokenGateway,
  type TokenGateway,
} from '../support/proxies.js';
import { createUser, signIn } from '../support/users.js';

const uri = 'https://api.example.com';
const secret = 'a secret key of more than 32 characters';
let postern: TestApp;
let backend: EchoBackend;
let session: string;
let userId: string;
beforeAll(async () => {
  [postern, backend] = await Promise.all([
    startTestApp({ PUBLIC_URL: 'https://auth.example.com', SECRET_KEY: secret }),
    startEchoBackend(),
  ]);
  for (const audience of [uri, 'https://other.example.com']) await admin('POST', '/audiences', { uri: audience });
  const user = await createUser(postern);
  userId = user.id;
  session = (await signIn(postern, user)).session.token;
});
afterAll(async () => {
  await backend?.close();
  await postern?.close();
});

const { admin } = createAdministration(() => postern);
const tokenFor = async (audience = uri) => {
  const { body } = await postern.api<AccessToken>('POST', '/v1/access-tokens', { bearer: session, body: { audience } });
  return body.access_token;
};
/** How each answers to a token of another audience. */
const gateways: readonly [TokenGateway, number][] = [
  ['Envoy', 403],
  ['nginx', 401],
];
describe.each(gateways)('in %s', (name, wrongAudience) => {
  let gateway: RunningProxy;
  const posternPort = () => Number(new URL(postern.url).port);
  beforeAll(async () => {
    gateway = await startTokenGateway(name, { posternPort: posternPort(), backendPort: backend.port });
  });
  afterAll(() => gateway?.stop());

  const send = (token?: string, path = '/orders', headers: Readonly<Record<string, string>> = {}) =>
    fetch(gateway.url + path, {
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    });
  const bodyOf = async (answer: Response) => (await answer.json()) as Record<string, string>;

  test('a token reaches the API with the id of its user, whatever the client says', async () => {
    const answer = await send(await tokenFor(), '/orders', { 'x-user-id': randomUUID() });
    expect(answer.status).toBe(200);
    expect((await bodyOf(answer))['x-user-id']).toBe(userId);
  });

  test('no token, one of another audience, a changed one and a session are refused', async () => {
    const [head = '', , signature = ''] = (await tokenFor()).split('.');
    const forged = Buffer.from(JSON.stringify({ ...decodeJwt(await tokenFor()), sub: randomUUID() })).toString(
      'base64url',
    );
    const before = backend.requests.length;
    const tokens = [undefined, await tokenFor('https://other.example.com'), `${head}.${forged}.${signature}`, session];
    const statuses = await Promise.all(tokens.map(async (token) => (await send(token)).status));
    expect(statuses).toEqual([401, wrongAudience, 401, 401]);
    expect(backend.requests).toHaveLength(before);
  });

  test('a token with another key or algorithm, or with a part too many or too few, is refused', async () => {
    const token = await tokenFor();
    const [payload, header] = [decodeJwt(token), decodeProtectedHeader(token)];
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { keys } = (await postern.api<{ keys: object[] }>('GET', '/.well-known/jwks.json')).body;
    const before = backend.requests.length;
    const forged = await Promise.all([
      // With the id of a key of Postern, and with none that exists.
      ...[header.kid, '../x', '__proto__'].map((kid) =>
        new SignJWT(payload).setProtectedHeader({ ...header, alg: 'ES256', kid: `${kid}` }).sign(privateKey),
      ),
      // A public key as the secret of an algorithm with one key.
      ...keys.map((key) =>
        new SignJWT(payload)
          .setProtectedHeader({ ...header, alg: 'HS256' })
          .sign(Buffer.from(JSON.stringify(key).padEnd(64))),
      ),
      `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${token.split('.')[1]}.`,
      'a.b.c',
      `${token}.x`,
      token.slice(0, -2),
    ]);
    for (const text of forged) expect([text, (await send(text)).status]).toEqual([text, 401]);
    expect(backend.requests).toHaveLength(before);
  });

  test('public paths need no token, and never say who the user is', async () => {
    const answer = await send(undefined, '/public/ready', { 'x-user-id': userId });
    expect([answer.status, (await bodyOf(answer))['x-user-id']]).toEqual([200, undefined]);
  });

  test('no path that the API could read in another way leads around the check', async () => {
    for (const path of ['/orders/../public/x', '/orders/%2e%2e/public/x', '/public/..%2forders', '/public/../orders']) {
      const before = backend.requests.length;
      const { port } = new URL(gateway.url);
      const status = await new Promise((resolve, reject) => {
        get({ host: '127.0.0.1', port, path }, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
      });
      const seen = backend.requests.slice(before).map(({ url }) => url);
      expect([path, status === 200 ? seen : []]).toEqual([path, status === 200 ? ['/public/x'] : []]);
      expect(status === 200 || seen.length === 0).toBe(true);
    }
  });

  test('after a rotation, tokens of the new key pass at once, and those of the old one until they expire', async () => {
    const old = await tokenFor();
    await postern.database.transaction((tx) =>
      rotateSigningKeys(tx, createSecretKeys([secret]), 'now', { actor: 'cli' }),
    );
    const next = await tokenFor();
    expect(decodeProtectedHeader(next).kid).not.toBe(decodeProtectedHeader(old).kid);
    expect([(await send(old)).status, (await send(next)).status]).toEqual([200, 200]);
  });
});

test('nginx answers 503, never 401, while it has no keys', async () => {
  const gateway = await startTokenGateway('nginx', { posternPort: await freePort(), backendPort: backend.port });
  const answer = await fetch(`${gateway.url}/orders`, { headers: { authorization: `Bearer ${await tokenFor()}` } });
  expect(answer.status).toBe(503);
  await gateway.stop();
});
