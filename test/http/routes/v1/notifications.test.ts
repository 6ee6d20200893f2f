import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import { matches } from '../../../../src/lib/filter/match.js';
import { parseFilter } from '../../../../src/lib/filter/parse.js';
import { notificationFilterFields } from '../../../../src/notifications/inbox/filter-fields.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { idsOf, linksOf, type Reader, readersOf, some } from '../../../support/readers.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const { createReader, publish, get } = readersOf(() => postern);

describe('GET /v1/notifications', () => {
  it('returns an array, newest first, with the counts in headers', async () => {
    const reader = await createReader();
    const created = await publish(reader.user, some(25));
    const { status, body, headers } = await get(reader);
    expect(status).toBe(200);
    expect(body).toEqual(created.toReversed().slice(0, 20));
    expect(headers['x-total-count']).toBe('25');
    expect(headers).not.toHaveProperty('x-total-count-capped');
    expect(headers.link).toMatch(
      /^<\/v1\/notifications\?page=1&cursor=[\w-]+>; rel="first",<\/v1\/notifications\?page=2&cursor=[\w-]+>; rel="next",<\/v1\/notifications\?page=2&cursor=[\w-]+>; rel="last"$/,
    );
  });

  it('is empty for a new user', async () => {
    const { status, body, headers } = await get(await createReader());
    expect([status, body, headers['x-total-count']]).toEqual([200, [], '0']);
    expect(Object.keys(linksOf(headers.link))).toEqual(['first', 'last']);
  });

  it('needs a session', async () => {
    expect((await postern.api('GET', '/v1/notifications')).status).toBe(401);
    expect((await postern.api('GET', '/v1/notifications', { bearer: postern.adminKey })).status).toBe(401);
  });

  it("never shows another user's notifications", async () => {
    const [ann, bob] = [await createReader(), await createReader()];
    await publish(ann.user, some(3));
    const [own] = await publish(bob.user, some(1));
    expect((await get(bob)).body).toEqual([own]);
    expect((await get(bob, { filter: `user_id:in:${ann.user.id};${bob.user.id}` })).body).toEqual([own]);
    expect((await get(bob, { filter: `user_id:${ann.user.id}` })).body).toEqual([]);
  });

  it('shows text of any script and any punctuation as it was published', async () => {
    const reader = await createReader();
    const texts = [
      'Ünïcödé 日本語 العربية 😀👩‍👩‍👧',
      `'; DROP TABLE notifications; --`,
      '\\ " % _ $1 {a,b} NULL \t\n</script>',
      'é vs é',
    ];
    await publish(
      reader.user,
      texts.map((text) => ({ actor: text, object_data_string: text, description: text })),
    );
    const { body } = await get(reader);
    expect(body.map(({ actor, object_data_string, description }) => [actor, object_data_string, description])).toEqual(
      texts.toReversed().map((text) => [text, text, text]),
    );
  });
});

describe('counting', () => {
  it('stops at 1000 with a filter, and then there is no link to the last page', async () => {
    const reader = await createReader();
    await publish(reader.user, some(1000));
    await publish(reader.user, some(1));
    const filtered = await get(reader, { filter: 'notification_type:payment' });
    expect(filtered.headers).toMatchObject({ 'x-total-count': '1000', 'x-total-count-capped': 'true' });
    expect(Object.keys(linksOf(filtered.headers.link))).toEqual(['first', 'next']);
    expect(filtered.headers).not.toHaveProperty('preference-applied');

    for (const prefer of ['count=exact', 'respond-async, count="exact"; x=y', 'wait=1,COUNT=exact']) {
      const exact = await get(reader, { filter: 'notification_type:payment' }, { headers: { prefer } });
      expect(exact.headers).toMatchObject({ 'x-total-count': '1001', 'preference-applied': 'count=exact' });
      expect(exact.headers).not.toHaveProperty('x-total-count-capped');
      expect(Object.keys(linksOf(exact.headers.link))).toEqual(['first', 'next', 'last']);
    }
    expect((await get(reader)).headers['x-total-count']).toBe('1001');
    const { headers } = await get(reader, { filter: 'sequence:gt:0' }, { headers: { prefer: 'discount=exact' } });
    expect(headers['x-total-count']).toBe('1000');
  });
});

describe('since', () => {
  it('is exclusive, and applies to the time of the sort order', async () => {
    const reader = await createReader();
    const [one, two, three] = await publish(reader.user, some(3));
    const changed = await postern.api<Notification>('PATCH', `/admin/v1/notifications/${one?.id}`, {
      bearer: postern.adminKey,
      body: { actor: 'x' },
    });
    const list = async (query: Record<string, string>) => idsOf((await get(reader, query)).body);
    expect(await list({ since: one?.created_at ?? '' })).toEqual([three?.id, two?.id]);
    expect(await list({ since: three?.created_at ?? '' })).toEqual([]);
    expect(await list({ since: three?.created_at ?? '', sort: 'updated_at' })).toEqual([one?.id]);
    expect(await list({ since: changed.body.updated_at, sort: 'updated_at' })).toEqual([]);
    expect(await list({ since: '2017-10-19 17:02:03' })).toEqual([three?.id, two?.id, one?.id]);
    expect(await list({ since: '2999-01-01 00:00:00' })).toEqual([]);
  });
});

