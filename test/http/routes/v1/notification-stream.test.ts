import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { stepClock } from '../../../support/clock.js';
import { type EventStream, endOf, eventsOf, openStream, type StreamOptions } from '../../../support/event-stream.js';
import { eventually } from '../../../support/eventually.js';
import { createTestNotifications, publishAll } from '../../../support/inbox.js';
import { idsOf, type Reader, readersOf, some } from '../../../support/readers.js';
import { testSql } from '../../../support/sql.js';
import { createUser, signIn } from '../../../support/users.js';

let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', CORS_ORIGINS: 'https://app.example.com' });
  other = await postern.another();
});
afterAll(async () => {
  await other.close();
  await postern.close();
});

const { createReader, publish } = readersOf(() => postern);

const patch = (id: string | undefined, body: object) =>
  postern.api<Notification>('PATCH', `/admin/v1/notifications/${id}`, { bearer: postern.adminKey, body });
const remove = (id: string | undefined) =>
  postern.api('DELETE', `/admin/v1/notifications/${id}`, { bearer: postern.adminKey });

const open = (reader: Reader, options: Omit<StreamOptions, 'bearer'> = {}, instance = postern) =>
  openStream(instance.url, { bearer: reader.token, ...options });
const received = (stream: EventStream, count: number) => eventsOf<Notification>(stream, 'message', count);

describe('a stream of notifications', () => {
  it('sends new notifications in the form of the list, with the change sequence as id', async () => {
    const reader = await createReader();
    await publish(reader.user, some(2));
    const stream = await open(reader);
    expect(stream.status).toBe(200);
    const published = await publish(reader.user, some(3, { actor: 'A\nB\r\u2028"é😀', object_data_number: 0.1 }));
    expect(await received(stream, 3)).toEqual(published);
    const { body } = await postern.api<Notification[]>('GET', '/v1/notifications?limit=3', { bearer: reader.token });
    expect(await received(stream, 3)).toEqual(body.toReversed());
    expect(stream.events.map(({ id }) => id)).toEqual(['3', '4', '5']);
  });

  it('has the headers of every response, and headers against buffering by proxies', async () => {
    const stream = await open(await createReader(), { headers: { origin: 'https://app.example.com' } });
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': 'https://app.example.com',
      vary: 'Origin, Accept',
      'request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(stream.headers).not.toHaveProperty('content-length');
  });

  it('starts with a comment, the time to wait before reconnecting, and the id to reconnect with', async () => {
    const reader = await createReader();
    await publish(reader.user, some(2));
    const stream = await open(reader);
    await eventually('the beginning', async () => (stream.text === '' ? undefined : true));
    expect(stream.text).toMatch(/^:\nretry: \d+\nid: 2\n\n$/);
    expect(stream.retry).toBeGreaterThanOrEqual(1000);
    expect(stream.retry).toBeLessThanOrEqual(3000);
  });

  it('continues where an earlier one stopped, on another instance', async () => {
    const reader = await createReader();
    const first = await open(reader);
    const seen = await publish(reader.user, some(2));
    expect(await received(first, 2)).toEqual(seen);
    first.destroy();
    const missed = await publish(reader.user, some(150));
    const second = await open(reader, { lastEventId: first.lastEventId }, other);
    expect(await received(second, 150)).toEqual(missed);
    const live = await publish(reader.user, some(1));
    expect((await received(second, 151)).slice(150)).toEqual(live);
  });

  it('sends everything from the start after id 0', async () => {
    const reader = await createReader();
    const published = await publish(reader.user, some(3));
    await remove((await publish(reader.user, some(1)))[0]?.id);
    const stream = await open(reader, { lastEventId: '0' });
    expect(await received(stream, 3)).toEqual(published);
    expect(await received(stream, 3).then(() => stream.events.map(({ event }) => event))).not.toContain('reset');
  });

  it('sends changes with a new id, and deletions', async () => {
    const reader = await createReader();
    const [one, two] = await publish(reader.user, some(2));
    const stream = await open(reader);
    const { body: changed } = await patch(one?.id, { actor: 'Ann' });
    await remove(two?.id);
    expect(await received(stream, 1)).toEqual([changed]);
    expect(await eventsOf(stream, 'deleted', 1)).toEqual([{ id: two?.id, sequence: 2 }]);
    expect(stream.events.map(({ id }) => id)).toEqual(['3', '4']);
  });

  it("never sends another user's notifications", async () => {
    const [ann, bob] = [await createReader(), await createReader()];
    const stream = await open(ann, { lastEventId: '0', query: { filter: `user_id:in:${ann.user.id};${bob.user.id}` } });
    await publish(bob.user, some(3));
    const own = await publish(ann.user, some(1));
    expect(await received(stream, 1)).toEqual(own);
  });

  it('sends the same to two clients of a user, on two instances', async () => {
    const reader = await createReader();
    const streams = [await open(reader), await open(reader, {}, other), await open(reader)];
    const published = await publish(reader.user, some(5));
    for (const stream of streams) expect(await received(stream, 5)).toEqual(published);
  });

  it('finds notifications whose signal was lost', async () => {
    const reader = await createReader();
    const stream = await open(reader);
    const { database } = postern;
    // These notifications are published without a signal to the streams.
    const notifications = createTestNotifications(database);
    const input = { user_id: reader.user.id, notification_type: 'payment', description: 'unannounced' };
    expect(await received(stream, 0)).toEqual([]);
    const published = await publishAll({ database, notifications }, [input, input]);
    expect(await received(stream, 2)).toEqual(published);
  });

  it('ignores a refused publication', async () => {
    const reader = await createReader();
    const stream = await open(reader);
    const refused = await postern.api('POST', '/admin/v1/notifications', {
      bearer: postern.adminKey,
      body: [
        { user_id: reader.user.id, notification_type: 'payment', description: 'x' },
        { user_id: reader.user.id, notification_type: 'nothing', description: 'x' },
      ],
    });
    expect(refused.status).toBe(422);
    const published = await publish(reader.user, some(1));
    expect(await received(stream, 1)).toEqual(published);
  });
});

