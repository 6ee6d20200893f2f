import { once } from 'node:events';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { IssuedApiKey } from '../../../../src/contract/administration.js';
import type { User } from '../../../../src/contract/user.js';
import * as streams from '../../../../src/http/requests/streams.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { openLineStream } from '../../../support/ndjson-stream.js';
import { testSql } from '../../../support/sql.js';
import { createUser } from '../../../support/users.js';

let postern: TestApp;
let user: User;
beforeAll(async () => {
  postern = await startTestApp();
  user = await createUser(postern);
});
afterAll(() => postern.close());

const line = (fields: object = {}) =>
  `${JSON.stringify({ user_id: user.id, notification_type: 'payment', description: 'A payment', ...fields })}\n`;
const totalOf = async ({ id }: User) => {
  const [head] = await postern.database.query<{ total: number }>(
    testSql('select total from inboxes where user_id = $1', [id]),
  );
  return head?.total ?? -1;
};
const internalErrors = () => postern.logged.filter((line) => /"level":"(?:error|fatal)"/.test(line));

test('a slow sender gets the results of committed lines before it sends more lines', async () => {
  const slow = await createUser(postern);
  const stream = openLineStream(postern);
  expect((await stream.response).statusCode).toBe(200);
  for (const number of [1, 2, 3]) {
    await stream.send(line({ user_id: slow.id }));
    expect(await stream.next()).toMatchObject({ line: number, status: 201 });
    expect(await totalOf(slow)).toBe(number);
  }
  // One line, sent in two pieces.
  await stream.send(line({ user_id: slow.id }).slice(0, 30));
  await stream.send(line({ user_id: slow.id }).slice(30));
  stream.end();
  expect(await stream.rest()).toMatchObject([{ line: 4, status: 201 }]);
});

test('a stream may take longer than other requests, which get 408', async () => {
  const { server } = postern.app;
  const { requestTimeout, headersTimeout } = server;
  const stream = openLineStream(postern);
  await stream.send(line());
  expect(await stream.next()).toMatchObject({ line: 1, status: 201 });
  Object.assign(server, { requestTimeout: 100, headersTimeout: 100 });
  try {
    // This request starts after the stream, so when it times out, the stream has lasted even longer.
    const other = connect({ host: '127.0.0.1', port: Number(new URL(postern.url).port) });
    other.write('POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{');
    const [answer] = await once(other.setEncoding('utf8'), 'data');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    other.destroy();
  } finally {
    Object.assign(server, { requestTimeout, headersTimeout });
  }
  await stream.send(line());
  stream.end();
  expect(await stream.rest()).toMatchObject([{ line: 2, status: 201 }]);
});

/** Until the end of the test, a client may pause for three seconds instead of fifteen. */
function shortenPauses(): void {
  const { nextPiece, writeAll } = streams;
  const shorter = (milliseconds: number) => Math.min(milliseconds, 3000);
  const spies = [
    vi.spyOn(streams, 'nextPiece').mockImplementation((body, limit, stop) => nextPiece(body, shorter(limit), stop)),
    vi.spyOn(streams, 'writeAll').mockImplementation((to, text, limit) => writeAll(to, text, shorter(limit))),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
}

test('a client that stops sending or reading is disconnected, and one that continues is not', async () => {
  shortenPauses();
  const reader = await createUser(postern);
  const silent = openLineStream(postern);
  await silent.send(line());
  const greedy = openLineStream(postern);
  const disconnected = greedy.response.then((response) => once(response, 'close'));
  // Each result has some hundred bytes, and the client reads none: more than all buffers hold.
  const bad = `{"user_id":1,"object_id":1}\n`.repeat(1000);
  let sent = 0;
  let isDisconnected = false;
  void disconnected
    .catch(() => undefined)
    .then(() => {
      isDisconnected = true;
    });
  const sending = (async () => {
    for (; sent < 400 && !isDisconnected; sent += 1)
      await Promise.race([greedy.send(bad), disconnected]).catch(() => undefined);
  })();

  const patient = openLineStream(postern);
  let silentEnd: object | undefined;
  void silent.rest().then((lines) => {
    silentEnd = lines.at(-1);
  });
  let rounds = 0;
  await eventually('both clients to be disconnected', async () => {
    rounds += 1;
    await patient.send(line({ user_id: reader.id }));
    expect(await patient.next()).toMatchObject({ line: rounds, status: 201 });
    return isDisconnected && silentEnd !== undefined ? true : undefined;
  });
  expect(silentEnd).toEqual({ status: 408, code: 'request_timeout', committed_lines: 1 });
  await sending;
  expect(sent).toBeLessThan(400);
  patient.end();
  expect(await patient.rest()).toEqual([]);
  expect(internalErrors()).toEqual([]);
});

test('a key that is revoked during a stream publishes no more lines', async () => {
  const reader = await createUser(postern);
  const key = await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', {
    bearer: postern.adminKey,
    body: { name: 'publisher', scopes: ['notifications:write'] },
  });
  const stream = openLineStream({ url: postern.url, adminKey: key.body.token });
  await stream.send(line({ user_id: reader.id }));
  expect(await stream.next()).toMatchObject({ line: 1, status: 201 });
  await postern.api('DELETE', `/admin/v1/keys/${key.body.id}`, { bearer: postern.adminKey });
  await stream.send(line({ user_id: reader.id }));
  expect(await stream.rest()).toEqual([{ status: 401, code: 'invalid_api_key', committed_lines: 1 }]);
  expect(await totalOf(reader)).toBe(1);
  stream.destroy();
});

