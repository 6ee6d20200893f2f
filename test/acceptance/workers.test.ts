import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { type Scrape, scrape } from '../support/metrics.js';
import {
  BUILD_TIMEOUT,
  buildService,
  runProcess,
  type ServiceProcess,
  startProcess,
  startTestService,
  type TestService,
} from '../support/process.js';
import { type Connection, connectToEach, linesOf, newWorkers, workersOf } from '../support/workers.js';
import {
  type Authentication,
  type Client,
  createClient,
  type Notification,
  passwordLogin,
  secondsBetween,
  smsLogin,
} from './client.js';

beforeAll(buildService, BUILD_TIMEOUT);

describe('two workers behave like one process', () => {
  let service: TestService;
  let client: Client;
  let connections: Connection[];
  beforeAll(async () => {
    service = await startTestService({
      ...{ WORKERS: '2', LOG_LEVEL: 'debug', GUESS_LIMIT: '5' },
      ...{ LOGIN_LIMIT_PER_ADDRESS: '0', SMS_LIMIT_PER_PREFIX: '1000' },
    });
    client = createClient(service);
    connections = await connectToEach(service, 2, 5);
  });
  afterAll(async () => {
    for (const connection of connections) connection.close();
    await service.stop();
  });

  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const statusesOf = async (answers: readonly Promise<{ status: number | undefined }>[]) =>
    (await Promise.all(answers)).map(({ status }) => status);

  /** Sends `size` equal requests at the same time, half of them to each worker. */
  async function sendParallel<Body>(size: number, path: string, body: object, headers: Record<string, string> = {}) {
    const sent = Array.from({ length: size }, (_, index) =>
      connections[index % connections.length]?.send('POST', path, { headers, body }),
    );
    const answers = (await Promise.all(sent)).filter((answer) => answer !== undefined);
    return answers.map(({ status, text }) => ({ status, body: JSON.parse(text) as Body }));
  }
  type Outcome = Pick<Authentication, 'status'>;

  test('a session of one worker is valid on both, and on neither after its revocation', async () => {
    const [one, other] = connections as [Connection, Connection];
    for (let round = 0; round < 20; round += 1) {
      const user = await client.createUser();
      const { session, authentication } = await client.signIn(user);
      const verify = (connection: Connection) => connection.send('POST', '/v1/sessions/verify', bearer(session.token));
      expect(await statusesOf([verify(one), verify(other)])).toEqual([200, 200]);
      const end = await one.send('DELETE', `/v1/tokens/${authentication.id}`, bearer(session.token));
      expect(end.status).toBe(200);
      expect(await statusesOf([verify(one), verify(other)])).toEqual([401, 401]);
    }
  });

  test('two workers together evaluate five of many concurrent wrong secrets, and answer 423 to the others', async () => {
    const user = await client.createUser();
    const answers = await sendParallel<Outcome>(40, '/v1/tokens', passwordLogin(user, { secret: 'wrong' }));
    const outcomes = answers.map(({ status, body }) => (status === 201 ? body.status : status));
    expect(outcomes.filter((outcome) => outcome === 'rejected')).toHaveLength(5);
    expect(new Set(outcomes.filter((outcome) => outcome !== 'rejected'))).toEqual(new Set([423]));
  });

  test('all concurrent right passwords are approved', async () => {
    const user = await client.createUser();
    const answers = await sendParallel<Outcome>(24, '/v1/tokens', passwordLogin(user));
    expect(new Set(answers.map(({ body }) => body.status))).toEqual(new Set(['approved']));
  });

  test('an identity gets one code a minute', async () => {
    const user = await client.createUser();
    const answers = await sendParallel(24, '/v1/tokens', smsLogin(user));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 23 }, () => 429)]);
  });

  test('repeated publications with one Idempotency-Key create one notification', async () => {
    const user = await client.createUser();
    const { session } = await client.signIn(user);
    const headers = { 'Idempotency-Key': randomUUID() };
    const body = { user_id: user.id, notification_type: 'payment', description: 'Lunch' };
    const path = '/admin/v1/notifications';
    const answers = await sendParallel(24, path, body, { ...headers, authorization: `Bearer ${service.adminKey}` });
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    const replayed = await client.send('POST', path, { bearer: service.adminKey, headers, body });
    expect([replayed.status, replayed.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
    const list = await client.send<Notification[]>('GET', '/v1/notifications', { bearer: session.token });
    expect(list.body).toHaveLength(1);
  });

  test('each queued code is sent once, and is valid', async () => {
    const users = await Promise.all(Array.from({ length: 8 }, () => client.createUser()));
    const started = await Promise.all(users.map((user) => client.startSms(user)));
    for (const { user } of started) {
      const printed = service
        .stdout()
        .split('\n')
        .filter((line) => line.includes(user.phone));
      expect(printed).toHaveLength(1);
    }
    const answers = await Promise.all(
      started.map(({ id, code }) => client.sendSecret(id, { secret: code, pin: '2468' })),
    );
    expect(answers.map(({ body }) => body.status)).toEqual(started.map(() => 'approved'));
  });
});

