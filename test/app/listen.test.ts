import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser } from '../support/users.js';

let postern: TestApp;
let withOnePort: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ CONSOLE_PORT: '0', PUBLIC_URL: 'https://auth.example.com' });
  withOnePort = await startTestApp();
});
afterAll(async () => {
  await postern.close();
  await withOnePort.close();
});

const statusOf = async (url: string, headers: Record<string, string> = {}) => (await fetch(url, { headers })).status;

test('a start may take as long as a busy machine needs', () => {
  // Fastify's own limit is ten seconds for each plug-in.
  expect(withOnePort.app.initialConfig.pluginTimeout).toBe(0);
});

test('without CONSOLE_PORT one port serves everything', async () => {
  const { url, administrationUrl, adminKey } = withOnePort;
  expect(administrationUrl).toBe(url);
  expect(await statusOf(`${url}/console`)).toBe(200);
  expect(await statusOf(`${url}/admin/v1/keys`, { authorization: `Bearer ${adminKey}` })).toBe(200);
  await createUser(withOnePort);
});

test('CONSOLE_PORT serves the console and the admin API, and PORT neither', async () => {
  const { url, administrationUrl, adminKey } = postern;
  expect(new URL(administrationUrl).port).not.toBe(new URL(url).port);
  const authorization = { authorization: `Bearer ${adminKey}` };
  for (const path of ['/console', '/console/sign-in', '/console/setup', '/admin/v1/keys', '/admin/v1/users']) {
    expect([path, await statusOf(url + path, authorization)]).toEqual([path, 404]);
    expect([path, await statusOf(administrationUrl + path, authorization)]).toEqual([path, 200]);
  }
  for (const path of ['/livez', '/readyz', '/openapi.json']) {
    expect([path, await statusOf(url + path)]).toEqual([path, 200]);
    expect([path, await statusOf(administrationUrl + path)]).toEqual([path, 200]);
  }
});

test('a login works on the port of the console, with the same sessions', async () => {
  const { url, administrationUrl, adminKey } = postern;
  const json = { 'content-type': 'application/json' };
  const post = async (target: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(target, {
      method: 'POST',
      headers: { ...json, ...headers },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { id: string; token: string };
  };
  const user = { username: 'ada', password: 'a battery of horses' };
  await post(`${administrationUrl}/admin/v1/users`, user, { authorization: `Bearer ${adminKey}` });
  const login = {
    identity: { type: 'username', value: user.username },
    authenticator: 'password',
    secret: user.password,
  };
  const { token } = await post(`${administrationUrl}/v1/tokens`, { ...login, device: {} });
  const basic = { authorization: `Basic ${Buffer.from(token).toString('base64')}` };
  const session = await post(`${administrationUrl}/v1/sessions`, {}, basic);
  expect(await statusOf(`${url}/v1/sessions/verify`, { authorization: `Bearer ${session.token}` })).toBe(200);
});

test('cookies of the console do not need https on a port of its own', async () => {
  const { administrationUrl } = postern;
  const answer = await fetch(`${administrationUrl}/console/session`, {
    method: 'DELETE',
    headers: { origin: administrationUrl },
  });
  expect(answer.status).toBe(204);
  expect(answer.headers.getSetCookie()).toEqual(['postern_console=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict']);
});
