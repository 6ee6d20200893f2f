import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { processesWith } from '../embedded/embedded-postern.js';
import { eventually } from '../support/eventually.js';
import { checkFacts, type Fact, type Ledger, passwordHash, startWriters } from '../support/fault-injection/ledger.js';
import { createInstallation, type FaultyService, killRounds } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';

beforeAll(buildService, BUILD_TIMEOUT);

/** The minimum number of acknowledgements before a kill, and the milliseconds within which it then happens. */
const leastFacts = 15;
const latestKill = 1000;

test(
  `${killRounds} times kill -9 during parallel writes loses nothing that was acknowledged`,
  async () => {
    const installation = await createInstallation({ SESSION_TTL: '30d' });
    onTestFinished(() => installation.remove());
    const userHash = await passwordHash();
    const ledger: Ledger = { facts: [], violations: [] };
    const lost: string[] = [];
    const starts: number[] = [];

    /** Kills PostgreSQL like a crash. Its child processes then end by themselves. */
    const killDatabase = () => {
      const pid = Number.parseInt(readFileSync(join(installation.dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
      process.kill(pid, 'SIGKILL');
    };
    /** The processes to kill, in order. */
    const kills: readonly ((service: FaultyService) => Promise<unknown>)[] = [
      (service) => service.stop('SIGKILL'),
      async (service) => {
        killDatabase();
        await service.stop('SIGKILL');
      },
      async (service) => {
        await service.stop('SIGKILL');
        killDatabase();
      },
      // While the database restarts.
      async (service) => {
        killDatabase();
        await wait(Math.random() * 300);
        await service.stop('SIGKILL');
      },
    ];
    const start = async () => {
      const startedAt = performance.now();
      const service = await installation.start();
      starts.push(Math.round(performance.now() - startedAt));
      onTestFinished(() => service.stop('SIGKILL').then(() => undefined));
      return service;
    };

    let service = await start();
    for (let round = 0; round < killRounds; round += 1) {
      const from = ledger.facts.length;
      const writers = startWriters(service, ledger, userHash);
      await eventually('something to lose', async () => (ledger.facts.length > from + leastFacts ? true : undefined));
      await wait(Math.random() * latestKill);
      await kills[round % kills.length]?.(service);
      await writers.stop();
      service = await start();
      lost.push(...(await checkFacts(service, ledger.facts.slice(from))));
    }
    // Data that an early round acknowledged has survived all later rounds.
    lost.push(...(await checkFacts(service, ledger.facts)));

    const [first, ...restarts] = starts;
    console.table(countByKind(ledger.facts));
    console.table([
      { rounds: killRounds, lost: lost.length, first_start_ms: first, slowest_restart_ms: Math.max(...restarts) },
    ]);
    expect(ledger.violations).toEqual([]);
    expect(lost).toEqual([]);
    expect(ledger.facts.length).toBeGreaterThan(leastFacts * killRounds);

    // The data of deleted users is removed, and no job is lost or locked by a killed worker.
    await eventually('an empty queue', async () =>
      (await countDueJobs(installation.dataDir)) === 0 ? true : undefined,
    );

    // The killed instances left their server running. The last one stops it.
    expect(await service.stop()).toBe(0);
    expect(existsSync(join(installation.dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
    expect(processesWith(installation.dataDir)).toEqual([]);
  },
  60_000 + 30_000 * killRounds,
);

/** The number of jobs that are due. */
async function countDueJobs(dataDir: string): Promise<number> {
  const client = new pg.Client({ host: join(dataDir, 'postgres'), user: 'postern', database: 'postern' });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      'select count(*)::int as count from graphile_worker.jobs where run_at <= now()',
    );
    return rows[0]?.count ?? Number.NaN;
  } finally {
    await client.end();
  }
}

function countByKind(facts: readonly Fact[]): Record<string, { acknowledged: number }> {
  const counts: Record<string, { acknowledged: number }> = {};
  for (const { kind } of facts) counts[kind] = { acknowledged: (counts[kind]?.acknowledged ?? 0) + 1 };
  return counts;
}
