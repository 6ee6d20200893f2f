import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFromDatabase } from '../../../src/app/metrics/database-metrics.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { openStream } from '../../support/event-stream.js';
import { eventually } from '../../support/eventually.js';
import { type Scrape, scrape } from '../../support/metrics.js';
import { testSql } from '../../support/sql.js';
import { createUser, login, passwordLogin, signIn } from '../../support/users.js';

let postern: TestApp;
const accessLog: string[] = [];
beforeAll(async () => {
  postern = await startTestApp(
    { METRICS_PORT: '0', ACCESS_LOG: 'json' },
    { accessLog: { write: (line) => void accessLog.push(line) } },
  );
});
afterAll(() => postern.close());

const read = () => scrape(postern.metricsUrl ?? '');
/** The growth of a series while `work` runs. */
async function growthBy(work: () => Promise<unknown>): Promise<(...series: Parameters<Scrape['value']>) => number> {
  const before = await read();
  await work();
  const after = await read();
  return (...series) => after.value(...series) - before.value(...series);
}

async function newSession(): Promise<{ token: string; userId: string }> {
  const { session } = await signIn(postern, await createUser(postern));
  return { token: session.token, userId: session.user_id };
}

test('the answer is the text format of Prometheus, and other paths and methods are refused', async () => {
  const url = postern.metricsUrl ?? '';
  const answer = await fetch(url);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(await answer.text()).toMatch(/^postern_build_info\{version="[^"]+",node="v[^"]+"\} 1$/m);
  const head = await fetch(url, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect((await fetch(url, { method: 'POST' })).status).toBe(405);
  expect((await fetch(new URL('/', url))).status).toBe(404);
  expect((await postern.api('GET', '/metrics')).status).toBe(404);
});

const readGauge = async (gauge: string, config: Partial<Parameters<typeof readFromDatabase>[1]>) =>
  (await readFromDatabase(postern.database, { ...postern.config, ...config })).find(({ name }) => name === gauge)
    ?.values;
const ageWith = (BACKUP_TO: string | undefined) =>
  readGauge('postern_backup_age_seconds', { BACKUP_TO, BACKUP_CONTINUOUS: false });

test('the age of the last backup is infinite if backups are configured and there is none', async () => {
  expect(await ageWith(undefined)).toEqual([]);
  expect(await ageWith('/backups')).toEqual([{ labels: {}, value: Number.POSITIVE_INFINITY }]);
});

test('the age of the last backup is counted from the last verified one', async () => {
  const { database } = postern;
  await database.query(
    testSql(`insert into backups (id, started_at, finished_at, verified_at, is_scheduled, location)
             select gen_random_uuid(), db_now() - made.hours * interval '1 hour', db_now(),
                    case when made.is_verified then db_now() end, true, '/backups/' || made.hours
             from (values (9, true), (5, true), (2, false)) made (hours, is_verified)`),
  );
  try {
    const hours = (await ageWith('/backups'))?.map((sample) =>
      Math.floor(Number('value' in sample && sample.value) / 3600),
    );
    expect(hours).toEqual([5]);
  } finally {
    await database.query(testSql('delete from backups'));
  }
});

test('the age of the log archive is counted from the time at which the archive ends, and is infinite without one', async () => {
  const archiveAge = (BACKUP_CONTINUOUS: boolean) =>
    readGauge('postern_log_archive_age_seconds', { BACKUP_TO: '/backups', BACKUP_CONTINUOUS });
  expect(await archiveAge(true)).toEqual([{ labels: {}, value: Number.POSITIVE_INFINITY }]);
  const { database } = postern;
  await database.query(
    testSql(`insert into backup_archive (archive, location, started_at, archived_at, error)
             values ('a', '/backups', '2020-01-01', db_now() - interval '5 hours', 'the disk is full')`),
  );
  try {
    const [sample] = (await archiveAge(true)) ?? [];
    expect(Math.floor(Number(sample && 'value' in sample && sample.value) / 3600)).toBe(5);
    // The row stays when the archive is turned off.
    expect(await archiveAge(false)).toEqual([]);
  } finally {
    await database.query(testSql('delete from backup_archive'));
  }
});

test('requests are counted by the template of their route, never by their path', async () => {
  const id = randomUUID();
  const growth = await growthBy(async () => {
    await postern.api('GET', `/admin/v1/users/${id}?fields=${id}`, { bearer: postern.adminKey });
    await fetch(`${postern.url}/no/${id}`);
  });
  const labels = { method: 'GET', route: '/admin/v1/users/:id' };
  expect(growth('postern_http_requests_total', { route: 'unmatched', status: '404' })).toBe(1);
  expect(growth('postern_http_requests_total', labels)).toBe(1);
  expect(growth('postern_http_request_duration_seconds_count', labels)).toBe(1);
  expect(growth('postern_http_request_duration_seconds_bucket', { ...labels, le: '+Inf' })).toBe(1);
  expect((await read()).text).not.toContain(id);
});

test('requests that are refused before they reach a route are counted once, and are in the access log', async () => {
  const send = async (text: string) => {
    const socket = connect(Number(new URL(postern.url).port), '127.0.0.1');
    socket.end(text);
    socket.resume();
    await once(socket, 'close');
  };
  accessLog.length = 0;
  const growth = await growthBy(async () => {
    await send('GET /secret HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n');
    await send('GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await send('GET /livez HTTP/1.1\r\nHost: x\r\nExpect: nothing\r\nConnection: close\r\n\r\n');
    await send('POST /v1/tokens HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnot a chunk\r\n');
  });
  const requests = 'postern_http_requests_total';
  expect(growth(requests, { method: 'unknown', route: 'unmatched', status: '400' })).toBe(1);
  expect(growth(requests, { method: 'GET', route: 'unmatched', status: '400' })).toBe(1);
  expect(growth(requests, { method: 'unknown', route: 'unmatched', status: '417' })).toBe(1);
  expect(growth(requests, { route: '/v1/tokens' })).toBe(1);
  expect(growth(requests)).toBe(4);
  expect(accessLog.map((line) => JSON.parse(line).status).toSorted()).toEqual([400, 400, 415, 417]);
  expect(accessLog.join('')).not.toContain('secret');
});

test('session checks are counted in front of the framework and behind it', async () => {
  const { token } = await newSession();
  const growth = await growthBy(async () => {
    for (const method of ['POST', 'GET', 'POST']) await postern.api(method, '/v1/sessions/verify', { bearer: token });
    await postern.api('GET', '/v1/account', { bearer: token });
    await postern.api('POST', '/v1/sessions/verify', { bearer: `pss_${'A'.repeat(60)}` });
  });
  expect(growth('postern_session_checks_total', { result: 'valid' })).toBe(4);
  expect(growth('postern_session_checks_total', { result: 'invalid' })).toBe(1);
  expect(growth('postern_http_requests_total', { route: '/v1/sessions/verify', status: '200' })).toBe(3);
  expect(growth('postern_http_requests_total', { route: '/v1/sessions/verify', status: '401' })).toBe(1);
  expect(growth('postern_http_request_duration_seconds_count', { route: '/v1/sessions/verify' })).toBe(4);
});

test('logins are counted by authenticator and outcome, and the hashes of their passwords are counted', async () => {
  const user = await createUser(postern);
  const growth = await growthBy(async () => {
    await login(postern, user);
    await postern.api('POST', '/v1/tokens', { body: passwordLogin(user.username, 'wrong') });
  });
  const logins = 'postern_logins_total';
  expect(growth(logins, { authenticator: 'password', outcome: 'approved' })).toBe(1);
  expect(growth(logins, { authenticator: 'password', outcome: 'wrong_secret' })).toBe(1);
  expect(growth('postern_password_hash_seconds_count')).toBeGreaterThanOrEqual(2);
});

test('notifications and open streams are counted', async () => {
  const { token, userId } = await newSession();
  const before = await read();
  const stream = await openStream(postern.url, { bearer: token });
  await eventually('an open stream', async () =>
    (await read()).value('postern_streams') === before.value('postern_streams') + 1 ? true : undefined,
  );
  const growth = await growthBy(async () => {
    const body = { user_id: userId, notification_type: 'payment', description: 'You were paid.' };
    await postern.api('POST', '/admin/v1/notifications', { bearer: postern.adminKey, body });
  });
  expect(growth('postern_notifications_published_total')).toBe(1);
  const labels = { method: 'GET', route: '/v1/notifications' };
  const open = await read();
  stream.destroy();
  const ended = await eventually('the end of the stream', async () => {
    const now = await read();
    const name = 'postern_http_requests_total';
    return now.value(name, labels) > open.value(name, labels) ? now : undefined;
  });
  // Durations of streams are not recorded: they say nothing about the service.
  const count = 'postern_http_request_duration_seconds_count';
  expect(ended.value(count, labels)).toBe(open.value(count, labels));
});

test('open streams of revocations are counted beside those of notifications', async () => {
  const gauges = async () => {
    const metrics = await read();
    return ['postern_revocation_streams', 'postern_streams'].map((name) => metrics.value(name));
  };
  const becomes = (wanted: readonly number[]) =>
    eventually(`${wanted} streams`, async () => (`${await gauges()}` === `${wanted}` ? true : undefined));
  await becomes([0, 0]);
  const path = '/v1/revocations';
  const streams = await Promise.all([1, 2].map(() => openStream(postern.url, { bearer: postern.adminKey, path })));
  await becomes([2, 0]);
  for (const stream of streams) stream.destroy();
  await becomes([0, 0]);
});

test('a job that a process holds for long is shown, except an erasure, which may take long', async () => {
  const { database } = postern;
  await database.transaction(async (tx) => {
    // The name of a process that lives: the jobs of others are freed.
    await tx.query(testSql("select pg_advisory_xact_lock_shared(hashtextextended('metrics.holder', 0))"));
    const hold = async (task: string) => {
      await database.query(testSql("select graphile_worker.add_job($1, run_at => now() + interval '1 day')", [task]));
      await database.query(
        testSql(
          `update graphile_worker._private_jobs set locked_by = 'metrics.holder', locked_at = now() - interval '1 hour'
           where task_id = (select id from graphile_worker._private_tasks where identifier = $1)`,
          [task],
        ),
      );
    };
    await hold('user.erase');
    expect((await read()).value('postern_queue_oldest_lock_seconds')).toBeLessThan(3600);
    await hold('metrics.held');
    expect((await read()).value('postern_queue_oldest_lock_seconds')).toBeGreaterThanOrEqual(3600);
  });
});

test('jobs, connections and maintenance are shown, and the database is up', async () => {
  await postern.database.query(
    testSql(
      `select graphile_worker.add_job('metrics.none', '{}', run_at => now() - interval '1 hour'),
              graphile_worker.add_job('metrics.none', '{}', run_at => now() + interval '1 hour')`,
      [],
    ),
  );
  const metrics = await read();
  expect(metrics.value('postern_queue_jobs', { task: 'metrics.none', state: 'due' })).toBe(1);
  expect(metrics.value('postern_queue_jobs', { task: 'metrics.none', state: 'waiting' })).toBe(1);
  expect(metrics.value('postern_queue_oldest_job_seconds')).toBeGreaterThanOrEqual(3600);
  expect(metrics.value('postern_database_up')).toBe(1);
  expect(metrics.value('postern_database_connections', { pool: 'requests' })).toBeGreaterThanOrEqual(1);
  expect(metrics.names).toContain('postern_maintenance_lag_seconds');
  expect(metrics.names).toContain('nodejs_eventloop_lag_seconds');
  expect(metrics.value('process_start_time_seconds')).toBeGreaterThan(0);
});

test('a database that does not answer shows as 0, and the other metrics remain', async () => {
  const other = await postern.another({ METRICS_PORT: '0' });
  const { database } = other;
  // The scrape reads the list of jobs. This transaction locks the list for longer than the scrape waits for a lock.
  await database.transaction(async (tx) => {
    await tx.query(testSql('lock table graphile_worker._private_jobs in access exclusive mode', []));
    const metrics = await scrape(other.metricsUrl ?? '');
    expect(metrics.value('postern_database_up')).toBe(0);
    expect(metrics.value('postern_build_info')).toBe(1);
  });
  await other.close();
});

test('no label holds a user, an address or a token', async () => {
  const { token, userId } = await newSession();
  await postern.api('GET', `/v1/devices?token=${token}`, { bearer: token });
  const { text } = await read();
  expect(text).not.toContain(userId);
  expect(text).not.toContain('127.0.0.1');
  expect(text).not.toMatch(/ps[ask]_/);
});

test('the access log has one line for each request, without tokens and values of the URL', async () => {
  const { token, userId } = await newSession();
  const secret = randomUUID();
  accessLog.length = 0;
  const verified = await postern.api('POST', '/v1/sessions/verify', { bearer: token });
  const listed = await postern.api('GET', `/v1/devices?device=${secret}`, { bearer: token });
  const deleted = await postern.api('DELETE', `/v1/devices/${secret}`, { bearer: token });
  const lines = await eventually('three lines', async () => (accessLog.length >= 3 ? [...accessLog] : undefined));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      ...{ level: 'info', msg: 'request', method: 'POST', route: '/v1/sessions/verify', status: 200 },
      ...{ request_id: verified.headers['request-id'], user_id: userId, ms: expect.any(Number) },
    },
    { route: '/v1/devices', status: listed.status, request_id: listed.headers['request-id'] },
    { method: 'DELETE', route: '/v1/devices/:id', status: deleted.status, user_id: userId },
  ]);
  expect(lines.join('')).not.toContain(secret);
  expect(lines.join('')).not.toMatch(/ps[ask]_/);
});

test('without METRICS_PORT the service serves no metrics', async () => {
  const other = await postern.another({ METRICS_PORT: '' });
  expect(other.metricsUrl).toBeUndefined();
  await other.close();
});