describe('filter', () => {
  it('skips notifications that do not match, but their ids still advance the stream', async () => {
    const reader = await createReader();
    const stream = await open(reader, { query: { filter: 'notification_type:pool' } });
    await publish(reader.user, some(3));
    const pools = await publish(reader.user, some(1, { notification_type: 'pool' }));
    expect(await received(stream, 1)).toEqual(pools);
    expect(stream.lastEventId).toBe('4');
  });

  it('is refused with an ordinary problem if it is invalid', async () => {
    const { token } = await createReader();
    const headers = { accept: 'text/event-stream' };
    const path = '/v1/notifications?filter=colour:red&since=yesterday&sort=x&page=x&limit=0&mark=x';
    const { status, body } = await postern.api<ProblemAnswer>('GET', path, { bearer: token, headers });
    expect([status, body.errors.map(({ field }) => field)]).toEqual([422, ['sort', 'since', 'filter']]);
  });
});

describe('since', () => {
  it('sends notifications created after it, in order, and then everything new', async () => {
    const reader = await createReader();
    const [one, two, three] = await publish(reader.user, some(3));
    await patch(one?.id, { actor: 'before' });
    const stream = await open(reader, { query: { since: one?.created_at ?? '', page: '7', limit: 'x' } });
    expect(idsOf(await received(stream, 2))).toEqual(idsOf([two, three].filter((item) => item !== undefined)));
    const { body: changed } = await patch(one?.id, { actor: 'after' });
    expect((await received(stream, 3))[2]).toEqual(changed);
  });

  it('with updated_at also sends notifications changed after it', async () => {
    const reader = await createReader();
    const [one, , three] = await publish(reader.user, some(3));
    const { body: changed } = await patch(one?.id, { actor: 'x' });
    const since = three?.created_at ?? '';
    const stream = await open(reader, { query: { since, sort: 'updated_at' } });
    expect(await received(stream, 1)).toEqual([changed]);
    const all = await open(reader, { query: { since: '2000-01-01 00:00:00', sort: 'updated_at:asc' } });
    expect(idsOf(await received(all, 3)).at(-1)).toBe(one?.id);
  });

  it('is ignored if the request has the id of an earlier stream', async () => {
    const reader = await createReader();
    const published = await publish(reader.user, some(4));
    const stream = await open(reader, { query: { since: '2000-01-01 00:00:00' }, lastEventId: '3' });
    expect(await received(stream, 1)).toEqual(published.slice(3));
  });
});

