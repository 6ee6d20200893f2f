import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { processesWith } from '../embedded/embedded-postern.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startLoad } from '../support/fault-injection/load.js';
import { createInstallation, type FaultyService, type Installation } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { testSql } from '../support/sql.js';
import { createUser, passwordLogin, signIn } from '../support/users.js';

beforeAll(buildService, BUILD_TIMEOUT);

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function newInstallation(env: Readonly<Record<string, string>> = {}): Promise<Installation> {
  const installation = await createInstallation(env);
  cleanUps.push(() => installation.remove());
  return installation;
}

async function start(installation: Installation): Promise<FaultyService> {
  const service = await installation.start();
  cleanUps.push(() => service.stop());
  return service;
}

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

/** A keep-alive connection, like that of a client or a load balancer. */
function keepConnection(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = (method: string, path: string, body?: object) => {
    const request = httpRequest(url + path, { method, agent, headers: { 'content-type': 'application/json' } });
    const answer = new Promise<Answer>((resolve, reject) => {
      request.on('response', (response) => resolve(read(response)));
      request.on('error', reject);
    });
    // An early failure may happen before the sender awaits it.
    answer.catch(() => undefined);
    const handedOver = once(request, 'finish');
    request.end(body === undefined ? undefined : JSON.stringify(body));
    return { answer, handedOver };
  };
  return { send, close: () => agent.destroy() };
}

async function read(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, text: Buffer.concat(chunks).toString() };
}

/** Returns true once new connections are refused; undefined before. */
function refusesConnections(url: string): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    socket.once('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once('error', (error) => resolve('code' in error && error.code === 'ECONNREFUSED' ? true : undefined));
  });
}

/** More than the service hashes at once. */
const running = 16;

test(`a stopping service answers ${running} running logins and a further request, refuses new connections, cuts a request whose body does not arrive, ignores a second SIGTERM, and exits with 0`, async () => {
  const db = await createTestDatabase();
  cleanUps.push(() => db.drop());
  const service = await start(await newInstallation({ DATABASE_URL: db.url }));
  const user = await createUser(service);

  const connections = Array.from({ length: running }, () => keepConnection(service.url));
  cleanUps.push(async () => {
    for (const connection of connections) connection.close();
  });
  await Promise.all(connections.map(({ send }) => send('GET', '/livez').answer));
  const incomplete = await beginRequest(service.url, passwordLogin(user.username));
  const endless = await beginRequest(service.url, passwordLogin(user.username));
  const logins = connections.map(({ send }, index) =>
    send('POST', '/v1/tokens', passwordLogin(user.username, index % 2 === 0 ? undefined : 'wrong')),
  );
  await Promise.all(logins.map(({ handedOver }) => handedOver));
  // The service reads earlier data before it answers this, so every login has started now.
  expect((await service.api('GET', '/livez')).status).toBe(200);

  const ended = service.stop('SIGTERM');
  await eventually('new connections to be refused', () => refusesConnections(service.url));
  const again = service.stop('SIGTERM');
  // The rest of a request must arrive within seconds, also while logins take longer.
  const receiving = incomplete.finish('GET /v1/notifications HTTP/1.1\r\nHost: localhost\r\n\r\n');

  const answers = await Promise.all(logins.map(({ answer }) => answer));
  const outcomes = answers.map(({ status, text }) => [status, (JSON.parse(text) as Authentication).status]);
  expect(outcomes).toEqual(connections.map((_, index) => [201, index % 2 === 0 ? 'approved' : 'rejected']));
  // The service also answers a request that follows on an open connection, and then closes the connection.
  const received = await receiving;
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 201', 'HTTP/1.1 401']);
  expect(received.match(/^content-type: .*/gm)?.at(-1)).toBe('content-type: application/problem+json; charset=utf-8');
  // `stop` returns null if it takes longer than promised, such as for the keep-alive of the connections.
  expect(await ended).toBe(0);
  expect(await again).toBe(0);
  expect((await endless.cut).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  expect(service.stdout()).toMatch(/"method":"POST","route":"\/v1\/tokens".+A request was cut because Postern stops/);

  const approved = await db.database.query<{ id: string }>(
    testSql(`select id from authentications where status = 'approved' and ended_at is null`),
  );
  const tokens = answers.filter((_, index) => index % 2 === 0).map(({ text }) => JSON.parse(text) as Authentication);
  for (const { id, token } of tokens) {
    expect(token).toMatch(/^psa_/);
    expect(approved).toContainEqual({ id });
  }
});

/** Begins a request on a connection that has answered one, and keeps its last part: the service cannot stop before it has arrived. */
async function beginRequest(url: string, content: object) {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
  await once(socket, 'connect');
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    received += chunk;
  });
  const body = JSON.stringify(content);
  const head = [
    'POST /v1/tokens HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ].join('\r\n');
  socket.write(`GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n${head}\r\n\r\n${body.slice(0, 10)}`);
  await eventually('the first answer', async () => (received.includes('"ok"') ? true : undefined));
  const closed = once(socket, 'close');
  return {
    /** All that the service has sent when it closes the connection by itself. */
    cut: closed.then(() => received),
    /** Sends the rest and another request. @returns all that the service has sent until it closed the connection */
    async finish(next: string) {
      socket.write(body.slice(10) + next);
      await closed;
      return received;
    },
  };
}