test('lines with a result stay published when the client disconnects, and no chunk is half published', async () => {
  const leaving = await createUser(postern);
  const stream = openLineStream(postern);
  await stream.send(line({ user_id: leaving.id }));
  expect(await stream.next()).toMatchObject({ status: 201 });
  const { socket } = await stream.response;
  await stream.send(line({ user_id: leaving.id }).slice(0, -2));
  const closed = once(socket, 'close');
  stream.destroy();
  await closed;
  await eventually('the service to be idle', async () => {
    const open = await new Promise((resolve) => postern.app.server.getConnections((_, count) => resolve(count)));
    const [busy] = await postern.database.query<{ busy: number }>(
      testSql(
        `select count(*) as busy from pg_stat_activity where datname = current_database() and state like 'idle in%'`,
      ),
    );
    return typeof open === 'number' && busy?.busy === 0 ? true : undefined;
  });
  expect(await totalOf(leaving)).toBe(1);
  expect(internalErrors()).toEqual([]);
});

test('a storage failure ends the response with a line that gives the position', async () => {
  const locked = await createUser(postern);
  const stream = openLineStream(postern);
  await stream.send(line());
  expect(await stream.next()).toMatchObject({ line: 1, status: 201 });
  await postern.database.transaction(async (tx) => {
    await tx.query(testSql('select 1 from inboxes where user_id = $1 for update', [locked.id]));
    await stream.send(`\n${line()}${line({ user_id: locked.id })}${line()}`);
    expect(await stream.rest()).toEqual([{ status: 503, code: 'storage_unavailable', committed_lines: 1 }]);
  });
  expect(await totalOf(locked)).toBe(0);
});

test('an instance that shuts down ends the response with a line that says so, and stops', async () => {
  const second = await postern.another();
  const stream = openLineStream(second);
  await stream.send(line());
  expect(await stream.next()).toMatchObject({ line: 1, status: 201 });
  await stream.send(line().slice(0, 20));
  const stopped = second.close();
  expect(await stream.rest()).toEqual([{ status: 503, code: 'shutting_down', committed_lines: 1 }]);
  await stopped;
});

describe('memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;

  const large = { description: 'x'.repeat(1000) };
  /** The bytes of the largest heap in use during a request with this many lines. */
  async function peakOf(lines: number): Promise<number> {
    const stream = openLineStream(postern, { query: '?dry_run=true' });
    const batch = 1000;
    const body = line(large).repeat(batch);
    const sending = (async () => {
      for (let sent = 0; sent < lines; sent += batch) await stream.send(body);
      stream.end();
    })();
    let peak = 0;
    for (let count = 1; count <= lines; count += 1) {
      const result = await stream.next();
      if (result?.status !== 200 || result.line !== count) throw new Error(`line ${count}: ${JSON.stringify(result)}`);
      if (count % (lines / 4) !== 0) continue;
      collect();
      const { heapUsed, external } = process.memoryUsage();
      peak = Math.max(peak, heapUsed + external);
    }
    await sending;
    expect(await stream.next()).toBeUndefined();
    return peak;
  }

  test('does not grow with the number of lines', async () => {
    await peakOf(2000);
    const few = await peakOf(2000);
    const many = 20_000;
    // The garbage collector may be late once, but lines that stay in memory would add up. The heap of the service is much larger than this.
    const limit = (many * line(large).length) / 2;
    let growth = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 3 && growth >= limit; round += 1) growth = (await peakOf(many)) - few;
    expect(growth).toBeLessThan(limit);
  });
});
