import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, IssuedApiKey } from '../../../../src/contract/administration.js';
import type { Changes } from '../../../../src/contract/changes.js';
import type { Notification } from '../../../../src/contract/notification.js';
import type { Publication } from '../../../../src/contract/publication.js';
import { createAdministration } from '../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { raceRounds } from '../../../support/rounds.js';
import { testSql } from '../../../support/sql.js';
import { createUser, newEmail, signIn } from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { admin, refused } = createAdministration(() => postern);
const notification = { notification_type: 'request', description: 'The tournament begins on Friday' };
type Answer = Publication & Pick<ProblemAnswer, 'errors'> & { publication?: { id: string; status: string } };
const publish = (to: object, more: object = {}, options: object = {}) =>
  admin<Answer>('POST', '/publications', { to, notification, ...more }, options);
const get = async (id: string) => (await admin<Publication>('GET', `/publications/${id}`)).body;
const move = (id: string, name: string) => admin<Answer>('POST', `/publications/${id}/${name}`);
const rows = <Row extends object>(text: string, values: unknown[] = []) =>
  postern.database.query<Row>(testSql(text, values));

/** Waits until a publication has a status. */
const until = (id: string, status: string) =>
  eventually(`the publication to be ${status}`, async () => {
    const publication = await get(id);
    return publication.status === status ? publication : undefined;
  });

/** Users without more than an inbox, which takes one statement. */
async function newUsers(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID()).sort();
  await rows(
    `insert into users (id, created_at, updated_at) select id, db_now(), db_now() from unnest($1::uuid[]) id`,
    [ids],
  );
  await rows('insert into inboxes (user_id) select id from unnest($1::uuid[]) id', [ids]);
  return ids;
}
/** How many notifications each of these users has, and of how many texts. */
async function inboxes(ids: readonly string[]): Promise<number[]> {
  const found = await rows<{ n: number }>(
    `select (select count(*)::int from notifications where notifications.user_id = u.id) as n from unnest($1::uuid[]) with ordinality u (id, place) order by place`,
    [ids],
  );
  return found.map(({ n }) => n);
}
let topics = 0;
async function newTopic(ids: readonly string[]): Promise<string> {
  topics += 1;
  const key = `topic.${topics}`;
  await admin('PUT', `/topics/${key}`, { title: key });
  await rows(
    `insert into subscriptions (topic_id, user_id, created_at)
     select (select id from topics where key = $1), id, db_now() from unnest($2::uuid[]) id`,
    [key, ids],
  );
  return key;
}