describe('a service that gets SIGTERM when it', () => {
  const program = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));

  let installation: Installation;
  beforeAll(async () => {
    installation = await createInstallation({}, true);
  });
  afterAll(() => installation.remove());

  function launch(): { child: ChildProcess; output: () => string } {
    const { PATH = '' } = process.env;
    const env = { PATH, PORT: '0', DATA_DIR: installation.dataDir, LOG_LEVEL: 'info', ADMIN_API_KEY: 'k'.repeat(40) };
    const child = spawn(process.execPath, [program, 'serve'], { cwd: installation.folder, env });
    cleanUps.push(async () => void child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        output += chunk;
      });
    }
    return { child, output: () => output };
  }

  // The first one has no database yet, and the second one leaves an empty database.
  test.each([
    ['has just started', /Postern starts/],
    ['has just started its database', /Started the embedded PostgreSQL/],
    ['has just migrated the schema', /the schema was brought up to date|Server listening/],
  ])('%s exits with 0 and leaves no database running', async (_when, line) => {
    const { child, output } = launch();
    const ended = once(child, 'exit');
    await eventually('its start', async () => (line.test(output()) ? true : undefined));
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(existsSync(join(installation.dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
    expect(processesWith(installation.dataDir)).toEqual([]);
  });
});

// acceptance/process.test.ts stops the service that started the database with SIGTERM.
describe('two services on one data directory', () => {
  test('do not notice when the one that started the database is killed', async () => {
    const installation = await newInstallation();
    const first = await start(installation);
    const second = await start(installation);
    const user = await createUser(first);
    const { session } = await signIn(second, user);
    const { api, adminKey } = second;
    const load = startLoad({
      session: {
        send: () => api('POST', '/v1/sessions/verify', { bearer: session.token }),
        expected: ({ status }) => status === 200,
      },
      login: {
        send: () => api('POST', '/v1/tokens', { body: passwordLogin(user.username) }),
        expected: ({ status }) => status === 201,
      },
      notification: {
        send: () =>
          api('POST', '/admin/v1/notifications', {
            bearer: adminKey,
            body: { user_id: user.id, notification_type: 'payment', description: 'Lunch' },
          }),
        expected: ({ status }) => status === 201,
      },
      readiness: { send: () => api('GET', '/readyz'), expected: ({ status }) => status === 200 },
    });
    await eventually('some load', async () => (load.samples.length > 20 ? true : undefined));
    expect(await first.stop('SIGKILL')).toBe(null);
    const before = load.samples.length;
    await eventually('some load', async () => (load.samples.length > before + 40 ? true : undefined));
    await load.stop();
    expect(load.faults).toEqual([]);
    expect(load.samples.filter(({ right }) => !right)).toEqual([]);
    expect(await second.stop()).toBe(0);
    expect(existsSync(join(installation.dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
  });
});
