import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Preferences } from '../../../../src/contract/preferences.js';
import type { OwnTopic } from '../../../../src/contract/topic.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { signInWithRole } from '../../../support/operators.js';
import { logInAs } from '../../../support/support-logins.js';
import { createUser, signIn } from '../../../support/users.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  const put = (key: string, body: object) => app.api('PUT', `/admin/v1/topics/${key}`, { bearer: app.adminKey, body });
  await put('open', { title: 'Open', is_open: true });
  await put('closed', { title: 'Closed' });
  await put('hidden', { title: 'Hidden' });
});
afterAll(() => app.close());

async function newPerson() {
  const user = await createUser(app);
  const { session } = await signIn(app, user);
  const own = (method: string, path: string, body?: object) =>
    app.api<ProblemAnswer & OwnTopic[]>(method, path, { bearer: session.token, ...(body && { body }) });
  const subscribe = (key: string) =>
    app.api('PUT', `/admin/v1/topics/${key}/subscriptions/${user.id}`, { bearer: app.adminKey });
  return {
    subscribe,
    list: async () => (await own('GET', '/v1/topics')).body.map(({ key, is_subscribed: is }) => [key, is]).sort(),
    join: async (key: string) => (await own('PUT', `/v1/topics/${key}/subscription`)).status,
    leave: async (key: string) => (await own('DELETE', `/v1/topics/${key}/subscription`)).status,
    own,
    preferences: (topics: object) =>
      app.api<Preferences & ProblemAnswer>('PATCH', '/v1/preferences', { bearer: session.token, body: { topics } }),
  };
}

describe('a user', () => {
  test('sees open topics, and joins and leaves them', async () => {
    const person = await newPerson();
    expect(await person.list()).toEqual([['open', false]]);
    expect([await person.join('open'), await person.join('open')]).toEqual([204, 204]);
    expect(await person.list()).toEqual([['open', true]]);
    expect([await person.leave('open'), await person.leave('open')]).toEqual([204, 204]);
    expect(await person.list()).toEqual([['open', false]]);
  });

  test('leaves a topic that is not open, and cannot join it: it looks as if it did not exist', async () => {
    const person = await newPerson();
    await person.subscribe('closed');
    expect(await person.list()).toEqual([
      ['closed', true],
      ['open', false],
    ]);
    expect(await person.join('closed')).toBe(204);
    expect(await person.leave('closed')).toBe(204);
    expect(await person.list()).toEqual([['open', false]]);
    const answers = await Promise.all(
      ['closed', 'nothing'].flatMap((key) =>
        ['PUT', 'DELETE'].map((method) => person.own(method, `/v1/topics/${key}/subscription`)),
      ),
    );
    for (const { status, body } of answers) expect([status, body.errors[0]?.code]).toEqual([404, 'unknown_topic']);
  });

  test('has the topics in pages', async () => {
    const person = await newPerson();
    await person.subscribe('closed');
    const { body, headers } = await person.own('GET', '/v1/topics?limit=1&sort=created_at:asc');
    expect(body.map(({ key }) => key)).toEqual(['open']);
    expect(headers['x-total-count']).toBe('2');
    const page = await app.api<{ status: number }>('GET', '/v1/topics?limit=1', {});
    expect(page.status).toBe(401);
  });
});

describe('a preference for a topic', () => {
  test('is a cell as for a category, and null takes it back', async () => {
    const person = await newPerson();
    const { status, body } = await person.preferences({ open: { push: 'off', inbox: 'off' } });
    expect([status, body.topics]).toEqual([200, { open: { push: 'off', inbox: 'off' } }]);
    expect((await person.preferences({ open: { inbox: null } })).body.topics).toEqual({ open: { push: 'off' } });
    expect((await person.preferences({ open: { push: null } })).body.topics).toEqual({});
  });

  test('is only for topics that the user sees, with all faults at once', async () => {
    const person = await newPerson();
    await person.subscribe('closed');
    const { status, body } = await person.preferences({
      closed: { push: 'loud', fax: 'on' },
      hidden: { push: 'off' },
      nothing: { push: 'off' },
      open: 'off',
    });
    expect(status).toBe(422);
    expect(body.errors.map(({ field, code }) => [field, code])).toEqual([
      ['topics.closed.push', 'invalid_choice'],
      ['topics.closed.fax', 'invalid_choice'],
      ['topics.hidden', 'unknown_topic'],
      ['topics.nothing', 'unknown_topic'],
      ['topics.open', 'invalid_type'],
    ]);
    expect((await person.preferences({})).body.topics).toEqual({});
  });

  test('is set by a support login only for topics that the user sees', async () => {
    const operator = await signInWithRole(app, 'operator');
    const user = await createUser(app);
    const { session } = await logInAs(app, operator, user.id, { write: true });
    const set = (topics: object) =>
      app.api<Preferences & ProblemAnswer>('PATCH', '/v1/preferences', { bearer: session.token, body: { topics } });
    const refused = await set({ hidden: { push: 'off' } });
    expect([refused.status, refused.body.errors?.map(({ field, code }) => [field, code])]).toEqual([
      422,
      [['topics.hidden', 'unknown_topic']],
    ]);
    expect((await set({ open: { push: 'off' } })).body.topics).toEqual({ open: { push: 'off' } });
  });

  test('is set by operators for any topic', async () => {
    const user = await createUser(app);
    const path = `/admin/v1/users/${user.id}/preferences`;
    const { status, body } = await app.api<Preferences>('PATCH', path, {
      bearer: app.adminKey,
      body: { topics: { hidden: { email: 'off' } } },
    });
    expect([status, body.topics]).toEqual([200, { hidden: { email: 'off' } }]);
  });
});
