import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../src/contract/administration.js';
import type { User } from '../../src/contract/user.js';
import { expiryTasks } from '../../src/database/maintenance/expiry.js';
import { runMaintenanceOnce } from '../../src/database/maintenance/tasks.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { raceRounds } from '../support/rounds.js';
import { testSql } from '../support/sql.js';
import { createUser, login, signIn } from '../support/users.js';

const max = 3;

let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ MAX_DEVICES: String(max), NOTICES: 'inbox', NOTIFICATION_TYPES: 'security' },
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', MAX_DEVICES_BY_ROLE: 'operator:1,support:50' },
  });
  other = await postern.another();
});
afterAll(async () => {
  await other.close();
  await postern.close();
});

const newSession = (token: string) => postern.api('POST', '/v1/sessions', { basic: token });
const verify = async (token: string) => (await postern.api('POST', '/v1/sessions/verify', { bearer: token })).status;
const devicesOf = async ({ id }: User) => {
  const rows = await postern.database.query<{ id: string }>(
    testSql('select id from devices where user_id = $1 order by created_at', [id]),
  );
  return rows.map((row) => row.id);
};
const removedOf = async ({ id }: User) => {
  const { body } = await postern.api<Event[]>('GET', `/admin/v1/users/${id}/activity?limit=100`, {
    bearer: postern.adminKey,
  });
  return body.filter(({ type }) => type === 'device.removed').map(({ data }) => data);
};
/** Signs in on new devices, one after the other. */
async function signInOn(user: User, count: number) {
  const logins: Awaited<ReturnType<typeof signIn>>[] = [];
  for (let at = 0; at < count; at += 1) logins.push(await signIn(postern, user, { make: 'Acme', model: `No ${at}` }));
  return logins;
}

describe('MAX_DEVICES_BY_ROLE', () => {
  test.each([
    ['operator', 1],
    ['support', max],
    ['user', max],
  ])('lets the role %s have %i devices: the smaller value holds', async (role, count) => {
    const user = await createUser(postern, { role });
    const logins = await signInOn(user, max + 2);
    const newest = logins.map(({ authentication }) => authentication.device_id).slice(-count);
    await eventually('the removal of the others', async () => (await devicesOf(user)).length === count || undefined);
    expect(await devicesOf(user)).toEqual(newest);
  });

  test('counts by the role that the user has at the login', async () => {
    const user = await createUser(postern);
    await signInOn(user, max);
    await postern.api('PATCH', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey, body: { role: 'operator' } });
    expect(await devicesOf(user)).toHaveLength(max);
    await signInOn(user, 1);
    await eventually('the removal of the others', async () => (await devicesOf(user)).length === 1 || undefined);
  });
});

describe('a login on one device more than MAX_DEVICES', () => {
  test('removes the device that was unused for longest, at its first session, and tells the user', async () => {
    const user = await createUser(postern);
    const [first, second, third] = await signInOn(user, max);
    if (first === undefined || second === undefined || third === undefined) throw new Error('logins are missing');
    // The first device is used again, so the second one is unused for longest.
    expect((await newSession(first.token)).status).toBe(201);
    const { body: fourth } = await login(postern, user);
    expect(await devicesOf(user)).toHaveLength(max + 1);
    expect((await newSession(fourth.token ?? '')).status).toBe(201);
    const left = [first, third].map(({ authentication }) => authentication.device_id);
    expect(await devicesOf(user)).toEqual([...left, fourth.device_id]);
    expect(await verify(second.session.token)).toBe(401);
    expect((await newSession(second.token)).status).toBe(401);
    expect(await verify(first.session.token)).toBe(200);
    const removed = second.authentication.device_id;
    expect(await removedOf(user)).toMatchObject([{ device_id: removed, cause: 'max_devices' }]);
    const { description } = await eventually('the notice', async () => {
      const { body } = await postern.api<{ notification_key: string; description: string }[]>(
        'GET',
        '/v1/notifications',
        { bearer: first.session.token },
      );
      return body.find(({ notification_key }) => notification_key === 'device_removed');
    });
    expect(description).toContain('Acme No 1');
  });

  test('counts the use of sessions whose rows were removed since', async () => {
    const user = await createUser(postern);
    const [first] = await signInOn(user, max);
    if (first === undefined) throw new Error('a login is missing');
    expect((await newSession(first.token)).status).toBe(201);
    // As after two days: the sessions expire, and their removal keeps the time.
    await postern.database.query(
      testSql("update sessions set expires_at = now() - interval '2 days' where user_id = $1", [user.id]),
    );
    await runMaintenanceOnce(postern.database, expiryTasks(1e12));
    await postern.database.query(
      testSql('update authentications set first_used_at = approved_at where user_id = $1', [user.id]),
    );
    await signInOn(user, 1);
    expect(await devicesOf(user)).toContain(first.authentication.device_id);
  });

  test('does nothing at a login on a known device', async () => {
    const user = await createUser(postern);
    const [first] = await signInOn(user, max);
    await signIn(postern, user, { id: first?.authentication.device_id });
    expect(await devicesOf(user)).toHaveLength(max);
    expect(await removedOf(user)).toEqual([]);
  });

  test('removes as many devices as are too many, in parallel logins', async () => {
    const user = await createUser(postern);
    await signInOn(user, max);
    const logins = await Promise.all(Array.from({ length: 8 }, () => login(postern, user)));
    await Promise.all(logins.map(({ body }) => newSession(body.token ?? '')));
    await signInOn(user, 1);
    expect(await devicesOf(user)).toHaveLength(max);
  });
});

