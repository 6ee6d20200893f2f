import { connect } from 'node:net';
import { expect } from 'vitest';
import type { Notification } from '../../src/contract/notification.js';
import type { Database } from '../../src/database/database.js';
import type { TestApp } from './app.js';
import type { SeenAnswer } from './conformance.js';
import { send as sendRequest } from './send.js';
import { testSql } from './sql.js';
import { createUser, signIn } from './users.js';

/** An answer to a request that should never have been sent. */
export type BadAnswer = Omit<SeenAnswer, 'method' | 'path'>;

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | ReadableStream;
}

/** The caller (a name of Known), a method, and a path whose placeholders are names of Known. */
export type Route = readonly [who: keyof Known, method: string, path: string];

/** Existing ids and valid Authorization headers. */
export interface Known {
  readonly user: string;
  readonly username: string;
  readonly authentication: string;
  readonly notification: string;
  readonly nobody: '';
  readonly session: string;
  readonly token: string;
  readonly admin: string;
}

export interface BadRequests {
  /** Sends a request, and checks the answer against the OpenAPI document. */
  send(method: string, path: string, sent?: Sent): Promise<BadAnswer>;
  /** Does the same as `send`, on a route and with its credentials. */
  ask(known: Known, route: Route, sent: Sent): Promise<BadAnswer>;
  /** Sends exactly these bytes, a string as latin1. Undefined: the connection was closed without an answer. */
  sendRaw(request: string | Buffer): Promise<BadAnswer | undefined>;
  /** Checks that `act` changes nothing in the database, and that the service still responds after it. */
  expectNoChange<T>(act: () => Promise<T>): Promise<T>;
  /** A user who is logged in and has a notification. */
  createKnown(): Promise<Known>;
  /** The internal errors in the log of the service. */
  internalErrors(): readonly string[];
}

/** Settings without limits, because the tests send more bad requests from one address than a client may. */
export const noLimits = { GUESS_LIMIT: '1000', GUESS_LIMIT_PERMANENT: '0', LOGIN_LIMIT_PER_ADDRESS: '0' };

const deadline = 60_000;

export function createBadRequests(postern: TestApp): BadRequests {
  const { url, app, database, adminKey, logged, conforms } = postern;
  const snapshot = createSnapshot(database);
  let requests = 0;
  app.server.on('request', () => {
    requests += 1;
  });
  /** The last snapshot, and the number of requests until then. If there was none since, it is the next first snapshot, too. */
  let last: { readonly requests: number; readonly rows: unknown } | undefined;
  async function send(method: string, path: string, { headers = {}, body }: Sent = {}): Promise<BadAnswer> {
    const answer = await answerTo(url + path, method, headers, body);
    conforms({ ...answer, method, path: path.split('?', 1)[0] ?? path });
    return answer;
  }
  return {
    send,
    ask(known, [who, method, path], { headers, ...sent }) {
      const filled = path.replace(/\{(\w+)\}/, (_, name: keyof Known) => known[name]);
      const authorization = known[who] === '' ? {} : { Authorization: known[who] };
      return send(method, filled, { ...sent, headers: { ...authorization, ...headers } });
    },
    sendRaw: (request) => sendRaw(Number(new URL(url).port), request),
    async expectNoChange(act) {
      const before = last?.requests === requests ? last.rows : await snapshot();
      const result = await act();
      expect((await sendRequest(`${url}/readyz`, { method: 'GET', headers: {} })).status).toBe(200);
      const rows = await snapshot();
      expect(rows).toEqual(before);
      last = { requests, rows };
      return result;
    },
    async createKnown() {
      const user = await createUser(postern);
      const { authentication, token, session } = await signIn(postern, user);
      const body = { user_id: user.id, notification_type: 'pool', description: 'x' };
      const { body: notification } = await postern.api<Notification>('POST', '/admin/v1/notifications', {
        bearer: adminKey,
        body,
      });
      return {
        ...{
          user: user.id,
          username: user.username ?? '',
          authentication: authentication.id,
          notification: notification.id,
        },
        ...{ nobody: '', session: `Bearer ${session.token}`, admin: `Bearer ${adminKey}` },
        token: `Basic ${Buffer.from(token).toString('base64')}`,
      };
    },
    internalErrors: () => logged.filter((line) => /"level":"(?:error|fatal)"/.test(line)),
  };
}

