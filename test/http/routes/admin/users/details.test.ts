import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../../../../src/contract/administration.js';
import { createAdministration } from '../../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { testSql } from '../../../../support/sql.js';
import { createUser, login, newPhone, passwordLogin, signIn, smsLogin } from '../../../../support/users.js';

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const { admin } = createAdministration(() => postern);

describe('the lists of a user', () => {
  test('show devices, logins and sessions, newest first, without tokens', async () => {
    const user = await createUser(postern);
    const first = await signIn(postern, user, { make: 'Acme', os_name: 'iOS' });
    const second = await signIn(postern, user, { make: 'Zeta' });
    await postern.api('POST', '/v1/tokens', { body: passwordLogin(user.username, 'wrong') });
    const list = <Item>(name: string) => admin<Item[]>('GET', `/users/${user.id}/${name}`);

    const devices = await list<{ id: string; make: string }>('devices');
    expect(devices.body.map(({ id, make }) => [id, make])).toEqual([
      [second.authentication.device_id, 'Zeta'],
      [first.authentication.device_id, 'Acme'],
    ]);
    const tokens = await list<{ id: string; status: string; active: boolean; first_used_at: string | null }>('tokens');
    expect(tokens.body).toMatchObject([
      { status: 'rejected', active: false, first_used_at: null, authenticator: 'password' },
      { id: second.authentication.id, status: 'approved', active: true, first_used_at: time },
      { id: first.authentication.id, status: 'approved', active: true, first_used_at: time },
    ]);
    const sessions = await list<{ id: string; authentication_id: string }>('sessions');
    expect(sessions.body.map(({ id, authentication_id }) => [id, authentication_id])).toEqual([
      [second.session.id, second.authentication.id],
      [first.session.id, first.authentication.id],
    ]);
    for (const { text, headers } of [devices, tokens, sessions]) {
      expect(text).not.toMatch(/ps[as]_/);
      expect(headers.link).toContain(`</admin/v1/users/${user.id}/`);
    }

    await admin('POST', `/users/${user.id}/logout`);
    expect((await list('sessions')).body).toEqual([]);
    expect((await list<{ active: boolean }>('tokens')).body.map(({ active }) => active)).toEqual([false, false, false]);
  });

  test('show an expired authentication as rejected, also in filters', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    await postern.api('POST', '/v1/tokens', { body: smsLogin(user.phone) });
    await postern.database.query(
      testSql(`update authentications set expires_at = db_now() where user_id = $1`, [user.id]),
    );
    const { body } = await admin<{ status: string }[]>('GET', `/users/${user.id}/tokens?filter=status:rejected`);
    expect(body.map(({ status }) => status)).toEqual(['rejected']);
  });

  test('show the events, newest first, filtered by type', async () => {
    const user = await createUser(postern);
    await login(postern, user);
    await admin('POST', `/users/${user.id}/lock`, { permanent: true });
    const { body } = await admin<Event[]>('GET', `/users/${user.id}/activity`);
    expect(body.map(({ type }) => type)).toEqual(['user.locked', 'login.approved', 'user.created']);
    expect(body[1]).toMatchObject({ user_id: user.id, actor: 'user', address: '127.0.0.1' });
    const filtered = await admin<Event[]>(
      'GET',
      `/users/${user.id}/activity?filter=type:user.created,address:127.0.0.1`,
    );
    expect(filtered.body.map(({ type }) => type)).toEqual(['user.created']);
  });
});
