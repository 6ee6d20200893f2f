import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { startMigratedPostgres } from '../cluster.js';
import { eventually } from '../eventually.js';
import { startWebhookReceiver } from '../webhook-receiver.js';
import { checkFacts, type Ledger, passwordHash, startWriters } from './ledger.js';
import { type FaultyProxy, startFaultyProxy } from './proxy.js';
import { createInstallation } from './service.js';

interface Server {
  readonly proxy: FaultyProxy;
  /** The process id of PostgreSQL. */
  pid(): Promise<number>;
  /** PostgreSQL and its children. */
  family(): Promise<number[]>;
  endBackends(): Promise<unknown>;
}

/** An outage of the database. It waits `milliseconds`, and then ends. */
type Outage = (server: Server, milliseconds: number) => Promise<unknown>;

/** PostgreSQL starts again by itself. The network stays down for the rest of the outage. */
const ended =
  (signal: NodeJS.Signals): Outage =>
  async ({ proxy, pid }, milliseconds) => {
    process.kill(await pid(), signal);
    proxy.down();
    await wait(milliseconds);
  };

/** Ten kinds of outages of the database. */
export const outages = {
  'stop (fast)': ended('SIGINT'),
  'stop (immediate)': ended('SIGQUIT'),
  'kill -9': ended('SIGKILL'),
  async 'end of all backends'({ endBackends }, milliseconds) {
    const end = performance.now() + milliseconds;
    while (performance.now() < end) {
      await endBackends();
      await wait(100);
    }
  },
  async freeze({ family }, milliseconds) {
    const frozen = await family();
    for (const pid of frozen) signal(pid, 'SIGSTOP');
    await wait(milliseconds);
    for (const pid of frozen) signal(pid, 'SIGCONT');
  },
  async 'dropped packets'({ proxy }, milliseconds) {
    proxy.hang();
    await wait(milliseconds);
    proxy.strand();
  },
  async 'half-open connections'({ proxy }, milliseconds) {
    proxy.halfOpen();
    await wait(milliseconds);
  },
  async 'refused connections'({ proxy }, milliseconds) {
    await proxy.refuse();
    await wait(milliseconds);
  },
  async 'resets of connections'({ proxy }, milliseconds) {
    const end = performance.now() + milliseconds;
    while (performance.now() < end) {
      proxy.reset();
      await wait(50);
    }
  },
  async 'a slow link'({ proxy }, milliseconds) {
    proxy.slow(400);
    await wait(milliseconds);
  },
} satisfies Record<string, Outage>;
export type OutageKind = keyof typeof outages;

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

/** What a round of outages has shown. Times are milliseconds after the end of the outage. */
export interface Round {
  readonly kind: OutageKind;
  readonly outageMs: number;
  readonly acknowledged: number;
  /** Until a write succeeded again. */
  readonly writableMs: number;
  /** Until every code was sent and every event was delivered. */
  readonly completeMs: number;
  readonly lost: readonly string[];
}

/** A service with a database of its own, whose server and network can fail, and with writers and a webhook. */
export async function startOutages() {
  const folder = await mkdtemp(join(tmpdir(), 'postern-outages-'));
  const dataDir = join(folder, 'data');
  const postgres = await startMigratedPostgres(dataDir);
  const { host, port, user, database } = postgres.address;
  const proxy = await startFaultyProxy({ path: `${host}/.s.PGSQL.${port}` });
  const receiver = await startWebhookReceiver();
  const url = `postgres://${user}@127.0.0.1:${proxy.port}/${database}`;
  const installation = await createInstallation({ DATABASE_URL: url, ALLOW_PRIVATE_NETWORK_TARGETS: 'true' });
  const service = await installation.start();
  const webhook = { url: `${receiver.url}/outages`, events: ['user.created'] };
  await service.api('POST', '/admin/v1/webhooks', { bearer: service.adminKey, body: webhook });
  const userHash = await passwordHash();
  const ledger: Ledger = { facts: [], violations: [] };

  const pid = async () => Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  const query = async (text: string) => {
    const client = new pg.Client({ host, port, user, database });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      client.end().catch(() => undefined);
    }
  };
  const server: Server = {
    proxy,
    pid,
    family: async () => familyOf(await pid()),
    endBackends: () =>
      query(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'",
      ),
  };

  /** Writes, lets the database fail, and waits until everything that was acknowledged has been done. */
  async function run(kind: OutageKind, outageMs: number): Promise<Round> {
    const from = ledger.facts.length;
    const writers = startWriters(service, ledger, userHash);
    const written = (count: number) =>
      eventually('acknowledged writes', async () => ledger.facts.length > count || undefined);
    await written(from + 30);
    await outages[kind](server, outageMs);
    await proxy.up();
    const endedAt = performance.now();
    const since = () => Math.round(performance.now() - endedAt);
    await written(ledger.facts.length + 10);
    const writableMs = since();
    await writers.stop();
    const facts = ledger.facts.slice(from);
    const arrived = () => new Set(receiver.received.map(({ data }) => data.user_id));
    const missing = () =>
      facts.flatMap(({ userId }) => (userId === undefined || arrived().has(userId) ? [] : [userId]));
    const queued = async () =>
      (await query('select from graphile_worker.jobs where run_at <= now() and attempts < max_attempts limit 1'))
        .length;
    await eventually('the rest', async () => (missing().length === 0 && (await queued()) === 0) || undefined, 120_000);
    const completeMs = since();
    const lost = await checkFacts(service, facts);
    return { kind, outageMs, acknowledged: facts.length, writableMs, completeMs, lost };
  }

  return {
    run,
    violations: ledger.violations,
    async close() {
      await proxy.up();
      await service.stop();
      await proxy.close();
      await receiver.close();
      await postgres.stop();
      await installation.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A process and its children. */
async function familyOf(parent: number): Promise<number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const children = await Promise.all(
    ids.map(async (id) => {
      const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent ? [Number(id)] : [];
    }),
  );
  return [parent, ...children.flat()];
}
