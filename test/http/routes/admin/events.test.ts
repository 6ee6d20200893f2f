import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, IssuedApiKey } from '../../../../src/contract/administration.js';
import type { User } from '../../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { signInWithRole } from '../../../support/operators.js';
import { testSql } from '../../../support/sql.js';
import { createUser, newEmail, newPhone, password, signIn } from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const eventsOf = async (userId: string) =>
  (
    await postern.api<Event[]>('GET', `/admin/v1/events?filter=user_id:${userId}&limit=100`, {
      bearer: postern.adminKey,
    })
  ).body;
const eventOf = async (userId: string, type: string) => {
  const event = (await eventsOf(userId)).find((one) => one.type === type);
  if (event === undefined) throw new Error(`no ${type} of ${userId}`);
  return event;
};
const change = (id: string, body: object, bearer = postern.adminKey) =>
  postern.api<User>('PATCH', `/admin/v1/users/${id}`, { bearer, body });
const visibleChange = (field: string, before: unknown, after: unknown) => ({ field, before, after, withheld: false });
const hiddenChange = (field: string) => ({ field, before: null, after: null, withheld: true });

describe('an audit event', () => {
  test('names the user and the operator by their names at that time', async () => {
    const operator = await signInWithRole(postern, 'operator');
    await change(operator.user.id, { name: 'Grace Hopper' });
    const ada = await createUser(postern, { name: 'Ada Byron' });
    expect(await operator.call('POST', `/admin/v1/users/${ada.id}/lock`, { permanent: true })).toMatchObject({
      status: 200,
    });
    await change(ada.id, { name: 'Ada Lovelace' });
    await change(operator.user.id, { name: 'Rear Admiral Hopper' });
    expect(await operator.call('POST', `/admin/v1/users/${ada.id}/unlock`)).toMatchObject({ status: 200 });
    const actor = `user:${operator.user.id}`;
    expect(await eventOf(ada.id, 'user.created')).toMatchObject({ user_name: 'Ada Byron' });
    expect(await eventOf(ada.id, 'user.locked')).toMatchObject({
      ...{ actor, actor_name: 'Grace Hopper', user_name: 'Ada Byron' },
    });
    expect(await eventOf(ada.id, 'user.unlocked')).toMatchObject({
      ...{ actor, actor_name: 'Rear Admiral Hopper', user_name: 'Ada Lovelace' },
    });
  });

  test('names a user without a name by the username, the mail address or the phone number', async () => {
    const phone = newPhone();
    const email = newEmail();
    const user = await createUser(postern, { username: undefined, email, phone });
    expect(await eventOf(user.id, 'user.created')).toMatchObject({ user_name: email });
    await change(user.id, { email: null });
    expect(await eventOf(user.id, 'user.created')).toMatchObject({ user_name: email });
    expect(await eventOf(user.id, 'user.changed')).toMatchObject({ user_name: phone });
  });

  test('names users who act on their own account, and API keys also after they were revoked', async () => {
    const user = await createUser(postern, { name: 'Ada Lovelace' });
    await signIn(postern, user);
    expect(await eventOf(user.id, 'login.approved')).toMatchObject({
      ...{ actor: 'user', actor_name: 'Ada Lovelace', user_name: 'Ada Lovelace' },
    });
    const { body: key } = await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', {
      bearer: postern.adminKey,
      body: { name: 'billing', scopes: ['users:write'] },
    });
    await change(user.id, { locale: 'es' }, key.token);
    await postern.api('DELETE', `/admin/v1/keys/${key.id}`, { bearer: postern.adminKey });
    expect(await eventOf(user.id, 'user.changed')).toMatchObject({ actor: `key:${key.id}`, actor_name: 'billing' });
    expect(await eventOf(user.id, 'user.created')).toMatchObject({ actor: 'key:environment', actor_name: null });
  });

  test('is shown with names and changes in the activity of the user too', async () => {
    const user = await createUser(postern, { name: 'Ada Lovelace' });
    const { body } = await postern.api<Event[]>('GET', `/admin/v1/users/${user.id}/activity`, {
      bearer: postern.adminKey,
    });
    expect(body).toEqual(await eventsOf(user.id));
  });

  test('shows the values before and after, and of a secret only that it changed', async () => {
    const [email, next] = [newEmail(), newEmail()];
    const user = await createUser(postern, { email, name: 'Ada', pin: '2468', metadata: { plan: 'free', seats: 2 } });
    expect((await eventOf(user.id, 'user.created')).changes).toEqual([
      visibleChange('username', null, user.username),
      visibleChange('email', null, email),
      visibleChange('name', '', 'Ada'),
      visibleChange('role', null, 'user'),
      hiddenChange('password'),
      hiddenChange('pin'),
      visibleChange('metadata.plan', null, 'free'),
      visibleChange('metadata.seats', null, 2),
    ]);
    const changed = { email: next, name: 'Ada', role: 'support', metadata: { plan: 'paid', seats: 2 } };
    await change(user.id, { ...changed, password: 'another battery of horses', pin: '1357', status: 'deactivated' });
    expect((await eventOf(user.id, 'user.changed')).changes).toEqual([
      visibleChange('email', email, next),
      visibleChange('role', 'user', 'support'),
      visibleChange('metadata.plan', 'free', 'paid'),
    ]);
    expect((await eventOf(user.id, 'user.password_changed')).changes).toEqual([hiddenChange('password')]);
    expect((await eventOf(user.id, 'user.pin_changed')).changes).toEqual([hiddenChange('pin')]);
    expect((await eventOf(user.id, 'user.deactivated')).changes).toEqual([
      visibleChange('status', 'active', 'deactivated'),
    ]);
    const rows = await postern.database.query<{ text: string }>(
      testSql('select e::text as text from events e where user_id = $1', [user.id]),
    );
    const stored = rows.map(({ text }) => text).join('\n');
    for (const hidden of [password, 'another battery of horses', '2468', '1357', 'argon2']) {
      expect(stored).not.toContain(hidden);
    }
  });

  test('shows the lock before and after', async () => {
    const user = await createUser(postern);
    const call = (path: string, body?: object) =>
      postern.api('POST', `/admin/v1/users/${user.id}/${path}`, { bearer: postern.adminKey, ...(body && { body }) });
    await call('lock', { permanent: true, reason: 'lost phone' });
    const lock = { permanent: true, until: null, reason: 'lost phone' };
    expect((await eventOf(user.id, 'user.locked')).changes).toEqual([visibleChange('lock', null, lock)]);
    await call('unlock');
    expect((await eventOf(user.id, 'user.unlocked')).changes).toEqual([visibleChange('lock', lock, null)]);
  });

  test('shows the description of a device before and after, and what was removed', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user, { make: 'Apple', model: 'iPhone' });
    await postern.api('PUT', '/v1/devices/current', {
      bearer: session.token,
      body: { make: 'Apple', model: 'iPhone 17', os_name: 'iOS' },
    });
    expect((await eventOf(user.id, 'device.changed')).changes).toEqual([
      visibleChange('model', 'iPhone', 'iPhone 17'),
      visibleChange('os_name', null, 'iOS'),
    ]);
    await postern.api('DELETE', `/v1/devices/${session.device_id}`, { bearer: session.token });
    expect((await eventOf(user.id, 'device.removed')).changes).toEqual([
      visibleChange('make', 'Apple', null),
      visibleChange('model', 'iPhone 17', null),
      visibleChange('os_name', 'iOS', null),
    ]);
  });

  test('loses names, values and the reason of a lock when the user is deleted, and stays', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const email = newEmail();
    const user = await createUser(postern, { email, name: 'Maiden Name' });
    await change(user.id, { name: 'Ada Lovelace' });
    await operator.call('POST', `/admin/v1/users/${user.id}/lock`, { permanent: true, reason: 'called Ada at home' });
    const before = await eventsOf(user.id);
    expect((await postern.api('DELETE', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey })).status).toBe(204);
    expect((await eventsOf(user.id)).map(({ user_name }) => user_name)).toEqual(Array(before.length + 1).fill(null));
    const after = await eventually('the values to go', async () => {
      const events = await eventsOf(user.id);
      return events.every(({ changes }) => changes.length === 0) ? events : undefined;
    });
    expect(after.map(({ id, type }) => [id, type])).toEqual([
      [expect.any(String), 'user.deleted'],
      ...before.map(({ id, type }) => [id, type]),
    ]);
    expect(after.find(({ type }) => type === 'user.locked')?.data).toEqual({ permanent: true, until: null });
    const rows = await postern.database.query<{ text: string }>(
      testSql('select e::text as text from events e where user_id = $1', [user.id]),
    );
    const stored = rows.map(({ text }) => text).join('\n');
    for (const personal of [email, 'Maiden Name', 'Ada Lovelace', 'called Ada at home']) {
      expect(stored).not.toContain(personal);
    }
    expect(await postern.database.query(testSql('select 1 from former_names where user_id = $1', [user.id]))).toEqual(
      [],
    );
  });

  test('that is about no user has no user name', async () => {
    const { body: key } = await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', {
      bearer: postern.adminKey,
      body: { name: 'reports', scopes: ['users:read'], expires_at: '2999-01-01T00:00:00Z' },
    });
    const { body } = await postern.api<Event[]>('GET', '/admin/v1/events?filter=type:key.created&limit=100', {
      bearer: postern.adminKey,
    });
    expect(body.find(({ data }) => data.key_id === key.id)).toMatchObject({
      user_name: null,
      changes: [],
      data: { name: 'reports', scopes: ['users:read'], expires_at: '2999-01-01T00:00:00.000000Z' },
    });
  });
});
