import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, expect, type TestContext, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { openStream } from '../support/event-stream.js';
import { eventually } from '../support/eventually.js';
import { checkFacts, type Ledger, passwordHash, startWriters } from '../support/fault-injection/ledger.js';
import { startPgBouncer } from '../support/fault-injection/pgbouncer.js';
import {
  createServerFolder,
  type PostgresServer,
  startPrimary,
  startStandby,
} from '../support/fault-injection/postgres.js';
import { createInstallation, type FaultyService, isLong } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createUser, messageOf, newPhone, signIn, smsLogin } from '../support/users.js';

/** The number of failovers, of parallel writers, and of their users. Each of the `groups` has 7 writers of all kinds of data. */
const scale = isLong
  ? { rounds: 10, publishers: 179, users: 20, groups: 3, workers: 2 }
  : { rounds: 1, publishers: 20, users: 2, groups: 0, workers: 1 };
const writers = scale.publishers + 7 * scale.groups;
/** Milliseconds. The long form takes minutes, and much longer on a busy machine. */
const timeout = isLong ? 3_600_000 : 300_000;
/** The number of sessions that are revoked around each failover. */
const revocations = 30;

type SignedIn = Awaited<ReturnType<typeof signIn>>;

const urlOf = (...servers: readonly PostgresServer[]) =>
  `postgres://postgres@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postern?target_session_attrs=read-write`;

beforeAll(buildService, BUILD_TIMEOUT);

/** How the service reaches the servers: it knows both, or a pooler that is switched to the promoted one. */
const ways = ['several hosts', 'PgBouncer'] as const;
type Way = (typeof ways)[number];

async function startServers(
  { onTestFinished }: TestContext,
  way: Way = 'several hosts',
  env: Readonly<Record<string, string>> = {},
) {
  const folder = await createServerFolder();
  onTestFinished(() => folder.remove());
  const primary = await startPrimary(folder);
  const standby = await startStandby(folder, primary, 'standby');
  const pooler = way === 'PgBouncer' ? await startPgBouncer(folder, primary, 'session') : undefined;
  const installation = await createInstallation({ DATABASE_URL: pooler?.url ?? urlOf(primary, standby), ...env });
  onTestFinished(() => installation.remove());
  const service = await installation.start();
  onTestFinished(async () => {
    await service.stop();
  });
  return { folder, primary, standby, pooler, installation, service };
}

const publish = ({ api, adminKey }: FaultyService, userId: string) =>
  api<{ id: string }>('POST', '/admin/v1/notifications', {
    bearer: adminKey,
    body: { user_id: userId, notification_type: 'payment', description: 'Lunch' },
    headers: { 'idempotency-key': crypto.randomUUID() },
  });

/** What was acknowledged, and wrong answers. */
interface Written {
  readonly notifications: string[];
  /** When the newest acknowledged request of a publisher was sent, as a time of `performance.now()`. */
  newestSentAt: number;
  /** Tokens of sessions. */
  readonly revoked: string[];
  readonly ledger: Ledger;
}

/** Writes in parallel until it is stopped. Verifies all the time that revoked sessions are not valid. */
async function startWriting(service: FaultyService, users: readonly User[], written: Written) {
  const { ledger, notifications, revoked } = written;
  const userHash = await passwordHash();
  let isStopped = false;
  const repeat = async (act: () => Promise<void>) => {
    while (!isStopped) await act().catch((error: unknown) => void ledger.violations.push(String(error)));
  };
  const publisher = (_: unknown, index: number) =>
    repeat(async () => {
      const sentAt = performance.now();
      const { status, body } = await publish(service, users[index % users.length]?.id ?? '');
      if (status !== 201) return;
      notifications.push(body.id);
      written.newestSentAt = Math.max(written.newestSentAt, sentAt);
    });
  const verifier = () =>
    repeat(async () => {
      const bearer = revoked[Math.floor(Math.random() * revoked.length)];
      if (bearer === undefined) return wait(5);
      const { status } = await service.api('POST', '/v1/sessions/verify', { bearer });
      if (status !== 401 && status !== 503) ledger.violations.push(`a revoked session: ${status}`);
    });
  const loops = [...Array.from({ length: scale.publishers }, publisher), verifier(), verifier()];
  const groups = Array.from({ length: scale.groups }, () => startWriters(service, ledger, userHash));
  return async () => {
    isStopped = true;
    await Promise.all([...loops, ...groups.map((group) => group.stop())]);
  };
}

/** Revokes sessions, a few at a time. Remembers those that the service has acknowledged. */
async function revokeAll({ api }: FaultyService, logins: readonly SignedIn[], revoked: string[]) {
  const queue = logins.values();
  const revokers = Array.from({ length: 5 }, async () => {
    for (const { authentication, session } of queue) {
      const { status } = await api('DELETE', `/v1/tokens/${authentication.id}`, { bearer: session.token });
      if (status === 200) revoked.push(session.token);
    }
  });
  await Promise.all(revokers);
}

