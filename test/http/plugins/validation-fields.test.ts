import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import {
  type BadRequests,
  createBadRequests,
  expectRefusal,
  type Known,
  noLimits,
  type Route,
} from '../../support/bad-requests.js';
import { password, passwordLogin } from '../../support/users.js';

let postern: TestApp;
let bad: BadRequests;
let known: Known;
beforeAll(async () => {
  postern = await startTestApp(noLimits);
  bad = createBadRequests(postern);
  known = await bad.createKnown();
});
afterAll(() => postern.close());

const json = { 'Content-Type': 'application/json' };

describe('a value of the wrong kind gets 422 with its field', () => {
  const login: Route = ['nobody', 'POST', '/v1/tokens'];
  const secret: Route = ['nobody', 'POST', '/v1/tokens/{authentication}/secret'];
  const users: Route = ['admin', 'POST', '/admin/v1/users'];
  const user: Route = ['admin', 'PATCH', '/admin/v1/users/{user}'];
  const lock: Route = ['admin', 'POST', '/admin/v1/users/{user}/lock'];
  const publish: Route = ['admin', 'POST', '/admin/v1/notifications'];
  const change: Route = ['admin', 'PATCH', '/admin/v1/notifications/{notification}'];
  const images: Route = ['admin', 'POST', '/admin/v1/images'];
  const keys: Route = ['admin', 'POST', '/admin/v1/keys'];
  const complete = {
    login: { ...passwordLogin('nobody') },
    secret: { secret: '123456', pin: '2468' },
    publish: { user_id: '582a5abb-1335-4794-4855-11e067b8c55e', notification_type: 'pool', description: 'x' },
    key: { name: 'x', scopes: ['admin'] },
  };
  const rows: readonly (readonly [Route, object, string])[] = [
    ...[[], 'ada', 7, null].map((identity) => [login, { ...complete.login, identity }, 'identity'] as const),
    ...[[], {}, 7, null, true, ['ada']].flatMap(
      (wrong) =>
        [
          [login, { ...complete.login, identity: { type: 'username', value: wrong } }, 'identity.value'],
          [login, { ...complete.login, identity: { type: wrong, value: 'ada' } }, 'identity.type'],
          [login, { ...complete.login, authenticator: wrong }, 'authenticator'],
          [login, { ...complete.login, secret: wrong }, 'secret'],
          [login, { ...complete.login, pin: wrong }, 'pin'],
          [secret, { ...complete.secret, secret: wrong }, 'secret'],
          [secret, { ...complete.secret, pin: wrong }, 'pin'],
          [users, { username: wrong }, 'username'],
          [users, { username: 'x', password: wrong }, 'password'],
          [publish, { ...complete.publish, description: wrong }, 'description'],
          [publish, { ...complete.publish, user_id: wrong }, 'user_id'],
          [keys, { ...complete.key, name: wrong }, 'name'],
          [images, { url: wrong }, 'url'],
        ] as const,
    ),
    // These members accept null, which counts as missing.
    ...[[], {}, 7, true, ['ada']].flatMap(
      (wrong) =>
        [
          [login, { ...complete.login, device: { id: wrong } }, 'device.id'],
          [login, { ...complete.login, device: { make: wrong } }, 'device.make'],
        ] as const,
    ),
    ...[[], 'x', 7, null].map((device) => [login, { ...complete.login, device }, 'device'] as const),
    ...[[], {}, 'wide', '1e3', '-1', true].map(
      (screen_width) => [login, { ...complete.login, device: { screen_width } }, 'device.screen_width'] as const,
    ),
    [login, { ...complete.login, secret: 'x'.repeat(1025) }, 'secret'],
    [login, { ...complete.login, authenticator: 'x'.repeat(65) }, 'authenticator'],
    [login, { ...complete.login, identity: { type: 'username', value: 'x'.repeat(321) } }, 'identity.value'],
    [login, { ...complete.login, device: { os_name: 'x'.repeat(256) } }, 'device.os_name'],
    [login, { ...complete.login, device: { id: '582a5abb133547944855-11e067b8c55e' } }, 'device.id'],
    ...[[], 'x', 7, null].map((metadata) => [users, { username: 'x', metadata }, 'metadata'] as const),
    [users, { username: 'x', role: 'root' }, 'role'],
    [users, { username: 'x', role: ['user'] }, 'role'],
    [users, { username: 'x', name: 7 }, 'name'],
    [users, { username: 'x', metadata: { a: 'x'.repeat(17_000) } }, 'metadata'],
    [users, { username: 'x', locale: '../../etc' }, 'locale'],
    [user, { status: 'gone' }, 'status'],
    [user, { password: [] }, 'password'],
    ...['true', 1, [], null].map((permanent) => [lock, { permanent }, 'permanent'] as const),
    ...[5, 'soon', '2001-01-01T00:00:00Z', [], null].map((until) => [lock, { until }, 'until'] as const),
    [lock, { permanent: true, reason: [] }, 'reason'],
    ...['5', [], {}, true].map(
      (object_data_number) => [publish, { ...complete.publish, object_data_number }, 'object_data_number'] as const,
    ),
    [publish, { ...complete.publish, actor_id: 'x' }, 'actor_id'],
    [publish, { ...complete.publish, image: 7 }, 'image'],
    [publish, { ...complete.publish, notification_type: 'paymant' }, 'notification_type'],
    [publish, { ...complete.publish, object_data_string: 'x'.repeat(4097) }, 'object_data_string'],
    [publish, { ...complete.publish, user_id: undefined, user_ids: {} }, 'user_ids'],
    [publish, { ...complete.publish, user_id: undefined, user_ids: ['x'] }, 'user_ids.0'],
    [publish, [complete.publish, { ...complete.publish, description: 7 }], '1.description'],
    [change, { description: null }, 'description'],
    [change, { image_id: 'x' }, 'image_id'],
    ...['file:///etc/passwd', 'javascript:alert(1)', 'x', '//a', 'https://'].map(
      (url) => [images, { url }, 'url'] as const,
    ),
    ...['admin', [], {}, 7].map((scopes) => [keys, { ...complete.key, scopes }, 'scopes'] as const),
    [keys, { ...complete.key, scopes: ['admin', 'admin'] }, 'scopes'],
    [keys, { ...complete.key, scopes: ['root'] }, 'scopes.0'],
    ...[5, 'soon', '2001-01-01T00:00:00Z'].map(
      (expires_at) => [keys, { ...complete.key, expires_at }, 'expires_at'] as const,
    ),
  ];

  test.each(rows)('%j %j: %s', async (route, body, field) => {
    const answer = await bad.expectNoChange(() => bad.ask(known, route, { headers: json, body: JSON.stringify(body) }));
    expectRefusal(answer, 422);
    expect(JSON.parse(answer.text).errors.map((error: { field?: string }) => error.field)).toContain(field);
  });

  test.each(['1e400', '-1e400', '1234567890123456', '0.1234567890123456', '1e-400', '123456789012345678901234567890'])(
    'object_data_number %s',
    async (number) => {
      const body = JSON.stringify({ ...complete.publish, user_id: known.user, object_data_number: 0 }).replace(
        ':0}',
        `:${number}}`,
      );
      const answer = await bad.expectNoChange(() => bad.ask(known, publish, { headers: json, body }));
      expectRefusal(answer, 422, 'invalid_number');
    },
  );
});

