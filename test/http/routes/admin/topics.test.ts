import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../../../src/contract/administration.js';
import type { Topic } from '../../../../src/contract/topic.js';
import { createAdministration } from '../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { openLineStream, type ResultLine } from '../../../support/ndjson-stream.js';
import { raceRounds } from '../../../support/rounds.js';
import { testSql } from '../../../support/sql.js';
import { createUser, newEmail } from '../../../support/users.js';
import { startWebhookReceiver } from '../../../support/webhook-receiver.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ ALLOW_PRIVATE_NETWORK_TARGETS: 'true' });
});
afterAll(() => postern.close());

const { admin, refused } = createAdministration(() => postern);
let nth = 0;
function newKey(): string {
  nth += 1;
  return `club.${nth}`;
}
const put = (key: string, body: object = { title: 'Chess club' }) => admin<Topic>('PUT', `/topics/${key}`, body);
async function newTopic(body?: object): Promise<string> {
  const key = newKey();
  expect((await put(key, body)).status).toBe(201);
  return key;
}
async function subscribe(key: string, lines: readonly unknown[]): Promise<ResultLine[]> {
  const stream = openLineStream(postern, { path: `/admin/v1/topics/${key}/subscriptions` });
  await stream.send(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  stream.end();
  return stream.rest();
}
async function subscribers(key: string): Promise<string[]> {
  const rows = await postern.database.query<{ user_id: string }>(
    testSql(`select user_id from subscriptions s join topics t on t.id = s.topic_id where t.key = $1 order by 1`, [
      key,
    ]),
  );
  return rows.map(({ user_id }) => user_id);
}
const newUsers = async (count: number) =>
  (await Promise.all(Array.from({ length: count }, () => createUser(postern)))).map(({ id }) => id).sort();

describe('a topic', () => {
  test('is created, changed, listed and deleted, and the events say so', async () => {
    const key = newKey();
    const created = await put(key);
    expect(created).toMatchObject({ status: 201, body: { key, title: 'Chess club', is_open: false } });
    expect(await put(key)).toMatchObject({ status: 200, body: created.body });
    const changed = await put(key, { title: 'Chess', is_open: true });
    expect(changed).toMatchObject({ status: 200, body: { key, title: 'Chess', is_open: true } });
    expect((await admin('GET', `/topics/${key}`)).body).toEqual(changed.body);
    expect((await admin('GET', `/topics?filter=key:eq:${key}`)).body).toEqual([changed.body]);
    expect((await admin('GET', `/topics?filter=key:eq:${key},is_open:false`)).body).toEqual([]);
    expect((await admin('DELETE', `/topics/${key}`)).status).toBe(204);
    expect((await admin('GET', `/topics?filter=key:eq:${key}`)).body).toEqual([]);
    const { body: events } = await admin<Event[]>(
      'GET',
      '/events?filter=type:in:topic.created;topic.changed;topic.deleted&limit=3',
    );
    expect(events.map(({ type, data }) => [type, data.topic])).toEqual([
      ['topic.deleted', key],
      ['topic.changed', key],
      ['topic.created', key],
    ]);
  });

  test('has a key as a category has a name, and a title', async () => {
    const invalid = { status: 422, errors: [['key', 'invalid_format']] };
    for (const key of ['Club', '1club', 'a%20b', `a${'b'.repeat(64)}`]) {
      expect(await refused('PUT', `/topics/${key}`, { title: 'Club' })).toEqual(invalid);
    }
    expect(await refused('PUT', '/topics/club', {})).toEqual({ status: 422, errors: [['title', 'required']] });
    const tooLong = { title: 't'.repeat(256) };
    expect(await refused('PUT', '/topics/club', tooLong)).toEqual({ status: 422, errors: [['title', 'too_long']] });
  });

  test('that does not exist is 404 unknown_topic in every path', async () => {
    const [user] = await newUsers(1);
    for (const [method, path] of [
      ['GET', '/topics/nothing'],
      ['DELETE', '/topics/nothing'],
      ['PUT', `/topics/nothing/subscriptions/${user}`],
      ['DELETE', `/topics/nothing/subscriptions/${user}`],
    ] as const) {
      const { status, body } = await admin<ProblemAnswer>(method, path);
      expect([status, body.errors[0]?.code]).toEqual([404, 'unknown_topic']);
    }
    const stream = openLineStream(postern, { path: '/admin/v1/topics/nothing/subscriptions' });
    stream.end();
    expect((await stream.response).statusCode).toBe(404);
  });

  test('with the key of a deleted one begins without subscriptions', async () => {
    const key = await newTopic();
    const users = await newUsers(1);
    await subscribe(
      key,
      users.map((id) => ({ user_id: id })),
    );
    await admin('DELETE', `/topics/${key}`);
    await put(key);
    expect(await subscribers(key)).toEqual([]);
  });

  test('is one of 10,000 at most, also for parallel requests', async () => {
    const fill = `insert into topics (id, key, title, is_open, created_at, updated_at)
      select gen_random_uuid(), 'filler.' || n, '', false, db_now(), db_now()
      from generate_series(1, 9998 - (select count(*) from topics where key is not null)) n`;
    await postern.database.query(testSql(fill));
    const answers = await Promise.all(Array.from({ length: 6 }, () => put(newKey())));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409]);
    await postern.database.query(testSql(`delete from topics where key like 'filler.%'`));
  });
});

