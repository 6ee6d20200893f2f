import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type Load, type Request, type Sample, sendAll, startLoad } from '../support/fault-injection/load.js';
import { type FaultyProvider, startFaultyProvider } from '../support/fault-injection/provider.js';
import { type FaultyProxy, startFaultyProxy } from '../support/fault-injection/proxy.js';
import {
  createInstallation,
  type FaultyService,
  type Installation,
  isLong,
} from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createUser, login, messageOf, newPhone, passwordLogin, signIn, smsLogin } from '../support/users.js';

/** Milliseconds: the promise is 5 s. The short form has a margin for a busy machine: what hangs would never be answered. */
const longestAnswer = isLong ? 5000 : 30_000;
/** The duration of an outage. */
const outage = isLong ? 30_000 : 2000;
const longestRecovery = isLong ? 8000 : 60_000;

beforeAll(buildService, BUILD_TIMEOUT);

/** One request of each kind, with its response while the database is available. */
async function everyRequest(service: FaultyService): Promise<Record<string, Request>> {
  const { api, adminKey } = service;
  const user = await createUser(service);
  const { session, token, authentication } = await signIn(service, user);
  const ended = await signIn(service, user);
  await api('DELETE', `/v1/tokens/${ended.authentication.id}`, { bearer: ended.session.token });

  const status = (wanted: number) => (answer: { status: number }) => answer.status === wanted;
  const became = (wanted: string) => (answer: { status: number; body: unknown }) =>
    answer.status === 201 && (answer.body as { status: string }).status === wanted;
  const logIn = (secret?: string) => () => api('POST', '/v1/tokens', { body: passwordLogin(user.username, secret) });
  return {
    'a valid session': {
      send: () => api('POST', '/v1/sessions/verify', { bearer: session.token }),
      expected: status(200),
    },
    'an ended session': {
      send: () => api('POST', '/v1/sessions/verify', { bearer: ended.session.token }),
      expected: status(401),
    },
    'a new session': { send: () => api('POST', '/v1/sessions', { basic: token }), expected: status(201) },
    'a new session of an ended token': {
      send: () => api('POST', '/v1/sessions', { basic: ended.token }),
      expected: status(401),
    },
    'the status of a token': {
      send: () => api('GET', `/v1/tokens/${authentication.id}`),
      expected: became('approved'),
    },
    'a correct password': { send: logIn(), expected: became('approved') },
    'a wrong password': { send: logIn('wrong'), expected: became('rejected') },
    'a code by SMS': {
      send: () => api('POST', '/v1/tokens', { body: smsLogin(newPhone()) }),
      expected: (answer) => answer.status === 201,
    },
    'a list of notifications': {
      send: () => api('GET', '/v1/notifications', { bearer: session.token }),
      expected: status(200),
    },
    'a notification': {
      send: () =>
        api('POST', '/admin/v1/notifications', {
          bearer: adminKey,
          body: { user_id: user.id, notification_type: 'payment', description: 'Lunch' },
          headers: { 'idempotency-key': crypto.randomUUID() },
        }),
      expected: status(201),
    },
    'an unlock by an operator': {
      send: () => api('POST', `/admin/v1/users/${user.id}/unlock`, { bearer: adminKey }),
      expected: status(200),
    },
    readiness: { send: () => api('GET', '/readyz'), expected: status(200) },
  };
}

const liveness = ({ api }: FaultyService): Record<string, Request> => ({
  liveness: { send: () => api('GET', '/livez'), expected: ({ status }) => status === 200 },
});

const duration = ({ startedAt, endedAt }: Sample) => Math.round(endedAt - startedAt);
const slow = (samples: readonly Sample[]) =>
  samples
    .filter((sample) => duration(sample) >= longestAnswer)
    .map((sample) => `${sample.kind} took ${duration(sample)} ms`);
/** Responses that are neither correct nor a 503 with Retry-After, such as a wrong "valid", "deleted" or "unknown". */
const wrong = (samples: readonly Sample[]) =>
  samples.filter(({ right, unavailable }) => !right && !unavailable).map(({ kind, text }) => `${kind}: ${text}`);
const unavailable = (samples: readonly Sample[]) => samples.filter((sample) => sample.unavailable);

/** Waits until every kind of request succeeds, and returns the time since `since`. */
async function recovery(requests: Readonly<Record<string, Request>>, since: number): Promise<number> {
  await eventually(
    'correct responses again',
    async () => ((await sendAll(requests)).every(({ right }) => right) ? true : undefined),
    60_000,
  );
  return Math.round(performance.now() - since);
}

/** Responses to requests that ended before `from` or started after `to`. */
const outside = ({ samples }: Load, from: number, to: number) =>
  samples.filter(({ startedAt, endedAt }) => endedAt < from || startedAt > to);

