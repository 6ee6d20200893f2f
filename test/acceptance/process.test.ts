import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyCluster } from '../support/cluster.js';
import { eventually } from '../support/eventually.js';
import { BUILD_TIMEOUT, buildService, runProcess, type ServiceProcess, startProcess } from '../support/process.js';

let home: string;
beforeAll(async () => {
  await buildService();
  home = await mkdtemp(join(tmpdir(), 'postern-process-'));
}, BUILD_TIMEOUT);
afterAll(() => rm(home, { recursive: true, force: true }));

let folders = 0;
async function newFolder(): Promise<string> {
  folders += 1;
  const folder = join(home, String(folders));
  await mkdir(folder);
  return folder;
}

/** The options of a service whose embedded database is in `data` of a folder, as in a first trial. */
const inFolder = (cwd: string, env: Record<string, string> = {}) => ({
  cwd,
  env: { PORT: '0', LOG_LEVEL: 'warn', ...env },
});

/** The commands that are printed, each on a line of its own. */
const printedCommands = (service: ServiceProcess) =>
  service
    .stdout()
    .split('\n')
    .filter((line) => /^(?:curl |TOKEN=)/.test(line));

/** Runs the commands in one shell, and returns what each of them printed. */
async function runInOneShell(commands: readonly string[], cwd: string): Promise<string[]> {
  const script = commands.join('\necho; echo =====\n');
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd });
  return stdout.split('\n=====\n').map((text) => text.trim());
}

const keyFileOf = (service: ServiceProcess) => /^The first admin key is in (.+)$/m.exec(service.stdout())?.[1] ?? '';

const statusOf = async (url: string, authorization: string, method = 'GET') =>
  (await fetch(url, { method, headers: { authorization } })).status;

