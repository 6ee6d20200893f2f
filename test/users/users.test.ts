import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewUser, User, UserChange } from '../../src/contract/user.js';
import { createPasswordHasher } from '../../src/credentials/passwords.js';
import { createSecretKeys } from '../../src/lib/crypto/secret-keys.js';
import { Problem } from '../../src/lib/problem.js';
import { eraseUser } from '../../src/users/erase.js';
import { createUsers, type Users } from '../../src/users/users.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testPolicies } from '../support/login-policies.js';
import { raceRounds } from '../support/rounds.js';
import { testSql } from '../support/sql.js';

const origin = { actor: 'system' };
const byService = { client: null };

let test: TestDatabase;
let users: Users;

beforeAll(async () => {
  test = await createTestDatabase();
  users = createUsers({
    database: test.database,
    hasher: createPasswordHasher(),
    keys: createSecretKeys(['k'.repeat(32)]),
    defaultRegion: 'US',
    passwordWords: [],
    passwordMin: 8,
    hashCostLimit: 60,
    policies: testPolicies,
  });
});
afterAll(() => test.drop());

const create = async (input: NewUser = { username: `u-${randomUUID()}` }): Promise<User> => {
  const prepared = await users.prepare(input, undefined, byService);
  return test.database.transaction((tx) => users.create(tx, prepared, origin));
};
const change = async (id: string, input: UserChange): Promise<User> => {
  const prepared = await users.prepareChange(id, input, byService);
  return test.database.transaction((tx) => users.change(tx, id, prepared, origin));
};
const codeOf = (result: PromiseSettledResult<unknown>) => {
  if (result.status === 'fulfilled') return 'done';
  return result.reason instanceof Problem ? result.reason.code : String(result.reason);
};
const identitiesOf = (id: string) =>
  test.database.query<{ type: string; canonical: string }>(
    testSql('select type, canonical from identities where user_id = $1 order by type', [id]),
  );

describe('a user', () => {
  it('is found by canonical identities, and shown with the username as it was spelled', async () => {
    const name = `Straße-${randomUUID()}`;
    const user = await create({ username: name, phone: '(555) 123-4567' });
    expect(user).toMatchObject({ username: name, phone: '+15551234567' });
    expect(await identitiesOf(user.id)).toEqual([
      { type: 'phone', canonical: '+15551234567' },
      { type: 'username', canonical: name.toLowerCase().replace('ß', 'ss') },
    ]);
  });

  it('needs no region for a phone number with a country code', async () => {
    await expect(users.prepare({ phone: '+34 612 34 56 78' }, undefined, byService)).resolves.toMatchObject({
      values: { phone: '+34612345678' },
    });
  });

  it('is prepared without a write to the database: hashed, and bound to the id', async () => {
    const { id, values } = await users.prepare(
      { username: 'prepared', password: 'a battery of horses', pin: '2468' },
      undefined,
      byService,
    );
    expect(values.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(values.pin_hash).toMatch(/^k[0-9a-f]{8}\$argon2id\$/);
    await expect(users.get(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('leaves no rows behind when the creation is refused', async () => {
    const { username } = await create();
    const prepared = await users.prepare(
      { username: username ?? '', email: `${randomUUID()}@example.com` },
      undefined,
      byService,
    );
    const creation = test.database.transaction((tx) => users.create(tx, prepared, origin));
    await expect(creation).rejects.toMatchObject({
      code: 'identity_taken',
      options: { errors: [{ field: 'username' }] },
    });
    expect(await identitiesOf(prepared.id)).toEqual([]);
    for (const table of ['users where id', 'inboxes where user_id', 'events where user_id']) {
      expect(await test.database.query(testSql(`select 1 from ${table} = $1`, [prepared.id]))).toEqual([]);
    }
  });

  it('keeps every change of parallel changes', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const { id } = await create();
      const [name, locale] = [`name ${round}`, 'en'];
      await Promise.all([change(id, { name }), change(id, { locale }), change(id, { metadata: { round } })]);
      expect(await users.get(id)).toMatchObject({ name, locale, metadata: { round } });
    }
  });

  it('keeps one identity when two parallel changes remove the last two', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const { id } = await create({ username: `u-${randomUUID()}`, email: `${randomUUID()}@example.com` });
      const results = await Promise.allSettled([change(id, { username: null }), change(id, { email: null })]);
      expect(results.map(codeOf).sort()).toEqual(['done', 'validation_failed']);
      expect(await identitiesOf(id)).toHaveLength(1);
    }
  });

  it('gets a free identity in one of two parallel requests, without a deadlock', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const [ada, bob] = [await create(), await create()];
      const wanted = { username: `u-${randomUUID()}`, email: `${randomUUID()}@example.com` };
      const results = await Promise.allSettled([change(ada.id, wanted), change(bob.id, wanted)]);
      expect(results.map(codeOf).sort()).toEqual(['done', 'identity_taken']);
      const owners = [...(await identitiesOf(ada.id)), ...(await identitiesOf(bob.id))].map(
        ({ canonical }) => canonical,
      );
      expect(owners.filter((canonical) => canonical === wanted.username)).toHaveLength(1);
      expect(owners.filter((canonical) => canonical === wanted.email)).toHaveLength(1);
    }
  });

  it('gets a higher epoch, which makes earlier tokens invalid, each time all logins end', async () => {
    const { id } = await create();
    const epoch = async () =>
      (await test.database.query<{ epoch: number }>(testSql('select epoch from users where id = $1', [id])))[0]?.epoch;
    expect(await epoch()).toBe(0);
    await change(id, { password: 'a battery of horses' });
    expect(await epoch()).toBe(1);
    await change(id, { status: 'deactivated' });
    expect(await epoch()).toBe(2);
    await change(id, { status: 'active' });
    await change(id, { pin: '2468', name: 'x' });
    await test.database.transaction((tx) => users.lock(tx, id, { permanent: true }, origin));
    expect(await epoch()).toBe(2);
    await test.database.transaction((tx) => users.logout(tx, id, origin));
    expect(await epoch()).toBe(3);
  });

  it('is unlocked by the clock of the database', async () => {
    const { id } = await create();
    const lockUntil = (until: string) =>
      test.database
        .transaction((tx) => users.lock(tx, id, { until }, origin))
        .then(
          (user) => user.lock,
          (problem: Problem) => problem.options.errors?.map(({ code }) => code),
        );
    const setClockAhead = (step: string) =>
      test.database.query(
        testSql(`create or replace function db_now() returns timestamptz language sql volatile
             as $$ select clock_timestamp() + interval '${step}' $$`),
      );
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    try {
      await setClockAhead('2 hours');
      expect(await lockUntil(inAnHour)).toEqual(['time_in_past']);
      await setClockAhead('-2 hours');
      expect(await lockUntil(inAnHour)).toMatchObject({ permanent: false });
      await setClockAhead('2 hours');
      expect((await users.get(id)).lock).toBeNull();
    } finally {
      await setClockAhead('0');
    }
  });
});