describe('a publication', () => {
  test('to users reaches each once, however often and in which form it names them', async () => {
    const [ann = '', bob = ''] = await newUsers(2);
    const email = newEmail();
    const eve = await createUser(postern, { email, email_verified: true });
    const userIds = [ann, bob, ann.toUpperCase(), `email:${email}`, eve.id];
    const { status, body, headers } = await publish({ user_ids: userIds });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...{ status: 'scheduled', to: { count: 3 }, notification, recipients: null, created: 0, recall: null },
    });
    expect(headers.etag).toMatch(/^"/);
    const done = await until(body.id, 'done');
    expect(done).toMatchObject({ recipients: 3, created: 3, skipped: 0, error_code: null });
    expect(await inboxes([ann, bob, eve.id])).toEqual([1, 1, 1]);
  });

  test('to a topic of several chunks reaches all who are subscribed, and nobody else', async () => {
    const users = await newUsers(4500);
    const [subscribed, others] = [users.slice(0, 4100), users.slice(4100)];
    const { body } = await publish({ topic: await newTopic(subscribed) });
    expect(await until(body.id, 'done')).toMatchObject({ recipients: 4100, created: 4100 });
    expect(new Set(await inboxes(subscribed))).toEqual(new Set([1]));
    expect(new Set(await inboxes(others))).toEqual(new Set([0]));
  });

  test('to a filter or to everyone leaves out who is deactivated, and needs its own scope', async () => {
    const name = `filtered ${randomUUID()}`;
    const people = await Promise.all([1, 2, 3].map(() => createUser(postern, { name })));
    const [ann, bob, off] = people.map(({ id }) => id);
    await admin('PATCH', `/users/${off}`, { status: 'deactivated' });
    const to = { users: `name:eq:${name}` };
    const { body: key } = await admin<IssuedApiKey>('POST', '/keys', { name: 'app', scopes: ['notifications:write'] });
    for (const broad of [to, { everyone: true }]) {
      expect((await publish(broad, {}, { bearer: key.token })).status).toBe(403);
    }
    const { body } = await publish(to);
    expect(await until(body.id, 'done')).toMatchObject({ to, recipients: 2, created: 2, skipped: 0 });
    expect(await inboxes([ann ?? '', bob ?? '', off ?? ''])).toEqual([1, 1, 0]);
    const { body: all } = await publish({ everyone: true });
    await until(all.id, 'done');
    expect(await inboxes([ann ?? '', bob ?? '', off ?? ''])).toEqual([2, 2, 0]);
  });

  test('to a filter needs notifications:broadcast, and is counted and shown only to keys that may read users', async () => {
    const to = { users: `name:eq:secret ${randomUUID()}` };
    const keyFor = async (...scopes: string[]) =>
      (await admin<IssuedApiKey>('POST', '/keys', { name: 'app', scopes: ['notifications:write', ...scopes] })).body
        .token;
    const [publisher, broadcaster, all] = await Promise.all([
      keyFor(),
      keyFor('notifications:broadcast'),
      keyFor('notifications:broadcast', 'users:read'),
    ]);
    const codes = async (bearer: string) => {
      const paths = ['/publications', '/publications?dry_run=true', '/publications/dry-run'];
      const answers = [];
      for (const path of paths) answers.push((await admin('POST', path, { to, notification }, { bearer })).status);
      return answers;
    };
    expect(await codes(publisher)).toEqual([403, 403, 403]);
    expect(await codes(broadcaster)).toEqual([201, 403, 403]);
    expect(await codes(all)).toEqual([201, 200, 200]);
    const { body } = await publish(to);
    const shown = async (bearer: string) => {
      const { body: one } = await admin<Publication>('GET', `/publications/${body.id}`, undefined, { bearer });
      const list = `/publications?filter=id:${body.id}`;
      const { body: many } = await admin<Publication[]>('GET', list, undefined, { bearer });
      return [one.to, many[0]?.to];
    };
    expect(await shown(publisher)).toEqual([{ users: null }, { users: null }]);
    expect(await shown(broadcaster)).toEqual([{ users: null }, { users: null }]);
    expect(await shown(all)).toEqual([to, to]);
  });

  test('to a filter does not show it in answers to changes either', async () => {
    const to = { users: `name:eq:secret ${randomUUID()}` };
    const scopes = ['notifications:write', 'notifications:broadcast'];
    const { body: key } = await admin<IssuedApiKey>('POST', '/keys', { name: 'app', scopes });
    const { body: later, headers } = await publish(to, { send_at: new Date(Date.now() + 3_600_000).toISOString() });
    const path = `/publications/${later.id}`;
    const as = { bearer: key.token, headers: { 'If-Match': String(headers.etag) } };
    const changed = await admin<Publication>('PATCH', path, {}, as);
    expect([changed.status, changed.body.to]).toEqual([200, { users: null }]);
    for (const name of ['cancel', 'cancel', 'recall', 'recall']) {
      const moved = await admin<Publication>('POST', `${path}/${name}`, undefined, { bearer: key.token });
      expect([name, moved.body.to]).toEqual([name, { users: null }]);
    }
  });

  test('with more faults than an answer names, and with a member of a wrong form, is 422', async () => {
    const { status, body } = await publish(
      { user_ids: Array.from({ length: 101 }, (_, nth) => nth) },
      { notification: { ...notification, category: {}, actions: [null] } },
    );
    expect([status, body.errors?.length]).toEqual([422, 100]);
  });

  test('is moved only by keys that may publish to its target', async () => {
    const send_at = new Date(Date.now() + 3_600_000).toISOString();
    const keyFor = async (...scopes: string[]) =>
      (await admin<IssuedApiKey>('POST', '/keys', { name: 'app', scopes: ['notifications:write', ...scopes] })).body
        .token;
    const publisher = await keyFor();
    const status = async (id: string, name: string, bearer: string) =>
      (await admin('POST', `/publications/${id}/${name}`, undefined, { bearer })).status;
    for (const [to, ...scopes] of [
      [{ everyone: true }, 'notifications:broadcast'],
      [{ users: `name:eq:${randomUUID()}` }, 'notifications:broadcast'],
    ] as const) {
      const { body } = await publish(to, { send_at });
      for (const name of ['pause', 'resume', 'cancel', 'recall']) {
        expect([name, await status(body.id, name, publisher)]).toEqual([name, 403]);
      }
      expect((await get(body.id)).status).toBe('scheduled');
      expect(await status(body.id, 'cancel', await keyFor(...scopes))).toBe(200);
    }
    const { body: topical } = await publish({ topic: await newTopic(await newUsers(1)) }, { send_at });
    expect(await status(topical.id, 'cancel', publisher)).toBe(200);
  });

  test('reaches users who were there at its start, and not who came later', async () => {
    const [ann = '', bob = ''] = await newUsers(2);
    await rows(`update users set inserted_at = null where id = $1`, [ann]);
    await rows(`update users set inserted_at = db_now() + interval '1 hour' where id = $1`, [bob]);
    const { body } = await publish({ topic: await newTopic([ann, bob]) });
    expect(await until(body.id, 'done')).toMatchObject({ created: 1 });
    expect(await inboxes([ann, bob])).toEqual([1, 0]);
  });

  test('tells the number of recipients in a dry run, and makes nothing', async () => {
    const users = await newUsers(3);
    const topic = await newTopic(users);
    const count = async () =>
      (await rows<{ n: number }>('select count(*)::int as n from notification_publications'))[0]?.n;
    const before = await count();
    for (const to of [{ topic }, { user_ids: users }]) {
      const answer = await admin<{ recipients: number }>('POST', '/publications?dry_run=true', { to, notification });
      expect([answer.status, answer.body]).toEqual([200, { recipients: 3 }]);
    }
    expect(await count()).toBe(before);
  });

  test('is created once for each Idempotency-Key', async () => {
    const [ann = ''] = await newUsers(1);
    const headers = { 'idempotency-key': randomUUID() };
    const answers = [
      await publish({ user_ids: [ann] }, {}, { headers }),
      await publish({ user_ids: [ann] }, {}, { headers }),
    ];
    expect(answers.map(({ status, body }) => [status, body.id])).toEqual([
      [201, answers[0]?.body.id],
      [201, answers[0]?.body.id],
    ]);
    await until(answers[0]?.body.id ?? '', 'done');
    expect(await inboxes([ann])).toEqual([1]);
  });

  test('with faults is refused with all of them at once, and nothing is created', async () => {
    const [ann = ''] = await newUsers(1);
    const faults = (body: object) => refused('POST', '/publications', body);
    expect(
      await faults({
        to: { user_ids: [ann, randomUUID(), 'external:nobody'] },
        notification: { ...notification, category: 'unheard.of', notification_type: 'request' },
        send_at: '2001-01-01T00:00:00Z',
        rate: 0,
      }),
    ).toEqual({
      status: 422,
      errors: [
        ['rate', 'too_small'],
        ['to.user_ids.1', 'unknown_user'],
        ['to.user_ids.2', 'unknown_user'],
        ['notification.category', 'unknown_category'],
        ['send_at', 'in_the_past'],
      ],
    });
    for (const [to, code] of [
      [{ topic: 'unheard.of' }, 'unknown_topic'],
      [{ users: 'fax:1' }, 'unknown_filter_field'],
      [{}, 'one_required'],
      [{ topic: 'a', everyone: true }, 'conflicting_fields'],
      [{ everyone: false }, 'invalid_choice'],
      [{ users: '' }, 'required'],
    ] as const) {
      expect((await faults({ to, notification })).errors.map(([, each]) => each)).toEqual([code]);
    }
    for (const [sendAt, code] of [
      ['2030-01-31 09:00:00', 'invalid_time'],
      ['2030-02-31T09:00:00Z', 'invalid_time'],
      [new Date(Date.now() + 367 * 86_400_000).toISOString(), 'too_far'],
    ] as const) {
      const { errors } = await faults({ to: { user_ids: [ann] }, notification, send_at: sendAt });
      expect(errors).toEqual([['send_at', code]]);
    }
  });

  test('with members of a wrong form names them beside all other faults', async () => {
    const [ann = ''] = await newUsers(1);
    const wrong = {
      category: [5, {}, ['unheard.of']],
      actions: ['yes', 5, [null], [{ key: 'a', label: 'A', url: { toString: 'x' } }]],
      expires_at: [5, { toString: 'x' }],
      object_data_number: [{ toString: 'x' }, 'many'],
      notification_type: [5, null],
      image_id: [5, {}],
      image: [5, {}],
      url: [5, {}],
      data: [5, 'x'],
      replace_key: [5, {}],
    };
    const { body: waiting } = await publish({ user_ids: [ann] }, { send_at: '2030-01-31T09:00:00Z' });
    for (const [member, values] of Object.entries(wrong)) {
      const other = member === 'url' ? 'category' : 'url';
      for (const value of values) {
        const body = {
          to: { topic: 'unheard.of' },
          notification: { ...notification, [member]: value, [other]: 'http://example.com' },
        };
        for (const [method, path] of [
          ['POST', '/publications'],
          ['PATCH', `/publications/${waiting.id}`],
        ] as const) {
          const { status, errors } = await refused(method, path, body);
          const fields = errors.map(([field = '']) => field);
          expect([status, fields]).toEqual([422, expect.arrayContaining(['to.topic', `notification.${other}`])]);
          expect(fields.some((field) => field.startsWith(`notification.${member}`))).toBe(true);
        }
      }
    }
  });

  test('fails if its notification became impossible', async () => {
    const [ann = ''] = await newUsers(1);
    await admin('PUT', '/categories/short', {});
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await publish(
      { user_ids: [ann] },
      { notification: { ...notification, category: 'short' }, send_at: sendAt },
    );
    await admin('DELETE', '/categories/short');
    await rows('update notification_publications set due_at = db_now() where id = $1', [body.id]);
    expect(await until(body.id, 'failed')).toMatchObject({ error_code: 'unknown_category', created: 0 });
  });
});

