import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { commandLine, processesWith } from '../embedded/embedded-postern.js';
import { eventually } from '../support/eventually.js';
import {
  createInstallation,
  type FaultyService,
  type Installation,
  isLong,
} from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createUser, messageOf, newPhone, passwordLogin, smsLogin } from '../support/users.js';
import { isAlive, linesOf, newWorkers, openConnection, workerOf, workersOf } from '../support/workers.js';

beforeAll(buildService, BUILD_TIMEOUT);

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const twoWorkers = { WORKERS: '2', LOG_LEVEL: 'debug' };

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
const pause = isLong ? 0 : 100;

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

describe('a service of two workers', () => {
  let installation: Installation;
  let service: FaultyService;
  beforeAll(async () => {
    installation = await createInstallation(twoWorkers);
    service = await installation.start();
  });
  afterAll(async () => {
    await service?.stop();
    await installation?.remove();
  });

  test('loses only the running requests of a killed worker, replaces it, and sends the codes of its queue', async () => {
    const rounds = isLong ? 20 : 1;
    const user = await createUser(service, { phone: newPhone() });
    const clients = startClients(service.url, [
      { keepAlive: true, count: 8 },
      { keepAlive: false, count: 8 },
    ]);
    const started = await service.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
    for (let round = 0; round < rounds; round += 1) {
      const workers = workersOf(service);
      const faultsBefore = clients.faults.length;
      const [victim = 0] = workers;
      kill(victim, 'SIGKILL');
      const workersNow = await newWorkers(service, 2, [victim]);
      expect(workersNow).toEqual(expect.arrayContaining(workers.filter((pid) => pid !== victim)));
      const answeredBefore = clients.answered();
      await eventually('more answers', async () => clients.answered() > answeredBefore + 50 || undefined);
      // Each client lost at most one running request. No request is refused or waits for long.
      expect(clients.faults.length - faultsBefore).toBeLessThanOrEqual(16);
    }
    await clients.stop();
    expect(new Set([...clients.faults, 'ECONNRESET'])).toEqual(new Set(['ECONNRESET']));
    expect(await messageOf(service, started.body.id)).toMatchObject({ state: 'sent' });
    const reports = linesOf(service).filter(({ msg }) => msg === 'a worker has ended unexpectedly');
    expect(reports).toHaveLength(rounds);
  });

  test('replaces a worker that gets SIGTERM, and fails no request', async () => {
    // Does not wait for readiness: a worker that stops for this reason reports that it stops.
    const clients = startClients(service.url, [{ keepAlive: false, count: 4 }], '/livez');
    const [worker = 0] = workersOf(service);
    kill(worker, 'SIGTERM');
    await newWorkers(service, 2, [worker]);
    await clients.stop();
    expect(clients.faults).toEqual([]);
  });

  test('fails no request of a rolling restart, and finishes running logins, however long that takes', async () => {
    const before = workersOf(service);
    const logins = await beginLogins(service);
    const clients = startClients(service.url, [
      { keepAlive: true, count: 4 },
      { keepAlive: false, count: 4 },
    ]);
    process.kill(service.pid, 'SIGUSR2');
    const [first = 0, second = 0] = before;
    const third = await eventually('a new worker', async () => workersOf(service).find((pid) => !before.includes(pid)));
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
    expect([first, second, third].filter(isAlive)).toEqual([first, second, third]);
    expect(await Promise.all(logins.map((login) => login.complete()))).toEqual(logins.map(() => 'approved'));
    const done = () => linesOf(service).filter(({ msg }) => msg === 'the rolling restart is done');
    await eventually('the rolling restart', async () => done().length > 0 || undefined);
    await newWorkers(service, 2, before);
    const answeredBefore = clients.answered();
    await eventually('more answers', async () => clients.answered() > answeredBefore + 50 || undefined);
    await clients.stop();
    expect(clients.faults).toEqual([]);
    expect(before.filter(isAlive)).toEqual([]);
  });

  test('finishes running requests after SIGTERM, also if all processes get it twice, and stops its database', async () => {
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

  test('whose primary process is killed finishes running requests and frees the port, and both workers can be replaced at once', async () => {
    service = await installation.start();
    const logins = await beginLogins(service);
    const workers = workersOf(service);
    kill(service.pid, 'SIGKILL');
    await eventually('new connections to be refused', () => refusesConnections(service.url));
    expect(await Promise.all(logins.map((login) => login.complete()))).toEqual(logins.map(() => 'approved'));
    await eventually('the workers to end', async () => !workers.some(isAlive) || undefined);

    service = await installation.start({ PORT: new URL(service.url).port });
    const before = workersOf(service);
    for (const pid of before) kill(pid, 'SIGKILL');
    await newWorkers(service, 2, before);
    expect((await service.api('GET', '/readyz')).status).toBe(200);
  });

  test('exits with 0 after SIGTERM while its workers start, and leaves no process behind', async () => {
    const before = workersOf(service);
    for (const pid of before) kill(pid, 'SIGKILL');
    await eventually('a new worker', async () => workerProcesses(service).length > 0 || undefined);
    const starting = workerProcesses(service);
    expect(await service.stop()).toBe(0);
    expect(starting.filter(isAlive)).toEqual([]);
    expect(processesWith(installation.dataDir)).toEqual([]);
  });

  test('ends with exit code 1 and one message if its workers die again and again before they are ready', async () => {
    service = await installation.start();
    let ended = false;
    const killing = eventually('the end of the service', async () => {
      for (const pid of workerProcesses(service)) kill(pid, 'SIGKILL');
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
