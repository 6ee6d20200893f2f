import { randomInt, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.js';
import type { TestService } from '../support/process.js';
import { newPhone } from '../support/users.js';

/** The types of the published interface, intentionally not imported from the service. */
export interface Authentication {
  readonly id: string;
  readonly device_id: string;
  readonly status: string;
  readonly token?: string;
  readonly error_code: string;
  readonly error_message: string;
  readonly expires_at: string;
  readonly created_at: string;
  readonly updated_at: string;
}
export interface Session {
  readonly id: string;
  readonly token: string;
  readonly user_id: string;
  readonly device_id: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly updated_at: string;
}
export interface Notification {
  readonly id: string;
  readonly user_id: string;
  readonly sequence: number;
  readonly actor_id: string | null;
  readonly actor: string | null;
  readonly notification_type: string;
  readonly notification_key: string | null;
  readonly object_id: string | null;
  readonly object_data_number: number | null;
  readonly object_data_string: string;
  readonly description: string;
  readonly image: Readonly<Record<string, string>> | null;
  readonly created_at: string;
  readonly updated_at: string;
}
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly request_id: string;
  readonly errors: readonly { readonly field?: string; readonly code: string; readonly message: string }[];
}
export interface User {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly phone: string;
}

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Body;
}

export interface Sent {
  /** An object is sent as JSON, a string unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A session token or an API key. */
  readonly bearer?: string | undefined;
  /** An authentication token. */
  readonly basic?: string | undefined;
}

export const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** RFC 3339, UTC, six fractional digits. */
export const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
export const password = 'a battery of horses';
/** An id of the published examples. It is a UUID, but not of a variant of RFC 9562. */
export const exampleId = '582a5abb-1335-4794-4855-11e067b8c55e';

export type Client = ReturnType<typeof createClient>;

/** The requests of an app and its servers, with plain fetch. */
export function createClient({ url, adminKey }: Pick<TestService, 'url' | 'adminKey'>) {
  async function send<Body = Problem>(method: string, path: string, sent: Sent = {}): Promise<Answer<Body>> {
    const { body, bearer, basic } = sent;
    const headers = new Headers(sent.headers);
    if (bearer !== undefined) headers.set('Authorization', `Bearer ${bearer}`);
    if (basic !== undefined) headers.set('Authorization', `Basic ${Buffer.from(basic).toString('base64')}`);
    if (body !== undefined && !headers.has('Content-Type')) headers.set('Content-Type', 'application/json');
    const content = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(url + path, { method, headers, ...(content === undefined ? {} : { body: content }) });
    const text = await response.text();
    const isJson = /\bjson\b/.test(response.headers.get('Content-Type') ?? '') && text !== '';
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  }
  const admin = <Body = Problem>(method: string, path: string, body?: unknown) =>
    send<Body>(method, `/admin/v1${path}`, { bearer: adminKey, body });

  async function bodyOf201<Body>(answer: Promise<Answer<Body>>): Promise<Body> {
    const { status, body, text } = await answer;
    if (status !== 201) throw new Error(`expected 201, not ${status}: ${text}`);
    return body;
  }

  /** A user with all three identities, a password and the given members. */
  async function createUser(fields: object = {}): Promise<User> {
    const username = `user${randomInt(1e12)}`;
    const identities = { username, email: `${username}@example.com`, phone: newPhone() };
    return bodyOf201(admin<User>('POST', '/users', { ...identities, password, ...fields }));
  }

  /** A login in one step, or the first step of a login. */
  const start = (body: unknown, sent: Sent = {}) => send<Authentication>('POST', '/v1/tokens', { ...sent, body });
  /** The second step of a login. */
  const sendSecret = <Body = Authentication>(id: string, body: unknown, sent: Sent = {}) =>
    send<Body>('POST', `/v1/tokens/${id}/secret`, { ...sent, body });
  const newSession = (token: string | undefined, sent: Sent = {}) =>
    send<Session>('POST', '/v1/sessions', { ...sent, basic: token ?? '' });
  const verify = (token: string | undefined, method = 'POST') =>
    send<Session>(method, '/v1/sessions/verify', { bearer: token ?? '' });
  const status = <Body = { id: string; status: string }>(id: string) => send<Body>('GET', `/v1/tokens/${id}`);

  /** Logs in, and creates a session. */
  async function signIn(user: User, device: object = {}) {
    const authentication = await bodyOf201(start(passwordLogin(user, { device })));
    const session = await bodyOf201(newSession(authentication.token));
    return { user, authentication, token: authentication.token ?? '', session };
  }

  /** The code of an authentication, from the outbox of the development provider. */
  async function codeOf(authenticationId: string): Promise<string> {
    return eventually(`the code of ${authenticationId}`, async () => {
      const filter = `authentication_id:eq:${authenticationId}`;
      const { body } = await admin<{ code: string | null; state: string }[]>('GET', `/outbox?filter=${filter}`);
      return body.find(({ state }) => state === 'sent')?.code ?? undefined;
    });
  }

  /** The first step of an SMS login, and its code. */
  async function startSms(user: User) {
    const authentication = await bodyOf201(start(smsLogin(user)));
    return { user, authentication, id: authentication.id, code: await codeOf(authentication.id) };
  }

  const lock = (user: User, body: object) => admin('POST', `/users/${user.id}/lock`, body);
  const publish = (body: unknown) => bodyOf201(admin<Notification[]>('POST', '/notifications', body));

  return {
    url,
    send,
    admin,
    createUser,
    start,
    sendSecret,
    newSession,
    verify,
    status,
    signIn,
    codeOf,
    startSms,
    lock,
    publish,
  };
}

