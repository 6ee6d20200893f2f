import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { commandLine, processesWith } from '../database/embedded-postern.js';
import { eventually } from '../support/eventually.js';
import {
  createInstallation,
  type FaultyService,
  type Installation,
  isLong,
} from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createUser, passwordLogin } from '../support/users.js';
import {
  type Connection,
  connectToEach,
  isAlive,
  linesOf,
  newWorkers,
  openConnection,
  workerOf,
  workersOf,
} from '../support/workers.js';

beforeAll(buildService, BUILD_TIMEOUT);

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const twoWorkers = { WORKERS: '2', LOG_LEVEL: 'debug' };

async function newInstallation(env: Readonly<Record<string, string>> = twoWorkers): Promise<Installation> {
  const installation = await createInstallation(env);
  cleanUps.push(() => installation.remove());
  return installation;
}

async function start(installation: Installation, env: Readonly<Record<string, string>> = {}): Promise<FaultyService> {
  const service = await installation.start(env);
  cleanUps.push(() => service.stop());
  return service;
}

async function connectToBoth(service: FaultyService, each = 1): Promise<Connection[]> {
  const open = await connectToEach(service, 2, each);
  cleanUps.push(async () => {
    for (const connection of open) connection.close();
  });
  return open;
}

/** The worker processes of the service, ready or not. */
function workerProcesses({ pid }: FaultyService): number[] {
  const children = readdirSync('/proc').filter((entry) => parentOf(entry) === pid);
  return children.map(Number).filter((child) => commandLine(child).includes('workers/worker.js'));
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  if (isAlive(pid)) process.kill(pid, signal);
}

/** The pause of a client between two requests, in milliseconds: the workers that start need the processors. */
const pause = isLong ? 0 : 20;

/** Clients that each send requests one after the other. A missing response, or one other than 200, is a fault. */
function startClients(url: string, kinds: readonly { keepAlive: boolean; count: number }[], path = '/readyz') {
  const faults: string[] = [];
  let answered = 0;
  let stopping = false;
  const loops = kinds.flatMap(({ keepAlive, count }) =>
    Array.from({ length: count }, async () => {
      const connection = openConnection(url, { keepAlive });
      while (!stopping) {
        const outcome = await connection.send('GET', path).then(
          ({ status }) => String(status),
          (error: NodeJS.ErrnoException) => error.code ?? error.message,
        );
        if (outcome === '200') answered += 1;
        else faults.push(outcome);
        await wait(pause);
      }
      connection.close();
    }),
  );
  return {
    faults,
    answered: () => answered,
    async stop() {
      stopping = true;
      await Promise.all(loops);
    },
  };
}

const refusesConnections = (url: string) =>
  new Promise<true | undefined>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    socket.once('connect', () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once('error', (error) => resolve('code' in error && error.code === 'ECONNREFUSED' ? true : undefined));
  });

/** A running login: a worker has read its headers and waits for the rest of the body. */
async function beginLogin(service: FaultyService, username: string | null) {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(service.url).port) });
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => undefined);
  cleanUps.push(async () => socket.destroy());
  const send = (...lines: string[]) => socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  send('GET /livez HTTP/1.1', 'Host: localhost');
  const id = await eventually('an answer', async () => /^request-id: (\S+)/im.exec(received)?.[1]);
  const body = JSON.stringify(passwordLogin(username));
  const type = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  send('POST /v1/tokens HTTP/1.1', 'Host: localhost', 'Expect: 100-continue', ...type);
  await eventually('the service to wait for the body', async () => received.includes('100 Continue') || undefined);
  return {
    worker: await workerOf(service, id),
    async complete(): Promise<string> {
      socket.write(body);
      return eventually('the answer', async () => /"status":"(approved|rejected)"/.exec(received)?.[1]);
    },
  };
}

/** Running logins, at least two in each of both workers. */
async function beginLogins(service: FaultyService) {
  const user = await createUser(service);
  const logins: Awaited<ReturnType<typeof beginLogin>>[] = [];
  return eventually('logins in both workers', async () => {
    logins.push(await beginLogin(service, user.username));
    const counts = new Map<number, number>();
    for (const { worker } of logins) counts.set(worker, (counts.get(worker) ?? 0) + 1);
    return counts.size === 2 && [...counts.values()].every((count) => count >= 2) ? logins : undefined;
  });
}