describe('before its start', () => {
  const later = () => new Date(Date.now() + 3_600_000).toISOString();

  test('a publication is changed with If-Match only', async () => {
    const [ann = '', bob = ''] = await newUsers(2);
    const { body, headers } = await publish({ user_ids: [ann] }, { send_at: later() });
    const path = `/publications/${body.id}`;
    const change = (input: object, tag?: string) =>
      admin<Answer>('PATCH', path, input, tag === undefined ? {} : { headers: { 'if-match': tag } });
    expect((await change({ rate: 5 })).status).toBe(428);
    expect((await change({ rate: 5 }, '"other"')).status).toBe(412);
    const changed = await change({ rate: 5, to: { user_ids: [bob] } }, headers.etag);
    expect([changed.status, changed.body.rate, changed.body.notification]).toEqual([200, 5, notification]);
    expect((await change({ rate: 6 }, headers.etag)).status).toBe(412);
    expect((await change({ send_at: null }, changed.headers.etag)).status).toBe(200);
    await until(body.id, 'done');
    expect(await inboxes([ann, bob])).toEqual([0, 1]);
    const late = await change({ rate: 7 }, changed.headers.etag);
    expect([late.status, late.body.errors[0]?.code, late.body.publication]).toEqual([
      409,
      'publication_started',
      { id: body.id, status: 'done' },
    ]);
  });

  test('a due publication starts once, also with two instances', async () => {
    const users = await newUsers(50);
    const other = await postern.another();
    const { body } = await publish({ user_ids: users }, { send_at: later() });
    await rows('update notification_publications set due_at = db_now() where id = $1', [body.id]);
    expect(await until(body.id, 'done')).toMatchObject({ created: 50 });
    expect(new Set(await inboxes(users))).toEqual(new Set([1]));
    await other.close();
  });

  test('the topic of a publication cannot be deleted until it has ended', async () => {
    const topic = await newTopic(await newUsers(1));
    const { body } = await publish({ topic }, { send_at: later() });
    const { status, body: problem } = await admin<ProblemAnswer>('DELETE', `/topics/${topic}`);
    expect([status, problem.errors[0]?.code]).toEqual([409, 'topic_in_use']);
    expect((await move(body.id, 'cancel')).status).toBe(200);
    expect((await admin('DELETE', `/topics/${topic}`)).status).toBe(204);
  });
});

