import { Writable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createDatabase, type Database } from '../../../src/database/database.js';
import { type SqlPart, sql as sqlPart } from '../../../src/database/sql.js';
import type { StreamTimes } from '../../../src/lib/event-stream/connections.js';
import { createPacer } from '../../../src/lib/pacing.js';
import type { Notifications } from '../../../src/notifications/notifications.js';
import type { StreamStart } from '../../../src/notifications/stream/queries.js';
import { createStreams, type Streams } from '../../../src/notifications/stream/streams.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { startFaultyProxy } from '../../support/fault-injection/proxy.js';
import {
  createInbox,
  createInboxes,
  createTestNotifications,
  imageUrlsOf,
  input,
  problemOf,
  publishAll,
} from '../../support/inbox.js';
import { queriesOf } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';

// Test files share their modules. The statements of these streams have the names of the service's, but other texts.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());

let test: TestDatabase;
let notifications: Notifications;
beforeAll(async () => {
  test = await createTestDatabase();
  notifications = createTestNotifications(test.database);
});
afterAll(() => test.drop());

const running: Streams[] = [];
afterEach(async () => {
  for (const streams of running.splice(0)) await streams.close();
});

/** Every session is valid for an hour. */
const validSession = (userId: SqlPart) =>
  sqlPart`select db_now() + interval '1 hour' as expires_at where ${userId} is not null`;

function createTestStreams(times: Partial<StreamTimes> = {}, database: Database = test.database, retained = {}) {
  const retainedFrom = () => retained;
  const pacer = createPacer();
  const options = { database, imageUrlsOf, validSession, retainedFrom, pacer, log: { warn: () => undefined } };
  const streams = createStreams({ ...options, times: { checkIntervalMs: 20, ...times } });
  running.push(streams);
  return streams;
}

/** A client's socket. */
class Sink extends Writable {
  text = '';
  #stuck: (() => void) | undefined;
  #reads: boolean;

  constructor(reads: boolean) {
    super({ highWaterMark: 16 * 1024 });
    this.#reads = reads;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    if (this.#reads) done();
    else this.#stuck = done;
  }

  /** Lets the client read from now on. */
  read(): void {
    this.#reads = true;
    this.#stuck?.();
  }

  /** Everything that was written, read or not. */
  get handedOver(): number {
    return this.text.length + this.writableLength;
  }

  get sequences(): number[] {
    return [...this.text.matchAll(/"sequence":(\d+)/g)].map(([, sequence]) => Number(sequence));
  }
}

async function open(streams: Streams, userId: string, { reads = true, start = 'now' as StreamStart } = {}) {
  const sink = new Sink(reads);
  await streams.open({ userId, sessionId: userId, start, filter: [], includesExtra: false, connect: () => sink });
  return sink;
}

const publish = (userId: string, count: number, fields: object = {}) =>
  publishAll(
    { database: test.database, notifications },
    Array.from({ length: count }, () => input(userId, fields)),
  );

describe('a client that does not read', () => {
  const large = { description: 'x'.repeat(4000) };
  const beginning = { start: { lastEventId: 0 } } as const;

  it('gets no more than a few chunks, and is disconnected', async () => {
    const user = await createInbox(test.database);
    await publish(user, 300, large);
    const streams = createTestStreams({ maxBlockedMs: 400 });
    const sink = await open(streams, user, { reads: false, ...beginning });
    await eventually('the socket to be full', async () => sink.writableNeedDrain || sink.destroyed || undefined);
    await eventually('the end', async () => (sink.destroyed ? true : undefined));
    // The buffer of the socket, one chunk, and the notification that filled it.
    expect(sink.handedOver).toBeLessThan(16 * 1024 + 16 * 1024 + 5000);
    expect(streams.count()).toBe(0);
  });

  it('does not delay other clients', async () => {
    const user = await createInbox(test.database);
    await publish(user, 300, large);
    const streams = createTestStreams();
    const stuck = await Promise.all(
      Array.from({ length: 10 }, () => open(streams, user, { reads: false, ...beginning })),
    );
    const sink = await open(streams, user, beginning);
    await eventually('everything', async () => (sink.sequences.length === 300 ? true : undefined));
    expect(stuck.filter(({ destroyed }) => destroyed)).toEqual([]);
  });

  it('gets everything once, in order, when it reads again', async () => {
    const user = await createInbox(test.database);
    await publish(user, 300, large);
    const streams = createTestStreams();
    const sink = await open(streams, user, { reads: false, ...beginning });
    await eventually('the socket to be full', async () => (sink.writableNeedDrain ? true : undefined));
    await publish(user, 1);
    sink.read();
    await eventually('everything', async () => (sink.sequences.length >= 301 ? true : undefined));
    expect(sink.sequences).toEqual(Array.from({ length: 301 }, (_, n) => n + 1));
  });

  it('is disconnected at once when the service stops', async () => {
    const user = await createInbox(test.database);
    await publish(user, 300, large);
    const streams = createTestStreams();
    const sink = await open(streams, user, { reads: false, ...beginning });
    await eventually('the socket to be full', async () => (sink.writableNeedDrain ? true : undefined));
    await streams.close();
    expect(sink.destroyed).toBe(true);
    const problem = await problemOf(open(streams, user));
    expect(problem.code).toBe('shutting_down');
  });
});