test('the metrics of two workers add up, and no count becomes smaller when a worker dies', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-workers-'));
  const env = { PORT: '0', METRICS_PORT: '0', WORKERS: '2', LOG_LEVEL: 'debug' };
  const service = await startProcess({ cwd, env });
  try {
    const url = await eventually('the metrics', async () => {
      const line = linesOf(service).find(({ msg }) => msg === 'the metrics are served');
      return line?.url;
    });
    const workers = await connectToEach(service, 2);
    const checks = (metrics: Scrape) => metrics.value('postern_session_checks_total', { result: 'invalid' });
    const headers = { authorization: `Bearer pss_${'A'.repeat(60)}` };
    for (const connection of workers) await connection.send('POST', '/v1/sessions/verify', { headers });
    const before = await eventually('the checks of both', async () => {
      const metrics = await scrape(url);
      return checks(metrics) === 2 ? metrics : undefined;
    });
    expect(before.value('postern_database_up')).toBe(1);
    expect(before.value('postern_build_info')).toBe(1);
    for (const connection of workers) connection.close();
    const [killed = 0, ...others] = workersOf(service);
    process.kill(killed, 'SIGKILL');
    await newWorkers(service, 2, [killed]);
    expect(others).toHaveLength(1);
    expect(checks(await scrape(url))).toBe(2);
    const [connection] = await connectToEach(service, 2);
    await connection?.send('POST', '/v1/sessions/verify', { headers });
    await eventually('the third check', async () => (checks(await scrape(url)) === 3 ? true : undefined));
  } finally {
    await service.stop();
    await rm(cwd, { recursive: true, force: true });
  }
});

test('the statistics of two workers add up, and survive a restart', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-workers-'));
  const adminKey = `admin-${randomUUID()}`;
  const start = () =>
    startProcess({ cwd, env: { PORT: '0', WORKERS: '2', LOG_LEVEL: 'debug', ADMIN_API_KEY: adminKey } });
  let service = await start();
  try {
    const client = createClient({ ...service, adminKey });
    const { session } = await client.signIn(await client.createUser());
    const headers = { authorization: `Bearer ${session.token}` };
    for (const [worker, connection] of (await connectToEach(service, 2)).entries()) {
      for (let check = 0; check <= worker; check += 1) {
        expect((await connection.send('POST', '/v1/sessions/verify', { headers })).status).toBe(200);
      }
      connection.close();
    }
    await service.stop();
    service = await start();
    const path = '/admin/v1/stats?metric=sessions.verified,logins.approved';
    const { body } = await createClient({ ...service, adminKey }).send<{ metrics: { total: number }[] }>('GET', path, {
      bearer: adminKey,
    });
    expect(body.metrics.map(({ total }) => total)).toEqual([3, 1]);
  } finally {
    await service.stop();
    await rm(cwd, { recursive: true, force: true });
  }
});

