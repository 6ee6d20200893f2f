import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import type { User } from '../../../../src/contract/user.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { createUser, signIn } from '../../../support/users.js';

let postern: TestApp;
let user: User;
beforeAll(async () => {
  postern = await startTestApp();
  user = await createUser(postern);
});
afterAll(() => postern.close());

const admin = <Body = Notification>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) => postern.api<Body>(method, path, { bearer: postern.adminKey, headers, ...(body !== undefined && { body }) });
const publish = <Body = Notification>(body: unknown, headers?: Record<string, string>) =>
  admin<Body>('POST', '/admin/v1/notifications', body, headers);
const inboxOf = async ({ id }: User) =>
  (await admin<Notification[]>('GET', `/admin/v1/users/${id}/notifications?limit=100`)).body;
const valid = () => ({ user_id: user.id, notification_type: 'payment', description: 'A payment' });
const codesOf = ({ errors }: ProblemAnswer) => errors.map(({ field, code }) => [field, code]);

describe('POST /admin/v1/notifications', () => {
  it('returns the notification for one object with user_id, otherwise an array in the order of the request', async () => {
    const other = await createUser(postern);
    const one = await publish(valid());
    expect([one.status, one.body]).toMatchObject([201, { user_id: user.id, description: 'A payment' }]);

    const { user_id: _, ...content } = valid();
    const many = await publish<Notification[]>({ ...content, user_ids: [other.id, user.id] });
    expect([many.status, many.body.map(({ user_id }) => user_id)]).toEqual([201, [other.id, user.id]]);

    const batch = await publish<Notification[]>([
      { ...valid(), description: '1' },
      { ...valid(), description: '2' },
    ]);
    expect([batch.status, batch.body.map(({ description }) => description)]).toEqual([201, ['1', '2']]);
    expect(await inboxOf(user)).toEqual([...batch.body.toReversed(), many.body[1], one.body]);
  });

  it('returns hundreds in order, as they are stored, and the same again for a repeated Idempotency-Key', async () => {
    const people = [await createUser(postern), await createUser(postern)];
    const items = Array.from({ length: 777 }, (_, nth) => {
      return { ...valid(), user_id: people[nth % 2]?.id ?? '', description: `“${nth}” \\ "` };
    });
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await publish<Notification[]>(items, headers);
    expect([first.status, first.headers['content-type']]).toEqual([201, 'application/json; charset=utf-8']);
    expect(first.body.map(({ description, sequence }) => [description, sequence])).toEqual(
      items.map(({ description }, nth) => [description, Math.floor(nth / 2) + 1]),
    );
    for (const person of people) {
      const own = first.body.filter(({ user_id }) => user_id === person.id);
      expect(await inboxOf(person)).toEqual(own.toReversed().slice(0, 100));
    }
    const [again, unkeyed] = [await publish(items, headers), await publish(items)];
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    expect(unkeyed.headers['content-type']).toBe(first.headers['content-type']);
  });

  it('publishes all or none, and reports item and field of every error', async () => {
    const [before] = await inboxOf(user);
    const { status, body } = await publish<ProblemAnswer>([
      valid(),
      { ...valid(), user_id: randomUUID() },
      { notification_type: 'party', description: 'x', user_ids: [user.id, randomUUID(), user.id] },
      { ...valid(), image: 'http://images.example.com/a.jpg' },
      { ...valid(), image: 'https://user:password@images.example.com/a.jpg' },
      { notification_type: 'pool', description: 'x' },
    ]);
    expect(status).toBe(422);
    expect(codesOf(body)).toEqual([
      ['1.user_id', 'unknown_user'],
      ['2.user_ids.1', 'unknown_user'],
      ['2.user_ids.2', 'duplicate_items'],
      ['2.notification_type', 'invalid_choice'],
      ['3.image', 'invalid_url'],
      ['4.image', 'invalid_url'],
      ['5.user_id', 'required'],
    ]);
    expect((await inboxOf(user))[0]).toEqual(before);
  });

  it.each([
    ['no object', '"x"', [[undefined, 'invalid_type']]],
    ['an empty array', '[]', [[undefined, 'too_few_items']]],
    ['an array of something else', '[1]', [['0', 'invalid_type']]],
    [
      'an empty object',
      '{}',
      [
        ['notification_type', 'required'],
        ['description', 'required'],
        ['user_id', 'required'],
      ],
    ],
    ['no recipients', '{"user_ids":[],"notification_type":"pool","description":"x"}', [['user_ids', 'too_few_items']]],
  ])('refuses %s', async (_, body, errors) => {
    const answer = await publish<ProblemAnswer>(body);
    expect(answer.status).toBe(422);
    expect(codesOf(answer.body)).toEqual(errors);
  });

  it('accepts 1000 items and 10,000 deliveries, and no more', async () => {
    const { user_id: _, ...content } = valid();
    const items = (count: number) => Array.from({ length: count }, () => ({ ...content, user_id: user.id }));
    expect((await publish<Notification[]>(items(1000))).body).toHaveLength(1000);
    const tooManyItems = await publish<ProblemAnswer>(items(1001));
    expect([tooManyItems.status, codesOf(tooManyItems.body)]).toEqual([422, [[undefined, 'too_many_items']]]);

    const tooMany = { ...content, user_ids: Array.from({ length: 5000 }, () => randomUUID()) };
    const tooManyDeliveries = await publish<ProblemAnswer>([tooMany, tooMany, valid()]);
    expect([tooManyDeliveries.status, codesOf(tooManyDeliveries.body)]).toEqual([
      422,
      [[undefined, 'too_many_deliveries']],
    ]);
  });

  it('accepts up to 64 MiB in total for a short text to many users', async () => {
    const { user_id: _, ...content } = valid();
    const userIds = Array.from({ length: 2500 }, () => randomUUID());
    // JSON needs six characters for a control character.
    const items = (length: number) =>
      [1, 2, 3, 4].map(() => ({ ...content, user_ids: userIds, description: '\u0001'.repeat(length) }));
    expect(codesOf((await publish<ProblemAnswer>(items(1200))).body)).toEqual([[undefined, 'too_much_published']]);
    // The users do not exist, but that is checked later.
    expect(codesOf((await publish<ProblemAnswer>(items(1000))).body)).toContainEqual([
      expect.any(String),
      'unknown_user',
    ]);
  });

  it('refuses a body full of errors with a short response', async () => {
    const bodies = [Array(2_000_000).fill(1), { ...valid(), user_ids: Array(1_300_000).fill('') }];
    for (const body of bodies) {
      const { status, text } = await publish<ProblemAnswer>(body);
      expect(status).toBe(422);
      expect(text.length).toBeLessThan(1000);
    }
  });

  it('refuses unknown members, and members that only the response has', async () => {
    const before = await inboxOf(user);
    const members = { id: randomUUID(), sequence: 7, created_at: 'never', x: 1 };
    const { status, body } = await publish<ProblemAnswer>({ ...valid(), ...members });
    expect(status).toBe(422);
    expect(codesOf(body).sort()).toEqual(
      Object.keys(members)
        .sort()
        .map((name) => [name, 'unknown_member']),
    );
    expect(await inboxOf(user)).toEqual(before);
  });

  it('returns the same response for a repeated Idempotency-Key, and publishes once', async () => {
    const owner = await createUser(postern);
    const key = { 'Idempotency-Key': randomUUID() };
    const first = await publish({ ...valid(), user_id: owner.id }, key);
    const second = await publish({ ...valid(), user_id: owner.id }, key);
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(second.headers).toMatchObject({ 'idempotent-replayed': 'true' });
    expect(await inboxOf(owner)).toEqual([first.body]);
    const other = await publish<ProblemAnswer>({ ...valid(), user_id: owner.id, description: 'another' }, key);
    expect([other.status, other.body.errors[0]?.code]).toEqual([422, 'idempotency_key_reused']);
  });

  it('stores no response of a refused request', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    expect((await publish({ ...valid(), notification_type: 'party' }, key)).status).toBe(422);
    expect((await publish(valid(), key)).status).toBe(201);
  });

  it('requires an API key', async () => {
    const { session } = await signIn(postern, user);
    for (const credentials of [{}, { bearer: session.token }]) {
      const answer = await postern.api('POST', '/admin/v1/notifications', { body: valid(), ...credentials });
      expect(answer.status).toBe(401);
    }
  });
});