describe('while it runs, a publication', () => {
  /** A publication that has written one of many small chunks. */
  async function slow(count = 40) {
    const users = await newUsers(count);
    const topic = await newTopic(users);
    const { body } = await publish({ topic }, { rate: 1 });
    await eventually('a first chunk', async () => ((await get(body.id)).created > 0 ? true : undefined));
    return { users, topic, id: body.id };
  }

  test('is paused and resumed, and reaches each once', async () => {
    const { users, id } = await slow();
    const paused = await move(id, 'pause');
    expect([paused.status, paused.body.status]).toEqual([200, 'paused']);
    expect((await move(id, 'pause')).status).toBe(200);
    const { created } = await get(id);
    expect(created).toBeLessThan(users.length);
    await rows(`update notification_publications set rate = null where id = $1`, [id]);
    // Another publication shows that the fan-out has looked again.
    const [ann = ''] = await newUsers(1);
    await until((await publish({ user_ids: [ann] })).body.id, 'done');
    expect((await get(id)).created).toBe(created);
    expect((await move(id, 'resume')).body.status).toBe('running');
    expect(await until(id, 'done')).toMatchObject({ created: users.length });
    expect(new Set(await inboxes(users))).toEqual(new Set([1]));
  });

  test('does not reach who has unsubscribed meanwhile', async () => {
    const { users, topic, id } = await slow();
    await move(id, 'pause');
    const last = users.at(-1) ?? '';
    await admin('DELETE', `/topics/${topic}/subscriptions/${last}`);
    await rows(`update notification_publications set rate = null where id = $1`, [id]);
    await move(id, 'resume');
    expect(await until(id, 'done')).toMatchObject({ created: users.length - 1 });
    expect(await inboxes([last])).toEqual([0]);
  });

  test('refuses moves that its state does not allow, and repeats those whose result stands', async () => {
    const { id } = await slow();
    expect((await move(id, 'resume')).status).toBe(200);
    expect((await move(id, 'cancel')).body.status).toBe('cancelled');
    expect((await move(id, 'cancel')).status).toBe(200);
    for (const name of ['pause', 'resume']) {
      const { status, body } = await move(id, name);
      expect([status, body.errors[0]?.code, body.publication]).toEqual([
        409,
        'publication_state',
        { id, status: 'cancelled' },
      ]);
    }
    expect((await move(randomUUID(), 'cancel')).status).toBe(404);
    const { body: events } = await admin<Event[]>('GET', '/events?filter=type:publication.cancelled&limit=1');
    expect(events[0]?.data).toEqual({ publication_id: id });
  });

  test('creates nothing after a cancellation has answered', async () => {
    const users = await newUsers(3000);
    const topic = await newTopic(users);
    for (let round = 0; round < raceRounds; round += 1) {
      const { body } = await publish({ topic });
      await eventually('the start', async () => ((await get(body.id)).status === 'scheduled' ? undefined : true));
      const answer = await move(body.id, 'cancel');
      const { created, status } = answer.status === 200 ? answer.body : await get(body.id);
      const count = async () => (await inboxes(users)).reduce((sum, n) => sum + n, 0);
      const before = await count();
      const [ann = ''] = await newUsers(1);
      await until((await publish({ user_ids: [ann] })).body.id, 'done');
      expect(await count()).toBe(before);
      expect(await get(body.id)).toMatchObject({ created, status });
    }
  });
});

