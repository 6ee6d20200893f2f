import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hash } from '@node-rs/bcrypt';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { codesIn, readPage, recipes, root } from './markdown.js';

const run = promisify(execFile);

let postern: TestApp;
let folder: string;
beforeAll(async () => {
  postern = await startTestApp();
  folder = await mkdtemp(join(tmpdir(), 'postern-move-'));
});
afterAll(async () => {
  await postern?.close();
  await rm(folder, { recursive: true, force: true });
});

test('each recipe fits on a screen, and the page of recipes or a page of it links to it', () => {
  expect(recipes.length).toBeGreaterThan(5);
  for (const page of recipes) {
    expect(readPage(page).split('\n').length, page).toBeLessThan(65);
    expect(readPage('docs/recipes.md')).toContain(`(${page.slice('docs/'.length)})`);
  }
});

// package-examples.test.ts checks its types.
test('the JavaScript of recipes has no syntax error', () => {
  const codes = codesIn(recipes, 'js');
  expect(codes.length).toBeGreaterThan(0);
  for (const code of codes) {
    const { diagnostics } = ts.transpileModule(code, { fileName: 'recipe.js', reportDiagnostics: true });
    expect(diagnostics, code).toEqual([]);
  }
});

/** Converts an export, imports it, and logs in with the old password. @returns the state of the login */
async function move(source: string, text: string, login: { email: string; password: string }, env = {}) {
  const file = join(folder, `${source}.json`);
  await writeFile(file, text);
  const { stdout } = await run(process.execPath, [join(root, 'docs/examples/move-users.js'), source, file], {
    env: { ...process.env, ...env },
  });
  const answer = await fetch(`${postern.url}/admin/v1/users/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${postern.adminKey}`, 'content-type': 'application/x-ndjson' },
    body: stdout,
  });
  const results = (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(results).toEqual(results.map(() => expect.objectContaining({ result: 'created' })));
  const body = {
    identity: { type: 'email', value: login.email },
    authenticator: 'password',
    secret: login.password,
    device: {},
  };
  const { body: authentication } = await postern.api<Authentication>('POST', '/v1/tokens', { body });
  return { status: authentication.status, users: results.length };
}

test('a user moves from Supabase with the password', async () => {
  const password = 'a supabase password';
  const user = {
    ...{
      id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
      email: 'ada@supabase.example',
      email_confirmed_at: '2024-01-01T00:00:00Z',
    },
    ...{ phone: '15550100111', phone_confirmed_at: null, raw_user_meta_data: { full_name: 'Ada' } },
    ...{ created_at: '2024-01-01T00:00:00.5+00:00', encrypted_password: await hash(password, 10) },
  };
  const login = { email: user.email, password };
  expect(await move('supabase', JSON.stringify([user]), login)).toEqual({ status: 'approved', users: 1 });
});

test('users move from Firebase with the password, also those without one', async () => {
  const users = [
    {
      ...{
        localId: 'Xy1',
        email: 'ada@firebase.example',
        emailVerified: true,
        displayName: 'Ada',
        createdAt: '1704067200000',
      },
      salt: '42xEC-ixf3L2lw==',
      passwordHash: 'lSrfV15cpx95_sZS2W9c9Kp6i_LVgQNDNC_qzrCnh1SAyZvqmZqAjTdn3aoItz-VHjoZilo78198JAdRuid5lQ==',
    },
    { localId: 'Xy2', phoneNumber: '+15550100112', createdAt: '1704067200000' },
  ];
  const key = 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==';
  const env = { SIGNER_KEY: key, SALT_SEPARATOR: 'Bw==', ROUNDS: '8', MEM_COST: '14' };
  const login = { email: 'ada@firebase.example', password: 'user1password' };
  expect(await move('firebase', JSON.stringify({ users }), login, env)).toEqual({ status: 'approved', users: 2 });
});

test('a user moves from Auth0 with the password', async () => {
  const user = { _id: { $oid: '5f1' }, email: 'ada@auth0.example', email_verified: true, name: 'Ada' };
  const line = JSON.stringify({ ...user, passwordHash: await hash('an auth0 password', 10) });
  const login = { email: user.email, password: 'an auth0 password' };
  expect(await move('auth0', `${line}\n`, login)).toEqual({ status: 'approved', users: 1 });
});

test('a user moves from Keycloak with the password', async () => {
  const password = 'a keycloak password';
  const { pbkdf2Sync } = await import('node:crypto');
  const salt = Buffer.from('0123456789abcdef');
  const value = pbkdf2Sync(password, salt, 27_500, 64, 'sha256').toString('base64');
  const credential = {
    type: 'password',
    secretData: JSON.stringify({ value, salt: salt.toString('base64'), additionalParameters: {} }),
    credentialData: JSON.stringify({ hashIterations: 27_500, algorithm: 'pbkdf2-sha256', additionalParameters: {} }),
  };
  const user = {
    ...{
      id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a12',
      username: 'ada.k',
      email: 'ada@keycloak.example',
      emailVerified: true,
    },
    ...{ firstName: 'Ada', lastName: 'Lovelace', createdTimestamp: 1704067200000, credentials: [credential] },
  };
  const login = { email: user.email, password };
  expect(await move('keycloak', JSON.stringify({ users: [user] }), login)).toEqual({ status: 'approved', users: 1 });
});