describe('a service of two workers', () => {
  let home: string;
  let services: ServiceProcess[] = [];
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'postern-workers-'));
  });
  afterEach(async () => {
    await Promise.all(services.map((service) => service.stop()));
    services = [];
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  async function newFolder(): Promise<string> {
    return mkdtemp(join(home, 'service-'));
  }
  async function start(cwd: string, env: Record<string, string> = {}): Promise<ServiceProcess> {
    const service = await startProcess({ cwd, env: { PORT: '0', WORKERS: '2', LOG_LEVEL: 'debug', ...env } });
    services.push(service);
    return service;
  }

  test('reports once that both workers listen on one port, and stops with its database', async () => {
    const cwd = await newFolder();
    const service = await start(cwd);
    expect(workersOf(service)).toHaveLength(2);
    for (const connection of await connectToEach(service, 2)) {
      expect((await connection.send('GET', '/readyz')).status).toBe(200);
      connection.close();
    }
    expect(service.stdout().match(/^Postern is ready at /gm)).toHaveLength(1);
    expect(service.stdout().match(/^The first admin key is in /gm)).toHaveLength(1);
    expect(linesOf(service).filter(({ msg }) => msg === 'Started the embedded PostgreSQL')).toHaveLength(1);
    expect(await service.stop()).toBe(0);
    expect(service.stderr()).toBe('');
    expect(existsSync(join(cwd, 'data', 'postgres', 'postmaster.pid'))).toBe(false);
  });

  test('reports once that its port is in use, and exits with 1', async () => {
    const cwd = await newFolder();
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const port = String((holder.address() as AddressInfo).port);
    const { exitCode, stderr, stdout } = await runProcess({
      cwd,
      env: { PORT: port, WORKERS: '2', LOG_LEVEL: 'warn' },
    });
    holder.close();
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      `Port ${port} of 127.0.0.1 is in use: stop the program that uses it, or set PORT to another one.\n`,
    );
    expect(stdout).toBe('');
    expect(existsSync(join(cwd, 'data', 'postgres', 'postmaster.pid'))).toBe(false);
  });

  test('refuses an invalid number of workers', async () => {
    for (const WORKERS of ['0', '17', '-1', '2.5', 'many']) {
      const { exitCode, stderr } = await runProcess({ cwd: await newFolder(), env: { WORKERS } });
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^ {2}WORKERS must be auto, or a whole number from 1 to 16$/m);
    }
  });

  test('applies a changed .env file at a restart of its workers, unless it has errors', async () => {
    const cwd = await newFolder();
    const key = 'k'.repeat(40);
    const settings = (lifetime: string) => `ADMIN_API_KEY=${key}\nSESSION_TTL=${lifetime}\n`;
    await writeFile(join(cwd, '.env'), settings('15m'));
    const service = await start(cwd);
    const client = createClient({ url: service.url, adminKey: key });
    const user = await client.createUser();
    const lifetime = async () => {
      const { session } = await client.signIn(user);
      return Math.round(secondsBetween(session.created_at, session.expires_at));
    };
    const hasLogged = (text: string) => () => linesOf(service).some(({ msg }) => msg === text);
    expect(await lifetime()).toBe(900);

    const before = workersOf(service);
    await writeFile(join(cwd, '.env'), settings('soon'));
    process.kill(service.pid, 'SIGUSR2');
    await expect.poll(hasLogged('the rolling restart was refused')).toBe(true);
    expect(workersOf(service)).toEqual(before);

    // Changes of HOST and WORKERS have no effect at a restart of the workers.
    await writeFile(join(cwd, '.env'), `${settings('30m')}HOST=127.0.0.2\nWORKERS=5\n`);
    process.kill(service.pid, 'SIGUSR2');
    await expect.poll(hasLogged('the rolling restart is done')).toBe(true);
    await newWorkers(service, 2, before);
    expect(await lifetime()).toBe(1800);
  });
});

test('a single process reports that it has nothing to restart, and keeps running', async () => {
  const service = await startTestService({ WORKERS: '1' });
  try {
    process.kill(service.pid, 'SIGUSR2');
    await expect.poll(service.stderr).toMatch(/WORKERS is 1/);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  } finally {
    expect(await service.stop()).toBe(0);
  }
});
