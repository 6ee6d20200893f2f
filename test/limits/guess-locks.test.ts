import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../src/contract/administration.js';
import type { User } from '../../src/contract/user.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { queriesOf } from '../support/queries.js';
import { testSql } from '../support/sql.js';
import { codeOf, createUser, newPhone, password, passwordLogin, signIn, smsLogin } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  const limits = { GUESS_LIMIT: '2', GUESS_LIMIT_PERMANENT: '4' };
  // Requests of one user wait for each other, on a busy machine for a long time.
  const options = { queryTimeout: 60_000 };
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', ...limits }, options);
});
afterAll(() => postern.close());

const admin = <Body>(method: string, path: string, body?: object) =>
  postern.api<Body>(method, `/admin/v1${path}`, { bearer: postern.adminKey, ...(body !== undefined && { body }) });
const attempt = (username: string | null, secret: string, device: object = {}, on = postern) =>
  on.api('POST', '/v1/tokens', { body: passwordLogin(username, secret, device) });
async function lock(username: string | null, device: object = {}): Promise<void> {
  for (let count = 0; count < 2; count += 1) {
    expect((await attempt(username, 'wrong', device)).body).toMatchObject({ status: 'rejected' });
  }
}
const currentUser = async ({ id }: User) => (await admin<User>('GET', `/users/${id}`)).body;
/** Moves all locks and their refusals `seconds` into the past. */
const ageLocks = (seconds: number) =>
  postern.database.query(
    testSql(
      `update guess_budgets set locked_until = locked_until - $1 * interval '1 second',
           locked_at = locked_at - $1 * interval '1 second', refused_at = refused_at - $1 * interval '1 second'`,
      [seconds],
    ),
  );
const time = expect.stringMatching(/\.\d{6}Z$/);

describe('a user shows the active guess locks', () => {
  test('of unknown devices, with start and end', async () => {
    const user = await createUser(postern);
    expect(user.guess_locks).toEqual([]);
    await attempt(user.username, 'wrong');
    expect((await currentUser(user)).guess_locks).toEqual([]);
    await attempt(user.username, 'wrong');
    const { guess_locks: locks, lock: operators } = await currentUser(user);
    expect(operators).toBeNull();
    expect(locks).toEqual([{ device_id: null, since: time, until: time, permanent: false }]);
    expect(Date.parse(locks[0]?.until ?? '') - Date.parse(locks[0]?.since ?? '')).toBe(30_000);
    expect((await admin<User[]>('GET', `/users?filter=id:${user.id}`)).body[0]?.guess_locks).toEqual(locks);
  });

  test('of a known device beside that of unknown devices, and not of a removed device', async () => {
    const user = await createUser(postern);
    const device = { id: randomUUID() };
    await signIn(postern, user, device);
    await lock(user.username, device);
    const ofDevice = { device_id: device.id, since: time, until: time, permanent: false };
    expect((await currentUser(user)).guess_locks).toEqual([ofDevice]);
    await lock(user.username);
    expect((await currentUser(user)).guess_locks).toEqual([ofDevice, { ...ofDevice, device_id: null }]);
    await admin('DELETE', `/users/${user.id}/devices/${device.id}`);
    expect((await currentUser(user)).guess_locks).toEqual([{ ...ofDevice, device_id: null }]);
  });

  test('until the locks end', async () => {
    const user = await createUser(postern);
    await lock(user.username);
    await ageLocks(10);
    expect((await currentUser(user)).guess_locks).toHaveLength(1);
    await ageLocks(30);
    expect((await currentUser(user)).guess_locks).toEqual([]);
  });

  test('without an end if they are permanent', async () => {
    const user = await createUser(postern);
    await lock(user.username);
    const [temporary] = (await currentUser(user)).guess_locks;
    await ageLocks(31);
    await lock(user.username);
    const [first, ...others] = (await currentUser(user)).guess_locks;
    expect([first, others]).toEqual([{ device_id: null, since: time, until: null, permanent: true }, []]);
    expect((first?.since ?? '') > (temporary?.since ?? '~')).toBe(true);
  });

  test('until an operator unlocks the user, as the response shows', async () => {
    const user = await createUser(postern);
    await lock(user.username);
    expect((await admin<User>('POST', `/users/${user.id}/unlock`)).body.guess_locks).toEqual([]);
    expect((await attempt(user.username, password)).body).toMatchObject({ status: 'approved' });
  });

  test('until the user recovers the password', async () => {
    const phone = newPhone();
    const user = await createUser(postern, { phone });
    await lock(user.username);
    const body = { identity: { type: 'phone', value: phone }, purpose: 'password' };
    const { body: recovery } = await postern.api<{ id: string }>('POST', '/v1/recoveries', { body });
    const printed = () => postern.printed.findLast((line) => line.includes(phone));
    await expect.poll(printed).toBeDefined();
    const secret = /\b\d{6}\b/.exec(printed() ?? '')?.[0];
    const answer = { secret, password: 'another battery of horses' };
    expect((await postern.api('POST', `/v1/recoveries/${recovery.id}`, { body: answer })).status).toBe(200);
    expect((await currentUser(user)).guess_locks).toEqual([]);
  });
});

