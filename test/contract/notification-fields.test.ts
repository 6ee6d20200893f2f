import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Notification } from '../../src/contract/notification.js';
import { type FieldsWith, fieldsWith, notificationFields } from '../../src/contract/notification-fields.js';
import { compose, sql } from '../../src/database/sql.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser } from '../support/users.js';

let postern: TestApp;
let userId: string;
beforeAll(async () => {
  postern = await startTestApp();
  userId = (await createUser(postern)).id;
});
afterAll(() => postern.close());

const admin = <Body = Notification>(method: string, path: string, body?: unknown) =>
  postern.api<Body>(method, path, { bearer: postern.adminKey, ...(body !== undefined && { body }) });

/** The fields that a request can set to any value, without those of `include=extra`. `images` tests the two forms of an image. */
const settable = fieldsWith('column').filter(
  ([name, { input, isReadOnRequest }]) => input !== undefined && name !== 'image_id' && isReadOnRequest !== true,
);

/** A value for each settable field, other values with each number. */
const valuesWith = (number: number): Record<string, unknown> =>
  Object.fromEntries(
    settable.map(([name, { column, filter }]) => {
      if (filter === 'enum') return [name, ['payment', 'pool', 'request'][number]];
      return [name, { uuid: randomUUID(), numeric: number + 0.5 }[String(column)] ?? `${name} ${number}`];
    }),
  );

const answered = fieldsWith('answer').map(([name]) => name);
const found = async (field: string, operator: string, value: unknown) => {
  const filter = encodeURIComponent(`${field}:${operator}:${String(value).replace(/[\\,|:;[\]]/g, '\\$&')}`);
  const { status, body } = await admin<Notification[]>(
    'GET',
    `/admin/v1/users/${userId}/notifications?filter=${filter}`,
  );
  expect(status, `${field}:${operator}`).toBe(200);
  return body.map(({ id }) => id);
};

/** Two values for each field that only requests with `include=extra` read. */
const extraValues: Readonly<Record<FieldsWith<'extra'>, readonly [unknown, unknown]>> = {
  data: [{ order: 7 }, { order: 8 }],
  url: ['https://example.com/orders/7', 'https://example.com/orders/8'],
  actions: [[{ key: 'accept', label: 'Accept' }], [{ key: 'decline', label: 'Decline' }]],
  expires_at: ['2900-01-01T00:00:00.000000Z', '2900-01-02T00:00:00.000000Z'],
};
const extrasWith = (number: 0 | 1) =>
  Object.fromEntries(Object.entries(extraValues).map(([name, values]) => [name, values[number]]));

describe('the table of the fields of notifications', () => {
  it('has the columns of the database, with their types', async () => {
    const columns = await postern.database.query<{ name: string; type: string }>(
      compose(sql`
        select attname::text as name, format_type(atttypid, null) as type from pg_attribute
        where attrelid = 'notifications'::regclass and attnum > 0 and not attisdropped`),
    );
    const inDatabase = Object.fromEntries(columns.map(({ name, type }) => [name, type]));
    const inTable = Object.fromEntries(fieldsWith('column').map(([name, { column }]) => [name, column]));
    const { change_sequence: _, ...fields } = inDatabase;
    const asTime = Object.entries(inTable).map(([name, type]) => [
      name,
      type === 'timestamptz' ? 'timestamp with time zone' : type,
    ]);
    expect(Object.fromEntries(asTime)).toEqual(fields);
  });

  it('is what publishing one or many stores, and what answers and lists show', async () => {
    const [first, second, third] = [valuesWith(0), valuesWith(1), valuesWith(2)];
    const one = await admin('POST', '/admin/v1/notifications', { ...first, user_id: userId });
    const many = await admin<Notification[]>('POST', '/admin/v1/notifications', [
      { ...second, user_id: userId },
      { ...third, user_id: userId },
    ]);
    expect([one.status, many.status]).toEqual([201, 201]);
    const published = [one.body, ...many.body];
    for (const notification of published) expect(Object.keys(notification)).toEqual(answered);
    expect(published).toMatchObject([first, second, third]);
    const list = await admin<Notification[]>('GET', `/admin/v1/users/${userId}/notifications`);
    expect(list.body).toEqual(published.toReversed());
  });

  it('is what a change stores, one field at a time', async () => {
    const { body } = await admin('POST', '/admin/v1/notifications', { ...valuesWith(0), user_id: userId });
    let expected: Record<string, unknown> = { ...body };
    for (const [name, value] of Object.entries(valuesWith(1))) {
      const changed = await admin('PATCH', `/admin/v1/notifications/${body.id}`, { [name]: value });
      expected = { ...expected, [name]: value, updated_at: changed.body.updated_at };
      expect(changed.body, name).toEqual(expected);
    }
  });

  it('is what publishing and changes store for `include=extra`, one field at a time', async () => {
    const extraOf = async (id: string) => {
      const list = await admin<Notification[]>('GET', `/admin/v1/users/${userId}/notifications?include=extra`);
      return list.body.find((notification) => notification.id === id)?.extra;
    };
    for (const [name, [first, second]] of Object.entries(extraValues)) {
      const input = { ...valuesWith(0), user_id: userId, [name]: first };
      const { body } = await admin('POST', '/admin/v1/notifications', input);
      expect(await extraOf(body.id), name).toMatchObject({ [name]: first });
      await admin('PATCH', `/admin/v1/notifications/${body.id}`, { [name]: second });
      expect(await extraOf(body.id), name).toMatchObject({ [name]: second });
    }
    const together = [extrasWith(0), extrasWith(1)].map((extra) => ({ ...valuesWith(0), user_id: userId, ...extra }));
    const { body: published } = await admin<Notification[]>('POST', '/admin/v1/notifications', together);
    const extras = await Promise.all(published.map(({ id }) => extraOf(id)));
    expect(extras).toMatchObject([extrasWith(0), extrasWith(1)]);
  });

  it('is what filters compare', async () => {
    const { body } = await admin('POST', '/admin/v1/notifications', { ...valuesWith(2), user_id: userId });
    for (const [name] of fieldsWith('filter')) {
      const value = body[name as keyof Notification];
      expect(await found(name, 'eq', value), name).toContain(body.id);
      expect(await found(name, 'neq', value), name).not.toContain(body.id);
    }
  });

  it('has every answer in the example of the API', () => {
    const { examples } = Notification as { readonly examples?: readonly object[] };
    expect(examples).not.toHaveLength(0);
    for (const example of examples ?? []) expect(Object.keys(example)).toEqual(answered);
  });

  it('has a filter for each scalar of an answer', () => {
    const scalars = Object.entries(notificationFields).filter(([name, field]) => 'answer' in field && name !== 'image');
    expect(fieldsWith('filter').map(([name]) => name)).toEqual(scalars.map(([name]) => name));
  });
});
