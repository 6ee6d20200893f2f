import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventFilterFields } from '../../../src/audit/event-list.js';
import { deviceFilterFields } from '../../../src/devices/devices.js';
import { type FilterFields, kinds } from '../../../src/lib/filter/fields.js';
import { outboxFilterFields } from '../../../src/messages/outbox.js';
import { notificationFilterFields } from '../../../src/notifications/inbox/filter-fields.js';
import { keyFilterFields } from '../../../src/sessions/api-keys.js';
import { sessionFilterFields, tokenFilterFields } from '../../../src/users/details.js';
import { userFilterFields } from '../../../src/users/search/fields.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import {
  type BadRequests,
  createBadRequests,
  expectRefusal,
  type Known,
  noLimits,
} from '../../support/bad-requests.js';
import { isThorough } from '../../support/rounds.js';
import { newPhone, passwordLogin } from '../../support/users.js';

let postern: TestApp;
let bad: BadRequests;
let known: Known;
beforeAll(async () => {
  postern = await startTestApp(noLimits);
  bad = createBadRequests(postern);
  known = await bad.createKnown();
});
afterAll(() => postern.close());

const payloads = [
  "'; drop table users; --",
  '"; drop table users; --',
  "' or '1'='1",
  "') or 1=1) --",
  "\\'; select pg_sleep(9); --",
  '$1',
  '$$; drop table users; $$',
  '%',
  '_',
  '%%__',
  '\\',
  '\\\\',
  '/* */',
  'null',
  "E'\\x41'",
  "a'||(select version())||'b",
  '{"a": 1}',
  '{a,b}',
  '(1,2)',
  '🤖'.repeat(3),
  '\u2028\u0085',
  'ＤＲＯＰ',
  '1e400',
  '-0',
  'NaN',
  'infinity',
  '2017-02-30',
  '%s%n%x',
  '{{7*7}}',
];

/** Every eighth of the texts; every fifth in a thorough run. Each filter and parameter meets other ones than those before it. */
const interval = isThorough ? 5 : 8;
const someOf = (start: number) => payloads.filter((_, index) => (index + start) % interval === 0);

describe('filters', () => {
  const lists: readonly (readonly [keyof Known, string, FilterFields])[] = [
    ['session', '/v1/notifications', notificationFilterFields(['payment', 'pool', 'request'])],
    ['admin', '/admin/v1/users/{user}/notifications', notificationFilterFields(['payment', 'pool', 'request'])],
    ['session', '/v1/devices', deviceFilterFields],
    ['admin', '/admin/v1/users', userFilterFields],
    ['admin', '/admin/v1/users/{user}/devices', deviceFilterFields],
    ['admin', '/admin/v1/users/{user}/tokens', tokenFilterFields],
    ['admin', '/admin/v1/users/{user}/sessions', sessionFilterFields],
    ['admin', '/admin/v1/users/{user}/activity', eventFilterFields],
    ['admin', '/admin/v1/events', eventFilterFields],
    ['admin', '/admin/v1/outbox', outboxFilterFields],
    ['admin', '/admin/v1/keys', keyFilterFields],
  ];
  const get = (who: keyof Known, path: string, query: Record<string, string>) =>
    bad.ask(known, [who, 'GET', `${path}?${new URLSearchParams(query)}`], {});

  describe.each(lists)('for %s, %s', (who, path, fields) => {
    const place = lists.findIndex((list) => list[1] === path);

    test.each(Object.entries(fields))('by %s treats any text as a value', async (name, field) => {
      const start = place + Object.keys(fields).indexOf(name);
      const operators = [...kinds[field.kind].operators, ...(field.like === true ? ['like'] : [])];
      const takesText = field.kind === 'string' || field.kind === 'key';
      const isNumber = field.kind === 'number' || field.kind === 'integer';
      await bad.expectNoChange(async () => {
        const turn = Math.floor(start / interval);
        const filters = someOf(start).map(
          (text, index) => [operators[(index + turn) % operators.length], text] as const,
        );
        // Only `like` has wildcards in SQL.
        if (field.like === true) filters.push(['like', '%']);
        for (const [operator, payload] of filters) {
          const filter = `${name}:${operator}:${payload.replace(/[\\,|;:[\]]/g, '\\$&')}`;
          const { status, text } = await get(who, path, { filter });
          const isValue = takesText || (isNumber && payload === '-0');
          expect([filter, status]).toEqual([filter, isValue ? 200 : 422]);
          // No row equals or contains this text.
          if (takesText && operator !== 'neq') expect([filter, text]).toEqual([filter, '[]']);
        }
      });
    });

    test('refuses unknown fields, operators and separators', async () => {
      await bad.expectNoChange(async () => {
        for (const payload of someOf(place)) {
          expectRefusal(await get(who, path, { filter: `${payload.replaceAll(':', '')}:eq:x` }), 422);
          expectRefusal(await get(who, path, { filter: `created_at:${payload.replaceAll(':', '')}:x` }), 422);
          expect((await get(who, path, { filter: payload })).status).toBe(422);
        }
      });
    });

    test.each([
      ['sort', 'created_at'],
      ['page', '1'],
      ['limit', '1'],
      ['since', '2017-10-19 17:02:03'],
    ])('accepts only known values for %s', async (name, right) => {
      await bad.expectNoChange(async () => {
        for (const payload of someOf(place + name.length)) {
          expectRefusal(await get(who, path, { [name]: payload }), 422);
          expectRefusal(await get(who, path, { [name]: right + payload }), 422);
        }
      });
    });
  });
});