async function answerTo(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: Sent['body'],
): Promise<BadAnswer> {
  if (body === undefined) return sendRequest(url, { method, headers });
  if (typeof body === 'string') return sendRequest(url, { method, headers, body });
  const response = await fetch(url, { method, headers, body, duplex: 'half' } as RequestInit);
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}

/** Checks that an answer is a problem with this status, and with this code if one is given. */
export function expectRefusal(answer: BadAnswer | undefined, status: number, code?: string): void {
  if (answer === undefined) throw new Error('the connection was closed without an answer');
  const { headers, text } = answer;
  expect(answer.status, text).toBe(status);
  expect(headers).toMatchObject({
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
  });
  const problem = JSON.parse(text);
  expect(problem).toMatchObject({ status, request_id: headers['request-id'], title: expect.stringMatching(/\w/) });
  expect(problem.errors[0]).toMatchObject({
    code: code ?? expect.stringMatching(/\w/),
    message: expect.stringMatching(/\w/),
  });
  if (status === 401) expect(headers).toHaveProperty('www-authenticate');
}

async function sendRaw(port: number, request: string | Buffer): Promise<BadAnswer | undefined> {
  const bytes = typeof request === 'string' ? Buffer.from(request, 'latin1') : request;
  const received = await new Promise<Buffer>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const late = setTimeout(() => socket.destroy(new Error(`no answer within ${deadline} ms`)), deadline);
    let chunks = Buffer.alloc(0);
    const end = () => {
      clearTimeout(late);
      socket.destroy();
      resolve(chunks);
    };
    socket.on('data', (chunk) => {
      chunks = Buffer.concat([chunks, chunk]);
      if (isComplete(chunks)) end();
    });
    // The server may close the connection while the client still sends. The answer before that counts.
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === undefined ? reject(error) : end()));
    socket.on('end', end);
    socket.on('close', end);
  });
  return received.length === 0 ? undefined : parseAnswer(received);
}

function parseAnswer(bytes: Buffer): BadAnswer {
  const head = bytes.subarray(0, bytes.indexOf('\r\n\r\n')).toString('latin1');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, text: bytes.subarray(head.length + 4).toString('utf8') };
}

function isComplete(bytes: Buffer): boolean {
  if (!bytes.includes('\r\n\r\n')) return false;
  const { headers, text } = parseAnswer(bytes);
  return Buffer.byteLength(text) >= Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
}

/** Every row of Postern's own tables, except counters (refusals count) and rows of background work. */
function createSnapshot(database: Database): () => Promise<unknown> {
  let statement: Promise<string> | undefined;
  const build = async () => {
    const tables = await database.query<{ name: string }>(
      testSql(
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public'
           and tablename not in ('guess_budgets', 'request_limits', 'message_limits', 'maintenance_tasks',
             'session_changes', 'session_changes_floor', 'event_feed', 'event_feed_state', 'instances', 'statistics') order by 1`,
      ),
    );
    // In subqueries, because PostgreSQL would start parallel workers for each snapshot.
    const parts = tables.map(
      ({ name }) =>
        `select '${name}' as name,
           md5(coalesce((select string_agg(t::text, ';' order by t::text) from ${name} t), '')) as rows`,
    );
    return `${parts.join(' union all ')} order by name`;
  };
  return async () => {
    statement ??= build();
    // Prepared, because the plan takes longer than the run.
    return database.query(testSql(await statement, [], 'snapshot'));
  };
}
