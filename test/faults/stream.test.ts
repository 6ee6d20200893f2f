import { randomInt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Notification } from '../../src/contract/notification.js';
import type { User } from '../../src/contract/user.js';
import { type EventStream, endOf, eventsOf, openStream } from '../support/event-stream.js';
import { eventually } from '../support/eventually.js';
import { type EmbeddedDatabase, joinEmbeddedDatabase } from '../support/fault-injection/embedded-database.js';
import {
  createInstallation,
  type FaultyService,
  type Installation,
  isLong,
} from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createUser, signIn } from '../support/users.js';

beforeAll(buildService, BUILD_TIMEOUT);

/** Milliseconds of publishing and fault injection. */
const duration = isLong ? 300_000 : 1_000;
/** Rounds of faults, at least: the instance is killed in the eleventh. */
const minRounds = isLong ? 25 : 12;
/** Milliseconds between two publications of a publisher. */
const pause = isLong ? 0 : 10;
const users = 3;
const clientsPerUser = 3;

/** A client that reconnects whenever it loses its stream, with the last id that it has seen. */
function startClient(bearer: string, nextUrl: () => string) {
  const received: string[] = [];
  const unexpected: string[] = [];
  let stream: EventStream | undefined;
  let lastEventId: string | undefined;
  let connections = 0;
  let isOver = false;
  let isConnected = false;

  async function connect(): Promise<void> {
    const next = await openStream(nextUrl(), { bearer, ...(lastEventId !== undefined && { lastEventId }) });
    stream = next;
    if (next.status !== 200) return next.destroy();
    connections += 1;
    const hasIdOrEnded = async () => (next.lastEventId !== '' || next.end !== undefined ? true : undefined);
    await eventually('an id', hasIdOrEnded);
    isConnected = true;
    await eventually('the end', async () => (next.end !== undefined ? true : undefined), 1_000_000);
    for (const { event, data } of next.events) {
      if (event === 'message') received.push((JSON.parse(data) as Notification).id);
      else unexpected.push(event);
    }
    if (next.lastEventId !== '') lastEventId = next.lastEventId;
  }

  const running = (async () => {
    while (!isOver) await connect().catch(() => wait(20));
  })();
  return {
    received,
    unexpected,
    isConnected: () => isConnected,
    connections: () => connections,
    /** Returns how many notifications it received, including those of the open connection. */
    count: () => received.length + (stream?.end === undefined ? (stream?.events.length ?? 0) : 0),
    cut: () => stream?.destroy(),
    async stop() {
      isOver = true;
      stream?.destroy();
      await running;
    },
  };
}