describe('a list of users', () => {
  const idsOf = async (filter: string) => {
    const { status, body, text } = await admin<User[]>('GET', `/users?limit=100&filter=${filter}`);
    expect(status, text).toBe(200);
    return body.map(({ id }) => id);
  };

  test('can be filtered by guess locks', async () => {
    const name = `filtered ${randomUUID()}`;
    const [free, locked, lapsed, onDevice, lockedPermanently, cleared] = [
      await createUser(postern, { name }),
      await createUser(postern, { name }),
      await createUser(postern, { name }),
      await createUser(postern, { name }),
      await createUser(postern, { name }),
      await createUser(postern, { name }),
    ];
    await lock(lapsed.username);
    await lock(lockedPermanently.username);
    await ageLocks(31);
    await lock(lockedPermanently.username);
    await lock(locked.username);
    const device = { id: randomUUID() };
    await signIn(postern, onDevice, device);
    await lock(onDevice.username, device);
    await lock(cleared.username);
    await admin('POST', `/users/${cleared.id}/unlock`);
    const lockedOnes = [lockedPermanently.id, onDevice.id, locked.id];
    const freeOnes = [cleared.id, lapsed.id, free.id];
    const allUsers = [cleared.id, lockedPermanently.id, onDevice.id, lapsed.id, locked.id, free.id];
    for (const filter of ['guess_locked:true', 'guess_locked:neq:false', 'guess_locked:in:[true]']) {
      expect(await idsOf(`name:${name},${filter}`)).toEqual(lockedOnes);
      expect((await idsOf(filter)).filter((id) => allUsers.includes(id))).toEqual(lockedOnes);
    }
    for (const filter of ['guess_locked:false', 'guess_locked:neq:true']) {
      expect(await idsOf(`name:${name},${filter}`)).toEqual(freeOnes);
    }
    expect(await idsOf(`name:${name},guess_locked:in:[true;false]`)).toEqual(allUsers);
    expect(await idsOf(`name:${name},guess_locked:true,guess_locked:false`)).toEqual([]);
    expect(await idsOf(`id:${free.id},guess_locked:true`)).toEqual([]);
  });

  test('finds few locked users by index among many users and many locked unknown identities', async () => {
    const { database } = postern;
    await database.query(
      testSql(`insert into users (id, username, created_at, updated_at)
           select gen_random_uuid(), null, now(), now() from generate_series(1, 20000)`),
    );
    await database.query(
      testSql(`insert into guess_budgets (user_id, bucket, permanent, locked_at, locked_until, updated_at)
           select gen_random_uuid(), '00000000-0000-0000-0000-000000000000', n % 2 = 0, db_now(), db_now() + interval '1 hour', db_now()
           from generate_series(1, 20000) n`),
    );
    await database.query(testSql('analyze users, guess_budgets'));
    const locked = await createUser(postern);
    await lock(locked.username);
    let ids: string[] = [];
    const sent = await queriesOf(async () => {
      ids = await idsOf('guess_locked:true');
    });
    expect(ids).toContain(locked.id);
    const list = sent.find(({ text }) => text.includes('guess_budgets') && text.includes('order by'));
    const [{ 'QUERY PLAN': plan } = {}] = await database.query<{ 'QUERY PLAN': unknown }>(
      testSql(`explain (analyze, format json) ${list?.text ?? ''}`, [...(list?.values ?? [])]),
    );
    const nodes = scansOf(plan);
    expect(nodes.length).toBeGreaterThan(1);
    expect(nodes.filter(({ rows }) => rows > 1000)).toEqual([]);
    expect(nodes.filter(({ type }) => type === 'Seq Scan').filter(({ table }) => table !== 'devices')).toEqual([]);
    await database.query(testSql('delete from users where username is null'));
    await database.query(
      testSql('delete from guess_budgets b where not exists (select from users u where u.id = b.user_id)'),
    );
  });
});

interface Scan {
  readonly type: string;
  readonly table: string;
  /** Rows that were read, also those that a filter removed. */
  readonly rows: number;
}

function scansOf(plan: unknown): Scan[] {
  if (Array.isArray(plan)) return plan.flatMap(scansOf);
  if (typeof plan !== 'object' || plan === null) return [];
  const node = plan as Record<string, unknown>;
  const loops = Number(node['Actual Loops'] ?? 1);
  const rows = (Number(node['Actual Rows'] ?? 0) + Number(node['Rows Removed by Filter'] ?? 0)) * loops;
  const own =
    'Relation Name' in node ? [{ type: String(node['Node Type']), table: String(node['Relation Name']), rows }] : [];
  return [...own, ...scansOf(node.Plan), ...scansOf(node.Plans)];
}

