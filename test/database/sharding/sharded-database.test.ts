import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NotificationPage } from '../../../src/contract/notification.js';
import type { User } from '../../../src/contract/user.js';
import { findAuthenticationOwner } from '../../../src/login/open-authentications.js';
import { startShardedApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { createTestShards } from '../../support/shards.js';
import { testSql } from '../../support/sql.js';
import { createUser, login, newEmail, password, passwordLogin, signIn } from '../../support/users.js';

let app: TestApp;
let users: User[];
beforeAll(async () => {
  app = await startShardedApp(await createTestShards(3));
  users = [];
  for (let count = 0; count < 12; count += 1) users.push(await createUser(app, { email: newEmail() }));
});
afterAll(() => app.close());

/** The names of the servers that have rows of a user in a table. */
async function serversWith(userId: string, table: string): Promise<string[]> {
  const names: string[] = [];
  for (const { name, everyone } of app.database.shards) {
    const column = table === 'users' ? 'id' : 'user_id';
    const rows = await everyone.query(testSql(`select from ${table} where ${column} = $1`, [userId]));
    if (rows.length > 0) names.push(name);
  }
  return names;
}

const serverOf = (userId: string) => app.database.shardOf(userId).name;

test('each user is on one server, and the identities are in the directory', async () => {
  expect(new Set(users.map(({ id }) => serverOf(id)))).toEqual(new Set(['main', 'east', 'west']));
  for (const { id } of users) {
    for (const table of ['users', 'inboxes', 'events']) expect(await serversWith(id, table)).toEqual([serverOf(id)]);
    expect(await serversWith(id, 'identities')).toEqual(['main']);
  }
});

test('users log in, and their sessions are on their servers', async () => {
  for (const user of users) {
    const { authentication, session } = await signIn(app, user);
    const verified = await app.api<{ user_id: string }>('POST', '/v1/sessions/verify', { bearer: session.token });
    expect(verified).toMatchObject({ status: 200, body: { user_id: user.id } });
    for (const table of ['sessions', 'authentications', 'devices']) {
      expect(await serversWith(user.id, table)).toEqual([serverOf(user.id)]);
    }
    const path = `/v1/tokens/${authentication.id}`;
    expect((await app.api('DELETE', path, { bearer: session.token })).status).toBe(200);
    expect((await app.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(401);
  }
});

test('logins at the same time reach the servers of their users', async () => {
  const answers = await Promise.all(users.map((user) => signIn(app, user)));
  const checks = await Promise.all(
    answers.map(({ session }) =>
      app.api<{ user_id: string }>('POST', '/v1/sessions/verify', { bearer: session.token }),
    ),
  );
  expect(checks.map(({ body }) => body.user_id)).toEqual(users.map(({ id }) => id));
});

test('notifications are published to each user, and listed', async () => {
  for (const user of users) {
    const { session } = await signIn(app, user);
    const body = { user_id: user.id, notification_type: 'payment', description: 'You were paid' };
    const published = await app.api<{ id: string }>('POST', '/admin/v1/notifications', { bearer: app.adminKey, body });
    expect(published.status).toBe(201);
    expect(await serversWith(user.id, 'notifications')).toEqual([serverOf(user.id)]);
    const { body: page } = await app.api<NotificationPage>('GET', '/v1/notifications', { bearer: session.token });
    expect(JSON.stringify(page)).toContain(published.body.id);
  }
});

test('a login that moves to the server of its user is found while the servers are read', async () => {
  const [from, to] = ['east', 'west'].map((name) => app.database.shards.find((shard) => shard.name === name));
  const user = users.find(({ id }) => serverOf(id) === 'east');
  if (from === undefined || to === undefined || user === undefined) throw new Error('the users are not spread');
  const { id } = (await login(app, user)).body;
  const [moving] = await from.everyone.query<{ row: object }>(
    testSql('select to_jsonb(a) as row from authentications a where id = $1', [id]),
  );
  let finding: Promise<{ userId: string } | undefined> | undefined;
  await from.everyone.transaction(async (tx) => {
    await tx.query(testSql('lock table authentications in access exclusive mode'));
    await tx.query(testSql('delete from authentications where id = $1', [id]));
    finding = findAuthenticationOwner(app.database.spanning, id);
    // The other servers have answered before this one, on which the look-up waits.
    await eventually('the look-up to wait', async () => {
      const waiting = testSql(`select from pg_stat_activity where datname = current_database()
                               and wait_event_type = 'Lock' and query like '%authentications where id%'`);
      return (await from.everyone.query(waiting)).length > 0 ? true : undefined;
    });
    await to.everyone.query(
      testSql('insert into authentications select * from jsonb_populate_record(null::authentications, $1::jsonb)', [
        JSON.stringify(moving?.row),
      ]),
    );
  });
  expect(await finding).toMatchObject({ userId: user.id });
  await to.everyone.query(testSql('delete from authentications where id = $1', [id]));
});

test('an identity changes in the directory and in the row of the user together', async () => {
  for (const [place, user] of users.entries()) {
    const username = `changed${place}x${randomUUID().slice(0, 8)}`;
    const changed = await app.api('PATCH', `/admin/v1/users/${user.id}`, { bearer: app.adminKey, body: { username } });
    expect(changed).toMatchObject({ status: 200, body: { username } });
    expect((await login(app, user)).body.status).toBe('rejected');
    const renamed = await app.api('POST', '/v1/tokens', { body: passwordLogin(username, password) });
    expect(renamed.body.status).toBe('approved');
    const taken = { username, password };
    expect((await app.api('POST', '/admin/v1/users', { bearer: app.adminKey, body: taken })).status).toBe(409);
  }
});

test('a deleted user leaves neither the row nor the identities', async () => {
  for (const { id } of users) {
    expect((await app.api('DELETE', `/admin/v1/users/${id}`, { bearer: app.adminKey })).status).toBe(204);
    expect(await serversWith(id, 'users')).toEqual([]);
    expect(await serversWith(id, 'identities')).toEqual([]);
  }
});
