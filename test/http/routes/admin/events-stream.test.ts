import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, IssuedApiKey } from '../../../../src/contract/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { type EventStream, endOf, eventsOf, openStream } from '../../../support/event-stream.js';
import { eventually } from '../../../support/eventually.js';
import { signInWithRole } from '../../../support/operators.js';
import { createUser, signIn } from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({}, { streamTimes: { checkIntervalMs: 50 } });
});
afterAll(() => postern.close());

const path = '/admin/v1/events';

interface OpenOptions {
  readonly query?: Readonly<Record<string, string>>;
  readonly bearer?: string;
  readonly lastEventId?: string;
  readonly app?: TestApp;
}
const open = ({ query = {}, bearer = postern.adminKey, lastEventId, app = postern }: OpenOptions = {}) =>
  openStream(app.url, { path, query, bearer, ...(lastEventId !== undefined && { lastEventId }) });
const received = (stream: EventStream, count: number) => eventsOf<Event>(stream, 'message', count);
const issueKey = async (scopes: readonly string[]) => {
  const body = { name: 'stream', scopes };
  return (await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', { bearer: postern.adminKey, body })).body;
};

describe('GET /admin/v1/events with the header Accept: text/event-stream', () => {
  test('streams new events of all users as the list shows them, with names and changes', async () => {
    const stream = await open();
    expect(stream.status).toBe(200);
    expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(stream.headers['cache-control']).toBe('no-store, no-transform');
    const ada = await createUser(postern, { name: 'Ada Lovelace' });
    const grace = await createUser(postern, { name: 'Grace Hopper' });
    await signIn(postern, grace);
    const events = await eventually('the login', async () => {
      const all = stream.events.map(({ data }) => JSON.parse(data) as Event);
      return all.some(({ type }) => type === 'login.approved') ? all : undefined;
    });
    for (const user of [ada, grace]) {
      const { body } = await postern.api<Event[]>('GET', `${path}?filter=user_id:${user.id}&sort=created_at:asc`, {
        bearer: postern.adminKey,
      });
      expect(body.length).toBeGreaterThan(0);
      expect(events.filter(({ user_id }) => user_id === user.id)).toEqual(body);
    }
    stream.destroy();
  });

  test('continues after Last-Event-ID on another instance, and at /stream', async () => {
    const other = await postern.another();
    const stream = await open({ query: { filter: 'type:user.created' } });
    const first = await createUser(postern);
    const [event] = await received(stream, 1);
    expect(event?.user_id).toBe(first.id);
    stream.destroy();
    const users = await Promise.all([createUser(postern), createUser(other), createUser(postern)]);
    const resumed = await openStream(other.url, {
      ...{ path: `${path}/stream`, query: { filter: 'type:user.created' }, bearer: postern.adminKey },
      lastEventId: stream.lastEventId,
    });
    const events = await received(resumed, 3);
    expect(events.map(({ user_id }) => user_id).sort()).toEqual(users.map(({ id }) => id).sort());
    const last = await createUser(postern);
    expect((await received(resumed, 4)).at(-1)?.user_id).toBe(last.id);
    resumed.destroy();
    await other.close();
  });

  test('has the events of all instances, each once, while they write at the same time', async () => {
    const other = await postern.another();
    const streams = await Promise.all([open(), open({ app: other })]);
    const users = await Promise.all(Array.from({ length: 60 }, (_, n) => createUser(n % 2 === 0 ? postern : other)));
    const ids = users.map(({ id }) => id).sort();
    for (const stream of streams) {
      const events = await received(stream, 60);
      expect(events.map(({ user_id }) => user_id).sort()).toEqual(ids);
      stream.destroy();
    }
    await other.close();
  });

  test('has only the events that match the filter', async () => {
    const user = await createUser(postern);
    const stream = await open({ query: { filter: `user_id:${user.id},type:in:user.locked;user.unlocked` } });
    await createUser(postern);
    await postern.api('POST', `/admin/v1/users/${user.id}/lock`, {
      ...{ bearer: postern.adminKey, body: { permanent: true } },
    });
    await postern.api('POST', `/admin/v1/users/${user.id}/unlock`, { bearer: postern.adminKey });
    const events = await received(stream, 2);
    expect(events.map(({ type }) => type)).toEqual(['user.locked', 'user.unlocked']);
    stream.destroy();
  });

  test('ends when its API key is revoked', async () => {
    const key = await issueKey(['admin']);
    const stream = await open({ bearer: key.token });
    await postern.api('DELETE', `/admin/v1/keys/${key.id}`, { bearer: postern.adminKey });
    expect(await endOf(stream)).toBe('ended');
  });

  test.each([
    ['the operator loses the role', (id: string) => ['PATCH', `/admin/v1/users/${id}`, { role: 'support' }] as const],
    ['the operator is logged out', (id: string) => ['POST', `/admin/v1/users/${id}/logout`, {}] as const],
    ['the operator is deleted', (id: string) => ['DELETE', `/admin/v1/users/${id}`, undefined] as const],
  ])('ends when %s', async (_, requestOf) => {
    const operator = await signInWithRole(postern, 'operator');
    const stream = await open({ bearer: operator.bearer });
    expect(stream.status).toBe(200);
    const [method, url, body] = requestOf(operator.user.id);
    const { status } = await postern.api(method, url, { bearer: postern.adminKey, ...(body && { body }) });
    expect(status).toBeLessThan(300);
    expect(await endOf(stream)).toBe('ended');
  });

  test('needs the scope admin', async () => {
    const key = await issueKey(['users:read']);
    expect((await open({ bearer: key.token })).status).toBe(403);
    const support = await signInWithRole(postern, 'support');
    expect((await open({ bearer: support.bearer })).status).toBe(403);
    expect((await open({ bearer: 'psk_nothing' })).status).toBe(401);
  });

  test.each([
    ['a filter of an unknown field', { query: { filter: 'color:red' } }],
    ['an unknown parameter', { query: { colour: 'red' } }],
    ['an id of another stream', { lastEventId: '17' }],
    ['an id with control characters', { lastEventId: 'a\tb' }],
  ])('refuses %s', async (_, options) => {
    expect((await open(options)).status).toBe(422);
  });

  test('a request without this header gets the list, and so does a HEAD request with it', async () => {
    const { body, headers } = await postern.api<Event[]>('GET', `${path}?limit=1`, { bearer: postern.adminKey });
    expect(body).toHaveLength(1);
    expect(headers.vary).toContain('Accept');
    const head = await fetch(`${postern.url}${path}`, {
      method: 'HEAD',
      headers: { accept: 'text/event-stream', authorization: `Bearer ${postern.adminKey}` },
    });
    expect(head.status).toBe(200);
    expect(head.headers.get('content-type')).toContain('application/json');
  });
});
