import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { processesWith } from '../embedded/embedded-postern.js';
import { eventually } from '../support/eventually.js';
import {
  createInstallation,
  type FaultyService,
  type Installation,
  isLong,
} from '../support/fault-injection/service.js';
import { beginLogins, kill, patientWorkers, refusesConnections } from '../support/fault-injection/workers.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createUser, messageOf, newPhone, smsLogin } from '../support/users.js';
import { isAlive, linesOf, newWorkers, openConnection, workerOf, workersOf } from '../support/workers.js';

beforeAll(buildService, BUILD_TIMEOUT);

const twoWorkers = { WORKERS: '2', LOG_LEVEL: 'debug', ...patientWorkers };

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
});
