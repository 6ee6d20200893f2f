import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Changes } from '../../../../src/contract/changes.js';
import type { Notification, NotificationPage, TakenAction } from '../../../../src/contract/notification.js';
import type { InboxCounts, InboxStates } from '../../../../src/contract/notification-states.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventsOf, openStream } from '../../../support/event-stream.js';
import { queriesOf } from '../../../support/queries.js';
import { idsOf, type Reader, readersOf, some } from '../../../support/readers.js';
import { testSql } from '../../../support/sql.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { createReader, publish } = readersOf(() => postern);
const call = <Body>({ token }: Reader, method: 'GET' | 'PUT' | 'PATCH' | 'POST', path: string, options: object = {}) =>
  postern.api<Body>(method, `/v1/notifications${path}`, { bearer: token, ...options });
const list = (reader: Reader, query = '') => call<Notification[]>(reader, 'GET', `?include=extra${query}`);
const change = (reader: Reader, body: object) => call(reader, 'PATCH', '/states', { body });
const admin = (method: string, path: string, body: unknown) =>
  postern.api<Notification & ProblemAnswer>(method, `/admin/v1/notifications${path}`, {
    bearer: postern.adminKey,
    body,
  });

const order = {
  data: { order: 7, lines: [{ name: 'tea' }], nothing: null },
  url: 'https://example.com/orders/7',
  actions: [
    { key: 'accept', label: 'Accept' },
    { key: 'decline', label: 'Decline', url: 'com.example.app://orders/7' },
  ],
  expires_at: '2999-01-31T12:00:00+01:00',
};
const shownOrder = { ...order, expires_at: '2999-01-31T11:00:00.000000Z' };
const untouched = { read: false, archived: false, snoozed_until: null, action: null };
const nothing = { data: null, url: null, actions: [], expires_at: null };
const later = '2999-01-01T00:00:00.000000Z';
/** Lets a snooze or an expiry that is in the future be over. */
const end = (table: string, column: string, { user }: Reader) =>
  postern.database.query(
    testSql(`update ${table} set ${column} = db_now() - interval '1 s' where user_id = $1 and ${column} is not null`, [
      user.id,
    ]),
  );