describe('a killed worker', () => {
  test('loses only its running requests, and is replaced', async () => {
    const service = await start(await newInstallation());
    const rounds = isLong ? 20 : 3;
    const clients = startClients(service.url, [
      { keepAlive: true, count: 8 },
      { keepAlive: false, count: 8 },
    ]);
    for (let round = 0; round < rounds; round += 1) {
      const workers = workersOf(service);
      const faultsBefore = clients.faults.length;
      const [victim = 0] = workers;
      kill(victim, 'SIGKILL');
      const workersNow = await newWorkers(service, 2, [victim]);
      expect(workersNow).toEqual(expect.arrayContaining(workers.filter((pid) => pid !== victim)));
      const answeredBefore = clients.answered();
      await eventually('more answers', async () => clients.answered() > answeredBefore + 100 || undefined);
      // Each client lost at most one running request. No request is refused or waits for long.
      expect(clients.faults.length - faultsBefore).toBeLessThanOrEqual(16);
    }
    await clients.stop();
    expect(new Set([...clients.faults, 'ECONNRESET'])).toEqual(new Set(['ECONNRESET']));
    for (const connection of await connectToBoth(service)) {
      expect((await connection.send('GET', '/readyz')).status).toBe(200);
    }
    const reports = linesOf(service).filter(({ msg }) => msg === 'a worker has ended unexpectedly');
    expect(reports).toHaveLength(rounds);
    expect(await service.stop()).toBe(0);
  });

  test('and a second one killed with it are both replaced, on the same port', async () => {
    const service = await start(await newInstallation());
    const before = workersOf(service);
    for (const pid of before) kill(pid, 'SIGKILL');
    await newWorkers(service, 2, before);
    for (const connection of await connectToBoth(service)) {
      expect((await connection.send('GET', '/readyz')).status).toBe(200);
    }
    expect(await service.stop()).toBe(0);
  });

  test('leaves its jobs to the other workers', async () => {
    const service = await start(await newInstallation());
    const user = await createUser(service, { phone: `+1555${String(Date.now()).slice(-7)}` });
    const [victim = 0] = workersOf(service);
    const body = { identity: { type: 'phone', value: user.phone }, authenticator: 'sms', device: {} };
    const started = await service.api<Authentication>('POST', '/v1/tokens', { body });
    kill(victim, 'SIGKILL');
    await eventually('the code to be sent', async () => {
      const path = `/admin/v1/outbox?filter=authentication_id:eq:${started.body.id}`;
      const request = service.api<{ state: string }[]>('GET', path, { bearer: service.adminKey });
      // The killed worker may have had this connection.
      const answer = await request.catch(() => undefined);
      return answer?.body[0]?.state === 'sent' || undefined;
    });
  });
});