describe('object_data_number', () => {
  const publishNumber = (number: string) =>
    publish<Notification & ProblemAnswer>(JSON.stringify(valid()).replace('{', `{"object_data_number":${number},`));

  it.each([
    ['0.1', 0.1],
    ['-0', 0],
    ['-0.0e5', 0],
    ['123456789012345', 123456789012345],
    ['1234567890123450000', 1234567890123450000],
    ['1e-7', 1e-7],
    ['1E+300', 1e300],
    ['0.000000000000001', 1e-15],
    ['99999999999999.9', 99999999999999.9],
    ['0.100000000000000000000', 0.1],
  ])('%s is stored exactly', async (text, number) => {
    const { status, body } = await publishNumber(text);
    expect([status, body.object_data_number]).toEqual([201, number]);
    const listed = await postern.api('GET', `/admin/v1/users/${user.id}/notifications?limit=1`, {
      bearer: postern.adminKey,
    });
    expect(listed.text).toContain(`"object_data_number":${number},`);
  });

  it.each([
    '1234567890123456',
    '0.10000000000000000001',
    '99999999999999.91',
    '1e400',
    '-1e301',
    '1e-301',
    '1e-400',
    '12345678901234567890',
  ])('%s is refused, not rounded', async (text) => {
    const { status, body } = await publishNumber(text);
    expect([status, codesOf(body)]).toEqual([422, [['object_data_number', 'invalid_number']]]);
  });

  it('is exact in an array and in a change too', async () => {
    const batch = await publish<ProblemAnswer>(
      JSON.stringify([valid(), { ...valid(), object_data_number: 1 }]).replace(':1}', ':0.10000000000000000001}'),
    );
    expect([batch.status, codesOf(batch.body)]).toEqual([422, [['1.object_data_number', 'invalid_number']]]);
    const { body } = await publish(valid());
    const path = `/admin/v1/notifications/${body.id}`;
    const refused = await admin<ProblemAnswer>('PATCH', path, '{"object_data_number":0.10000000000000000001}');
    expect([refused.status, codesOf(refused.body)]).toEqual([422, [['object_data_number', 'invalid_number']]]);
    expect((await admin('PATCH', path, '{"object_data_number":12e-1}')).body.object_data_number).toBe(1.2);
  });
});