describe('a PostgreSQL that is restarted under load', () => {
  const connectionsAtMost: Record<string, number> = {
    postern: 20,
    'postern queue': 14,
    'postern queue names': 1,
    'postern signals': 1,
    'postern membership': 1,
  };

  test('causes only 503 for a moment, and leaves neither a wrong response nor a lost connection', async ({
    onTestFinished,
  }) => {
    const installation = await createInstallation();
    onTestFinished(() => installation.remove());
    const service = await installation.start();
    onTestFinished(() => service.stop().then(() => undefined));
    const address = { host: join(installation.dataDir, 'postgres'), user: 'postern', database: 'postern' };
    const query = async (text: string) => {
      const client = new pg.Client(address);
      client.on('error', () => undefined);
      try {
        await client.connect();
        return (await client.query<Record<string, unknown>>(text)).rows;
      } finally {
        client.end().catch(() => undefined);
      }
    };

    const requests = await everyRequest(service);
    for (let round = 0; round < (isLong ? 20 : 1); round += 1) {
      const user = await createUser(service);
      const loginsToDelete = await Promise.all(
        Array.from({ length: 6 }, (_, device) => signIn(service, user, { make: `${device}` })),
      );
      const load = startLoad({ ...requests, ...liveness(service) });
      await eventually('some load', async () => (load.samples.length > 30 ? true : undefined));

      const stoppedAt = performance.now();
      process.kill(Number.parseInt(readFileSync(join(address.host, 'postmaster.pid'), 'utf8'), 10), 'SIGINT');
      const deletions = await Promise.all(
        loginsToDelete.map(({ authentication, session }) =>
          service.api('DELETE', `/v1/tokens/${authentication.id}`, { bearer: session.token }),
        ),
      );
      await eventually('the server to be back', () => query('select 1').catch(() => undefined));
      const returnedAt = performance.now();
      const recoveredAfter = await recovery(requests, returnedAt);
      const recoveredAt = performance.now();
      const before = load.samples.length;
      await eventually('some load', async () => (load.samples.length > before + 100 ? true : undefined));
      await load.stop();

      expect(recoveredAfter).toBeLessThan(longestRecovery);
      expect(load.faults).toEqual([]);
      expect(wrong(load.samples)).toEqual([]);
      expect(slow(load.samples)).toEqual([]);
      expect(unavailable(outside(load, stoppedAt, recoveredAt))).toEqual([]);
      expect(unavailable(load.samples.filter(({ kind }) => kind === 'liveness'))).toEqual([]);

      for (const [index, { status }] of deletions.entries()) {
        expect([200, 503]).toContain(status);
        const { authentication, session, token } = loginsToDelete[index] ?? expect.unreachable('there is one for each');
        const isStillValid = (await service.api('GET', `/v1/tokens/${authentication.id}`)).status === 201;
        if (status === 200) expect(isStillValid).toBe(false);
        expect((await service.api('POST', '/v1/sessions', { basic: token })).status).toBe(isStillValid ? 201 : 401);
        const verified = await service.api('POST', '/v1/sessions/verify', { bearer: session.token });
        expect(verified.status).toBe(isStillValid ? 200 : 401);
      }
      // A connection that the service has replaced may still be closing.
      await eventually(`at most ${JSON.stringify(connectionsAtMost)} connections`, async () => {
        const counts = await query(
          `select application_name as name, count(*)::int as count from pg_stat_activity
           where application_name like 'postern%' group by 1`,
        );
        return counts.every(({ name, count }) => Number(count) <= (connectionsAtMost[String(name)] ?? 0)) || undefined;
      });
    }
    // The whole pool is usable, and so is the queue.
    const many = Array.from({ length: 60 }, () => service.api('GET', '/readyz'));
    expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set([200]));
    const { body } = await service.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(newPhone()) });
    await messageOf(service, body.id, ['dropped']);
    expect(await service.stop()).toBe(0);
  });
});