describe('a login that a guess lock refuses', () => {
  const refusals = async ({ id }: User) =>
    (await admin<Event[]>('GET', `/users/${id}/activity?limit=100`)).body.filter(
      ({ type }) => type === 'login.refused_locked',
    );

  test('records an event with the reason, the device and the end of the lock', async () => {
    const user = await createUser(postern);
    const device = { id: randomUUID() };
    await signIn(postern, user, device);
    await lock(user.username);
    const other = { id: randomUUID() };
    expect((await attempt(user.username, password, other)).status).toBe(423);
    await lock(user.username, device);
    expect((await attempt(user.username, password, device)).status).toBe(423);
    const until = time;
    const common = { by: 'guesses', permanent: false, until };
    expect((await refusals(user)).map(({ data, actor, address }) => [data, actor, address])).toEqual([
      [{ ...common, device_id: device.id, known_device: true }, 'user', '127.0.0.1'],
      [{ ...common, device_id: other.id, known_device: false }, 'user', '127.0.0.1'],
    ]);
    const [ofUnknown] = (await currentUser(user)).guess_locks;
    expect((await refusals(user))[1]?.data.until).toBe(ofUnknown?.until);
  });

  test('records an event if the lock is permanent (403)', async () => {
    const user = await createUser(postern);
    await lock(user.username);
    await ageLocks(31);
    await lock(user.username);
    expect((await attempt(user.username, password)).status).toBe(403);
    expect((await refusals(user))[0]?.data).toMatchObject({ by: 'guesses', permanent: true, until: null });
  });

  test('records an event at step 2 as well', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
    const secret = await codeOf(postern, body.id);
    await lock(user.username);
    const answer = { body: { secret, pin: '2468' } };
    expect((await postern.api('POST', `/v1/tokens/${body.id}/secret`, answer)).status).toBe(423);
    expect(await refusals(user)).toHaveLength(1);
  });

  test('is in the activity that users see', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    await lock(user.username);
    const device = { id: randomUUID() };
    await attempt(user.username, password, device);
    const { body } = await postern.api<{ type: string; text: string; device_id: string | null }[]>(
      'GET',
      '/v1/account/activity',
      { bearer: session.token, headers: { 'Accept-Language': 'en' } },
    );
    expect(body[0]).toMatchObject({
      type: 'login.refused_locked',
      text: 'A sign-in was refused because the account is locked.',
      device_id: device.id,
    });
  });

  test('records one event for many parallel logins, and then one a minute', async () => {
    const user = await createUser(postern);
    await lock(user.username);
    const second = await postern.another();
    try {
      const attemptInParallel = async () => {
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, n) => attempt(user.username, password, {}, n % 2 === 0 ? postern : second)),
        );
        expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(423));
      };
      await attemptInParallel();
      expect(await refusals(user)).toHaveLength(1);
      await postern.database.query(testSql(`update guess_budgets set locked_until = locked_until + interval '1 hour'`));
      await ageLocks(20);
      await attemptInParallel();
      expect(await refusals(user)).toHaveLength(1);
      await ageLocks(60);
      await attemptInParallel();
      expect(await refusals(user)).toHaveLength(2);
    } finally {
      await second.close();
    }
  });

  test('records one event for each lock, however soon the next lock follows', async () => {
    const user = await createUser(postern);
    await lock(user.username);
    await attempt(user.username, password);
    await postern.database.query(testSql('update guess_budgets set locked_until = db_now()'));
    await lock(user.username);
    expect((await attempt(user.username, password)).status).toBe(403);
    expect(await refusals(user)).toHaveLength(2);
  });

  test('does the same work for an unknown identity', async () => {
    const { username } = await createUser(postern);
    const nobody = `nobody${randomUUID().slice(0, 8)}`;
    const statements = async (name: string | null) => {
      const sent = await queriesOf(async () => {
        await lock(name);
        for (let count = 0; count < 3; count += 1) expect((await attempt(name, password)).status).toBe(423);
      });
      return sent.map(({ name: statement, text }) => statement ?? text);
    };
    const eventsBefore = await countEvents();
    const ofUser = await statements(username);
    const ofNobody = await statements(nobody);
    expect(ofUser.filter((name) => name === 'guess_refused')).toHaveLength(3);
    expect(ofNobody).toEqual(ofUser);
    // Two rejections, the lock and one refusal, for each of the two.
    expect(await countEvents()).toBe(eventsBefore + 8);
    const rows = await postern.database.query<{ is_user: boolean }>(
      testSql(`select is_user from guess_budgets where locked_at is not null and refused_at is not null
             and locked_at > db_now() - interval '20 seconds' and locks = 1`),
    );
    expect(new Set(rows.map(({ is_user }) => is_user))).toEqual(new Set([true, false]));
  });

  const countEvents = async () =>
    (await postern.database.query<{ n: number }>(testSql('select count(*)::int as n from events')))[0]?.n ?? 0;
});