describe('erasing a user', () => {
  it('deletes all rows of the user in batches, keeps those of other users, and can be repeated', async () => {
    const [gone, kept] = [await create(), await create()];
    for (const { id } of [gone, kept]) {
      await test.database.query(
        testSql(
          `insert into devices (user_id, id, created_at, updated_at)
             select $1, gen_random_uuid(), db_now(), db_now() from generate_series(1, 2500)`,
          [id],
        ),
      );
    }
    await test.database.transaction((tx) => users.remove(tx, gone.id, origin));
    const erasedElsewhere: string[] = [];
    for (let time = 0; time < 2; time += 1) {
      await eraseUser(test.database, gone.id, [{ table: 'notifications', key: 'id' }], async (userId) => {
        erasedElsewhere.push(userId);
      });
    }
    expect(erasedElsewhere).toEqual([gone.id, gone.id]);
    const count = async (table: string, id: string) =>
      (await test.database.query(testSql(`select 1 from ${table} where user_id = $1`, [id]))).length;
    expect(await count('devices', gone.id)).toBe(0);
    expect(await count('inboxes', gone.id)).toBe(0);
    expect(await count('devices', kept.id)).toBe(2500);
    expect(await count('inboxes', kept.id)).toBe(1);
    expect(await count('events', gone.id)).toBe(2);
  });

  it('is queued only if the transaction that deletes the user commits', async () => {
    const { id } = await create();
    const jobs = async () =>
      (
        await test.database.query(
          testSql(`select 1 from graphile_worker._private_jobs where payload->>'user_id' = $1`, [id]),
        )
      ).length;
    const rolledBack = test.database.transaction(async (tx) => {
      await users.remove(tx, id, origin);
      throw new Error('never mind');
    });
    await expect(rolledBack).rejects.toThrow('never mind');
    expect(await jobs()).toBe(0);
    await expect(users.get(id)).resolves.toMatchObject({ id });
    await test.database.transaction((tx) => users.remove(tx, id, origin));
    expect(await jobs()).toBe(2);
    const again = test.database.transaction((tx) => users.remove(tx, id, origin));
    await expect(again).rejects.toMatchObject({ code: 'not_found' });
  });
});
