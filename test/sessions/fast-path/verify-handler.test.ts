import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Session } from '../../../src/contract/session.js';
import { newToken } from '../../../src/lib/crypto/token-strings.js';
import { newId } from '../../../src/lib/ids.js';
import { Problem } from '../../../src/lib/problem.js';
import { createVerifyHandler } from '../../../src/sessions/fast-path/verify-handler.js';
import { createCounters } from '../../../src/statistics/counters.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { createBadRequests } from '../../support/bad-requests.js';
import { eventually } from '../../support/eventually.js';
import { queriesOf } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';
import { createUser, signIn } from '../../support/users.js';

const time = '2026-01-01T00:00:00.000000Z';
const session: Session = {
  ...{ id: newId(), user_id: newId(), device_id: newId() },
  ...{ created_at: time, expires_at: time, updated_at: time },
  ...{ roles: ['billing:admin', 'editor'], claims: { plan: 'año 🎉' } },
  ...{ authenticated_at: time, amr: ['pwd', 'otp', 'mfa'], proven_at: null },
};
const { token } = newToken('session', [session.user_id, session.id]);
const { token: refused } = newToken('session', [session.user_id, newId()]);
const path = '/v1/sessions/verify';

/** The header lines of a response that describe its session. */
const sessionHeadersIn = (head: string) => head.split('\r\n').filter((line) => line.startsWith('postern-'));
const headersOfSession = ({ id, user_id, device_id, expires_at, roles }: Session) => [
  `postern-user-id: ${user_id}`,
  `postern-device-id: ${device_id}`,
  `postern-session-id: ${id}`,
  `postern-session-expires-at: ${expires_at}`,
  `postern-roles: ${roles.join(',')}`,
  'postern-act: ',
];

const admitsAll = { admits: () => true, admitsSession: () => true, headersOf: () => [] };