describe('sort', () => {
  it.each(['created_at', 'created_at:desc', 'created_at:desc,updated_at', 'updated_at:desc|created_at:asc'])(
    'by %s has the newest first',
    async (sort) => {
      const reader = await createReader();
      const created = await publish(reader.user, some(3));
      expect((await get(reader, { sort })).body).toEqual(created.toReversed());
    },
  );

  it('by created_at keeps the position of a changed notification, by updated_at moves it', async () => {
    const reader = await createReader();
    const [one, two] = await publish(reader.user, some(2));
    await postern.api('PATCH', `/admin/v1/notifications/${one?.id}`, {
      bearer: postern.adminKey,
      body: { actor: 'x' },
    });
    const list = async (sort: string) => idsOf((await get(reader, { sort })).body);
    expect(await list('created_at:asc')).toEqual([one?.id, two?.id]);
    expect(await list('updated_at:asc')).toEqual([two?.id, one?.id]);
    expect(await list('updated_at')).toEqual([one?.id, two?.id]);
  });
});

describe('filter', () => {
  const object = randomUUID();
  let reader: Reader;
  let items: Notification[];
  beforeAll(async () => {
    reader = await createReader();
    await publish(reader.user, [
      {
        actor: 'Ann',
        actor_id: object,
        notification_key: 'received',
        object_data_number: 0.1,
        description: '100% sure',
      },
      {
        actor: 'ann lee',
        notification_type: 'pool',
        notification_key: 'invitation',
        object_data_number: -5,
        object_id: object,
      },
      {
        actor: "O'Brien, \\ Bob",
        notification_type: 'request',
        object_data_number: 123456789012345,
        description: '100 sure',
      },
      { actor: 'ÉMILE', notification_type: 'pool', object_data_string: "'; drop table notifications; --" },
      { actor: 'Bob', object_data_number: 0, object_data_string: 'a_b', description: 'time 10:30:00' },
      { notification_key: 'received', object_data_number: 1e-7, object_data_string: 'a:b', description: 'axb' },
    ]);
    await postern.api('PATCH', `/admin/v1/notifications/${(await get(reader)).body[5]?.id}`, {
      bearer: postern.adminKey,
      body: { object_data_string: 'changed' },
    });
    items = (await get(reader)).body;
  });

  const filters: readonly ((items: readonly Notification[]) => string)[] = [
    ([first]) => `id:${first?.id}`,
    ([first]) => `id:neq:${first?.id.toUpperCase()}`,
    ([first, second]) => `id:in:[${first?.id};${second?.id}]`,
    ([first, second]) => `id:eq:${first?.id}:${second?.id}`,
    () => `actor_id:${object}`,
    () => `object_id:neq:${object}`,
    () => 'actor:Ann',
    () => 'actor:neq:Ann',
    () => 'actor:in:Ann;Bob',
    () => 'actor:like:ANN',
    () => 'actor:like:émile',
    () => "actor:eq:O'Brien\\, \\\\ Bob",
    () => 'notification_type:payment',
    () => 'notification_type:neq:pool:request',
    () => 'notification_type:in:pool;request',
    () => 'notification_key:received',
    () => 'notification_key:neq:received',
    () => 'notification_key:in:[received;invitation]',
    () => 'object_data_number:0.1',
    () => 'object_data_number:neq:0.1',
    () => 'object_data_number:gt:1e-7',
    () => 'object_data_number:gte:0.0000001',
    () => 'object_data_number:lt:0',
    () => 'object_data_number:lte:0',
    () => 'object_data_number:in:-5;123456789012345',
    () => 'object_data_string:changed',
    () => 'object_data_string:eq:a:b',
    () => 'object_data_string:like:a_b',
    () => "object_data_string:like:'\\; drop table notifications\\; --",
    () => 'description:like:100%',
    () => 'description:neq:x',
    () => 'description:eq:time 10:30:00',
    () => 'sequence:2',
    () => 'sequence:gt:2|sequence:lte:4',
    () => 'sequence:neq:2:3',
    (all) => `created_at:gt:${all[2]?.created_at}`,
    (all) => `created_at:gte:${all[2]?.created_at}`,
    (all) => `created_at:lt:${all[2]?.created_at}`,
    (all) => `created_at:lte:${all[2]?.created_at}`,
    (all) => `created_at:eq:${all[2]?.created_at}`,
    (all) => `created_at:neq:${all[2]?.created_at}`,
    (all) => `updated_at:in:${all[2]?.updated_at};${all[5]?.updated_at}`,
    (all) => `updated_at:gte:${all[5]?.updated_at}`,
    () => 'notification_type:payment,actor:like:b',
  ];

  it.each(filters.map((filter) => [String(filter).replace(/^.*?=> /s, ''), filter] as const))(
    '%s finds the same notifications in and outside the database',
    async (_, filter) => {
      const text = filter(items);
      const { status, body, headers } = await get(reader, { filter: text });
      expect(status).toBe(200);
      const clauses = parseFilter(text, notificationFilterFields(['payment', 'pool', 'request']));
      expect(idsOf(body)).toEqual(idsOf(items.filter((item) => matches(clauses, item))));
      expect(body.length).toBeGreaterThan(0);
      expect(body.length).toBeLessThan(items.length);
      expect(headers['x-total-count']).toBe(String(body.length));
    },
  );

  it('is refused with the position and the nearest name', async () => {
    const { body } = await get<ProblemAnswer>(reader, { filter: 'actor:Ann,notification_tipe:pool,actor:lik:x' });
    expect(body.errors).toEqual([
      {
        field: 'filter',
        code: 'unknown_filter_field',
        message: expect.stringMatching(/^Position 11: .*"notification_type"/),
      },
      { field: 'filter', code: 'unknown_filter_op', message: expect.stringMatching(/"like"/) },
    ]);
  });
});
