import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit as english } from '../../console/src/text/en/audit.js';
import { audit as spanish } from '../../console/src/text/es/audit.js';
import type { Event } from '../../src/contract/administration.js';
import { User } from '../../src/contract/user.js';
import { type UserFieldsWith, userFieldsWith } from '../../src/contract/user-fields.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { newEmail, newPhone } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const admin = <Body = User>(method: string, path: string, body?: unknown) =>
  postern.api<Body>(method, path, { bearer: postern.adminKey, ...(body !== undefined && { body }) });

/** For each field that a request can set, a new value. A new field needs a line: the compiler reports it. */
const newValues: Readonly<Record<UserFieldsWith<'create'> | UserFieldsWith<'change'>, () => unknown>> = {
  username: () => `user${randomUUID()}`,
  email: newEmail,
  email_verified: () => false,
  phone: newPhone,
  phone_verified: () => false,
  external_id: () => `customer ${randomUUID()}`,
  name: () => `Name ${randomUUID()}`,
  locale: () => 'es-MX',
  password: () => 'a battery of horses',
  password_hash: () => '$2b$10$VGhpcyBpcyBhIHNhbHQgKeC9x3Yw6pQ2m0n1v4k8j7h5g3f2d1s0a',
  must_change: () => false,
  pin: () => '271828',
  status: () => 'deactivated',
  role: () => 'support',
  second_factor: () => 'own',
  metadata: () => ({ tier: randomUUID() }),
  roles: () => [`editor:${randomUUID()}`],
  claims: () => ({ plan: randomUUID() }),
};

/** Requests may have a password or its hash, but not both. */
const valuesFor = (property: 'create' | 'change', without: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(newValues).flatMap(([name, make]) =>
      name in userFieldsWith(property) && name !== without ? [[name, make()]] : [],
    ),
  );

/** The values that answers show. */
const shown = (values: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => name in userFieldsWith('answer')));

const found = async (field: string, value: unknown) => {
  const filter = encodeURIComponent(`${field}:eq:${String(value).replace(/[\\,|:;[\]]/g, '\\$&')}`);
  const { status, body } = await admin<User[]>('GET', `/admin/v1/users?filter=${filter}`);
  expect(status, field).toBe(200);
  return body.map(({ id }) => id);
};

describe('the table of the fields of users', () => {
  it.each(['password', 'password_hash'])('is what a request creates and answers show (without %s)', async (without) => {
    const values = valuesFor('create', without);
    const { status, body } = await admin('POST', '/admin/v1/users', values);
    expect(status).toBe(201);
    expect(Object.keys(body)).toEqual(Object.keys(userFieldsWith('answer')));
    expect(body).toMatchObject({ ...shown(values), has_password: true, has_pin: true });
    expect((await admin('GET', `/admin/v1/users/${body.id}`)).body).toEqual(body);
  });

  it('has every answer in the example of the API', () => {
    const { examples } = User as { readonly examples?: readonly object[] };
    expect(examples).not.toHaveLength(0);
    for (const example of examples ?? []) expect(Object.keys(example)).toEqual(Object.keys(userFieldsWith('answer')));
  });

  it('is what an import stores', async () => {
    const values = valuesFor('create', 'password_hash');
    const imported = await postern.api('POST', '/admin/v1/users/import', {
      bearer: postern.adminKey,
      headers: { 'content-type': 'application/x-ndjson' },
      body: JSON.stringify(values),
    });
    const { id } = JSON.parse(imported.text) as { readonly id: string };
    expect((await admin('GET', `/admin/v1/users/${id}`)).body).toMatchObject({ ...shown(values), has_pin: true });
  });

  it('is what a change stores, and what its event shows, one field at a time', async () => {
    const { body } = await admin('POST', '/admin/v1/users', valuesFor('create', 'password_hash'));
    // A value that the user already has causes no event.
    await admin('PATCH', `/admin/v1/users/${body.id}`, {
      ...{ locale: 'en', role: 'user', email_verified: true, phone_verified: true },
    });
    for (const [name, value] of Object.entries(valuesFor('change', ''))) {
      const changed = await admin('PATCH', `/admin/v1/users/${body.id}`, { [name]: value });
      expect(changed.status, name).toBe(200);
      expect(changed.body, name).toMatchObject(shown({ [name]: value }));
      if (!(name in userFieldsWith('isInEvents'))) continue;
      const events = await admin<Event[]>('GET', `/admin/v1/events?filter=user_id:${body.id}`);
      // A notice of a former change may have been sent meanwhile, which is an event without changes.
      const [changes] = events.body.flatMap((event) => (event.changes.length === 0 ? [] : [event.changes]));
      expect(changes, name).toMatchObject([{ field: name, after: value }]);
    }
  });

  it('is what filters compare', async () => {
    const { body } = await admin('POST', '/admin/v1/users', valuesFor('create', 'password_hash'));
    await admin('PUT', '/admin/v1/topics/chess', { title: 'Chess' });
    await admin('PUT', `/admin/v1/topics/chess/subscriptions/${body.id}`);
    const computed: Readonly<Record<string, unknown>> = {
      ...{ locked: false, guess_locked: false, factor: 'none', topic: 'chess' },
    };
    for (const name of Object.keys(userFieldsWith('filter'))) {
      const value = computed[name] ?? body[name as keyof User];
      // The user has not logged in.
      if (name === 'last_login_at') expect(await found(name, body.created_at)).toEqual([]);
      else expect(await found(name, value), name).toContain(body.id);
    }
  });

  it.each([
    ['English', english],
    ['Spanish', spanish],
  ])('has a name in the console for each field that events show (%s)', (_, { fields }) => {
    const shownFields = [...Object.keys(userFieldsWith('isInEvents')), 'metadata', 'password', 'pin', 'status'];
    expect(shownFields.filter((name) => !(name in fields))).toEqual([]);
  });

  it('is what an export contains', async () => {
    const { body } = await admin('POST', '/admin/v1/users', valuesFor('create', 'password_hash'));
    const exported = await admin<{ readonly account: object }>('GET', `/admin/v1/users/${body.id}/export`);
    const { lock: _, ...account } = body;
    expect(exported.body.account).toEqual(account);
  });
});
