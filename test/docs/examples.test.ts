import { execFile, spawn } from 'node:child_process';
import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { codeOf, createUser, newPhone } from '../support/users.js';
import { root } from './markdown.js';

const key = 'a key of more than thirty-two characters';
const badge = '0047 1138';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    AUTHENTICATORS: './docs/examples/badge.js, ./docs/examples/word.js,./docs/examples/ticket.js',
    AUTHENTICATOR_BADGES: JSON.stringify({ badgeholder: createHash('sha256').update(badge).digest('hex') }),
    AUTHENTICATOR_WORD_KEY: key,
    AUTHENTICATOR_TICKET_KEY: key,
  });
});
afterAll(() => postern.close());

const start = (body: object) => postern.api<Authentication>('POST', '/v1/tokens', { body: { device: {}, ...body } });
const answer = (id: string, secret: string, pin?: string) =>
  postern.api<Authentication>('POST', `/v1/tokens/${id}/secret`, { body: { secret, pin } });

describe('an example plug-in', () => {
  test('badge.js approves only the right badge of the right user', async () => {
    await createUser(postern, { username: 'badgeholder' });
    await createUser(postern, { username: 'badgeless' });
    const login = async (value: string, secret: string) => {
      const { body } = await start({ authenticator: 'badge', identity: { type: 'username', value }, secret });
      return body.status;
    };
    expect(await login('badgeholder', badge)).toBe('approved');
    for (const name of ['badgeless', 'nobody-with-a-badge']) expect(await login(name, badge)).toBe('rejected');
    expect(await login('badgeholder', '0047 1139')).toBe('rejected');
  });

  test('word.js sends a word and accepts it once', async () => {
    const { phone } = await createUser(postern, { phone: newPhone() });
    const { body } = await start({ authenticator: 'word', identity: { type: 'phone', value: phone } });
    expect(body.status).toBe('created');
    const code = await codeOf(postern, body.id);
    expect(code).toMatch(/^[A-Z]{8}$/);
    expect((await answer(body.id, 'BBBBBBBB', '2468')).status).toBe(400);
    expect((await answer(body.id, code.toLowerCase(), '2468')).body.status).toBe('approved');
    expect((await answer(body.id, code, '2468')).status).toBe(400);
  });

  test('ticket.js accepts a signed ticket once, for its own nonce only', async () => {
    const user = await createUser(postern);
    const sign = (nonce: unknown, id: string) =>
      `${id}.${createHmac('sha256', key).update(`${nonce}.${id}`).digest('base64url')}`;
    const { body } = await start({ authenticator: 'ticket' });
    expect(body).toMatchObject({ status: 'pending', challenge: { type: 'ticket' } });
    const ticket = sign(body.challenge?.nonce, user.id);
    expect((await answer(body.id, sign('another', user.id))).status).toBe(400);
    expect((await answer(body.id, sign(body.challenge?.nonce, randomUUID()))).status).toBe(400);
    expect((await answer((await start({ authenticator: 'ticket' })).body.id, ticket)).status).toBe(400);
    const approved = await answer(body.id, ticket);
    expect(approved.body.status).toBe('approved');
    expect((await answer(body.id, ticket)).status).toBe(400);
  });
});

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

test('the examples match the types that the package exports', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-examples-'));
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { allowJs: true, checkJs: true, typeRoots: [join(root, 'node_modules/@types')] },
    include: [join(root, 'docs/examples')],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const checked = await promisify(execFile)(process.execPath, [
    join(root, 'node_modules/.bin/tsc'),
    '-p',
    folder,
  ]).catch((error: { stdout: string }) => error);
  await rm(folder, { recursive: true });
  expect(checked.stdout).toBe('');
});