describe('a PostgreSQL at the other end of a network', () => {
  let storage: TestDatabase;
  let provider: FaultyProvider;
  let proxy: FaultyProxy;
  let installation: Installation;
  let service: FaultyService;
  let requests: Readonly<Record<string, Request>>;
  beforeAll(async () => {
    storage = await createTestDatabase();
    provider = await startFaultyProvider();
    const { host, port } = inject('server');
    proxy = await startFaultyProxy(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
    const url = new URL(storage.url);
    url.searchParams.delete('host');
    url.host = `127.0.0.1:${proxy.port}`;
    installation = await createInstallation({ DATABASE_URL: url.href, ...provider.env });
    service = await installation.start();
    requests = await everyRequest(service);
  });
  afterAll(async () => {
    await proxy?.up();
    await service?.stop();
    await proxy?.close();
    await provider?.close();
    await installation?.remove();
    await storage?.drop();
  });

  /** Sends the requests during the outage, and expects 503 for each, except for liveness. */
  async function expectUnavailable() {
    const [samples, alive] = await Promise.all([sendAll(requests), sendAll(liveness(service))]);
    expect(wrong(samples)).toEqual([]);
    expect(samples.filter(({ right }) => right)).toEqual([]);
    expect(alive.every(({ right }) => right)).toBe(true);
    expect(slow(samples)).toEqual([]);
  }

  async function expectRecovery() {
    await proxy.up();
    expect(await recovery(requests, performance.now())).toBeLessThan(longestRecovery);
  }

  /** Sends a code to a number that nobody has: the message passes the whole queue, and is dropped. */
  async function expectQueue() {
    const { body } = await service.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(newPhone()) });
    await messageOf(service, body.id, ['dropped']);
  }

  test('can be down for seconds: every response is a quick 503, and pending messages are sent afterwards', async () => {
    provider.behave('hang');
    const users = await Promise.all(
      Array.from({ length: 12 }, () => createUser(service, { phone: newPhone(), password: undefined })),
    );
    const started = await Promise.all(
      users.map(({ phone }) => service.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(phone) })),
    );
    await eventually('every worker to send', async () =>
      new Set(provider.received.map(({ to }) => to)).size >= 10 ? true : undefined,
    );

    proxy.down();
    const load = startLoad({ ...requests, ...liveness(service) });
    provider.acceptHanging();
    provider.behave('accept');
    await wait(outage);
    await load.stop();
    await expectUnavailable();
    expect(load.faults).toEqual([]);
    expect(wrong(load.samples)).toEqual([]);
    expect(slow(load.samples)).toEqual([]);
    const right = load.samples.filter((sample) => sample.right).map(({ kind }) => kind);
    expect(new Set(right)).toEqual(new Set(['liveness']));

    await expectRecovery();
    for (const { body } of started) await messageOf(service, body.id, ['sent']);
  });

  test('can hang: every response is a 503 in bounded time, and everything continues afterwards', async () => {
    const load = startLoad({ ...requests, ...liveness(service) });
    await eventually('some load', async () => (load.samples.length > 50 ? true : undefined));
    proxy.hang();
    const hangsSince = performance.now();
    // First on connections that hang during a query, then on connections that are never established.
    await wait(outage);
    await load.stop();
    expect(load.faults).toEqual([]);
    expect(wrong(load.samples)).toEqual([]);
    expect(slow(load.samples)).toEqual([]);
    const during = load.samples.filter(({ startedAt }) => startedAt > hangsSince);
    // A request that started just before may last for the whole outage. It is checked below.
    const answers = new Set(during.map(({ kind, right }) => (right ? kind : 'a 503')));
    expect([...answers].filter((answer) => answer !== 'a 503')).toEqual(['liveness']);
    await expectUnavailable();
    await expectRecovery();
    await expectQueue();
  });

  test('can drop its open connections: requests and the queue continue with new ones', async () => {
    proxy.strand();
    const samples = await sendAll({ ...requests, ...liveness(service) });
    expect(wrong(samples)).toEqual([]);
    expect(slow(samples)).toEqual([]);
    expect(await recovery(requests, performance.now())).toBeLessThan(longestRecovery);
    await expectQueue();
  });

  test('can fail during a login: the refused request changes nothing, and the user can log in afterwards', async () => {
    const user = await createUser(service);
    proxy.down();
    const refused = await Promise.all(Array.from({ length: 8 }, () => login(service, user)));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    await proxy.up();
    // The first answer after an outage may still be a 503.
    await recovery(requests, performance.now());
    const { session } = await signIn(service, user);
    expect((await service.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
    const { body } = await service.api<unknown[]>('GET', `/admin/v1/users/${user.id}/tokens`, {
      bearer: service.adminKey,
    });
    expect(body).toHaveLength(1);
  });

  test('can hang while the service stops: it still answers and stops', async () => {
    proxy.hang();
    const body = JSON.stringify(passwordLogin('nobody'));
    const headers = { 'content-type': 'application/json', 'content-length': body.length, expect: '100-continue' };
    const sent = request(`${service.url}/v1/tokens`, { method: 'POST', headers });
    const answer = once(sent, 'response');
    sent.flushHeaders();
    // The service has read the headers: from here on the request runs.
    await once(sent, 'continue');
    sent.end(body);
    const exitCode = await service.stop();
    const [{ statusCode }] = (await answer) as [IncomingMessage];
    expect(statusCode).toBe(503);
    expect(exitCode).toBe(0);
  });
});