describe('a recall', () => {
  test('deletes all that was created, and clients learn it', async () => {
    const person = await createUser(postern);
    const { session } = await signIn(postern, person);
    const users = await newUsers(2500);
    const { body } = await publish({ topic: await newTopic([...users, person.id]) });
    await until(body.id, 'done');
    const own = { bearer: session.token };
    const { body: list } = await postern.api<Notification[]>('GET', '/v1/notifications', own);
    const { body: before } = await postern.api<Changes>('GET', '/v1/notifications/changes', own);
    const { status, body: recalled } = await move(body.id, 'recall');
    expect([status, recalled.status, recalled.recall]).toEqual([202, 'done', { removed: 0, finished_at: null }]);
    const finished = await eventually('the end of the recall', async () => {
      const publication = await get(body.id);
      return publication.recall?.finished_at == null ? undefined : publication;
    });
    expect(finished.recall?.removed).toBe(2501);
    expect(new Set(await inboxes([...users, person.id]))).toEqual(new Set([0]));
    const path = `/v1/notifications/changes?after=${before.after}`;
    const { body: changes } = await postern.api<Changes>('GET', path, own);
    expect(changes.changes).toMatchObject([{ operation: 'delete', id: list[0]?.id }]);
    expect(await move(body.id, 'recall')).toMatchObject({ status: 200, body: finished });
  });

  test('cancels a publication that has not ended', async () => {
    const { body } = await publish(
      { user_ids: await newUsers(1) },
      { send_at: new Date(Date.now() + 3_600_000).toISOString() },
    );
    expect((await move(body.id, 'recall')).body).toMatchObject({ status: 'cancelled', recall: { removed: 0 } });
  });
});

test('the deletion of a user takes the id out of publications', async () => {
  const [ann = '', bob = ''] = await newUsers(2);
  const { body: done } = await publish({ user_ids: [ann, bob] });
  await until(done.id, 'done');
  const { body: own } = await publish({ user_ids: [ann] });
  await until(own.id, 'done');
  const { body: waiting } = await publish(
    { user_ids: [ann, bob] },
    { send_at: new Date(Date.now() + 3_600_000).toISOString() },
  );
  await admin('DELETE', `/users/${ann}`);
  await eventually('the erasure', async () => {
    const left = await rows(
      `select 1 from publication_chunks where $1::uuid = any (user_ids || first_user || last_user)
       union all select 1 from publication_recipients where user_id = $1`,
      [ann],
    );
    return left.length === 0 || undefined;
  });
  await rows('update notification_publications set due_at = db_now() where id = $1', [waiting.id]);
  expect(await until(waiting.id, 'done')).toMatchObject({ recipients: 2, created: 1, skipped: 1 });
  expect(await inboxes([bob])).toEqual([2]);
});
