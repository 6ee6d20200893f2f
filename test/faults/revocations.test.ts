// Services that check access tokens by themselves, while Postern or its database fails. A lost connection: packages/server/test/access-tokens.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  createTestAudience,
  createTokenHolder,
  type LocalChecks,
  nextTokenHolder,
  startLocalChecks,
  type TokenHolder,
  tokenIssuer,
} from '../support/access-tokens.js';
import { eventually } from '../support/eventually.js';
import { createInstallation, type FaultyService, type Installation } from '../support/fault-injection/service.js';
import { freePort } from '../support/free-port.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';

let installation: Installation;
/** The instance that the checks read from, and another one. */
let service: FaultyService;
let other: FaultyService;
let checks: LocalChecks;
/** Logs out while something fails, or stays. */
let leaving: TokenHolder;
let staying: TokenHolder;

const port = await freePort();
const startAgain = () => installation.start({ PORT: `${port}` });
beforeAll(async () => {
  await buildService();
  installation = await createInstallation({ PUBLIC_URL: tokenIssuer });
  service = await startAgain();
  other = await installation.start();
  await createTestAudience(service);
}, BUILD_TIMEOUT);
afterAll(async () => {
  await service?.stop();
  await other?.stop();
  await installation?.remove();
});

beforeEach(async () => {
  // The clock of the checks. That of the database has nothing to do with it.
  vi.useFakeTimers({ toFake: ['performance'], shouldAdvanceTime: true });
  checks = startLocalChecks(service);
  [leaving, staying] = await Promise.all([createTokenHolder(other), createTokenHolder(other)]);
  for (const holder of [leaving, staying]) await checks.becomes(holder, holder.userId);
});
afterEach(() => {
  vi.useRealTimers();
  checks.close();
});

/** No event arrives any more: checks go on for 15 seconds, and then fail for everybody. */
async function expectFailClosed() {
  expect([await checks.check(leaving), await checks.check(staying)]).toEqual([leaving.userId, staying.userId]);
  vi.advanceTimersByTime(15_000);
  expect([await checks.check(leaving), await checks.check(staying)]).toEqual(['unavailable', 'unavailable']);
}

/** The checks go on, and know of the logout. */
async function expectLogoutIsKnown() {
  await checks.becomes(leaving, null);
  expect(await checks.check(staying)).toBe(staying.userId);
}

test('while an instance is away, checks of its readers fail after 15 seconds, and then know of a logout meanwhile', async () => {
  await service.stop('SIGKILL');
  expect(await leaving.logOut(other)).toBe(200);
  await expectFailClosed();
  service = await startAgain();
  await expectLogoutIsKnown();
});

test('after a stop and a new start of an instance, its readers go on where they were', async () => {
  await service.stop();
  expect(await leaving.logOut(other)).toBe(200);
  service = await startAgain();
  await expectLogoutIsKnown();
});

test.each([
  ['fast', 'SIGINT'],
  ['immediate', 'SIGQUIT'],
] as const)(
  'around a restart of the database (%s shutdown), readers learn of every acknowledged logout, and of later ones',
  async (_, signal) => {
    const pidFile = join(installation.dataDir, 'postgres', 'postmaster.pid');
    const pidOfPostgres = () => Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
    const before = pidOfPostgres();
    process.kill(before, signal);
    const status = await leaving.logOut(other);
    expect([200, 503]).toContain(status);
    await eventually('another server', async () => {
      try {
        return pidOfPostgres() !== before || undefined;
      } catch {
        return undefined;
      }
    });
    if (status !== 200) {
      await eventually('the logout', async () => ([200, 401].includes(await leaving.logOut(other)) ? true : undefined));
    }
    await expectLogoutIsKnown();
    const next = await nextTokenHolder(other);
    await checks.becomes(next, next.userId);
    expect(await next.logOut(other)).toBe(200);
    await checks.becomes(next, null);
  },
);