describe('workers that repeatedly die before they are ready', () => {
  test.each([
    ['all workers', () => true],
    ['only new workers', (pid: number, first: readonly number[]) => !first.includes(pid)],
  ] as const)('end the service with exit code 1 and one message, if %s die', async (_which, isVictim) => {
    const installation = await newInstallation();
    const service = await start(installation);
    const first = workersOf(service);
    // A worker is missing in both cases.
    kill(first[0] ?? 0, 'SIGKILL');
    let ended = false;
    const killing = eventually('the end of the service', async () => {
      for (const pid of workerProcesses(service)) if (isVictim(pid, first)) kill(pid, 'SIGKILL');
      return ended || undefined;
    });
    expect(await service.ended()).toBe(1);
    ended = true;
    await killing;
    expect(service.stderr()).toBe('5 workers in a row have ended before they were ready. The last one: SIGKILL\n');
    expect(existsSync(join(installation.dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
    expect(processesWith(installation.dataDir)).toEqual([]);
  });
});

describe('SIGTERM', () => {
  test('lets both workers finish running requests, also if all processes get it twice', async () => {
    const installation = await newInstallation();
    const service = await start(installation);
    const logins = await beginLogins(service);
    const workers = workersOf(service);
    for (let time = 0; time < 2; time += 1) for (const pid of [...workers, service.pid]) kill(pid, 'SIGTERM');
    await eventually('new connections to be refused', () => refusesConnections(service.url));
    expect(workers.filter(isAlive)).toEqual(workers);
    expect(await Promise.all(logins.map((login) => login.complete()))).toEqual(logins.map(() => 'approved'));
    expect(await service.ended()).toBe(0);
    expect(workers.filter(isAlive)).toEqual([]);
    expect(processesWith(installation.dataDir)).toEqual([]);
  });

  test('while the workers start exits with 0 and leaves no process behind', async () => {
    const installation = await newInstallation();
    const service = await start(installation);
    const before = workersOf(service);
    for (const pid of before) kill(pid, 'SIGKILL');
    await eventually('a new worker', async () => workerProcesses(service).length > 0 || undefined);
    const starting = workerProcesses(service);
    expect(await service.stop()).toBe(0);
    expect(starting.filter(isAlive)).toEqual([]);
    expect(processesWith(installation.dataDir)).toEqual([]);
  });

  test('to one worker only replaces that worker', async () => {
    const service = await start(await newInstallation());
    // Does not wait for readiness: a worker that stops for this reason reports that it stops.
    const clients = startClients(service.url, [{ keepAlive: false, count: 4 }], '/livez');
    const [worker = 0] = workersOf(service);
    kill(worker, 'SIGTERM');
    await newWorkers(service, 2, [worker]);
    await clients.stop();
    expect(clients.faults).toEqual([]);
  });
});

describe('a killed primary process', () => {
  test('leaves workers that finish running requests and free the port, and the next start is ready', async () => {
    const installation = await newInstallation();
    const service = await start(installation);
    const logins = await beginLogins(service);
    const workers = workersOf(service);
    kill(service.pid, 'SIGKILL');
    await eventually('new connections to be refused', () => refusesConnections(service.url));
    expect(await Promise.all(logins.map((login) => login.complete()))).toEqual(logins.map(() => 'approved'));
    await eventually('the workers to end', async () => !workers.some(isAlive) || undefined);

    const next = await start(installation, { PORT: new URL(service.url).port });
    expect((await next.api('GET', '/readyz')).status).toBe(200);
    expect(await next.stop()).toBe(0);
    expect(processesWith(installation.dataDir)).toEqual([]);
  });
});

describe('a rolling restart', () => {
  test('lets the old workers finish running requests, however long that takes', async () => {
    const service = await start(await newInstallation());
    const before = workersOf(service);
    const logins = await beginLogins(service);
    process.kill(service.pid, 'SIGUSR2');
    const readyLines = () => linesOf(service).filter(({ msg }) => msg === 'a worker is ready');
    await eventually('a new worker', async () => readyLines().length === 3 || undefined);
    // The first old worker accepts no more connections if many in a row go to others.
    const oldest = Math.min(...logins.map(({ worker }) => worker));
    await eventually('answers of others only', async () => {
      const asked = Array.from({ length: 20 }, () =>
        openConnection(service.url, { keepAlive: false }).send('GET', '/livez'),
      );
      const answers = await Promise.all(asked);
      const workers = await Promise.all(answers.map(({ requestId }) => workerOf(service, requestId)));
      return !workers.includes(oldest) || undefined;
    });
    expect(before.filter(isAlive)).toEqual(before);
    expect(await Promise.all(logins.map((login) => login.complete()))).toEqual(logins.map(() => 'approved'));
    await newWorkers(service, 2, before);
    expect(await service.stop()).toBe(0);
  });

  test('ends with as many workers as before, even if another one dies meanwhile', async () => {
    const service = await start(await newInstallation());
    const before = workersOf(service);
    process.kill(service.pid, 'SIGUSR2');
    await eventually('a third worker', async () => workerProcesses(service).length === 3 || undefined);
    // The worker that was started last would be replaced last.
    kill(Math.max(...before), 'SIGKILL');
    await newWorkers(service, 2, before);
    expect(await service.stop()).toBe(0);
  });

  test('fails no request', async () => {
    const service = await start(await newInstallation());
    const clients = startClients(service.url, [
      { keepAlive: true, count: 4 },
      { keepAlive: false, count: 4 },
    ]);
    const before = workersOf(service);
    process.kill(service.pid, 'SIGUSR2');
    // A second restart request during the first one is ignored.
    process.kill(service.pid, 'SIGUSR2');
    const done = () => linesOf(service).filter(({ msg }) => msg === 'the rolling restart is done');
    await eventually('the rolling restart', async () => done().length > 0 || undefined);
    await newWorkers(service, 2, before);
    expect(before.filter(isAlive)).toEqual([]);
    const answeredBefore = clients.answered();
    await eventually('more answers', async () => clients.answered() > answeredBefore + 100 || undefined);
    await clients.stop();
    expect(clients.faults).toEqual([]);
    expect(await service.stop()).toBe(0);
    expect(done()).toHaveLength(1);
  });
});
