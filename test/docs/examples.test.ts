import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { createUser } from '../support/users.js';
import { root } from './markdown.js';

const badge = '0047 1138';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

test('badge-receiver.js answers only requests with a valid signature', async () => {
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const port = String(await freePort());
  const receiver = spawn(process.execPath, [join(root, 'docs/examples/badge-receiver.js')], {
    env: { PORT: port, BADGE_SECRET: secret },
    stdio: 'inherit',
  });
  onTestFinished(() => void receiver.kill());
  const url = `http://127.0.0.1:${port}`;
  const unsigned = await eventually('the receiver to listen', () =>
    fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined),
  );
  expect(unsigned.status).toBe(401);
  const startWithSecret = (withSecret: string) =>
    postern.another({
      ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
      CUSTOM_AUTHENTICATORS: JSON.stringify({ badge: { url, secret: withSecret } }),
    });
  const [withSameSecret, withOtherSecret] = await Promise.all([
    startWithSecret(secret),
    startWithSecret(`whsec_${randomBytes(24).toString('base64')}`),
  ]);
  onTestFinished(async () => {
    await Promise.all([withSameSecret.close(), withOtherSecret.close()]);
  });
  await createUser(postern, { username: 'ada' });
  const login = async ({ api }: TestApp, given: string) => {
    const identity = { type: 'username', value: 'ada' };
    const body = { authenticator: 'custom:badge', identity, secret: given, device: {} };
    const answer = await api<Authentication>('POST', '/v1/tokens', { body });
    return answer.status === 201 ? answer.body.status : answer.status;
  };
  expect(await login(withSameSecret, badge)).toBe('approved');
  expect(await login(withSameSecret, '0000 0000')).toBe('rejected');
  expect(await login(withOtherSecret, badge)).toBe(503);
});