describe('the verify handler in front of the routes', () => {
  const verified: string[] = [];
  const handler = createVerifyHandler(
    {
      async verify(text) {
        verified.push(text);
        if (text !== token) throw new Problem('invalid_session_token');
        return session;
      },
    },
    {
      headers: { 'x-always': 'there' },
      isOpen: true,
      admission: admitsAll,
      counters: createCounters(),
      addressOf: () => '127.0.0.1',
      demandsHttps: true,
      meters: undefined,
      onAnswered: undefined,
    },
  );
  let routed: IncomingMessage | undefined;
  const server = createServer(
    { requireHostHeader: false },
    handler.listener((request, response) => {
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
    verified.length = 0;
    routed = undefined;
  });

  const usualHeaders = ['Host: postern', `Authorization: Bearer ${token}`];

  /** Sends these bytes. @returns all bytes until the server closes the connection */
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
    ['a POST', 'POST', []],
    ['a GET', 'GET', []],
    ['a request with an empty body', 'POST', ['Content-Length: 0']],
    ['a request with the type of JSON', 'POST', ['Content-Type: application/json; charset=utf-8']],
    [
      'a request with headers that no route reads',
      'POST',
      ['User-Agent: curl/8', 'Accept: */*', 'X-Forwarded-For: ::1'],
    ],
  ])('answers %s', async (_name, method, more) => {
    const answer = await ask(`${method} ${path} HTTP/1.1`, [...usualHeaders, ...more]);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(JSON.parse(Buffer.from(body, 'latin1').toString())).toEqual(session);
    expect(head).toContain('\r\nx-always: there\r\n');
    expect(head).toMatch(new RegExp(`\r\ncontent-length: ${body.length}\r\n`));
    expect(head).toMatch(/\r\nrequest-id: [0-9a-f-]{36}\r\n/);
    expect(sessionHeadersIn(head)).toEqual(method === 'GET' ? headersOfSession(session) : []);
    expect(routed).toBeUndefined();
    expect(verified).toEqual([token]);
  });

  test.each<[string, string, readonly string[], string?]>([
    ['to another path', 'POST /v1/sessions HTTP/1.1', usualHeaders],
    ['with a query', `POST ${path}?x HTTP/1.1`, usualHeaders],
    ['with an escaped path', 'POST /v1/sessions/%76erify HTTP/1.1', usualHeaders],
    ['with an absolute URL as its target', `POST http://postern${path} HTTP/1.1`, usualHeaders],
    ['by HEAD', `HEAD ${path} HTTP/1.1`, usualHeaders],
    ['by DELETE', `DELETE ${path} HTTP/1.1`, usualHeaders],
    ['by HTTP/1.0', `POST ${path} HTTP/1.0`, usualHeaders],
    ['without a host', `POST ${path} HTTP/1.1`, usualHeaders.slice(1)],
    ['with two hosts', `POST ${path} HTTP/1.1`, [...usualHeaders, 'hOST: other']],
    ['without credentials', `POST ${path} HTTP/1.1`, usualHeaders.slice(0, 1)],
    ['with two credentials', `POST ${path} HTTP/1.1`, [...usualHeaders, 'authorization: Bearer x']],
    ['with the same credentials twice', `POST ${path} HTTP/1.1`, [...usualHeaders, usualHeaders[1] ?? '']],
    ['with credentials of another scheme', `POST ${path} HTTP/1.1`, ['Host: x', `Authorization: Basic ${token}`]],
    ['with a scheme in lower case', `POST ${path} HTTP/1.1`, ['Host: x', `Authorization: bearer ${token}`]],
    ['with two spaces', `POST ${path} HTTP/1.1`, ['Host: x', `Authorization: Bearer  ${token}`]],
    ['with an API key', `POST ${path} HTTP/1.1`, ['Host: x', 'Authorization: Bearer psk_x']],
    [
      'with a token that is too long',
      `POST ${path} HTTP/1.1`,
      ['Host: x', `Authorization: Bearer pss_${'x'.repeat(600)}`],
    ],
    ['with a body', `POST ${path} HTTP/1.1`, [...usualHeaders, 'Content-Length: 2'], '{}'],
    ['with a body in chunks', `POST ${path} HTTP/1.1`, [...usualHeaders, 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['with another content type', `POST ${path} HTTP/1.1`, [...usualHeaders, 'Content-Type: text/plain']],
    [
      'with JSON in another charset',
      `POST ${path} HTTP/1.1`,
      [...usualHeaders, 'Content-Type: application/json; charset=x'],
    ],
    ['with a content encoding', `POST ${path} HTTP/1.1`, [...usualHeaders, 'Content-Encoding: gzip']],
    ['with an Idempotency-Key', `POST ${path} HTTP/1.1`, [...usualHeaders, 'IDEMPOTENCY-KEY: x']],
    ['from a page of another origin', `POST ${path} HTTP/1.1`, [...usualHeaders, 'Origin: https://app.example.com']],
  ])('passes a request %s to the routes, and verifies nothing', async (_name, line, headers, body) => {
    const answer = await ask(line, headers, body);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(routed?.url).toBe(line.split(' ')[1]);
    expect(handler.checkOf(routed as IncomingMessage)).toBeUndefined();
    expect(verified).toEqual([]);
  });

  test('passes a refused check to the routes, with its result', async () => {
    const headers = ['Host: postern', `Authorization: Bearer ${refused}`];
    expect(await ask(`POST ${path} HTTP/1.1`, headers)).toContain('routed');
    await expect(handler.checkOf(routed as IncomingMessage)).rejects.toMatchObject({ code: 'invalid_session_token' });
    expect(verified).toEqual([refused]);
  });

  test('answers pipelined requests in their order', async () => {
    const line = `POST ${path} HTTP/1.1`;
    const others = ['Host: postern', `Authorization: Bearer ${refused}`];
    const answers = await exchange(
      requestOf(line, usualHeaders) +
        requestOf(`${line.replace(path, '/x')}`, usualHeaders) +
        requestOf(line, usualHeaders) +
        requestOf(line, others) +
        requestOf(line, [...usualHeaders, 'Connection: close']),
    );
    const ids = answers.match(/"id":|routed/g);
    expect(ids).toEqual(['"id":', 'routed', '"id":', 'routed', '"id":']);
  });

  test('passes requests to the routes that came to a proxy by plain http', async () => {
    const line = `GET ${path} HTTP/1.1`;
    const plain = await exchange(requestOf(line, [...usualHeaders, 'X-Forwarded-Proto: http', 'Connection: close']));
    expect(plain).toContain('routed');
    const secure = await exchange(requestOf(line, [...usualHeaders, 'X-Forwarded-Proto: https', 'Connection: close']));
    expect(secure).not.toContain('routed');
  });

  test('passes everything to the routes after it is closed, also checks in progress', async () => {
    let pass: (session: Session) => void = () => undefined;
    const slow = createVerifyHandler(
      { verify: () => new Promise((resolve) => (pass = resolve)) },
      {
        headers: {},
        isOpen: true,
        admission: admitsAll,
        counters: createCounters(),
        addressOf: () => '127.0.0.1',
        demandsHttps: true,
        meters: undefined,
        onAnswered: undefined,
      },
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

/** The requests to compare: the request line without its target, and the headers beside Host and Authorization. */
const comparedRequests: readonly [name: string, method: string, headers: readonly string[], body?: string][] = [
  ['a POST', 'POST', []],
  ['a GET', 'GET', []],
  ['HEAD', 'HEAD', []],
  ['DELETE', 'DELETE', []],
  ['OPTIONS', 'OPTIONS', []],
  ['If-None-Match with any tag', 'GET', ['If-None-Match: *']],
  ['If-None-Match with one tag', 'GET', ['If-None-Match: "a"']],
  ['If-Match', 'GET', ['If-Match: "a"']],
  ['If-Modified-Since', 'GET', ['If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT']],
  ['Range', 'GET', ['Range: bytes=0-1']],
  ['Accept-Encoding', 'POST', ['Accept-Encoding: gzip, br, zstd']],
  ['Accept of another type', 'POST', ['Accept: text/html']],
  ['Accept of an event stream', 'GET', ['Accept: text/event-stream']],
  ['Accept-Language', 'POST', ['Accept-Language: es']],
  ['Prefer', 'POST', ['Prefer: return=minimal']],
  ['Cookie, User-Agent and X-Forwarded-For', 'POST', ['Cookie: a=b', 'User-Agent: x', 'X-Forwarded-For: ::1']],
  ['Origin of a configured page', 'POST', ['Origin: https://app.example.com']],
  ['Origin of another page', 'POST', ['Origin: https://other.example.com']],
  ['Idempotency-Key', 'POST', ['Idempotency-Key: a-key']],
  ['two Idempotency-Keys', 'POST', ['Idempotency-Key: a', 'Idempotency-Key: b']],
  ['Content-Type of JSON', 'POST', ['Content-Type: application/json']],
  ['Content-Type of text', 'POST', ['Content-Type: text/plain']],
  ['Content-Length of nothing', 'POST', ['Content-Length: 0']],
  ['a body', 'POST', ['Content-Type: application/json', 'Content-Length: 2'], '{}'],
  ['a chunked body', 'POST', ['Content-Type: application/json', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ['Content-Encoding', 'POST', ['Content-Encoding: gzip']],
  ['an identity encoding', 'POST', ['Content-Encoding: identity']],
  ['a second Host', 'POST', ['Host: other']],
  ['a second Authorization', 'POST', ['Authorization: Bearer x']],
];

const environments: readonly [name: string, env: Record<string, string>][] = [
  ['by default', {}],
  ['behind TLS', { PUBLIC_URL: 'https://postern.example.com' }],
  ['with CORS', { CORS_ORIGINS: 'https://app.example.com' }],
];

describe.each(environments)('the verify handler sends the same bytes as the route %s', (_, env) => {
  let postern: TestApp;
  const tokens = { valid: '', ended: '' };
  beforeAll(async () => {
    postern = await startTestApp(env);
    const [current, former] = [
      await signIn(
        postern,
        await createUser(postern, { roles: ['b', 'a:c'], claims: { z: 'ñ 🎉\n', a: { b: [1.5, null] } } }),
      ),
      await signIn(postern, await createUser(postern)),
    ];
    await postern.api('DELETE', '/v1/tokens', { basic: former.token });
    Object.assign(tokens, { valid: current.session.token, ended: former.session.token });
  });
  afterAll(() => postern.close());

  /** Sends a request twice on one connection that is kept alive, and once more with `Connection: close`. */
  async function bytesOf(line: string, headers: readonly string[], body = ''): Promise<string> {
    const socket = connect(Number(new URL(postern.url).port), '127.0.0.1');
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    const keptAlive = `${[line, ...headers].join('\r\n')}\r\n\r\n${body}`;
    const last = `${[line, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`;
    socket.write(keptAlive + keptAlive + last, 'latin1');
    await once(socket, 'close');
    return masked(Buffer.concat(parts).toString('latin1'));
  }

  /** Replaces the values that differ in each response: dates and request ids. */
  function masked(bytes: string): string {
    const ids = [...bytes.matchAll(/^request-id: ([0-9a-f-]{36})\r$/gim)].map(([, id]) => id ?? '');
    const withoutIds = ids.reduce((text, id) => text.replaceAll(id, '<request id>'), bytes);
    return withoutIds.replaceAll(/^date: .+ GMT\r$/gim, 'date: <date>\r');
  }

  /** Sends the same request to the handler, and with the target that only the route handles, and compares the bytes. */
  async function expectSameBytes(line: (target: string) => string, headers: readonly string[], body?: string) {
    const [ofHandler, ofRoute] = [
      await bytesOf(line(path), headers, body),
      await bytesOf(line(`${path}?`), headers, body),
    ];
    expect(ofHandler).toMatch(/^HTTP\/1\.1 \d{3} /);
    expect(ofHandler).toBe(ofRoute);
    return ofHandler;
  }

  test.each(comparedRequests)('for %s', async (_name, method, headers, body) => {
    const usual = ['Host: postern', `Authorization: Bearer ${tokens.valid}`];
    await expectSameBytes((target) => `${method} ${target} HTTP/1.1`, [...usual, ...headers], body);
  });

  test.each<[name: string, headers: () => readonly string[], status: number]>([
    ['a valid session', () => ['Host: x', `Authorization: Bearer ${tokens.valid}`], 200],
    ['a session that has ended', () => ['Host: x', `Authorization: Bearer ${tokens.ended}`], 401],
    ['an unknown session', () => ['Host: x', `Authorization: Bearer ${refused}`], 401],
    ['a malformed token', () => ['Host: x', 'Authorization: Bearer pss_x'], 401],
    ['another scheme', () => ['Host: x', `Authorization: Basic ${tokens.valid}`], 401],
    ['no credentials', () => ['Host: x'], 401],
    ['no host', () => [`Authorization: Bearer ${tokens.valid}`], 400],
  ])('for %s', async (_name, headers, status) => {
    const bytes = await expectSameBytes((target) => `POST ${target} HTTP/1.1`, headers());
    expect(bytes).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test('for a GET, with the session in headers', async () => {
    const headers = ['Host: x', `Authorization: Bearer ${tokens.valid}`];
    const bytes = await expectSameBytes((target) => `GET ${target} HTTP/1.1`, headers);
    const [head = '', body = ''] = bytes.split('\r\n\r\n');
    // Three answers follow each other.
    const json = body.slice(0, body.indexOf('HTTP/1.1'));
    expect(sessionHeadersIn(head)).toEqual(headersOfSession(JSON.parse(json)));
  });

  test('for a GET with an ended session, without headers of a session', async () => {
    const headers = ['Host: x', `Authorization: Bearer ${tokens.ended}`];
    const bytes = await expectSameBytes((target) => `GET ${target} HTTP/1.1`, headers);
    expect(bytes).toMatch(/^HTTP\/1\.1 401 /);
    expect(sessionHeadersIn(bytes)).toEqual([]);
  });

  test('for HTTP/1.0', async () => {
    await expectSameBytes((target) => `POST ${target} HTTP/1.0`, [`Authorization: Bearer ${tokens.valid}`]);
  });
});

describe('a session check', () => {
  test('is refused from the first request after the session ends', () =>
    withPostern({}, async (postern) => {
      const { authentication, session: valid } = await signIn(postern, await createUser(postern));
      const check = () => postern.api<Session>('POST', path, { bearer: valid.token });
      for (let count = 0; count < 3; count += 1) expect((await check()).body.id).toBe(valid.id);
      await postern.api('DELETE', `/v1/tokens/${authentication.id}`, { bearer: valid.token });
      expect(await check()).toMatchObject({ status: 401, body: { errors: [{ code: 'invalid_session_token' }] } });
    }));

  test('is made only once if the session is refused', () =>
    withPostern({}, async (postern) => {
      const queries = await queriesOf(async () =>
        expect(await postern.api('POST', path, { bearer: refused })).toMatchObject({ status: 401 }),
      );
      // Maintenance tasks run at the same time.
      const names = queries.flatMap(({ name }) => (name?.startsWith('session_') ? name : []));
      expect(names).toEqual(['session_verify_many']);
    }));

  test('is logged as any other request if requests are logged', () =>
    withPostern({ LOG_LEVEL: 'debug' }, async (postern) => {
      const { session: valid } = await signIn(postern, await createUser(postern));
      const { headers } = await postern.api('POST', path, { bearer: valid.token });
      const line = await eventually('the line of the request', async () =>
        postern.logged.find((entry) => entry.includes(headers['request-id'] ?? '-')),
      );
      expect(JSON.parse(line)).toMatchObject({ msg: 'request', method: 'POST', route: path, status: 200 });
    }));

  test('says that the connection closes if the service stops meanwhile', () =>
    withPostern({}, async (postern) => {
      const { session: valid } = await signIn(postern, await createUser(postern));
      const { sendRaw } = createBadRequests(postern);
      let answer: ReturnType<typeof sendRaw> | undefined;
      let closed: Promise<void> | undefined;
      await postern.database.transaction(async (tx) => {
        await tx.query(testSql('lock table session_changes in access exclusive mode'));
        answer = sendRaw(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${valid.token}\r\n\r\n`);
        await eventually('the check to wait', async () => {
          const [waiting] = await postern.database.query(
            testSql(`select 1 from pg_stat_activity
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
  // Checks wait for a lock of a test, on a busy machine for a long time.
  const postern = await startTestApp(env, { queryTimeout: 60_000 });
  try {
    await work(postern);
  } finally {
    await postern.close();
  }
}
