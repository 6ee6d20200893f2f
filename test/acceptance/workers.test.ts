import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyCluster } from '../support/cluster.js';
import { eventually } from '../support/eventually.js';
import { type Scrape, scrape } from '../support/metrics.js';
import { BUILD_TIMEOUT, buildService, runProcess, type ServiceProcess, startProcess } from '../support/process.js';
import { raceRounds } from '../support/rounds.js';
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

const adminKey = 'k'.repeat(40);
const settings = (lifetime: string) => `ADMIN_API_KEY=${adminKey}\nSESSION_TTL=${lifetime}\n`;

let cwd: string;
let service: ServiceProcess;
let client: Client;
let connections: Connection[];
beforeAll(async () => {
  await buildService();
  cwd = await mkdtemp(join(tmpdir(), 'postern-workers-'));
  await writeFile(join(cwd, '.env'), settings('15m'));
  await copyCluster(join(cwd, 'data'));
  const limits = {
    GUESS_LIMIT: '5',
    LOGIN_LIMIT_PER_ADDRESS: '0',
    CODE_LIMIT_PER_ADDRESS: '0',
    SMS_LIMIT_PER_PREFIX: '1000',
  };
  service = await startProcess({
    cwd,
    env: { PORT: '0', METRICS_PORT: '0', WORKERS: '2', LOG_LEVEL: 'debug', ...limits },
  });
  client = createClient({ url: service.url, adminKey });
  connections = await connectToEach(service, 2, 5);
}, BUILD_TIMEOUT);
afterAll(async () => {
  for (const connection of connections ?? []) connection.close();
  await service?.stop();
  await rm(cwd, { recursive: true, force: true });
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
/** What a busy machine answers to some of many parallel requests for one user, before or after it has counted them. */
const unavailable = 503;

test('two workers report once that they listen on one port', async () => {
  expect(workersOf(service)).toHaveLength(2);
  for (const connection of connections) expect((await connection.send('GET', '/readyz')).status).toBe(200);
  expect(service.stdout().match(/^Postern is ready at /gm)).toHaveLength(1);
  expect(linesOf(service).filter(({ msg }) => msg === 'Started the embedded PostgreSQL')).toHaveLength(1);
});

describe('two workers behave like one process', () => {
  test('a session of one worker is valid on both, and on neither after its revocation', async () => {
    const [one, other] = connections as [Connection, Connection];
    for (let round = 0; round < raceRounds; round += 1) {
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
    const answers = await sendParallel<Outcome>(20, '/v1/tokens', passwordLogin(user, { secret: 'wrong' }));
    const outcomes = answers.map(({ status, body }) => (status === 201 ? body.status : status));
    const rejected = outcomes.filter((outcome) => outcome === 'rejected');
    const others = outcomes.filter((outcome) => outcome !== 'rejected' && outcome !== unavailable);
    if (outcomes.includes(unavailable)) expect(rejected.length).toBeLessThanOrEqual(5);
    else expect(rejected).toHaveLength(5);
    expect(others.filter((outcome) => outcome !== 423)).toEqual([]);
  });

  test('all concurrent right passwords are approved', async () => {
    const user = await client.createUser();
    const answers = await sendParallel<Outcome>(12, '/v1/tokens', passwordLogin(user));
    const answered = answers.filter(({ status }) => status !== unavailable);
    expect(new Set(answered.map(({ body }) => body.status))).toEqual(new Set(['approved']));
  });

  test('an identity gets one code a minute', async () => {
    const user = await client.createUser();
    const answers = await sendParallel(24, '/v1/tokens', smsLogin(user));
    const statuses = answers.map(({ status }) => status);
    const started = statuses.filter((status) => status === 201);
    if (statuses.includes(unavailable)) expect(started.length).toBeLessThanOrEqual(1);
    else expect(started).toHaveLength(1);
    const others = statuses.filter((status) => status !== 201 && status !== unavailable);
    expect(others.filter((status) => status !== 429)).toEqual([]);
  });

  test('repeated publications with one Idempotency-Key create one notification', async () => {
    const user = await client.createUser();
    const { session } = await client.signIn(user);
    const headers = { 'Idempotency-Key': randomUUID() };
    const body = { user_id: user.id, notification_type: 'payment', description: 'Lunch' };
    const path = '/admin/v1/notifications';
    const answers = await sendParallel(24, path, body, { ...headers, authorization: `Bearer ${adminKey}` });
    expect(answers.filter(({ status }) => ![201, 409, unavailable].includes(status ?? 0))).toEqual([]);
    const replayed = await client.send('POST', path, { bearer: adminKey, headers, body });
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
  const url = linesOf(service).find(({ msg }) => msg === 'the metrics are served')?.url ?? '';
  const checks = (metrics: Scrape) => metrics.value('postern_session_checks_total', { result: 'invalid' }) ?? 0;
  const headers = { authorization: `Bearer pss_${'A'.repeat(60)}` };
  const before = checks(await scrape(url));
  const both = await connectToEach(service, 2);
  for (const connection of both) {
    await connection.send('POST', '/v1/sessions/verify', { headers });
    connection.close();
  }
  const metrics = await eventually('the checks of both', async () => {
    const found = await scrape(url);
    return checks(found) === before + 2 ? found : undefined;
  });
  expect(metrics.value('postern_database_up')).toBe(1);
  expect(metrics.value('postern_build_info')).toBe(1);
  const [killed = 0, ...others] = workersOf(service);
  process.kill(killed, 'SIGKILL');
  await newWorkers(service, 2, [killed]);
  expect(others).toHaveLength(1);
  expect(checks(await scrape(url))).toBe(before + 2);
  const [connection] = await connectToEach(service, 2);
  await connection?.send('POST', '/v1/sessions/verify', { headers });
  await eventually('the third check', async () => (checks(await scrape(url)) === before + 3 ? true : undefined));
});

test('a changed .env file applies at a restart of the workers, unless it has errors', async () => {
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

test('the statistics of two workers add up, and survive a restart; the stop ends the database', async () => {
  const totals = async () => {
    const path = '/admin/v1/stats?metric=sessions.verified';
    const answer = await client.send<{ metrics: { total: number }[] }>('GET', path, { bearer: adminKey });
    return answer.body.metrics[0]?.total ?? 0;
  };
  const { session } = await client.signIn(await client.createUser());
  // The former workers have stored their counts when they stopped, and these workers have checked no session yet.
  const before = await totals();
  for (const [worker, connection] of (await connectToEach(service, 2)).entries()) {
    for (let check = 0; check <= worker; check += 1) {
      expect((await connection.send('POST', '/v1/sessions/verify', bearer(session.token))).status).toBe(200);
    }
    connection.close();
  }
  expect(await service.stop()).toBe(0);
  expect(service.stderr()).toBe('');
  expect(existsSync(join(cwd, 'data', 'postgres', 'postmaster.pid'))).toBe(false);

  service = await startProcess({ cwd, env: { HOST: '127.0.0.1', PORT: '0', WORKERS: '1', LOG_LEVEL: 'warn' } });
  client = createClient({ url: service.url, adminKey });
  expect(await totals()).toBe(before + 3);
});

test('two workers whose port is in use report it once, and exit with 1', async () => {
  const folder = join(cwd, 'in-use');
  await mkdir(folder);
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const port = String((holder.address() as AddressInfo).port);
  const { exitCode, stderr, stdout } = await runProcess({
    cwd: folder,
    env: { PORT: port, WORKERS: '2', LOG_LEVEL: 'warn' },
  });
  holder.close();
  expect(exitCode).toBe(1);
  expect(stderr).toBe(
    `Port ${port} of 127.0.0.1 is in use: stop the program that uses it, or set PORT to another one.\n`,
  );
  expect(stdout).toBe('');
  expect(existsSync(join(folder, 'data', 'postgres'))).toBe(false);
});