describe('a stream', () => {
  it('sends heartbeats, with the position when the filter has excluded something', async () => {
    const user = await createInbox(test.database);
    const streams = createTestStreams({ heartbeatMs: 50 });
    const sink = new Sink(true);
    const filter = [{ name: 'actor', field: { kind: 'string' }, operator: 'eq', values: ['nobody'] }] as const;
    await streams.open({
      userId: user,
      sessionId: user,
      start: 'now',
      filter,
      includesExtra: false,
      connect: () => sink,
    });
    await eventually('a heartbeat', async () => (/\n\n:\n\n/.test(sink.text) ? true : undefined));
    await publish(user, 3);
    await eventually('its position', async () => (/:\nid: 3\n\n(?::\n\n)+$/.test(sink.text) ? true : undefined));
    expect(sink.sequences).toEqual([]);
  });

  it('reports from when notifications are kept, if a type has a limit', async () => {
    const times = { pool: '2026-01-01T00:00:00.000000Z' };
    const sink = await open(createTestStreams({}, test.database, times), await createInbox(test.database));
    expect(sink.text).toContain(`event: retained_from\ndata: ${JSON.stringify(times)}\n\n`);
  });

  it('is refused without an inbox, and does not count as open', async () => {
    const streams = createTestStreams();
    const nobody = '00000000-0000-4000-8000-000000000000';
    for (let n = 0; n < 25; n += 1) expect((await problemOf(open(streams, nobody))).code).toBe('invalid_session_token');
    expect(streams.count()).toBe(0);
  });

  it('does not start for a client that has disconnected', async () => {
    const user = await createInbox(test.database);
    const streams = createTestStreams();
    const connect = () => new Sink(true).destroy();
    for (let n = 0; n < 25; n += 1) {
      await streams.open({ userId: user, sessionId: user, start: 'now', filter: [], includesExtra: false, connect });
    }
    expect(streams.count()).toBe(0);
  });
});

describe('a publication to many streams', () => {
  /** Opens streams that are up to date. The watch does not check them. */
  async function openAll(users: readonly string[], each: number) {
    const streams = createTestStreams({ checkIntervalMs: 600_000 });
    const sinks: Sink[] = [];
    for (const user of users) {
      for (let n = 0; n < each; n += 1) sinks.push(await open(streams, user));
    }
    const publishToAll = () =>
      publishAll(
        { database: test.database, notifications },
        users.map((user) => input(user)),
      );
    const allReceived = (count: number) =>
      eventually('all streams to get the publication', async () =>
        sinks.every(({ sequences }) => sequences.length === count) ? true : undefined,
      );
    await publishToAll();
    streams.wake(users);
    await allReceived(1);
    return { streams, sinks, publishToAll, allReceived };
  }

  it.each([
    { users: 1200, each: 1, read: [500, 500, 200] },
    { users: 60, each: 20, read: [25, 25, 10] },
  ])(
    'is read for 500 streams at a time, once for each inbox: $users users with $each each',
    async ({ users, each, read }) => {
      const ids = await createInboxes(test.database, users);
      const { streams, publishToAll, allReceived } = await openAll(ids, each);
      await publishToAll();
      const sent = await queriesOf(async () => {
        streams.wake(ids);
        streams.wake(ids);
        await allReceived(2);
      });
      // The first value is the text of an array of ids.
      expect(sent.map(({ values = [] }) => String(values[0]).split(',').length)).toEqual(read);
    },
  );

  it('is sent once to each stream, in order, however often the streams are woken', async () => {
    const ids = await createInboxes(test.database, 100);
    const { streams, sinks, publishToAll, allReceived } = await openAll(ids, 6);
    for (let round = 0; round < 20; round += 1) {
      await publishToAll();
      for (let n = 0; n < 5; n += 1) {
        streams.wake(ids);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await allReceived(21);
    const all = Array.from({ length: 21 }, (_, n) => n + 1);
    expect(sinks.filter(({ sequences }) => JSON.stringify(sequences) !== JSON.stringify(all))).toEqual([]);
  });
});

describe('while the database is unavailable', () => {
  async function startBehindProxy(times: Partial<StreamTimes>) {
    const { host, port, ...target } = { ...inject('server'), database: test.target.database };
    const address = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
    const proxy = await startFaultyProxy(address);
    const database = createDatabase({
      target: { ...target, host: '127.0.0.1', port: proxy.port },
      size: 3,
      onConnectionError: () => undefined,
    });
    const stop = async () => {
      await proxy.close();
      await database.close();
    };
    return { proxy, database, streams: createTestStreams(times, database), stop };
  }

  it('a stream ends after a while, because its session cannot be checked', async () => {
    const user = await createInbox(test.database);
    const { proxy, streams, stop } = await startBehindProxy({ maxUncheckedMs: 1500 });
    const sink = await open(streams, user);
    proxy.hang();
    await eventually('the end', async () => (sink.writableEnded ? true : undefined));
    await stop();
  });

  it('no change is lost, and the stream continues by itself', async () => {
    const user = await createInbox(test.database);
    const { proxy, database, streams, stop } = await startBehindProxy({});
    const sink = await open(streams, user);
    proxy.down();
    await publish(user, 3);
    streams.wake([user]);
    expect((await problemOf(database.query(testSql('select 1')))).code).toBe('storage_unavailable');
    expect(sink.sequences).toEqual([]);
    await proxy.up();
    await eventually('everything', async () => (sink.sequences.length === 3 ? true : undefined));
    await stop();
  });
});
