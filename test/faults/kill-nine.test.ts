import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { processesWith } from '../database/embedded-postern.js';
import { eventually } from '../support/eventually.js';
import { checkFacts, type Fact, type Ledger, passwordHash, startWriters } from '../support/faulty-ledger.js';
import { createPlace, type FaultyService, killRounds } from '../support/faulty-service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';

beforeAll(buildService, BUILD_TIMEOUT);

/** A kill comes after this many acknowledgements at least, and then within so many milliseconds. */
const leastFacts = 15;
const latestKill = 1000;

test(
  `${killRounds} times kill -9 in the middle of parallel writing loses nothing that was acknowledged`,
  async () => {
    const place = await createPlace({ SESSION_TTL: '30d' });
    onTestFinished(() => place.remove());
    const userHash = await passwordHash();
    const ledger: Ledger = { facts: [], violations: [] };
    const lost: string[] = [];
    const starts: number[] = [];

    /** Ends PostgreSQL as a crash would; its children follow it by themselves. */
    const killDatabase = () => {
      const pid = Number.parseInt(readFileSync(join(place.dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
      process.kill(pid, 'SIGKILL');
    };
    /** What dies, and in which order. */
    const deaths: readonly ((service: FaultyService) => Promise<unknown>)[] = [
      (service) => service.stop('SIGKILL'),
      async (service) => {
        killDatabase();
        await service.stop('SIGKILL');
      },
      async (service) => {
        await service.stop('SIGKILL');
        killDatabase();
      },
      // While the database is being restarted.
      async (service) => {
        killDatabase();
        await wait(Math.random() * 300);
        await service.stop('SIGKILL');
      },
    ];
    const start = async () => {
      const startedAt = performance.now();
      const service = await place.start();
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
      await deaths[round % deaths.length]?.(service);
      await writers.stop();
      service = await start();
      lost.push(...(await checkFacts(service, ledger.facts.slice(from))));
    }
    // What an early round acknowledged has lived through all the later ones.
    lost.push(...(await checkFacts(service, ledger.facts)));

    const [first, ...restarts] = starts;
    console.table(countByKind(ledger.facts));
    console.table([
      { rounds: killRounds, lost: lost.length, first_start_ms: first, slowest_restart_ms: Math.max(...restarts) },
    ]);
    expect(ledger.violations).toEqual([]);
    expect(lost).toEqual([]);
    expect(ledger.facts.length).toBeGreaterThan(leastFacts * killRounds);

    // What deleted users left is removed, and no job was lost or is stuck with a worker that was killed.
    await eventually('an empty queue', async () => ((await leftOver(place.dataDir)) === 0 ? true : undefined), 30_000);

    // The killed ones left their server running, and the last one stops it.
    expect(await service.stop()).toBe(0);
    expect(existsSync(join(place.dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
    expect(processesWith(place.dataDir)).toEqual([]);
  },
  60_000 + 30_000 * killRounds,
);

/** Jobs that are due. */
async function leftOver(dataDir: string): Promise<number> {
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
