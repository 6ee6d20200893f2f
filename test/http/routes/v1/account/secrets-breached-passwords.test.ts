import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeTo } from '../../../../support/account.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../../support/app.js';
import { createUser, login, newPhone, password, signIn } from '../../../../support/users.js';

const leaked = 'contraseña de una fuga';

describe('with a list of breached passwords', () => {
  let folder: string;
  let postern: TestApp;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'postern-breached-'));
    const path = join(folder, 'breached.txt');
    await writeFile(path, `${createHash('sha1').update(leaked).digest('hex').toUpperCase()}:42\r\n`);
    postern = await startTestApp({ BREACHED_PASSWORDS_FILE: path });
  });
  afterAll(async () => {
    await postern.close();
    await rm(folder, { recursive: true });
  });
  const refusal = [{ field: 'password', code: 'password_breached', message: expect.any(String) }];
  const send = (method: string, path: string, body: object) =>
    postern.api<ProblemAnswer>(method, path, { bearer: postern.adminKey, body });

  it.each([
    ['as it leaked', leaked],
    ['in another Unicode normalization form', leaked.normalize('NFD')],
  ])('a new user cannot have a breached password, %s', async (_, password) => {
    const { status, body } = await send('POST', '/admin/v1/users', { username: 'leaky', password });
    expect([status, body.errors]).toEqual([422, refusal]);
  });

  it('a user cannot change to a breached password and keeps the old one', async () => {
    const user = await createUser(postern);
    const { status, body } = await send('PATCH', `/admin/v1/users/${user.id}`, { password: leaked });
    expect([status, body.errors]).toEqual([422, refusal]);
    expect((await login(postern, user)).body.status).toBe('approved');
  });

  it('users cannot set a breached password themselves or by a recovery, whose code stays valid', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { session } = await signIn(postern, user);
    const own = await postern.api<ProblemAnswer>('PUT', '/v1/account/password', {
      ...{ bearer: session.token, body: { password: leaked, proof: { type: 'password', secret: password } } },
    });
    expect([own.status, own.body.errors]).toEqual([422, refusal]);
    const identity = { type: 'phone', value: user.phone };
    const { body } = await postern.api<{ id: string }>('POST', '/v1/recoveries', {
      body: { identity, purpose: 'password' },
    });
    const secret = await codeTo(postern, user.phone ?? '');
    const recover = (next: string) =>
      postern.api<ProblemAnswer>('POST', `/v1/recoveries/${body.id}`, { body: { secret, password: next } });
    const refused = await recover(leaked);
    expect([refused.status, refused.body.errors]).toEqual([422, refusal]);
    expect((await recover('nine dull horses')).status).toBe(200);
  });

  it('an import line with a breached password fails', async () => {
    const { text } = await postern.api('POST', '/admin/v1/users/import', {
      bearer: postern.adminKey,
      headers: { 'content-type': 'application/x-ndjson' },
      body: `${JSON.stringify({ username: 'leaky', password: leaked })}\n`,
    });
    expect(JSON.parse(text)).toEqual({ line: 1, result: 'failed', errors: refusal });
  });

  it('other passwords are accepted', async () => {
    expect((await createUser(postern)).has_password).toBe(true);
  });
});

it('users can set a password while the list is unavailable, and the log does not show the password', async () => {
  const postern = await startTestApp({
    REGISTRATION: 'on',
    BREACHED_PASSWORDS_URL: 'http://127.0.0.1:1/range',
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
  });
  try {
    // Without a valid code, Postern does not query the list.
    for (const path of ['recoveries', 'registrations']) {
      await postern.api('POST', `/v1/${path}/${randomUUID()}`, { body: { secret: '123456', password: leaked } });
    }
    expect(postern.logged.filter((line) => line.includes('breached'))).toEqual([]);
    await createUser(postern, { password: leaked });
    const lines = postern.logged.filter((line) => line.includes('breached'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', err: { code: 'unreachable' } });
    expect(postern.logged.join()).not.toContain(
      createHash('sha1').update(leaked).digest('hex').slice(0, 5).toUpperCase(),
    );
  } finally {
    await postern.close();
  }
});
