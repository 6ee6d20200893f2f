// What happens to a service of workers when its processes die as a whole. `cli/workers/pool.test.ts` tests the rules of the pool
// without processes.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { processesWith } from '../embedded/embedded-postern.js';
import { eventually } from '../support/eventually.js';
import { createInstallation, type FaultyService, type Installation } from '../support/fault-injection/service.js';
import {
  beginLogins,
  kill,
  patientWorkers,
  refusesConnections,
  workerProcesses,
} from '../support/fault-injection/workers.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { isAlive, newWorkers, workersOf } from '../support/workers.js';

beforeAll(buildService, BUILD_TIMEOUT);

describe('a service of two workers', () => {
  let installation: Installation;
  let service: FaultyService;
  beforeAll(async () => {
    installation = await createInstallation({ WORKERS: '2', LOG_LEVEL: 'debug', ...patientWorkers });
    service = await installation.start();
  });
  afterAll(async () => {
    await service?.stop();
    await installation?.remove();
  });

  test('whose primary process is killed finishes running requests and frees the port, and both workers can be replaced at once', async () => {
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
