import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { createInstallation, type FaultyService, isLong } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createUser, signIn } from '../support/users.js';

const connections = isLong ? 1000 : 100;
/** Milliseconds until a slow connection must be closed: the promise is 30 s, and a busy machine may be late. */
const longest = isLong ? 30_000 : 90_000;
/** The maximum factor by which other requests may become slower at the 99th percentile, on an idle machine. */
const maxSlowdown = 2;

beforeAll(buildService, BUILD_TIMEOUT);

/** The bytes that are sent at once. Then one byte follows each second, without end. */
const manners = {
  'a head that never ends': { start: 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ', drip: 'x' },
  'a body that never ends': {
    start:
      'POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{"device": "',
    drip: 'x',
  },
  'a chunked body that never ends': {
    start:
      'POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n',
    drip: '1\r\n \r\n',
  },
  nothing: { start: '', drip: '' },
};

interface SlowConnection {
  readonly manner: string;
  readonly socket: Socket;
  answer: string;
  /** Milliseconds from its start; undefined while it is open. */
  cutAfter: number | undefined;
}

/** Opens a slow connection. Resolves when the service has accepted it. */
async function open(port: number, manner: keyof typeof manners): Promise<SlowConnection> {
  const { start, drip } = manners[manner];
  const socket = connect({ host: '127.0.0.1', port });
  const connection: SlowConnection = { manner, socket, answer: '', cutAfter: undefined };
  const begin = performance.now();
  const timer = setInterval(() => socket.write(drip), 1000);
  socket.on('data', (bytes: Buffer) => {
    connection.answer += bytes.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearInterval(timer);
    connection.cutAfter = performance.now() - begin;
  });
  await new Promise<void>((resolve) => socket.on('connect', () => resolve()));
  socket.write(start);
  return connection;
}

/** Milliseconds between two checks. Only the long form measures how long they take. */
const pause = isLong ? 0 : 100;
const leastChecks = isLong ? 200 : 5;

/**
 * The 99th percentile of the times of session checks, in milliseconds. Sends checks one after the other, at least
 * `leastChecks` and more as long as `goesOn` returns true after a check.
 */
async function measure(service: FaultyService, session: string, goesOn: () => boolean): Promise<number> {
  const times: number[] = [];
  while (goesOn() || times.length < leastChecks) {
    const start = performance.now();
    expect((await service.api('POST', '/v1/sessions/verify', { bearer: session })).status).toBe(200);
    times.push(performance.now() - start);
    await wait(pause);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

describe(`${connections} connections that send slowly`, () => {
  test('are closed, with 408 if a request has started, and other requests are answered meanwhile', async () => {
    const db = await createTestDatabase();
    onTestFinished(() => db.drop());
    const installation = await createInstallation({ DATABASE_URL: db.url });
    onTestFinished(() => installation.remove());
    const service = await installation.start();
    onTestFinished(() => service.stop().then(() => undefined));
    const { session } = await signIn(service, await createUser(service));
    await measure(service, session.token, () => false);
    const before = await measure(service, session.token, () => false);

    const kinds = Object.keys(manners) as (keyof typeof manners)[];
    const port = Number(new URL(service.url).port);
    const slow = await Promise.all(
      Array.from({ length: connections }, (_, index) => open(port, kinds[index % kinds.length] ?? 'nothing')),
    );
    onTestFinished(() => {
      for (const { socket } of slow) socket.destroy();
    });
    const isOpen = () => slow.some(({ cutAfter }) => cutAfter === undefined);
    let answeredMeanwhile = -1;
    const meanwhile = await measure(service, session.token, () => {
      if (slow.every(({ cutAfter }) => cutAfter === undefined)) answeredMeanwhile += 1;
      return isOpen();
    });
    await eventually('the last one to be cut', async () => (isOpen() ? undefined : true), longest);
    const after = await measure(service, session.token, () => false);

    for (const { manner, cutAfter, answer } of slow) {
      expect({ manner, quick: (cutAfter ?? longest) < longest }).toEqual({ manner, quick: true });
      if (manner !== 'nothing')
        expect({ manner, answer }).toMatchObject({ answer: expect.stringMatching(/^HTTP\/1\.1 408 /) });
    }
    expect(answeredMeanwhile).toBeGreaterThan(isLong ? 50 : 10);
    // Only an idle machine shows how long they take.
    if (isLong) expect(meanwhile / Math.max(before, after)).toBeLessThan(maxSlowdown);
    expect(await service.stop()).toBe(0);
  });
});