describe('keys that are special in JavaScript have no effect', () => {
  const lock: Route = ['admin', 'POST', '/admin/v1/users/{user}/lock'];
  const create: Route = ['admin', 'POST', '/admin/v1/users'];

  test.each([
    [lock, '{"__proto__":{"permanent":true}}'],
    [lock, '{"constructor":{"prototype":{"permanent":true}}}'],
    [lock, '{"\\u005f_proto__":{"permanent":true}}'],
    [create, '{"__proto__":{"username":"proto"}}'],
    [create, '{"name":"x","constructor":{"prototype":{"username":"proto"}}}'],
    [
      ['nobody', 'POST', '/v1/tokens'] as Route,
      '{"__proto__":{"identity":{"type":"username","value":"x"},"authenticator":"password","device":{}}}',
    ],
  ])('%j %s gets 422', async (route, body) => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    expectRefusal(await bad.expectNoChange(() => bad.ask(known, route, { headers: json, body })), 422);
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
    expect(({} as { permanent?: boolean }).permanent).toBeUndefined();
  });

  test('are refused in metadata, which must come back as it was sent', async () => {
    const ask = (metadata: string) =>
      bad.ask(known, create, { headers: json, body: `{"username":"u${Date.now()}","metadata":${metadata}}` });
    for (const metadata of ['{"__proto__":{"a":1}}', '{"constructor":{"prototype":{}}}', '{"b":{"__proto__":{}}}']) {
      const { status, text } = await ask(metadata);
      expect([status, JSON.parse(text).errors[0].code], metadata).toEqual([422, 'reserved_member']);
    }
    const { status, text } = await ask('{"toString":"x","constructor":1}');
    expect([status, JSON.parse(text).metadata]).toEqual([201, { toString: 'x', constructor: 1 }]);
  });

  test('the last one of two equal keys counts', async () => {
    const login = JSON.stringify(passwordLogin(known.username));
    const twice = login.replace(/}$/, ',"secret":"wrong"}');
    const { status, text } = await bad.ask(known, ['nobody', 'POST', '/v1/tokens'], { headers: json, body: twice });
    expect([status, JSON.parse(text).status]).toEqual([201, 'rejected']);
    const last = login.replace(/^{/, '{"secret":"wrong","device":7,');
    expect(last).toContain(password);
    const approved = await bad.ask(known, ['nobody', 'POST', '/v1/tokens'], { headers: json, body: last });
    expect(JSON.parse(approved.text).status).toBe('approved');
  });
});

test('the service logs no internal error for these requests', () => {
  expect(bad.internalErrors()).toEqual([]);
});