describe('two instances on one embedded database', () => {
  let database: EmbeddedDatabase;
  let installation: Installation;
  let steady: FaultyService;
  /** It is killed and started again. */
  let victim: FaultyService;
  beforeAll(async () => {
    installation = await createInstallation({ SESSION_TTL: '30d' });
    database = await joinEmbeddedDatabase(installation.dataDir);
    [steady, victim] = await Promise.all([installation.start(), installation.start()]);
  });
  afterAll(async () => {
    await Promise.all([steady?.stop(), victim?.stop()]);
    await database?.close();
    await installation?.remove();
  });

  test('publishing loses and repeats nothing while connections are cut and an instance is killed', async () => {
    const readers = await Promise.all(
      Array.from({ length: users }, async () => {
        const user = await createUser(steady);
        return { user, bearer: (await signIn(steady, user)).session.token };
      }),
    );
    const nextUrl = () => (randomInt(2) === 0 ? steady.url : victim.url);
    const clients = readers.flatMap(({ user, bearer }) =>
      Array.from({ length: clientsPerUser }, () => ({ user, client: startClient(bearer, nextUrl) })),
    );
    onTestFinished(async () => void (await Promise.all(clients.map(({ client }) => client.stop()))));
    await eventually('every client', async () =>
      clients.every(({ client }) => client.isConnected()) ? true : undefined,
    );

    const end = performance.now() + duration;
    const acknowledged = new Set<string>();
    let rounds = 0;
    // On a busy machine it runs until enough has happened.
    const shouldContinue = () => performance.now() < end || rounds < minRounds || acknowledged.size <= 100;
    const publish = async (): Promise<void> => {
      while (shouldContinue()) {
        const recipients = readers.filter(() => randomInt(3) > 0).map(({ user }) => user.id);
        if (recipients.length === 0) continue;
        const body = { user_ids: recipients, notification_type: 'payment', description: 'x' };
        const headers = { 'idempotency-key': randomUUID() };
        const service = randomInt(2) === 0 ? steady : victim;
        const answer = await service
          .api<Notification[]>('POST', '/admin/v1/notifications', { bearer: service.adminKey, body, headers })
          .catch(() => undefined);
        if (answer?.status === 201) for (const { id } of answer.body) acknowledged.add(id);
        await wait(pause);
      }
    };
    const breakThings = async (): Promise<void> => {
      for (let round = 0; shouldContinue(); round += 1) {
        rounds = round;
        clients[randomInt(clients.length)]?.client.cut();
        if (round % 3 === 0) await killConnections(database, 'postern signals', 2);
        if (round % 5 === 0) await killConnections(database, 'postern', 3);
        if (round % 20 === 10) {
          await victim.stop('SIGKILL');
          victim = await installation.start();
        }
        await wait(100);
      }
    };
    await Promise.all([publish(), publish(), publish(), breakThings()]);

    const inboxes = new Map(
      await Promise.all(readers.map(async ({ user }) => [user.id, await inboxOf(database, user)] as const)),
    );
    for (const { user, client } of clients) {
      await eventually('everything', async () => client.count() >= (inboxes.get(user.id)?.length ?? 0) || undefined);
      await client.stop();
    }
    const stored = new Set([...inboxes.values()].flat());
    console.table([
      {
        acknowledged: acknowledged.size,
        received: clients.reduce((sum, { client }) => sum + client.received.length, 0),
        connections: clients.reduce((sum, { client }) => sum + client.connections(), 0),
        lost: clients.reduce(
          (sum, { user, client }) => sum + countLost(inboxes.get(user.id) ?? [], client.received),
          0,
        ),
        duplicates: clients.reduce(
          (sum, { client }) => sum + client.received.length - new Set(client.received).size,
          0,
        ),
      },
    ]);
    expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
    expect(acknowledged.size).toBeGreaterThan(100);
    for (const { user, client } of clients) {
      expect(client.unexpected).toEqual([]);
      expect(client.received).toEqual(inboxes.get(user.id));
    }
    expect(clients.reduce((sum, { client }) => sum + client.connections(), 0)).toBeGreaterThan(clients.length);
  });

  test('a stopping service closes its 100 streams, and they continue on another instance', async () => {
    const [leaving, staying] = [victim, steady];
    const people = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const user = await createUser(staying);
        return { user, bearer: (await signIn(staying, user)).session.token };
      }),
    );
    const streams = await Promise.all(
      people.flatMap((person) =>
        Array.from({ length: 10 }, async () => ({ person, stream: await openStream(leaving.url, person) })),
      ),
    );
    for (const { stream } of streams) await eventually('an id', async () => stream.lastEventId || undefined);

    const stopped = leaving.stop('SIGTERM');
    for (const { stream } of streams) {
      expect(await endOf(stream)).toBe('ended');
      expect(stream.retry).toBeLessThanOrEqual(1000);
    }
    expect(await stopped).toBe(0);

    const body = { user_ids: people.map(({ user }) => user.id), notification_type: 'payment', description: 'x' };
    await staying.api('POST', '/admin/v1/notifications', { bearer: staying.adminKey, body });
    for (const { person, stream } of streams.filter((_, index) => index % 10 === 0)) {
      const next = await openStream(staying.url, { ...person, lastEventId: stream.lastEventId });
      expect(await eventsOf<Notification>(next, 'message', 1)).toMatchObject([{ user_id: person.user.id }]);
    }
  });

  test('a restart of the database closes no stream and loses nothing', async () => {
    const service = steady;
    const user = await createUser(service);
    const stream = await openStream(service.url, { bearer: (await signIn(service, user)).session.token });
    const published: string[] = [];
    const publish = async () => {
      const body = { user_id: user.id, notification_type: 'payment', description: 'x' };
      const answer = await service.api<Notification>('POST', '/admin/v1/notifications', {
        bearer: service.adminKey,
        body,
      });
      if (answer.status === 201) published.push(answer.body.id);
      return answer.status === 201 ? true : undefined;
    };
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      await publish();
      process.kill(
        Number.parseInt(readFileSync(join(installation.dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10),
        signal,
      );
      await eventually('the database to be back', publish);
      await publish();
      // A publication whose answer was lost may be stored too.
      const inbox = await eventually('the inbox', () => inboxOf(database, user).catch(() => undefined));
      expect(inbox).toEqual(expect.arrayContaining(published));
      const received = await eventsOf<Notification>(stream, 'message', inbox.length);
      expect(received.map(({ id }) => id)).toEqual(inbox);
    }
    expect(stream.end).toBeUndefined();
    stream.destroy();
  });
});

function killConnections(database: EmbeddedDatabase, name: string, count: number): Promise<unknown> {
  const kill = `select pg_terminate_backend(pid) from (
      select pid from pg_stat_activity
      where application_name = $1 and datname = current_database() and pid <> pg_backend_pid() order by random() limit $2
    ) recipients`;
  // May also end other connections of this test's pool, because they have the same name as those of the service.
  return database.rows(kill, [name, count]).catch(() => undefined);
}

async function inboxOf(database: EmbeddedDatabase, user: User): Promise<string[]> {
  const statement = 'select id from notifications where user_id = $1 order by sequence';
  return (await database.rows<{ id: string }>(statement, [user.id])).map(({ id }) => id);
}

function countLost(inbox: readonly string[], received: readonly string[]): number {
  const receivedIds = new Set(received);
  return inbox.filter((id) => !receivedIds.has(id)).length;
}