test('of thirty parallel logins on two instances no more than the limit stay, and each removed device is reported once', async () => {
  for (let round = 0; round < raceRounds; round += 1) {
    const user = await createUser(postern);
    const before = (await signInOn(user, max)).map(({ authentication }) => authentication.device_id);
    const devices = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        const instance = at % 2 === 0 ? postern : other;
        const { body, status } = await login(instance, user);
        if (status !== 201) return undefined;
        await instance.api('POST', '/v1/sessions', { basic: body.token ?? '' });
        return body.device_id;
      }),
    );
    expect(devices.filter((id) => id !== undefined).length).toBeGreaterThan(max);
    // One more login and session, after all others.
    const { authentication, session } = await signIn(postern, user);
    const left = await devicesOf(user);
    expect(left).toHaveLength(max);
    expect(left).toContain(authentication.device_id);
    expect(left.filter((id) => before.includes(id))).toEqual([]);
    expect(await verify(session.token)).toBe(200);
    const events = await postern.database.query<{ device: string }>(
      testSql(`select data->>'device_id' as device from events where user_id = $1 and type = 'device.removed'`, [
        user.id,
      ]),
    );
    const told = events.map(({ device }) => device);
    expect(new Set(told).size).toBe(told.length);
    for (const id of before) expect(told).toContain(id);
    expect(told.filter((id) => left.includes(id))).toEqual([]);
  }
}, 120_000);

test('logins whose tokens are never used make no more than ten devices beyond the limit, and end no used one', async () => {
  const user = await createUser(postern);
  const used = (await signInOn(user, max)).map(({ authentication }) => authentication.device_id);
  const logins = [];
  for (let at = 0; at < 20; at += 1) logins.push(await login(postern, user));
  const devices = await devicesOf(user);
  expect(devices).toHaveLength(max + 10);
  expect(devices.slice(0, max)).toEqual(used);
  expect((await newSession(logins.at(-1)?.body.token ?? '')).status).toBe(201);
  expect(await devicesOf(user)).toHaveLength(max);
});

test('a device without a login for a year is removed, and a logged-in one is not', async () => {
  const user = await createUser(postern);
  const [ended, kept] = await signInOn(user, 2);
  await postern.api('DELETE', `/v1/tokens`, { basic: ended?.token ?? '' });
  await postern.database.query(
    testSql(
      `update devices set created_at = created_at - interval '366 days', updated_at = updated_at - interval '366 days',
         last_login_at = last_login_at - interval '366 days' where user_id = $1`,
      [user.id],
    ),
  );
  await runMaintenanceOnce(postern.database, expiryTasks(1e12));
  expect(await devicesOf(user)).toEqual([kept?.authentication.device_id]);
});

test('logins on one device whose tokens are never used leave twenty rows', async () => {
  const user = await createUser(postern);
  const { body: first } = await login(postern, user);
  const copy = testSql(
    `insert into authentications select (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(),
       'approved_at', a.approved_at + n * interval '1 second'))).*
     from authentications a, generate_series(1, 60) n where a.id = $1`,
    [first.id],
  );
  await postern.database.query(copy);
  await runMaintenanceOnce(postern.database, expiryTasks(1e12));
  const [row] = await postern.database.query<{ rows: number }>(
    testSql('select count(*) as rows from authentications where user_id = $1', [user.id]),
  );
  expect(row?.rows).toBe(21);
});