describe('include=extra', () => {
  it('adds what the app and the user say of a notification, and changes nothing else', async () => {
    const reader = await createReader();
    const [plain, rich] = await publish(reader.user, [{}, order]);
    const before = await call<Notification[]>(reader, 'GET', '');
    expect(Object.keys(before.body[0] ?? {})).not.toContain('extra');
    expect(before.body).toEqual([rich, plain]);
    expect((await list(reader)).body).toEqual([
      { ...rich, extra: { category: 'payment', ...shownOrder, state: untouched } },
      { ...plain, extra: { category: 'payment', ...nothing, state: untouched } },
    ]);
    await change(reader, { ids: [rich?.id], read: true, archived: true, snoozed_until: later });
    const [first] = (await list(reader)).body;
    expect(first?.extra?.state).toEqual({ read: true, archived: true, snoozed_until: later, action: null });
    const after = await call<Notification[]>(reader, 'GET', '');
    expect(after.body).toEqual(before.body);
    expect(after.headers.etag).toBe(before.headers.etag);
  });

  it('is in pages and their links, in changes, and in the lists of operators', async () => {
    const reader = await createReader();
    await publish(reader.user, some(3, order));
    const page = await call<NotificationPage>(reader, 'GET', '/page?include=extra&view=inbox&limit=2');
    expect(page.body.data.map(({ extra }) => extra?.url)).toEqual([order.url, order.url]);
    expect(page.body.page).toMatchObject({ total: 3, total_is_exact: true });
    const [, next = ''] = /<([^>]*)>; rel="next"/.exec(String(page.headers.link)) ?? [];
    expect(next).toContain('include=extra&view=inbox');
    const second = await postern.api<NotificationPage>('GET', next, { bearer: reader.token });
    expect(second.body.data.map(({ sequence, extra }) => [sequence, extra?.data])).toEqual([[1, order.data]]);
    const { changes } = (await call<Changes>(reader, 'GET', '/changes?include=extra')).body;
    expect(changes.map(({ notification }) => notification?.extra?.actions)).toEqual(Array(3).fill(order.actions));
    const plain = (await call<Changes>(reader, 'GET', '/changes')).body.changes;
    expect(plain.flatMap(({ notification }) => Object.keys(notification ?? {}))).not.toContain('extra');
    const own = await postern.api<Notification[]>(
      'GET',
      `/admin/v1/users/${reader.user.id}/notifications?include=extra`,
      { bearer: postern.adminKey },
    );
    expect(own.body.map(({ extra }) => extra?.expires_at)).toEqual(Array(3).fill(shownOrder.expires_at));
  });

  it('takes one statement, as a list without it, and one more if the client has an answer already', async () => {
    const reader = await createReader();
    await publish(reader.user, some(3, order));
    await list(reader);
    const statementsOf = async (headers: Record<string, string>) =>
      (await queriesOf(() => call(reader, 'GET', '?include=extra', { headers }))).flatMap(({ name = '' }) =>
        /^(notifications_|inboxes_)/.test(name) ? name : [],
      );
    expect(await statementsOf({})).toEqual(['notifications_list_created_at_desc_extra']);
    expect(await statementsOf({ 'if-none-match': 'W/"old"' })).toEqual([
      'inboxes_state_with_extras',
      'notifications_list_created_at_desc_extra',
    ]);
  });

  it('has an ETag that each change of a state moves, and the end of a snooze and of a notification', async () => {
    const reader = await createReader();
    const [one, two] = await publish(reader.user, [{}, { expires_at: later }]);
    const tags = new Set<string>();
    const next = async () => {
      const { status, headers } = await list(reader);
      const etag = String(headers.etag);
      expect(status).toBe(200);
      expect(tags.has(etag), etag).toBe(false);
      tags.add(etag);
      const again = await call(reader, 'GET', '?include=extra', { headers: { 'if-none-match': etag } });
      expect(again.status).toBe(304);
      expect(again.headers.etag).toBe(etag);
    };
    await next();
    await change(reader, { ids: [one?.id], read: true });
    await next();
    await change(reader, { ids: [two?.id], snoozed_until: later });
    await next();
    await end('notification_states', 'snoozed_until', reader);
    await next();
    await end('notifications', 'expires_at', reader);
    await next();
    await call(reader, 'PUT', '/marker', { body: { last_read_sequence: 2 } });
    await next();
    await publish(reader.user, [{}]);
    await next();
  });

  it.each([
    ['?include=everything', 'include', 'invalid_choice'],
    ['?include=extra&include=extra', 'include', 'repeated_parameter'],
    ['?include=extra&view=all', 'view', 'invalid_choice'],
    ['?view=archived', 'include', 'required'],
    ['/changes?include=no', 'include', 'invalid_choice'],
    ['/stream?include=no', 'include', 'invalid_choice'],
  ])('refuses %s', async (path, field, code) => {
    const { status, body } = await call<ProblemAnswer>(await createReader(), 'GET', path);
    expect(status).toBe(422);
    expect(body.errors).toMatchObject([{ field, code }]);
  });
});

