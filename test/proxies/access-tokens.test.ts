// The gateway of docs/access-tokens.md, which checks access tokens by itself.
import { randomUUID } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AccessToken } from '../../src/contract/access-token.js';
import { createSecretKeys } from '../../src/lib/crypto/secret-keys.js';
import { rotateSigningKeys } from '../../src/sessions/access-tokens/signing-keys.js';
import { createAdministration } from '../support/administration.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type EchoBackend, type RunningProxy, startEchoBackend, startTokenGateway } from '../support/proxies.js';
import { createUser, signIn } from '../support/users.js';

const uri = 'https://api.example.com';
const secret = 'a secret key of more than 32 characters';
let postern: TestApp;
let backend: EchoBackend;
let gateway: RunningProxy;
let session: string;
let userId: string;
beforeAll(async () => {
  [postern, backend] = await Promise.all([
    startTestApp({ PUBLIC_URL: 'https://auth.example.com', SECRET_KEY: secret }),
    startEchoBackend(),
  ]);
  for (const audience of [uri, 'https://other.example.com']) await admin('POST', '/audiences', { uri: audience });
  gateway = await startTokenGateway({ posternPort: Number(new URL(postern.url).port), backendPort: backend.port });
  const user = await createUser(postern);
  userId = user.id;
  session = (await signIn(postern, user)).session.token;
});
afterAll(async () => {
  await gateway?.stop();
  await backend?.close();
  await postern?.close();
});

const { admin } = createAdministration(() => postern);
const tokenFor = async (audience = uri) => {
  const { body } = await postern.api<AccessToken>('POST', '/v1/access-tokens', { bearer: session, body: { audience } });
  return body.access_token;
};
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
  expect(statuses).toEqual([401, 403, 401, 401]);
  expect(backend.requests).toHaveLength(before);
});

test('public paths need no token, and never say who the user is', async () => {
  const answer = await send(undefined, '/public/ready', { 'x-user-id': userId });
  expect([answer.status, (await bodyOf(answer))['x-user-id']]).toEqual([200, undefined]);
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