const childrenOf = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');

const title = `through %s, after the primary dies, the promoted standby has all acknowledged writes, and the service continues (${writers} writers, ${scale.rounds} times)`;
test.for(ways)(title, { timeout }, async (way, context) => {
  const { folder, pooler, ...started } = await startServers(context, way, { WORKERS: `${scale.workers}` });
  const { service } = started;
  let { primary, standby } = started;
  const { api } = service;
  const processes = childrenOf(service.pid);
  const users = await Promise.all(Array.from({ length: scale.users }, () => createUser(service)));
  const [user] = users as [User];
  const unrevoked = await signIn(service, user);
  const stream = await openStream(service.url, { bearer: unrevoked.session.token });
  context.onTestFinished(() => stream.destroy());
  const logins: SignedIn[] = [];
  while (logins.length < revocations * scale.rounds) logins.push(await signIn(service, user));

  const written: Written = { notifications: [], newestSentAt: 0, revoked: [], ledger: { facts: [], violations: [] } };
  const { ledger, notifications, revoked } = written;
  const stop = await startWriting(service, users, written);
  const waitForMore = (list: readonly unknown[], count: number) => {
    const before = list.length;
    return eventually(`${count} writes`, async () => list.length >= before + count || undefined);
  };
  const recoveries: number[] = [];
  for (let round = 1; round <= scale.rounds; round += 1) {
    await waitForMore(notifications, 100);
    const revoking = revokeAll(service, logins.splice(0, revocations), revoked);
    await waitForMore(revoked, 5);
    primary.kill();
    await standby.query('select pg_promote()');
    const promotedAt = performance.now();
    await pooler?.switchTo(standby);
    await eventually('the new primary to be used', async () => written.newestSentAt > promotedAt || undefined);
    recoveries.push(Math.round(performance.now() - promotedAt));
    await Promise.all([revoking, waitForMore(notifications, 100)]);
    const { body } = await api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(newPhone()) });
    await messageOf(service, body.id, ['dropped']);
    if (round < scale.rounds) {
      const { port } = primary;
      primary = standby;
      standby = await startStandby(folder, primary, `standby-${round}`, port);
    }
  }
  await stop();

  expect(ledger.violations).toEqual([]);
  const verify = (bearer: string) => api('POST', '/v1/sessions/verify', { bearer }).then(({ status }) => status);
  expect(await verify(unrevoked.session.token)).toBe(200);
  expect(new Set(await Promise.all(revoked.map(verify)))).toEqual(new Set([401]));
  const ids = notifications.map((id) => `('${id}'::uuid)`).join(', ');
  const missing = `select id from (values ${ids}) acknowledged (id) where id not in (select id from notifications)`;
  expect(await standby.query(missing, 'postern')).toEqual([]);
  expect(await checkFacts(service, ledger.facts)).toEqual([]);
  const { body: last } = await publish(service, user.id);
  await eventually('the stream to deliver', async () => stream.text.includes(last.id) || undefined);
  expect(stream.end).toBeUndefined();
  const sequences = `select sequence from notifications where user_id = '${user.id}' order by sequence`;
  const delivered = stream.events.filter(({ event }) => event === 'message').map(({ data }) => JSON.parse(data));
  expect(delivered.map(({ sequence }) => `${sequence}`)).toEqual(
    (await standby.query(sequences, 'postern')).map(({ sequence }) => sequence),
  );
  expect(childrenOf(service.pid)).toBe(processes);
  expect(await service.stop()).toBe(0);
  console.table([
    {
      ...{ way, failovers: scale.rounds, writers, slowest_recovery_ms: Math.max(...recoveries) },
      ...{ notifications: notifications.length, revoked: revoked.length, other_facts: ledger.facts.length },
      delivered: delivered.length,
    },
  ]);
});

test('a session that was revoked at the new primary is refused, even if the former primary stays alive', async (context) => {
  const { primary, standby, installation, service } = await startServers(context);
  const user = await createUser(service);
  const { session, authentication } = await signIn(service, user);
  const verify = () => service.api('POST', '/v1/sessions/verify', { bearer: session.token });
  expect((await verify()).status).toBe(200);
  await standby.query('select pg_promote()');
  // Another instance knows the new primary only.
  const other = await installation.start({ DATABASE_URL: urlOf(standby) });
  context.onTestFinished(async () => {
    await other.stop();
  });
  const ended = await other.api('DELETE', `/v1/tokens/${authentication.id}`, { bearer: session.token });
  expect(ended.status).toBe(200);
  await eventually('the revoked session to be refused', async () => (await verify()).status === 401 || undefined);
  for (let round = 0; round < 50; round += 1) expect((await verify()).status).toBe(401);
  // The former primary still runs and still has the session.
  expect(await primary.query('select pg_is_in_recovery() as standby')).toEqual([{ standby: false }]);
});
