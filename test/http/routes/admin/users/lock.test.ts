import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAdministration } from '../../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { testSql } from '../../../../support/sql.js';
import { createUser, login, signIn } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const { admin, refused, isValid, eventsOf } = createAdministration(() => postern);

describe('locking a user', () => {
  test('shows the lock until it ends', async () => {
    const user = await createUser(postern);
    const until = '2099-01-01T00:00:00.000000Z';
    const { status, body } = await admin('POST', `/users/${user.id}/lock`, {
      until: '2099-01-01 00:00:00',
      reason: 'Stolen',
    });
    expect(status).toBe(200);
    expect(body.lock).toEqual({ permanent: false, until, reason: 'Stolen' });
    expect((await eventsOf(user.id)).at(-1)).toMatchObject({
      type: 'user.locked',
      data: { permanent: false, until, reason: 'Stolen' },
    });
    await postern.database.query(testSql(`update users set locked_until = db_now() where id = $1`, [user.id]));
    expect((await admin('GET', `/users/${user.id}`)).body.lock).toBeNull();
  });

  test('replaces a temporary lock by a permanent one, which an unlock removes', async () => {
    const user = await createUser(postern);
    await admin('POST', `/users/${user.id}/lock`, { until: '2099-01-01T00:00:00Z', reason: 'Stolen' });
    const { body } = await admin('POST', `/users/${user.id}/lock`, { permanent: true });
    expect(body.lock).toEqual({ permanent: true, until: null, reason: null });
    expect((await admin('POST', `/users/${user.id}/unlock`)).body.lock).toBeNull();
    expect((await login(postern, user)).body.status).toBe('approved');
  });

  test.each([
    [{}, ['until', 'required']],
    [{ permanent: false }, ['until', 'required']],
    [{ permanent: true, until: '2099-01-01T00:00:00Z' }, ['until', 'conflicting_fields']],
    [{ until: '2099-02-30T00:00:00Z' }, ['until', 'invalid_time']],
    [{ until: '2001-01-01T00:00:00Z' }, ['until', 'time_in_past']],
    [{ until: 5 }, ['until', 'invalid_type']],
  ])('refuses %j', async (request, error) => {
    const user = await createUser(postern);
    expect(await refused('POST', `/users/${user.id}/lock`, request)).toEqual({ status: 422, errors: [error] });
    expect((await admin('GET', `/users/${user.id}`)).body.lock).toBeNull();
  });

  test.each(['lock', 'unlock', 'logout'])('%s is 404 for an unknown id', async (act) => {
    const body = act === 'lock' ? { permanent: true } : undefined;
    expect((await refused('POST', `/users/${randomUUID()}/${act}`, body)).status).toBe(404);
  });
});

describe('logging a user out', () => {
  test('ends every login from the next request on, and returns their number', async () => {
    const user = await createUser(postern);
    const phone = await signIn(postern, user, { model: 'phone' });
    const tablet = await signIn(postern, user, { model: 'tablet' });
    const { status, body } = await admin<{ ended: number }>('POST', `/users/${user.id}/logout`);
    expect([status, body]).toEqual([200, { ended: 2 }]);
    for (const { token, session } of [phone, tablet]) {
      expect(await isValid(session.token)).toBe(false);
      expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
    }
    expect((await admin<{ ended: number }>('POST', `/users/${user.id}/logout`)).body).toEqual({ ended: 0 });
    expect((await login(postern, user)).body.status).toBe('approved');
  });
});
