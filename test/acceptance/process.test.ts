import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
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

let running: ServiceProcess[] = [];
afterEach(async () => {
  await Promise.all(running.map((service) => service.stop()));
  running = [];
});

/** The options of a service whose embedded database is in `data` of a folder, as in a first trial. */
const inFolder = (cwd: string, env: Record<string, string> = {}) => ({
  cwd,
  env: { PORT: '0', LOG_LEVEL: 'warn', ...env },
});

async function start(cwd: string, env?: Record<string, string>): Promise<ServiceProcess> {
  const service = await startProcess(inFolder(cwd, env));
  running.push(service);
  return service;
}

const unreachable = {
  DATABASE_URL: 'postgres://postern:hunter2secret@127.0.0.1:1/postern',
  SECRET_KEY: 'k'.repeat(32),
};

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

describe('the first start', () => {
  let cwd: string;
  let service: ServiceProcess;
  beforeAll(async () => {
    cwd = await newFolder();
    service = await startProcess(inFolder(cwd));
  });
  afterAll(() => service.stop());

  test('prints three commands that create a user, log in and get a session, in one shell', async () => {
    const commands = printedCommands(service);
    expect(commands).toHaveLength(3);
    const [user = '', token = '', session = ''] = await runInOneShell(commands, cwd);
    const { id, username } = JSON.parse(user);
    expect(username).toMatch(/^\w+$/);
    expect(token).toMatch(/^psa_[\w-]{80}$/);
    expect(JSON.parse(session)).toMatchObject({ token: expect.stringMatching(/^pss_/), user_id: id });
  });

  test('without a terminal writes the first admin key to a file that only its owner can read', async () => {
    const file = keyFileOf(service);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const key = (await readFile(file, 'utf8')).trim();
    expect(key).toMatch(/^psk_[\w-]{60}$/);
    expect(service.stdout() + service.stderr()).not.toContain(key);
    expect(await statusOf(`${service.url}/admin/v1/users`, `Bearer ${key}`)).toBe(200);
  });

  test('without a terminal writes a link for the first operator to a file that only its owner can read', async () => {
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
});

describe('a first start in another place', () => {
  test('prints commands that work with a data folder whose name has blanks and quotes', async () => {
    const cwd = await newFolder();
    const data = join(await newFolder(), `Ada's "$data" dir`);
    const service = await start(cwd, { DATA_DIR: data });
    const [, token = ''] = await runInOneShell(printedCommands(service), cwd);
    expect(token).toMatch(/^psa_/);
    expect(existsSync(join(cwd, 'data'))).toBe(false);
  });

  test('creates no key if ADMIN_API_KEY is set, and prints commands that take it from the shell', async () => {
    const cwd = await newFolder();
    const key = randomBytes(16).toString('hex');
    const service = await start(cwd, { ADMIN_API_KEY: key });
    expect(keyFileOf(service)).toBe('');
    expect(service.stdout()).not.toContain(key);
    const keys = await fetch(`${service.url}/admin/v1/keys`, { headers: { authorization: `Bearer ${key}` } });
    expect(await keys.json()).toEqual([]);
    const [, , token = ''] = await runInOneShell([`KEY=${key}`, ...printedCommands(service)], cwd);
    expect(token).toMatch(/^psa_/);
  });
});

describe('a second start', () => {
  test('keeps users, tokens and sessions, and names the same key file again', async () => {
    const cwd = await newFolder();
    const first = await start(cwd);
    const [, token = '', session = '{}'] = await runInOneShell(printedCommands(first), cwd);
    const file = keyFileOf(first);
    const key = await readFile(file, 'utf8');
    expect(await first.stop()).toBe(0);

    const second = await start(cwd);
    expect(keyFileOf(second)).toBe(file);
    expect(await readFile(file, 'utf8')).toBe(key);
    expect(await statusOf(`${second.url}/admin/v1/users`, `Bearer ${key.trim()}`)).toBe(200);
    expect(await statusOf(`${second.url}/v1/sessions/verify`, `Bearer ${JSON.parse(session).token}`)).toBe(200);
    const basic = `Basic ${Buffer.from(token).toString('base64')}`;
    expect(await statusOf(`${second.url}/v1/sessions`, basic, 'POST')).toBe(201);
  });

  test('joins the database of the first start while that runs, and keeps it when the first one stops', async () => {
    const cwd = await newFolder();
    const first = await start(cwd);
    const [, , session = '{}'] = await runInOneShell(printedCommands(first), cwd);
    const second = await start(cwd);
    expect(await first.stop()).toBe(0);
    expect(await statusOf(`${second.url}/v1/sessions/verify`, `Bearer ${JSON.parse(session).token}`)).toBe(200);
    expect(await second.stop()).toBe(0);
    expect(await readdir(join(cwd, 'data', 'postgres'))).not.toContain('postmaster.pid');
  });
});

describe('a start that fails', () => {
  test('reports all errors of its configuration, leaves nothing behind and exits with 1', async () => {
    const cwd = await newFolder();
    const env = {
      ...{
        PORT: '65536',
        SESSION_TTL: 'soon',
        AUTHENTICATION_TTL: '-1d',
        PIN_POLICY: 'maybe',
        PASSWORD_MIN: '4',
      },
      ...{ DATABASE_URL: 'mysql://localhost/x', SECRET_KEY: 'too-short', ADMIN_API_KEY: 'hunter2', LOG_LEVEL: 'loud' },
      ...{ SMS_PROVIDER: 'webhook', POSTERN_PORT: '80' },
    };
    const { exitCode, stdout, stderr } = await runProcess({ cwd, env });
    expect(exitCode).toBe(1);
    const named = [
      ...Object.keys(env).filter((name) => name !== 'SMS_PROVIDER'),
      'SMS_WEBHOOK_URL',
      'SMS_WEBHOOK_SECRET',
    ];
    expect(named.filter((name) => !new RegExp(`^ *${name} `, 'm').test(stderr))).toEqual([]);
    expect(stdout).toBe('');
    expect(stderr).not.toMatch(/hunter2|too-short|^\s+at /m);
    expect(await readdir(cwd)).toEqual([]);
  });

  test('reports an error of a .env file, and the environment overrides the file', async () => {
    const cwd = await newFolder();
    await writeFile(join(cwd, '.env'), 'PORT=nowhere\nPIN_POLICY=perhaps\n');
    const { exitCode, stderr } = await runProcess({ cwd, env: { PIN_POLICY: 'off' } });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('PORT must be');
    expect(stderr).not.toContain('PIN_POLICY');
  });

  test('reports a port in use, creates no database and exits with 1', async () => {
    const cwd = await newFolder();
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const port = String((holder.address() as AddressInfo).port);
    const { exitCode, stderr } = await runProcess({ cwd, env: { PORT: port } });
    holder.close();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`Port ${port} of 127.0.0.1 is in use`);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(existsSync(join(cwd, 'data', 'postgres'))).toBe(false);
  });

  test('reports an unreachable database without its password, and exits with 1', async () => {
    const { exitCode, stdout, stderr } = await runProcess({
      cwd: await newFolder(),
      env: { PORT: '0', ...unreachable },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/database.*DATABASE_URL/i);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stdout + stderr).not.toContain('hunter2secret');
  });
});

describe('a stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s ends the service with 0 and its database with it',
    async (signal) => {
      const cwd = await newFolder();
      const service = await start(cwd);
      expect(await service.stop(signal)).toBe(0);
      expect(await readdir(join(cwd, 'data', 'postgres'))).not.toContain('postmaster.pid');
      await expect(fetch(service.url)).rejects.toThrow();
    },
  );

  test('of npx by SIGTERM ends the service too, although npx passes the signal only to its shell', async () => {
    const cwd = await newFolder();
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

  test('with SIGTERM completes a running request, and accepts no new one', async () => {
    const service = await start(await newFolder());
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
  });
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
