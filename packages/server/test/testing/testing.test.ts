import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/support/eventually.js';
import { BUILD_TIMEOUT, buildService } from '../../../../test/support/process.js';
import { newEmail, newPhone } from '../../../../test/support/users.js';
import { createAccount, createInbox, createLogin, passwordProof } from '../../../client/src/index.js';
import { createWebhookVerifier } from '../../src/index.js';
import { startPostern, type TestPostern } from '../../src/testing/index.js';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const runner = fileURLToPath(new URL('../../src/testing/runner.mjs', import.meta.url));
let postern: TestPostern;
beforeAll(async () => {
  await buildService();
  postern = await startPostern({ env: { PIN_POLICY: 'off' } });
}, BUILD_TIMEOUT);
afterAll(() => postern?.stop());

test('a user logs in, and finds what a backend published', async () => {
  const [ada, grace] = await Promise.all([
    postern.createUser(),
    postern.createUser({ email: newEmail(), name: 'Grace' }),
  ]);
  expect(grace.name).toBe('Grace');
  const page = await postern.signIn(ada);
  const session = await page.getSession();
  const token = session?.token as `pss_${string}`;
  expect((await postern.server.verify(token))?.user_id).toBe(ada.id);
  const news = { notification_type: 'payment', description: 'You got 12.50' };
  await postern.server.publish({ user_id: ada.id, ...news }, { idempotencyKey: 'payment-1' });
  const { data } = await createInbox(page).list().page();
  expect(data.map(({ description }) => description)).toEqual([news.description]);
});

test('a test can read the codes that are sent to phones and mail addresses', async () => {
  const [phone, email] = [newPhone(), newEmail()];
  await postern.createUser({ phone, email });
  for (const [how, identity] of [
    ['sms', phone],
    ['email', email],
  ] as const) {
    const sent = await createLogin(postern.client()).start()[how]({ identity });
    if (sent.step !== 'code') throw new Error(`The login is at ${sent.step}.`);
    expect((await sent.submit({ code: await postern.codeFor(identity) })).step).toBe('done');
  }
});

test('after the clock has moved, a session expires and the login continues', async () => {
  const ada = await postern.createUser();
  const page = await postern.signIn(ada);
  const session = await page.getSession();
  const token = session?.token as `pss_${string}`;
  expect(await postern.server.verify(token)).not.toBeNull();
  await postern.advance(Date.parse(session?.expires_at ?? '') - Date.parse(session?.created_at ?? ''));
  expect(await postern.server.verify(token)).toBeNull();
  expect((await page.getSession({ fresh: true }))?.user_id).toBe(ada.id);
});

test('a login that ended is noticed by the client', async () => {
  const ada = await postern.createUser();
  const page = await postern.signIn(ada);
  await postern.server.users.logOut(ada.id);
  expect(await page.getSession({ fresh: true })).toBeNull();
});

test('a user with an authenticator app logs in with its codes', async () => {
  const ada = await postern.createUser();
  const page = await postern.signIn(ada);
  const { secret, confirm } = await createAccount(page).enrolTotp({ proof: passwordProof(ada.password) });
  await confirm(await postern.totp(secret));
  await postern.advance(30_000);
  const { username, password } = ada;
  const asked = await createLogin(postern.client())
    .start()
    .password({ identity: username ?? '', password });
  if (asked.step !== 'totp') throw new Error(`The login is at ${asked.step}.`);
  expect((await asked.submit({ code: await postern.totp(secret) })).step).toBe('done');
  await expect(postern.totp('not base32!')).rejects.toMatchObject({ kind: 'usage' });
});

test('the network is interrupted while a function runs: streams end, and nobody is signed out', async () => {
  const ada = await postern.createUser();
  const page = await postern.signIn(ada);
  const events = createInbox(page, { stream: 'tab' }).live()[Symbol.asyncIterator]();
  const connections: string[] = [];
  const nextConnection = async () => {
    for (;;) {
      const { value, done } = await events.next();
      if (done) return;
      if (value.type === 'connection') return connections.push(value.connection);
    }
  };
  while (connections.at(-1) !== 'live') await nextConnection();
  const kinds = await postern.disturb('offline', async () => {
    while (connections.at(-1) !== 'offline') await nextConnection();
    return page.getSession({ fresh: true }).catch((error) => error.kind);
  });
  expect(kinds).toBe('network');
  expect(await postern.disturb(503, async () => page.getSession({ fresh: true }).catch(({ code }) => code))).toBe(
    'overloaded',
  );
  expect((await page.getSession({ fresh: true }))?.user_id).toBe(ada.id);
  while (connections.at(-1) !== 'live') await nextConnection();
  await events.return?.();
});

test('a receiver of webhooks gets a signed event', async () => {
  const secret = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`;
  const event = { type: 'login.locked', data: { device_id: null } } as const;
  const { payload } = await createWebhookVerifier({ secrets: [secret] })(
    await postern.webhookRequest('https://app.example.com/hook', event, secret),
  );
  expect(payload).toMatchObject({ type: 'login.locked', data: { sequence: 1, device_id: null } });
});

test('another process can use a running Postern, but not its clock', async () => {
  const { url, apiKey } = postern;
  const other = await startPostern({ running: { url, apiKey } });
  const ada = await other.createUser();
  expect((await (await postern.signIn(ada)).getSession())?.user_id).toBe(ada.id);
  await expect(other.advance(1)).rejects.toMatchObject({ kind: 'usage' });
  await other.stop();
  expect(await postern.server.users.get(ada.id)).toMatchObject({ id: ada.id });
  await expect(startPostern({ running: { url, apiKey }, env: {} })).rejects.toMatchObject({ kind: 'usage' });
});

test('invalid settings are reported by their names', async () => {
  await expect(startPostern({ env: { PIN_POLICY: 'sometimes' } })).rejects.toThrow('PIN_POLICY');
});

test('a folder without a built Postern is a usage error', async () => {
  await expect(startPostern({ installation: '/nowhere' })).rejects.toMatchObject({ kind: 'usage' });
});

test('if the test process is killed, the service and its database stop, and their folder is removed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-testing-'));
  // This process starts a Postern as the package does, and never stops it.
  const program = `
    const [runner, installation, folder] = process.argv.slice(1);
    const env = { PATH: process.env.PATH, HOME: process.env.HOME };
    const stdio = ['ignore', 'ignore', 'inherit', 'ipc'];
    const child = require('node:child_process').fork(runner, [installation, folder], { cwd: folder, execArgv: [], env, stdio });
    child.on('message', ({ ready }) => console.log(ready.url));
    child.send({ env: {} });`;
  const tester = spawn(process.execPath, ['-e', program, runner, root, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  tester.stdout.on('data', (data) => {
    output += data;
  });
  const url = await eventually('the service is ready', async () => /^http\S+/m.exec(output)?.[0]);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  tester.kill('SIGKILL');
  // The folder is removed last, after the database has stopped.
  await eventually('the folder is removed', async () => (existsSync(folder) ? undefined : true));
  await expect(fetch(`${url}/readyz`)).rejects.toThrow();
});