describe('an id from which a stream cannot continue', () => {
  it.each(['x', '-1', '1.5', '9'.repeat(16), '1, 2'])('is refused: %s', async (lastEventId) => {
    const { token } = await createReader();
    const headers = { accept: 'text/event-stream', 'last-event-id': lastEventId };
    const { status, body } = await postern.api<ProblemAnswer>('GET', '/v1/notifications', { bearer: token, headers });
    expect([status, body.errors[0]?.field]).toEqual([422, 'Last-Event-ID']);
  });

  it.each([
    ['is older than the known deletions', 3],
    ['is beyond the inbox, after a restored backup', 9],
  ])('resets the client if it %s', async (_why, lastEventId) => {
    const reader = await createReader();
    await publish(reader.user, some(5));
    await postern.database.query(
      testSql('update inboxes set forgotten_change_sequence = 4 where user_id = $1', [reader.user.id]),
    );
    const stream = await open(reader, { lastEventId: `${lastEventId}` });
    expect(await eventsOf(stream, 'reset', 1)).toEqual([{ after: '5' }]);
    expect(stream.lastEventId).toBe('5');
    const live = await publish(reader.user, some(1));
    expect(await received(stream, 1)).toEqual(live);
  });

  it('resets a connected client too, if an older inbox is restored', async () => {
    const reader = await createReader();
    await publish(reader.user, some(5));
    const stream = await open(reader);
    await postern.database.query(
      testSql('update inboxes set last_change_sequence = 3 where user_id = $1', [reader.user.id]),
    );
    expect(await eventsOf(stream, 'reset', 1)).toEqual([{ after: '3' }]);
  });
});

describe('the Accept header', () => {
  it.each([
    ['text/event-stream', true],
    ['text/event-stream, */*;q=0.1', true],
    ['application/json, text/event-stream', true],
    ['TEXT/Event-Stream;q=0.9, application/json;q=0.5', true],
    ['text/event-stream;q=0.5, application/json', false],
    ['text/event-stream;q=0.5, */*', false],
    ['text/event-stream;q=0', false],
    ['text/*', false],
    ['*/*', false],
    ['application/json', false],
    ['text/event-stream-of-mine', false],
  ])('%s causes a stream: %s', async (accept, isStream) => {
    const answer = await open(await createReader(), { headers: { accept } });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe(
      isStream ? 'text/event-stream; charset=utf-8' : 'application/json; charset=utf-8',
    );
    expect(answer.headers.vary).toBe('Origin, Accept');
    answer.destroy();
  });

  it('has no effect on a HEAD request, and a request without a session gets an ordinary 401', async () => {
    const { token } = await createReader();
    const headers = { accept: 'text/event-stream' };
    const head = await postern.api('HEAD', '/v1/notifications', { bearer: token, headers });
    expect([head.status, head.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    const refused = await postern.api('GET', '/v1/notifications', { headers });
    expect([refused.status, refused.headers['content-type']]).toEqual([401, 'application/problem+json; charset=utf-8']);
  });
});

describe('the limit of streams of a user', () => {
  it('refuses further streams, also in parallel, until one ends', async () => {
    const reader = await createReader();
    const streams = await Promise.all(Array.from({ length: 30 }, () => open(reader)));
    const statuses = streams.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    const headers = { accept: 'text/event-stream' };
    const refused = await postern.api<ProblemAnswer>('GET', '/v1/notifications', { bearer: reader.token, headers });
    expect([refused.status, refused.body.errors[0]?.code]).toEqual([429, 'too_many_streams']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);

    expect((await open(await createReader())).status).toBe(200);
    streams.find(({ status }) => status === 200)?.destroy();
    await eventually('room for one more', async () => ((await open(reader)).status === 200 ? true : undefined));
    for (const stream of streams) stream.destroy();
  });

  it('does not count streams that were refused for another reason', async () => {
    const reader = await createReader();
    for (let n = 0; n < 25; n += 1) expect((await open(reader, { lastEventId: 'x' })).status).toBe(422);
    expect((await open(reader)).status).toBe(200);
  });
});

describe('a session that ends', () => {
  it('is announced, and ends the stream', async () => {
    const { session } = await signIn(postern, await createUser(postern));
    const stream = await openStream(postern.url, { bearer: session.token });
    onTestFinished(() => stepClock(postern.database, '0 minutes'));
    // Sessions last for 15 minutes, and 30 seconds before their end the client is warned.
    await stepClock(postern.database, '14 minutes 35 seconds');
    expect(await eventsOf(stream, 'session_expiring', 1)).toEqual([{ expires_at: session.expires_at }]);
    expect(stream.end).toBeUndefined();
    await stepClock(postern.database, '15 minutes');
    expect(await endOf(stream)).toBe('ended');
    expect(stream.events).toHaveLength(1);
    expect((await openStream(postern.url, { bearer: session.token })).status).toBe(401);
  });
});