export const passwordLogin = (user: Pick<User, 'username'>, fields: object = {}) => ({
  identity: { type: 'username', value: user.username },
  authenticator: 'password',
  secret: password,
  device: {},
  ...fields,
});
export const smsLogin = (user: Pick<User, 'phone'>, fields: object = {}) => ({
  identity: { type: 'phone', value: user.phone },
  authenticator: 'sms',
  device: {},
  ...fields,
});
export const nobody = () => ({
  username: `nobody${randomUUID()}`,
  phone: newPhone(),
});
export const wrongCode = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
/** A time that is `seconds` away, on the client's clock. */
export const timeIn = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
export const secondsBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1000;
export const codesOf = ({ body }: Answer<unknown>) => (body as Problem).errors.map(({ code }) => code);
export const fieldsOf = ({ body }: Answer<unknown>) => (body as Problem).errors.map(({ field }) => field);

/** The parts of an answer that must be equal in indistinguishable answers: all but new values. */
export function shapeOf({ status, headers, body }: Answer<unknown>) {
  const fresh = new Set([
    'destination',
    'resend_at',
    'id',
    'device_id',
    'request_id',
    'created_at',
    'updated_at',
    'expires_at',
  ]);
  const shape = JSON.stringify(body, (key, value) => (fresh.has(key) ? typeof value : value));
  const names = [...headers].map(([name, value]) =>
    /^(date|request-id|content-length)$/.test(name) ? name : `${name}: ${value}`,
  );
  return { status, shape, names };
}

/** Checks the properties of every error. */
export function expectProblem(answer: Answer<unknown>, status: number, code: string): void {
  const { headers, body, text } = answer;
  expect([answer.status, codesOf(answer)[0]], text).toEqual([status, code]);
  expect(headers.get('Content-Type')).toBe('application/problem+json; charset=utf-8');
  expect(body).toMatchObject({ type: expect.stringContaining(':'), title: expect.stringMatching(/\w/), status });
  expect(body).toMatchObject({ detail: expect.stringMatching(/\w/), request_id: headers.get('Request-ID') });
  expect(headers.get('Cache-Control')).toBe('no-store');
  expect(headers.has('WWW-Authenticate')).toBe(status === 401);
  const retry = headers.get('Retry-After');
  if ([423, 429, 503].includes(status)) expect(retry).toMatch(/^[1-9]\d*$/);
  else expect(retry).toBeNull();
}

/** Reads a Link header as published clients do: entries end at every comma, parameters at every `; `. */
export function linksOf({ headers }: Pick<Answer<unknown>, 'headers'>): Readonly<Record<string, string>> {
  const entries = (headers.get('Link') ?? '').split(',').map((entry) => entry.split('; '));
  for (const entry of entries)
    expect(entry).toEqual([expect.stringMatching(/^<\/v1\/.*>$/), expect.stringMatching(/^rel="\w+"$/)]);
  return Object.fromEntries(
    entries.map(([target = '', relation = '']) => [relation.slice(5, -1), target.slice(1, -1)]),
  );
}