describe('text', () => {
  const asAdmin = () => ({ bearer: postern.adminKey });

  test('of a user is stored unchanged, or refused as an identity', async () => {
    for (const [index, payload] of payloads.entries()) {
      const body = {
        phone: newPhone(),
        name: payload,
        password: `${payload}-long-enough`,
        metadata: { a: [payload] },
      };
      const { status, body: user } = await postern.api<{ id: string }>('POST', '/admin/v1/users', {
        ...asAdmin(),
        body,
      });
      expect([status, user]).toMatchObject([201, { name: payload, metadata: { a: [payload] } }]);
      const username = { body: { username: `u${index}${payload}` }, ...asAdmin() };
      const change = await postern.api('PATCH', `/admin/v1/users/${user.id}`, username);
      expect([200, 422]).toContain(change.status);
      const email = { body: { email: `${payload}@example.com` }, ...asAdmin() };
      expect([200, 422]).toContain((await postern.api('PATCH', `/admin/v1/users/${user.id}`, email)).status);
      const lock = { body: { permanent: true, reason: payload }, ...asAdmin() };
      const { body: locked } = await postern.api('POST', `/admin/v1/users/${user.id}/lock`, lock);
      expect(locked).toMatchObject({ lock: { reason: payload } });
    }
  });

  test.each(['\n', '\r\n', '\u2028', '\u2029', '', ' ', '.'])(
    '%j as a key of metadata is stored unchanged',
    async (key) => {
      const body = { phone: newPhone(), metadata: { [key]: 'x', other: { [key]: 'x' } } };
      const { body: user } = await postern.api('POST', '/admin/v1/users', { ...asAdmin(), body });
      expect(user).toMatchObject({ metadata: body.metadata });
    },
  );

  test('of a notification is stored unchanged', async () => {
    const body = payloads.map((text) => ({
      ...{ user_id: known.user, notification_type: 'pool', notification_key: text, actor: text },
      ...{ object_data_string: text, description: text },
    }));
    const { status, body: published } = await postern.api('POST', '/admin/v1/notifications', { ...asAdmin(), body });
    expect([status, published]).toMatchObject([201, body]);
    const headers = { Authorization: known.session };
    const { body: shown } = await postern.api<object[]>(
      'GET',
      '/v1/notifications?limit=100&sort=created_at:asc&filter=notification_key:neq:x',
      { headers },
    );
    expect(shown.slice(-payloads.length)).toEqual(published);
  });

  test('of a key is stored unchanged', async () => {
    for (const name of payloads) {
      const body = { name, scopes: ['users:read'] };
      expect(await postern.api('POST', '/admin/v1/keys', { ...asAdmin(), body })).toMatchObject({
        status: 201,
        body: { name },
      });
    }
  });

  test('of a device is stored unchanged', async () => {
    for (const [index, text] of payloads.entries()) {
      const id = `582a5abb-1335-4794-4855-${String(index).padStart(12, '0')}`;
      const device = {
        id,
        make: text,
        model: text,
        os_name: text,
        os_version: text,
        sdk_version: text,
        apn_device_token: text,
      };
      expect(
        await postern.api('POST', '/v1/tokens', { body: passwordLogin(known.username, undefined, device) }),
      ).toMatchObject({
        body: { status: 'approved', device_id: id },
      });
    }
    const { body } = await postern.api<{ make: string; sdk_version: string }[]>(
      'GET',
      `/admin/v1/users/${known.user}/devices?limit=100&sort=created_at:asc`,
      asAdmin(),
    );
    const makes = body.map(({ make, sdk_version }) => [make, sdk_version]);
    expect(makes.slice(-payloads.length)).toEqual(payloads.map((text) => [text, text]));
  });

  test('as an identity, a secret or an authenticator allows no login', async () => {
    for (const payload of payloads) {
      for (const type of ['username', 'email', 'phone']) {
        const { status, body } = await postern.api('POST', '/v1/tokens', {
          body: { ...passwordLogin(payload), identity: { type, value: payload } },
        });
        expect(status === 422 || body.status === 'rejected').toBe(true);
      }
      const wrong = await postern.api('POST', '/v1/tokens', { body: passwordLogin(known.username, payload) });
      expect(wrong).toMatchObject({ status: 201, body: { status: 'rejected' } });
      const login = { ...passwordLogin(known.username), authenticator: payload };
      expect((await postern.api('POST', '/v1/tokens', { body: login })).status).toBe(422);
      const answer = { body: { secret: payload, pin: '2468' } };
      expect((await postern.api('POST', `/v1/tokens/${known.authentication}/secret`, answer)).status).toBe(400);
    }
  });
});

test('the service logs no internal error for these requests', () => {
  expect(bad.internalErrors()).toEqual([]);
});