/** The life of one data folder: each test continues where the one before it ended. */
describe('a service', () => {
  let cwd: string;
  let service: ServiceProcess;
  /** What the printed commands have created. */
  let created: { readonly token: string; readonly session: string; readonly key: string };
  beforeAll(async () => {
    cwd = await newFolder();
    service = await startProcess(inFolder(cwd));
  });
  afterAll(() => service.stop());

  async function expectKept(): Promise<void> {
    expect(await statusOf(`${service.url}/admin/v1/users`, `Bearer ${created.key}`)).toBe(200);
    expect(await statusOf(`${service.url}/v1/sessions/verify`, `Bearer ${created.session}`)).toBe(200);
    const basic = `Basic ${Buffer.from(created.token).toString('base64')}`;
    expect(await statusOf(`${service.url}/v1/sessions`, basic, 'POST')).toBe(201);
  }
  const hasDatabase = async () => (await readdir(join(cwd, 'data', 'postgres'))).includes('postmaster.pid');

  test('that starts without a terminal writes the first admin key to a file that only its owner can read', async () => {
    const file = keyFileOf(service);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const key = (await readFile(file, 'utf8')).trim();
    expect(key).toMatch(/^psk_[\w-]{60}$/);
    expect(service.stdout() + service.stderr()).not.toContain(key);
    expect(await statusOf(`${service.url}/admin/v1/users`, `Bearer ${key}`)).toBe(200);
  });

  test('prints three commands that create a user, log in and get a session, in one shell', async () => {
    const commands = printedCommands(service);
    expect(commands).toHaveLength(3);
    const [user = '', token = '', session = ''] = await runInOneShell(commands, cwd);
    const { id, username } = JSON.parse(user);
    expect(username).toMatch(/^\w+$/);
    expect(token).toMatch(/^psa_[\w-]{80}$/);
    expect(JSON.parse(session)).toMatchObject({ token: expect.stringMatching(/^pss_/), user_id: id });
    const key = (await readFile(keyFileOf(service), 'utf8')).trim();
    created = { token, session: JSON.parse(session).token, key };
  });

  test('that starts without a terminal writes a link for the first operator to a file that only its owner can read', async () => {
    const file = /^The link that creates the first operator, within 30 minutes, is in (.+)$/m.exec(
      service.stdout(),
    )?.[1];
    expect((await stat(file ?? '')).mode & 0o777).toBe(0o600);
    const link = new URL((await readFile(file ?? '', 'utf8')).trim());
    expect([link.host, link.pathname]).toEqual([`localhost:${new URL(service.url).port}`, '/console/setup']);
    const secret = link.hash.slice(1);
    expect(service.stdout() + service.stderr()).not.toContain(secret);
    const described = await fetch(`${service.url}/console/setup/link`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ secret }),
    });
    expect(await described.json()).toMatchObject({ role: 'operator' });
  });

  test('creates nothing in the data directory that other accounts can read', async () => {
    const data = join(cwd, 'data');
    const readableByOthers = [];
    for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() && !entry.isDirectory()) continue;
      const path = join(entry.parentPath, entry.name);
      // PostgreSQL may remove its own files at the same time.
      const { mode } = await stat(path).catch(() => ({ mode: 0 }));
      if ((mode & 0o077) !== 0) readableByOthers.push(`${path} ${(mode & 0o777).toString(8)}`);
    }
    expect(readableByOthers).toEqual([]);
    expect((await stat(data)).mode & 0o006).toBe(0);
  });

  test('that starts while another one runs joins its database, and keeps it when the other one stops', async () => {
    const first = service;
    service = await startProcess(inFolder(cwd));
    expect(keyFileOf(service)).toBe(keyFileOf(first));
    expect(await first.stop()).toBe(0);
    await expectKept();
  });

  test('completes a running request after SIGTERM, accepts no new one, and ends with 0 and its database', async () => {
    const { port } = new URL(service.url);
    const body = JSON.stringify({ secret: '123456', pin: '2468' });
    const socket = connect(Number(port), '127.0.0.1');
    const received = receive(socket);
    socket.write(
      `POST /v1/tokens/582a5abb-1335-4794-4855-11e067b8c55e/secret HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    // The service sends this when it has read the headers: from here on the request is running.
    await received.until('100 Continue');
    const stopped = service.stop('SIGTERM');
    const isTakingRequests = () =>
      fetch(service.url).then(
        () => true,
        () => false,
      );
    await expect.poll(isTakingRequests).toBe(false);
    socket.write(body);
    await received.until('authorization_rejected');
    const exitCode = await Promise.race([stopped, wait(60_000, 'not in time')]);
    // Lets everything that waits for this client continue, so that the database stops too.
    socket.destroy();
    await stopped;
    expect(exitCode).toBe(0);
    expect(await hasDatabase()).toBe(false);
  });

  test('that starts again keeps users, tokens and sessions, names the same key file, and ends with 0 after SIGINT', async () => {
    const file = keyFileOf(service);
    service = await startProcess(inFolder(cwd));
    expect(keyFileOf(service)).toBe(file);
    expect((await readFile(file, 'utf8')).trim()).toBe(created.key);
    await expectKept();
    // Only several workers can be restarted one after the other.
    process.kill(service.pid, 'SIGUSR2');
    await expect.poll(service.stderr).toMatch(/WORKERS is 1/);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(await service.stop('SIGINT')).toBe(0);
    expect(await hasDatabase()).toBe(false);
    await expect(fetch(service.url)).rejects.toThrow();
  });
});

test('a data folder may have blanks and quotes in its name, and with ADMIN_API_KEY no key is created', async () => {
  const cwd = await newFolder();
  const data = join(await newFolder(), `Ada's "$data" dir`);
  await copyCluster(data);
  const key = randomBytes(16).toString('hex');
  const service = await startProcess(inFolder(cwd, { DATA_DIR: data, ADMIN_API_KEY: key }));
  try {
    expect(keyFileOf(service)).toBe('');
    expect(service.stdout()).not.toContain(key);
    const keys = await fetch(`${service.url}/admin/v1/keys`, { headers: { authorization: `Bearer ${key}` } });
    expect(await keys.json()).toEqual([]);
    const [, , token = ''] = await runInOneShell([`KEY=${key}`, ...printedCommands(service)], cwd);
    expect(token).toMatch(/^psa_/);
    expect(existsSync(join(cwd, 'data'))).toBe(false);
  } finally {
    await service.stop();
  }
});

test('a start that fails reports all errors of the environment and of .env, leaves nothing behind and exits with 1', async () => {
  const cwd = await newFolder();
  await writeFile(join(cwd, '.env'), 'PIN_POLICY=perhaps\nPORT=65536\n');
  const env = {
    ...{ SESSION_TTL: 'soon', AUTHENTICATION_TTL: '-1d', PIN_POLICY: 'off', PASSWORD_MIN: '4' },
    ...{ DATABASE_URL: 'mysql://localhost/x', SECRET_KEY: 'too-short', ADMIN_API_KEY: 'hunter2', LOG_LEVEL: 'loud' },
    ...{ SMS_PROVIDER: 'webhook', POSTERN_PORT: '80' },
  };
  const { exitCode, stdout, stderr } = await runProcess({ cwd, env });
  expect(exitCode).toBe(1);
  const named = [
    ...Object.keys(env).filter((name) => !['SMS_PROVIDER', 'PIN_POLICY'].includes(name)),
    ...['PORT', 'SMS_WEBHOOK_URL', 'SMS_WEBHOOK_SECRET'],
  ];
  expect(named.filter((name) => !new RegExp(`^ *${name} `, 'm').test(stderr))).toEqual([]);
  // The environment overrides the file.
  expect(stderr).not.toContain('PIN_POLICY');
  expect(stdout).toBe('');
  expect(stderr).not.toMatch(/hunter2|too-short|^\s+at /m);
  expect(await readdir(cwd)).toEqual(['.env']);
});

test('SIGTERM to npx ends the service too, although npx passes the signal only to its shell', async () => {
  const cwd = await newFolder();
  await copyCluster(join(cwd, 'data'));
  await mkdir(join(cwd, 'node_modules/.bin'), { recursive: true });
  const program = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));
  const command = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  await writeFile(join(cwd, 'node_modules/.bin/postern'), command, { mode: 0o755 });
  const { PATH = '' } = process.env;
  const npx = spawn('npx', ['--no-install', 'postern', 'serve'], {
    cwd,
    env: { PATH, HOME: home, PORT: '0', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  npx.stdout.on('data', (part: Buffer) => {
    output += String(part);
  });
  const url = await eventually('the service', async () => /^Postern is ready at (\S+)/m.exec(output)?.[1]);
  npx.kill('SIGTERM');
  // The service holds the other end of the pipe, so this waits until the service has ended.
  await once(npx, 'close');
  await expect(fetch(url)).rejects.toThrow();
  expect(await readdir(join(cwd, 'data', 'postgres'))).not.toContain('postmaster.pid');
});

/** Collects what a socket receives. */
function receive(socket: Socket) {
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  return { until: (part: string) => expect.poll(() => text).toContain(part) };
}