describe('subscriptions', () => {
  test('of any number are changed by lines, and a bad line fails alone', async () => {
    const key = await newTopic();
    const email = newEmail();
    const named = await createUser(postern, { email, external_id: `crm-${nth}` });
    const [ann = '', bob = ''] = await newUsers(2);
    expect(await subscribe(key, [{ user_id: ann }, { user_id: bob }])).toEqual([
      { line: 1, status: 200 },
      { line: 2, status: 200 },
    ]);
    const results = await subscribe(key, [
      { user_id: ann },
      { user_id: bob, remove: true },
      { user_id: bob, remove: true },
      'no json',
      { user_id: randomUUID() },
      { user_id: `external:crm-${nth}` },
      { user_id: 'external:nobody' },
      {},
      { user_id: randomUUID(), remove: true },
    ]);
    expect(results.map(({ status, errors }) => [status, errors?.[0]?.code])).toEqual([
      [200, undefined],
      [200, undefined],
      [200, undefined],
      [400, 'malformed_json'],
      [422, 'unknown_user'],
      [200, undefined],
      [422, 'unknown_user'],
      [422, 'required'],
      [422, 'unknown_user'],
    ]);
    expect(await subscribers(key)).toEqual([ann, named.id].sort());
  });

  test('of one user: the last line of a chunk holds', async () => {
    const key = await newTopic();
    const [ann = ''] = await newUsers(1);
    await subscribe(key, [{ user_id: ann }, { user_id: ann, remove: true }]);
    expect(await subscribers(key)).toEqual([]);
    await subscribe(key, [{ user_id: ann, remove: true }, { user_id: ann.toUpperCase() }]);
    expect(await subscribers(key)).toEqual([ann]);
  });

  test('are put and deleted one by one, as often as one likes', async () => {
    const key = await newTopic();
    const [ann = ''] = await newUsers(1);
    const path = `/topics/${key}/subscriptions/${ann}`;
    for (const [method, after] of [
      ['PUT', [ann]],
      ['PUT', [ann]],
      ['DELETE', []],
      ['DELETE', []],
    ] as const) {
      expect((await admin(method, path)).status).toBe(204);
      expect(await subscribers(key)).toEqual(after);
    }
    expect((await admin('PUT', `/topics/${key}/subscriptions/${randomUUID()}`)).status).toBe(404);
  });

  test('that requests change at the same time in different orders all answer', async () => {
    const key = await newTopic();
    const users = await newUsers(20);
    for (let round = 0; round < raceRounds; round += 1) {
      const lines = users.map((id, index) => ({ user_id: id, remove: (index + round) % 2 === 0 }));
      const opposite = lines.map((line) => ({ ...line, remove: !line.remove })).reverse();
      const results = await Promise.all(
        [lines, opposite, lines.toReversed(), opposite].map((each) => subscribe(key, each)),
      );
      expect(new Set(results.flat().map(({ status }) => status))).toEqual(new Set([200]));
    }
  });

  test('end with their user', async () => {
    const key = await newTopic();
    const [ann = '', bob = ''] = await newUsers(2);
    await subscribe(key, [{ user_id: ann }, { user_id: bob }]);
    await admin('DELETE', `/users/${ann}`);
    await eventually('the erasure', async () => (await subscribers(key)).length === 1 || undefined);
    expect(await subscribers(key)).toEqual([bob]);
  });

  test('are in the export of the user', async () => {
    const key = await newTopic();
    const [ann = ''] = await newUsers(1);
    await subscribe(key, [{ user_id: ann }]);
    const { body } = await admin<{ subscriptions: object[] }>('GET', `/users/${ann}/export`);
    expect(body.subscriptions).toMatchObject([{ topic: key, created_at: expect.any(String) }]);
  });

  test('are events of webhooks and of the audit log, without those that change nothing', async () => {
    const receiver = await startWebhookReceiver();
    await admin('POST', '/webhooks', { url: receiver.url, events: ['topic.*'] });
    const key = await newTopic();
    const [ann = ''] = await newUsers(1);
    for (const line of [{}, {}, { remove: true }, { remove: true }]) await subscribe(key, [{ user_id: ann, ...line }]);
    await admin('DELETE', `/topics/${key}`);
    // A webhook may come twice.
    const received = () => [
      ...new Set(
        receiver.received.map(({ type, data }) => [type, data.topic, data.user_id === ann ? 'the user' : ''].join(' ')),
      ),
    ];
    await eventually('the events', async () => received().length >= 4 || undefined);
    expect(received().sort()).toEqual([
      ...[`topic.created ${key} `, `topic.deleted ${key} `],
      ...[`topic.subscribed ${key} the user`, `topic.unsubscribed ${key} the user`],
    ]);
    await receiver.close();
    const { body: events } = await admin<Event[]>('GET', '/events?filter=type:topic.subscriptions_changed&limit=2');
    expect(events.map(({ data }) => data)).toEqual([
      { topic: key, subscribed: 0, unsubscribed: 1 },
      { topic: key, subscribed: 1, unsubscribed: 0 },
    ]);
  });
});
