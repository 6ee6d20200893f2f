import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest';
import { openClient, poolConfig } from '../../../src/database/connections/open-client.js';
import { createServers, type Servers } from '../../../src/database/connections/servers.js';
import { createDatabase, type Database } from '../../../src/database/database.js';
import { compose, sql } from '../../../src/database/sql.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { type FaultyProxy, startFaultyProxy } from '../../support/fault-injection/proxy.js';

const pidOf = compose<{ pid: number }>(sql`select pg_backend_pid() as pid`);
const options = { application_name: 'test', connectionTimeoutMillis: 10_000 };

let db: TestDatabase;
/** Two proxies of the same server. For a process, they look like two servers. */
let proxies: readonly [FaultyProxy, FaultyProxy];
const cleanUps: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  const { host, port } = inject('server');
  const server = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  proxies = [await startFaultyProxy(server), await startFaultyProxy(server)];
  await setTimeline(1);
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  for (const proxy of proxies) await proxy.up();
});
afterAll(async () => {
  for (const proxy of proxies) await proxy.close();
  await db.drop();
});

/** Makes the server report a timeline, as a promoted standby would. */
async function setTimeline(timeline: number): Promise<void> {
  const admin = await openClient({ ...inject('server'), database: db.target.database }, options);
  const name = timeline.toString(16).toUpperCase().padStart(8, '0').padEnd(24, '0');
  await admin.query(`create schema if not exists fake;
    create or replace function fake.pg_walfile_name(pg_lsn) returns text language sql as $$ select '${name}' $$;
    alter database ${db.target.database} set search_path = public, fake, pg_catalog`);
  await admin.end();
}

function open(): { servers: Servers; database: Database; events: string[] } {
  const { user, password, database: name } = db.target;
  const account = password === undefined ? user : `${user}:${encodeURIComponent(password)}`;
  const servers = createServers(
    `postgres://${account}@127.0.0.1:${proxies[0].port},127.0.0.1:${proxies[1].port}/${name}`,
  );
  const events: string[] = [];
  const note = (_: object, message: string) => void events.push(message);
  cleanUps.push(servers.watch({ info: note, warn: note }));
  const database = createDatabase({ target: servers, size: 3, onConnectionError: () => undefined });
  cleanUps.push(() => database.close());
  return { servers, database, events };
}

const waitForAnswer = (database: Database) =>
  eventually('the database to answer', () =>
    database.query(pidOf).then(
      ([row]) => row,
      () => undefined,
    ),
  );

test('an unavailable server is skipped, and after a failure of the other server it is used again', async () => {
  proxies[0].down();
  const { servers, database } = open();
  await servers.locate();
  const [first] = await database.query(pidOf);
  expect(first?.pid).toBeGreaterThan(0);
  await proxies[0].up();
  proxies[1].down();
  await waitForAnswer(database);
});

test('if no server is available, the message names each server with the reason', async () => {
  for (const proxy of proxies) proxy.down();
  const { servers, events } = open();
  await expect(servers.locate()).rejects.toThrow(
    new RegExp(
      `no server of the database accepts writes: 127.0.0.1:${proxies[0].port}: .+; 127.0.0.1:${proxies[1].port}: .+`,
    ),
  );
  await eventually('the watch to notice', async () => events.at(0));
});

test('a server that accepts no writes is refused', async () => {
  const admin = await openClient({ ...inject('server'), database: db.target.database }, options);
  cleanUps.push(async () => {
    await admin.query(`alter database ${db.target.database} reset default_transaction_read_only`);
    await admin.end();
  });
  await admin.query(`alter database ${db.target.database} set default_transaction_read_only = on`);
  const { servers, database } = open();
  await expect(servers.locate()).rejects.toThrow('accepts no writes: default_transaction_read_only is on');
  await expect(database.query(pidOf)).rejects.toMatchObject({ code: 'storage_unavailable' });
});

test('connections to a former primary end when a newer timeline is known, and none is opened again', async () => {
  const { database, events } = open();
  const former = await waitForAnswer(database);
  // Nothing else uses the database: the watch alone notices.
  await setTimeline(0x1f);
  await eventually('the new timeline', async () => events.find((event) => event === 'the database has a new primary'));
  const latter = await waitForAnswer(database);
  expect(latter.pid).not.toBe(former.pid);
  await setTimeline(1);
  proxies[0].down();
  proxies[1].down();
  for (const proxy of proxies) await proxy.up();
  await eventually('the refusal', () =>
    database.query(pidOf).then(
      () => undefined,
      (error: { options?: { cause?: Error } }) =>
        error.options?.cause?.message.includes('is a former primary') || undefined,
    ),
  );
  await setTimeline(0x1f);
  await waitForAnswer(database);
});

test('a connection of a pool is replaced after 15 minutes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  cleanUps.push(() => void vi.useRealTimers());
  const pool = new pg.Pool(poolConfig(createServers(db.target), {}));
  cleanUps.push(() => pool.end());
  const pid = async (age: number) => {
    const client = await pool.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // In use, so that the connection is not closed because it is idle.
    vi.advanceTimersByTime(age);
    client.release();
    return rows[0]?.pid;
  };
  const first = await pid(890_000);
  expect(await pid(20_000)).toBe(first);
  expect(await pid(0)).not.toBe(first);
});

/** A server that asks for the password in clear text and records what it gets. @param host what the URL calls it */
async function spyOn(host: string, parameters: string): Promise<{ error: string; received: string }> {
  let received = '';
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        received += bytes.toString('latin1');
        const isTlsRequest = bytes.length === 8 && bytes.readInt32BE(4) === 80_877_103;
        socket.write(isTlsRequest ? 'N' : Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
        if (received.includes('secret')) socket.destroy();
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const target = `postgres://me:secret@${host}:${port}/postern${parameters}`;
  const error = await openClient(target, options).then(
    () => '',
    ({ message }: Error) => message,
  );
  return { error, received };
}

// The system connects 0.0.0.0 to this machine, but it is not a loopback address.
test.each(['', '?application_name=x'])('sends no password without TLS to another host%s', async (parameters) => {
  const { error, received } = await spyOn('0.0.0.0', parameters);
  expect(error).toContain('does not support SSL');
  expect(received).not.toContain('secret');
  expect(received).not.toContain('me');
});

test.each([
  ['0.0.0.0', '?sslmode=disable'],
  ['127.0.0.1', ''],
  ['localhost', ''],
])('does without TLS where the URL says so, and on this machine: %s%s', async (host, parameters) => {
  expect((await spyOn(host, parameters)).received).toContain('secret');
});