describe('PATCH and DELETE /admin/v1/notifications/{id}', () => {
  it('needs the right to read to change nothing', async () => {
    const { body: notification } = await publish({
      user_id: user.id,
      notification_type: 'payment',
      description: 'private',
    });
    const { body: key } = await postern.api<{ token: string }>('POST', '/admin/v1/keys', {
      bearer: postern.adminKey,
      body: { name: 'a key', scopes: ['notifications:write'] },
    });
    const change = async (body: object) =>
      (await postern.api('PATCH', `/admin/v1/notifications/${notification.id}`, { bearer: key.token, body })).status;
    expect(await change({})).toBe(403);
    expect(await change({ description: 'changed' })).toBe(200);
  });

  it('PATCH changes only the members of the request', async () => {
    const { body: created } = await publish({ ...valid(), actor: 'Ann', object_data_string: 'Lunch' });
    const answer = await admin('PATCH', `/admin/v1/notifications/${created.id.toUpperCase()}`, {
      actor: null,
      description: 'Corrected',
    });
    const changed = { ...created, actor: null, description: 'Corrected', updated_at: answer.body.updated_at };
    expect([answer.status, answer.body]).toEqual([200, changed]);
    expect(answer.body.updated_at > created.updated_at).toBe(true);
    expect((await inboxOf(user))[0]).toEqual(changed);
  });

  it('PATCH refuses changes that publishing would refuse', async () => {
    const { body: created } = await publish(valid());
    const invalid = {
      notification_type: 'party',
      image_id: randomUUID(),
      image: 'ftp://images.example.com/',
      actor: 7,
    };
    const { actor, ...beyondSchema } = invalid;
    const path = `/admin/v1/notifications/${created.id}`;
    const bySchema = await admin<ProblemAnswer>('PATCH', path, { actor });
    expect([bySchema.status, codesOf(bySchema.body)]).toEqual([422, [['actor', 'invalid_type']]]);
    const byRules = await admin<ProblemAnswer>('PATCH', path, beyondSchema);
    expect([byRules.status, codesOf(byRules.body)]).toEqual([
      422,
      [
        ['notification_type', 'invalid_choice'],
        ['image', 'conflicting_fields'],
        ['image_id', 'unknown_image'],
        ['image', 'invalid_url'],
      ],
    ]);
    expect((await inboxOf(user))[0]).toEqual(created);
  });

  it('DELETE deletes permanently, with an empty response', async () => {
    const owner = await createUser(postern);
    const { body: created } = await publish({ ...valid(), user_id: owner.id });
    const path = `/admin/v1/notifications/${created.id}`;
    const deleted = await admin('DELETE', path);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect(deleted.headers).not.toHaveProperty('content-type');
    expect(await inboxOf(owner)).toEqual([]);
    expect((await admin('DELETE', path)).status).toBe(404);
    expect((await admin('PATCH', path, { actor: 'x' })).status).toBe(404);
    const { headers } = await admin('GET', `/admin/v1/users/${owner.id}/notifications`);
    expect(headers['x-total-count']).toBe('0');
  });

  it.each([randomUUID(), 'nothing', '%00', "'--"])('both return 404 for %s', async (id) => {
    for (const [method, body] of [
      ['PATCH', { actor: 'x' }],
      ['DELETE', undefined],
    ] as const) {
      const answer = await admin<ProblemAnswer>(method, `/admin/v1/notifications/${id}`, body);
      expect([answer.status, answer.body.errors[0]?.code]).toEqual([404, 'not_found']);
    }
  });
});

describe('GET /admin/v1/users/{id}/notifications', () => {
  it('shows the user’s list, with the same parameters', async () => {
    const owner = await createUser(postern);
    const { session } = await signIn(postern, owner);
    const items = Array.from({ length: 5 }, (_, n) => ({ ...valid(), user_id: owner.id, description: `${n}` }));
    await publish(items);
    const query = 'limit=2&page=2&sort=created_at:asc&filter=description:neq:0';
    const own = await postern.api<Notification[]>('GET', `/v1/notifications?${query}`, { bearer: session.token });
    const support = await admin<Notification[]>('GET', `/admin/v1/users/${owner.id}/notifications?${query}`);
    expect(own.body.map(({ description }) => description)).toEqual(['3', '4']);
    expect(support.body).toEqual(own.body);
    expect(support.headers['x-total-count']).toBe(own.headers['x-total-count']);
    expect(support.headers.link).toBe(
      own.headers.link?.replaceAll('/v1/notifications', `/admin/v1/users/${owner.id}/notifications`),
    );
  });

  it.each([randomUUID(), 'nothing'])('returns 404 for the user %s', async (id) => {
    expect((await admin('GET', `/admin/v1/users/${id}/notifications`)).status).toBe(404);
  });
});