describe('views', () => {
  it('have each notification once: in the inbox, archived or snoozed', async () => {
    const reader = await createReader();
    const published = await publish(reader.user, some(6));
    const [one, two, three, four, five, six] = idsOf(published);
    const views = async () => {
      const answers = ['inbox', 'archived', 'snoozed'].map(async (view) => {
        const { data, page } = (await call<NotificationPage>(reader, 'GET', `/page?include=extra&view=${view}`)).body;
        expect(page.total).toBe(data.length);
        return idsOf(data);
      });
      return Promise.all(answers);
    };
    expect(await views()).toEqual([[six, five, four, three, two, one], [], []]);
    await change(reader, { filter: '', through: 2, archived: true });
    await change(reader, { ids: [one], archived: false });
    await change(reader, { ids: [six], archived: true });
    await change(reader, { ids: [five, six], snoozed_until: later });
    expect(await views()).toEqual([[four, three, one], [six, two], [five]]);
    await end('notification_states', 'snoozed_until', reader);
    expect(await views()).toEqual([[five, four, three, one], [six, two], []]);
  });

  it('leave out what has expired, as the counts do, while the list keeps it', async () => {
    const reader = await createReader();
    await publish(reader.user, [{}, { expires_at: '2001-01-01T00:00:00Z' }, { expires_at: later }]);
    expect((await list(reader, '&view=inbox')).body.map(({ sequence }) => sequence)).toEqual([3, 1]);
    expect((await call<InboxCounts>(reader, 'GET', '/counts')).body).toMatchObject({ unread: 2, unseen: 2 });
    expect((await list(reader)).body).toHaveLength(3);
  });

  it('can be filtered, sorted and counted exactly', async () => {
    const reader = await createReader();
    await publish(reader.user, [...some(2), { notification_type: 'pool' }, ...some(1)]);
    await change(reader, { filter: '', through: 3, archived: true });
    const path = '?include=extra&view=archived&sort=created_at:asc&filter=notification_type:payment';
    const { body, headers } = await call<Notification[]>(reader, 'GET', path, { headers: { prefer: 'count=exact' } });
    expect(body.map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(headers['total-count'] ?? headers['x-total-count']).toBe('2');
  });
});

describe('streams with include=extra', () => {
  it('send notifications with their state, and an event for each change of states', async () => {
    const reader = await createReader();
    const [old] = await publish(reader.user, some(1));
    const open = (query = {}) => openStream(postern.url, { bearer: reader.token, query });
    const [plain, extended] = [await open(), await open({ include: 'extra' })];
    const [sent] = await publish(reader.user, [order]);
    const [received] = await eventsOf<Notification>(extended, 'message', 1);
    expect(received).toEqual({ ...sent, extra: { category: 'payment', ...shownOrder, state: untouched } });
    expect(await eventsOf<Notification>(plain, 'message', 1)).toEqual([sent]);
    await change(reader, { ids: [old?.id], read: true });
    const [first] = await eventsOf<InboxStates>(extended, 'state', 1);
    expect(first).toMatchObject({ states: [{ id: old?.id, read: true }], marker: { unread_count: 1 } });
    await change(reader, { filter: '', through: 9, archived: true });
    const [, second] = await eventsOf<InboxStates>(extended, 'state', 2);
    expect(second).toMatchObject({ states: [], archived_through: 2, has_more: false });
    const rest = await call<InboxStates>(reader, 'GET', `/states?after=${second?.after}`);
    expect(rest.body.states).toEqual([]);
    await call(reader, 'PUT', '/marker', { body: { last_read_sequence: 2 } });
    await eventsOf(plain, 'marker', 1);
    expect(plain.events.map(({ event }) => event)).not.toContain('state');
    expect(extended.text).not.toMatch(/event: state\nid:/);
  });
});

describe('actions', () => {
  const act = (reader: Reader, id: string | undefined, key: string) =>
    call<TakenAction & ProblemAnswer>(reader, 'POST', `/${id}/actions/${key}`);

  it('are chosen once, and mark the notification as read', async () => {
    const reader = await createReader();
    const [one, two] = await publish(reader.user, [order, {}]);
    const first = await act(reader, one?.id, 'accept');
    expect(first).toMatchObject({ status: 200, body: { key: 'accept' } });
    expect(await act(reader, one?.id.toUpperCase(), 'accept')).toMatchObject({ status: 200, body: first.body });
    expect(await act(reader, one?.id, 'decline')).toMatchObject({
      status: 409,
      body: { errors: [{ code: 'action_taken' }] },
    });
    const { state } = (await list(reader)).body[1]?.extra ?? {};
    expect(state).toEqual({ ...untouched, read: true, action: first.body });
    expect((await call<InboxStates>(reader, 'GET', '/states')).body.states).toMatchObject([{ action: first.body }]);
    expect((await call<InboxCounts>(reader, 'GET', '/counts')).body.unread).toBe(1);
    for (const [id, key] of [
      [one?.id, 'other'],
      [two?.id, 'accept'],
      [crypto.randomUUID(), 'accept'],
    ]) {
      expect((await act(reader, id, key ?? '')).status, `${id} ${key}`).toBe(404);
    }
  });

  it('belong to the user, and end with the notification', async () => {
    const [reader, other] = [await createReader(), await createReader()];
    const [one] = await publish(reader.user, [order]);
    expect((await act(other, one?.id, 'accept')).status).toBe(404);
    await end('notifications', 'expires_at', reader);
    expect(await act(reader, one?.id, 'accept')).toMatchObject({
      status: 409,
      body: { errors: [{ code: 'notification_expired' }] },
    });
  });

  it('of parallel requests, one is chosen', async () => {
    const reader = await createReader();
    const [one] = await publish(reader.user, [order]);
    const keys = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? 'accept' : 'decline'));
    const answers = await Promise.all(keys.map((key) => act(reader, one?.id, key)));
    const chosen = answers.filter(({ status }) => status === 200);
    expect(chosen).toHaveLength(5);
    expect(new Set(chosen.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
  });
});

describe('what an app adds', () => {
  it('is changed member by member', async () => {
    const reader = await createReader();
    const [one] = await publish(reader.user, [order]);
    const extra = async (body: object) => {
      expect((await admin('PATCH', `/${one?.id}`, body)).status).toBe(200);
      const { category: _, state: __, ...members } = (await list(reader)).body[0]?.extra ?? {};
      return members;
    };
    expect(await extra({ url: 'https://example.com/b' })).toEqual({ ...shownOrder, url: 'https://example.com/b' });
    expect(await extra({ data: null, expires_at: null })).toEqual({
      ...{ ...nothing, actions: order.actions, url: 'https://example.com/b' },
    });
    expect(await extra({ url: null, actions: [] })).toEqual(nothing);
    expect(await extra({ data: { a: null } })).toEqual({ ...nothing, data: { a: null } });
  });

  it.each<[string, object, string, string]>([
    ['data that is no object', { data: [] }, 'data', 'invalid_type'],
    ['8 KB of data', { data: { a: 'é'.repeat(4096) } }, 'data', 'too_many_bytes'],
    ['a number that a double rounds', { data: { a: [{ b: 2 ** 53 }] } }, 'data', 'inexact_number'],
    [
      'a fourth action',
      { actions: [1, 2, 3, 4].map((n) => ({ key: `a${n}`, label: 'x' })) },
      'actions',
      'too_many_items',
    ],
    [
      'the same key twice',
      { actions: [1, 2].map(() => ({ key: 'a', label: 'x' })) },
      'actions.1.key',
      'duplicate_items',
    ],
    ['a key in capitals', { actions: [{ key: 'A', label: 'x' }] }, 'actions.0.key', 'invalid_format'],
    ['an action without a label', { actions: [{ key: 'a', label: '' }] }, 'actions.0.label', 'required'],
    [
      'a link of an action that runs code',
      { actions: [{ key: 'a', label: 'x', url: 'javascript:1' }] },
      'actions.0.url',
      'invalid_url',
    ],
    ['no time', { expires_at: 'tomorrow' }, 'expires_at', 'invalid_time'],
  ])('is refused with %s', async (_, members, field, code) => {
    const { user } = await createReader();
    const body = { user_id: user.id, notification_type: 'payment', description: 'x', ...members };
    const answer = await admin('POST', '', body);
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toMatchObject([{ field, code }]);
    const many = await admin('POST', '', [body]);
    expect(many.body.errors).toMatchObject([{ field: `0.${field}`, code }]);
  });

  it.each([
    'http://example.com/',
    'javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'myapp://x',
    'https://user:secret@example.com/',
    'https:example.com',
    '//example.com',
    '/relative',
    ' https://example.com/',
    'https://example.com/\u202Egnp',
    'https:\\\\example.com',
    'x',
  ])('has no link to %s', async (url) => {
    const { user } = await createReader();
    const { status, body } = await admin('POST', '', {
      ...{ user_id: user.id, notification_type: 'payment', description: 'x', url },
    });
    expect(status).toBe(422);
    expect(body.errors).toMatchObject([{ field: 'url', code: 'invalid_url' }]);
  });
});
