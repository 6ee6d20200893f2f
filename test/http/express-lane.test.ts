import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Session } from '../../src/contract/session.js';
import { sql } from '../../src/database/database.js';
import { createExpressLane } from '../../src/http/express-lane.js';
import { newId } from '../../src/lib/ids.js';
import { Problem } from '../../src/lib/problem.js';
import { newToken } from '../../src/lib/token-strings.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createBadRequests } from '../support/bad-requests.js';
import { eventually } from '../support/eventually.js';
import { createUser, signIn } from '../support/people.js';
import { queriesOf } from '../support/queries.js';

const time = '2026-01-01T00:00:00.000000Z';
const session: Session = {
  ...{ id: newId(), user_id: newId(), device_id: newId() },
  ...{ created_at: time, expires_at: time, updated_at: time },
};
const { token } = newToken('session', [session.user_id, session.id]);
const { token: refused } = newToken('session', [session.user_id, newId()]);
const path = '/v1/sessions/verify';

describe('a listener in front of that of the routes', () => {
  const asked: string[] = [];
  const lane = createExpressLane(
    {
      async verifySession(text) {
        asked.push(text);
        if (text !== token) throw new Problem('invalid_session_token');
        return session;
      },
    },
    { headers: { 'x-always': 'there' }, isOpen: true },
  );
  let routed: IncomingMessage | undefined;
  const server = createServer(
    { requireHostHeader: false },
    lane.listener((request, response) => {
      routed = request;
      response.end('routed');
    }),
  );
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    asked.length = 0;
    routed = undefined;
  });

  const usual = ['Host: postern', `Authorization: Bearer ${token}`];

  /** Everything that comes for these bytes until the server closes. */
  async function exchange(bytes: string): Promise<string> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    await once(socket, 'close');
    return Buffer.concat(parts).toString('latin1');
  }
  const requestOf = (line: string, headers: readonly string[], body = '') =>
    `${[line, ...headers].join('\r\n')}\r\n\r\n${body}`;
  const ask = (line: string, headers: readonly string[], body = '') =>
    exchange(requestOf(line, [...headers, 'Connection: close'], body));

  test.each([
    ['a check', 'POST', []],
    ['one by GET', 'GET', []],
    ['one that says how long its body is not', 'POST', ['Content-Length: 0']],
    ['one that says of what type its body would be', 'POST', ['Content-Type: application/json; charset=utf-8']],
    ['one with headers that nobody looks at', 'POST', ['User-Agent: curl/8', 'Accept: */*', 'X-Forwarded-For: ::1']],
  ])('answers %s', async (_name, method, more) => {
    const answer = await ask(`${method} ${path} HTTP/1.1`, [...usual, ...more]);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(JSON.parse(body)).toEqual(session);
    expect(head).toContain('\r\nx-always: there\r\n');
    expect(head).toMatch(new RegExp(`\r\ncontent-length: ${body.length}\r\n`));
    expect(head).toMatch(/\r\nrequest-id: [0-9a-f-]{36}\r\n/);
    expect(routed).toBeUndefined();
    expect(asked).toEqual([token]);
  });

  test.each<[string, string, readonly string[], string?]>([
    ['of another path', 'POST /v1/sessions HTTP/1.1', usual],
    ['with a query', `POST ${path}?x HTTP/1.1`, usual],
    ['with the path written otherwise', 'POST /v1/sessions/%76erify HTTP/1.1', usual],
    ['whose target is a whole URL', `POST http://postern${path} HTTP/1.1`, usual],
    ['by HEAD', `HEAD ${path} HTTP/1.1`, usual],
    ['by DELETE', `DELETE ${path} HTTP/1.1`, usual],
    ['of HTTP/1.0', `POST ${path} HTTP/1.0`, usual],
    ['without a host', `POST ${path} HTTP/1.1`, usual.slice(1)],
    ['with two hosts', `POST ${path} HTTP/1.1`, [...usual, 'hOST: other']],
    ['without credentials', `POST ${path} HTTP/1.1`, usual.slice(0, 1)],
    ['with two credentials', `POST ${path} HTTP/1.1`, [...usual, 'authorization: Bearer x']],
    ['with the same credentials twice', `POST ${path} HTTP/1.1`, [...usual, usual[1] ?? '']],
    ['with credentials of another scheme', `POST ${path} HTTP/1.1`, ['Host: x', `Authorization: Basic ${token}`]],
    ['with a scheme in lower case', `POST ${path} HTTP/1.1`, ['Host: x', `Authorization: bearer ${token}`]],
    ['with more space', `POST ${path} HTTP/1.1`, ['Host: x', `Authorization: Bearer  ${token}`]],
    ['with a key', `POST ${path} HTTP/1.1`, ['Host: x', 'Authorization: Bearer psk_x']],
    ['with far too long a token', `POST ${path} HTTP/1.1`, ['Host: x', `Authorization: Bearer pss_${'x'.repeat(600)}`]],
    ['with a body', `POST ${path} HTTP/1.1`, [...usual, 'Content-Length: 2'], '{}'],
    ['with a body in chunks', `POST ${path} HTTP/1.1`, [...usual, 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['of another type', `POST ${path} HTTP/1.1`, [...usual, 'Content-Type: text/plain']],
    ['of JSON in another charset', `POST ${path} HTTP/1.1`, [...usual, 'Content-Type: application/json; charset=x']],
    ['with an encoding', `POST ${path} HTTP/1.1`, [...usual, 'Content-Encoding: gzip']],
    ['with an Idempotency-Key', `POST ${path} HTTP/1.1`, [...usual, 'IDEMPOTENCY-KEY: x']],
    ["of another origin's page", `POST ${path} HTTP/1.1`, [...usual, 'Origin: https://app.example.com']],
  ])('leaves a request %s to the routes, and checks nothing', async (_name, line, headers, body) => {
    const answer = await ask(line, headers, body);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(routed?.url).toBe(line.split(' ')[1]);
    expect(lane.checkOf(routed as IncomingMessage)).toBeUndefined();
    expect(asked).toEqual([]);
  });

  test('leaves a check that is not passed to the routes, with how it went', async () => {
    const headers = ['Host: postern', `Authorization: Bearer ${refused}`];
    expect(await ask(`POST ${path} HTTP/1.1`, headers)).toContain('routed');
    await expect(lane.checkOf(routed as IncomingMessage)).rejects.toMatchObject({ code: 'invalid_session_token' });
    expect(asked).toEqual([refused]);
  });

  test('answers what comes in one packet in its order', async () => {
    const line = `POST ${path} HTTP/1.1`;
    const others = ['Host: postern', `Authorization: Bearer ${refused}`];
    const answers = await exchange(
      requestOf(line, usual) +
        requestOf(`${line.replace(path, '/x')}`, usual) +
        requestOf(line, usual) +
        requestOf(line, others) +
        requestOf(line, [...usual, 'Connection: close']),
    );
    const ids = answers.match(/"id":|routed/g);
    expect(ids).toEqual(['"id":', 'routed', '"id":', 'routed', '"id":']);
  });

  test('leaves everything to the routes once it is closed, and what it has begun', async () => {
    let pass: (session: Session) => void = () => undefined;
    const slow = createExpressLane(
      { verifySession: () => new Promise((resolve) => (pass = resolve)) },
      { headers: {}, isOpen: true },
    );
    const listener = slow.listener((_request, response) => response.end('routed'));
    const other = createServer(listener).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}${path}`;
    const post = () => fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    const begun = post();
    await once(other, 'request');
    slow.close();
    pass(session);
    expect(await (await begun).text()).toBe('routed');
    expect(await (await post()).text()).toBe('routed');
    other.closeAllConnections();
    other.close();
  });
});

describe('a check is answered as by its route', () => {
  test.each([
    ['as it comes', {}],
    ['behind TLS', { PUBLIC_URL: 'https://postern.example.com' }],
    ['where pages of other origins may call', { CORS_ORIGINS: 'https://app.example.com' }],
  ])('%s', (_name, env) =>
    withPostern(env, async (postern) => {
      const { session: held } = await signIn(postern, await createUser(postern));
      const { sendRaw } = createBadRequests(postern);
      const [quick, routed] = await Promise.all(
        [path, `${path}?`].map((target) =>
          sendRaw(`POST ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${held.token}\r\n\r\n`),
        ),
      );
      const seen = (answer: typeof quick) => {
        const { date, 'request-id': id, ...headers } = answer?.headers ?? {};
        expect(Date.parse(date ?? '')).toBeGreaterThan(0);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
        return { ...answer, headers };
      };
      expect(seen(quick)).toEqual(seen(routed));
      expect(quick?.status).toBe(200);
    }),
  );

  test('and when the session ends, on the very next request', () =>
    withPostern({}, async (postern) => {
      const { authentication, session: held } = await signIn(postern, await createUser(postern));
      const check = () => postern.api<Session>('POST', path, { bearer: held.token });
      for (let count = 0; count < 3; count += 1) expect((await check()).body.id).toBe(held.id);
      await postern.api('DELETE', `/v1/tokens/${authentication.id}`, { bearer: held.token });
      expect(await check()).toMatchObject({ status: 401, body: { errors: [{ code: 'invalid_session_token' }] } });
    }));

  test('and one that is refused is not made twice', () =>
    withPostern({}, async (postern) => {
      const queries = await queriesOf(async () =>
        expect(await postern.api('POST', path, { bearer: refused })).toMatchObject({ status: 401 }),
      );
      // The service's chores run beside it.
      const names = queries.flatMap(({ name }) => (name?.startsWith('session_') ? name : []));
      expect(names).toEqual(['session_verify_many']);
    }));

  test('and logged like any other request where they are', () =>
    withPostern({ LOG_LEVEL: 'debug' }, async (postern) => {
      const { session: held } = await signIn(postern, await createUser(postern));
      const { headers } = await postern.api('POST', path, { bearer: held.token });
      const line = await eventually('its line', async () =>
        postern.logged.find((entry) => entry.includes(headers['request-id'] ?? '-')),
      );
      expect(JSON.parse(line)).toMatchObject({ msg: 'request', method: 'POST', route: path, status: 200 });
    }));

  test('and tells that the connection ends where the service closes meanwhile', () =>
    withPostern({}, async (postern) => {
      const { session: held } = await signIn(postern, await createUser(postern));
      const { sendRaw } = createBadRequests(postern);
      let answer: ReturnType<typeof sendRaw> | undefined;
      let closed: Promise<void> | undefined;
      await postern.database.transaction(async (tx) => {
        await tx.query(sql('lock table session_changes in access exclusive mode'));
        answer = sendRaw(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${held.token}\r\n\r\n`);
        await eventually('the check to wait', async () => {
          const [waiting] = await postern.database.query(
            sql(`select 1 from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock' and query like '%session_changes%'`),
          );
          return waiting;
        });
        closed = Promise.resolve(postern.app.close());
        await eventually('the close', async () => (postern.app.server.listening ? undefined : true));
      });
      expect(await answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
      await closed;
    }));
});

async function withPostern(env: Record<string, string>, work: (postern: TestApp) => Promise<void>): Promise<void> {
  const postern = await startTestApp(env);
  try {
    await work(postern);
  } finally {
    await postern.close();
  }
}
