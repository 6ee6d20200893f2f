import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IssuedApiKey } from '../../src/contract/administration.js';
import type { Notification } from '../../src/contract/notification.js';
import { createAdministration } from '../support/administration.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser } from '../support/users.js';

/** A key that may change something must not read it: an answer with a user or a notification shows that a change was made. */

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOG_LEVEL: 'silent', OIDC_PROVIDERS: '{}' });
});
afterAll(() => postern.close());
const { admin, eventsOf } = createAdministration(() => postern);

const keyOf = async (...scopes: string[]) =>
  (await admin<IssuedApiKey>('POST', '/keys', { name: 'a key', scopes })).body.token;
const later = '2999-01-01T00:00:00.000Z';

describe('a key with the scope users:write alone', () => {
  test.each<[string, string, unknown?]>([
    ['POST', '/unlock'],
    ['DELETE', '/second-factors'],
    ['DELETE', '/pin-recovery'],
    ['PATCH', '', {}],
    ['PATCH', '', { name: 'Ada' }],
    ['PATCH', '', { metadata: { plan: 'free' } }],
    ['PATCH', '', { phone: null, locale: null }],
    ['POST', '/lock', { until: later }],
    ['POST', '/lock', { until: later, reason: 'again' }],
  ])('gets no user by %s %s %j that changes nothing', async (method, path, body) => {
    const bearer = await keyOf('users:write');
    const user = await createUser(postern, { name: 'Ada', metadata: { plan: 'free' } });
    // So the same lock changes nothing either.
    if (path === '/lock') await admin('POST', `/users/${user.id}/lock`, body);
    const before = await eventsOf(user.id);
    const answer = await postern.api(method, `/admin/v1/users/${user.id}${path}`, {
      bearer,
      ...(body !== undefined && { body }),
    });
    const recorded = (await eventsOf(user.id)).length - before.length;
    if (answer.status < 300) expect([answer.text, recorded]).toEqual([expect.any(String), 1]);
    else expect(answer.text).not.toContain('Ada');
    // With the right to read, the answer is the user. There is no recovery of a PIN to cancel.
    const reading = { bearer: await keyOf('users:write', 'users:read'), ...(body !== undefined && { body }) };
    expect((await postern.api(method, `/admin/v1/users/${user.id}${path}`, reading)).status).toBe(
      path === '/pin-recovery' ? 404 : 200,
    );
  });

  test('gets no preferences by a change that changes nothing', async () => {
    const [bearer, reading] = [await keyOf('users:write'), await keyOf('users:write', 'users:read')];
    const { id } = await createUser(postern);
    const change = (body: object, key: string) =>
      postern.api('PATCH', `/admin/v1/users/${id}/preferences`, { bearer: key, body });
    expect((await change({ channels: { email: 'off' }, time_zone: 'Europe/Madrid' }, bearer)).status).toBe(200);
    const same = [
      ...[{}, { channels: {} }, { categories: {} }, { topics: {} }, { channels: { email: 'off' } }],
      ...[{ channels: { push: null } }, { time_zone: 'Europe/Madrid' }, { categories: { payment: { push: null } } }],
    ];
    for (const body of same) {
      const { status, text } = await change(body, bearer);
      expect([body, status, text.includes('Madrid')]).toEqual([body, 403, false]);
      expect((await change(body, reading)).status).toBe(200);
    }
  });

  test('does not learn since when and why an address is suppressed', async () => {
    const [bearer, reading] = [await keyOf('users:write'), await keyOf('users:write', 'users:read')];
    const body = { email: `${randomUUID()}@example.com` };
    const suppress = (key: string) => postern.api('POST', '/admin/v1/suppressions', { bearer: key, body });
    expect((await suppress(bearer)).status).toBe(201);
    const again = await suppress(bearer);
    expect([again.status, again.text.includes('manual')]).toEqual([403, false]);
    expect((await suppress(reading)).status).toBe(201);
  });

  test.each<[string, string, unknown?]>([
    ['GET', ''],
    ['GET', '/preferences'],
    ['GET', '/export'],
    ['GET', '/devices'],
    ['GET', '/sessions'],
    ['GET', '/tokens'],
    ['GET', '/activity'],
    ['GET', '/notifications'],
    ['GET', '/external-identities'],
    ['GET', '/login-diagnosis'],
  ])('is refused by %s /users/{id}%s', async (method, path) => {
    const { id } = await createUser(postern);
    const answer = await postern.api(method, `/admin/v1/users/${id}${path}`, { bearer: await keyOf('users:write') });
    expect(answer.status).toBe(403);
  });
});

describe('a key with the scope notifications:write alone', () => {
  test('gets no notification by a change that changes nothing', async () => {
    const bearer = await keyOf('notifications:write');
    const { id: userId } = await createUser(postern);
    const content = { user_id: userId, notification_type: 'payment', description: 'Rent of May' };
    const { body: made } = await admin<Notification>('POST', '/notifications', content);
    const change = (body: object, key = bearer) =>
      postern.api<Notification>('PATCH', `/admin/v1/notifications/${made.id}`, { bearer: key, body });
    const reading = await keyOf('notifications:write', 'users:read');
    for (const same of [{}, { actor: null }, { description: 'Rent of May' }]) {
      const { status, text } = await change(same);
      expect([same, status, text.includes('Rent')]).toEqual([same, 403, false]);
      expect((await change(same, reading)).status).toBe(200);
    }
    expect(await change({ description: `New ${randomUUID()}` })).toMatchObject({ status: 200 });
  });
});
