import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../../src/database/database.js';
import { startRelay } from '../../../src/database/relay.js';
import {
  deletePushToken,
  findPushTarget,
  findReachableDevices,
  listDeviceStates,
} from '../../../src/devices/push-devices.js';
import { createPacer } from '../../../src/lib/pacing.js';
import { notificationFilterFields } from '../../../src/notifications/inbox/filter-fields.js';
import { createNotifications, type Notifications } from '../../../src/notifications/notifications.js';
import { fanOutPushes } from '../../../src/notifications/push/fan-out.js';
import { createCounters } from '../../../src/statistics/counters.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { builtInCategories, createInboxes, imageUrlsOf, types } from '../../support/inbox.js';
import { queriesOf } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';

let fresh: TestDatabase;
let database: Database;
/** Publishes without a relay, like a process that dies right after its commit. */
let notifications: Notifications;

beforeAll(async () => {
  fresh = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  database = fresh.database;
  notifications = createNotifications({
    database,
    types,
    categories: builtInCategories,
    checkUrl: () => undefined,
    imageUrlsOf,
    onChanged: () => undefined,
    onPublished: () => undefined,
    batching: true,
    counters: createCounters(),
    pacer: createPacer(),
    limitExpensive: (_userId, read) => read(),
  });
});
afterAll(() => fresh.drop());

const startPushRelay = (pushing: FanOutOptions) =>
  startRelay(
    () => fanOutPushes(database, pushing),
    () => undefined,
  );

type FanOutOptions = Parameters<typeof fanOutPushes>[1];

const options: FanOutOptions = {
  counters: createCounters(),
  devices: {
    reachable: (handle, userIds, channels) => findReachableDevices(handle, { userIds, channels, perUser: 100 }),
    target: findPushTarget,
    forget: deletePushToken,
    states: listDeviceStates,
  },
  channels: ['fcm'],
  categories: builtInCategories,
  fields: notificationFilterFields(types),
};

/** Creates users who are logged in on a device with a push token. */
async function createReachable(count: number): Promise<string[]> {
  const ids = await createInboxes(database, count);
  await database.query(
    testSql(
      `insert into devices (user_id, id, gcm_device_token, created_at, updated_at)
         select id, id, 'token of ' || id, now(), now() from unnest($1::uuid[]) id`,
      [ids],
    ),
  );
  await database.query(
    testSql(
      `insert into authentications (user_id, id, device_id, authenticator, status, epoch, expires_at, created_at, updated_at)
         select id, id, id, 'password', 'approved', 0, now() + interval '1 day', now(), now() from unnest($1::uuid[]) id`,
      [ids],
    ),
  );
  return ids;
}

const publish = (userIds: readonly string[]) =>
  database.transaction((tx) =>
    notifications.publish(tx, { user_ids: [...userIds], notification_type: 'pool', description: 'A new pool' }),
  );

/** Publishes an item for each user. */
const publishEach = (userIds: readonly string[]) =>
  database.transaction((tx) =>
    notifications.publish(
      tx,
      userIds.map((userId) => ({
        user_id: userId,
        notification_type: 'pool',
        description: `A new pool for ${userId}`,
      })),
    ),
  );

interface Counts {
  readonly pushes: number;
  readonly different: number;
  readonly jobs: number;
  readonly fan_outs: number;
}

async function counts(userIds: readonly string[]): Promise<Counts | undefined> {
  const [row] = await database.query<Counts>(
    testSql(
      `select (select count(*) from push_deliveries where user_id = any ($1::uuid[])) as pushes,
                (select count(distinct (user_id, device_id, notification_id)) from push_deliveries
                 where user_id = any ($1::uuid[])) as different,
                (select count(*) from graphile_worker._private_jobs
                 where (payload->>'user_id')::uuid = any ($1::uuid[])) as jobs,
                (select count(*) from push_fan_outs) as fan_outs`,
      [userIds],
    ),
  );
  return row;
}

describe('a publication', () => {
  test.each([
    ['one item to many', publish],
    ['an item for each', publishEach],
  ])('adds one row for the relay, however many notifications it has: %s', async (_, publishTo) => {
    const users = await createReachable(500);
    await publishTo(users);
    expect(await counts(users)).toEqual({ pushes: 0, different: 0, jobs: 0, fan_outs: 1 });
    expect(await fanOutPushes(database, options)).toBe(true);
    expect(await counts(users)).toEqual({ pushes: 500, different: 500, jobs: 500, fan_outs: 0 });
    expect(await fanOutPushes(database, options)).toBe(false);
  });

  test('of a process that has died is pushed by another process, without a signal', async () => {
    const users = await createReachable(3);
    const relay = startPushRelay(options);
    try {
      await publish(users);
      await eventually('the jobs to be added', async () => ((await counts(users))?.jobs === 3 ? true : undefined));
    } finally {
      await relay.stop();
    }
    expect(await counts(users)).toEqual({ pushes: 3, different: 3, jobs: 3, fan_outs: 0 });
  });

  test('is pushed once, however many instances read it at once, and even if some of them fail', async () => {
    const users = await createReachable(20);
    for (let round = 0; round < 30; round += 1) await publish(users);
    let failures = 0;
    const failing: FanOutOptions = {
      ...options,
      devices: {
        ...options.devices,
        async reachable(...given) {
          const devices = await options.devices.reachable(...given);
          failures += 1;
          if (failures % 2 === 0) throw new Error('the process dies here');
          return devices;
        },
      },
    };
    const relays = [options, failing, options, failing].map((each) => startPushRelay(each));
    try {
      await eventually('the fan-out of all rows', async () => {
        const [row] = await database.query<{ rows: number }>(testSql('select count(*) as rows from push_fan_outs'));
        return row?.rows === 0 ? true : undefined;
      });
    } finally {
      await Promise.all(relays.map((relay) => relay.stop()));
    }
    expect(await counts(users)).toEqual({ pushes: 600, different: 600, jobs: 600, fan_outs: 0 });
  });

  test('to ten thousand users is pushed with statements of a thousand rows, which stay below the timeout', async () => {
    const users = await createReachable(10_000);
    await publish(users);
    const sent = await queriesOf(() => fanOutPushes(database, options));
    const inserts = sent.filter(({ name }) => name === 'push_deliveries_insert');
    // The first value is an array of users.
    expect(inserts.map(({ values = [] }) => `${values[0]}`.split(',').length)).toEqual(Array(10).fill(1000));
    expect(await counts(users)).toEqual({ pushes: 10_000, different: 10_000, jobs: 10_000, fan_outs: 0 });
  });

  test('in a transaction that fails is not pushed', async () => {
    const users = await createReachable(1);
    const failing = database.transaction(async (tx) => {
      await notifications.publish(tx, { user_id: users[0] ?? '', notification_type: 'pool', description: 'x' });
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await fanOutPushes(database, options)).toBe(false);
  });
});

test('a user with more devices than allowed gets pushes on those with the latest logins', async () => {
  const [user = ''] = await createReachable(1);
  await database.query(
    testSql(
      `with logins as (
         insert into authentications (user_id, id, device_id, authenticator, status, epoch, expires_at, created_at, updated_at)
         select $1, id, id, 'password', 'approved', 0, now() + interval '1 day', now(), now()
         from (select gen_random_uuid() as id from generate_series(1, 9)) ids returning id)
       insert into devices (user_id, id, gcm_device_token, created_at, updated_at, last_login_at)
       select $1, id, 'token of ' || id, now(), now(), now() - row_number() over () * interval '1 hour' from logins`,
      [user],
    ),
  );
  const search = { userIds: [user], channels: ['fcm'] as const };
  const all = await findReachableDevices(database, { ...search, perUser: 100 });
  const some = await findReachableDevices(database, { ...search, perUser: 4 });
  expect([all.length, some.length]).toEqual([10, 4]);
  const newest = await database.query<{ id: string }>(
    testSql('select id from devices where user_id = $1 order by last_login_at desc limit 4', [user]),
  );
  expect(some.map(({ device_id }) => device_id).sort()).toEqual(newest.map(({ id }) => id).sort());
});

test('users without a login, deactivated users and users with a revoked login get no push', async () => {
  const users = await createReachable(4);
  const [ended, deactivated, revoked] = users;
  await database.query(testSql('update authentications set ended_at = now() where user_id = $1', [ended]));
  await database.query(testSql("update users set status = 'deactivated' where id = $1", [deactivated]));
  await database.query(testSql('update users set epoch = epoch + 1 where id = $1', [revoked]));
  const reachable = await findReachableDevices(database, {
    userIds: [...users, randomUUID()],
    channels: ['apns', 'fcm', 'web_push'],
    perUser: 100,
  });
  expect(reachable.map(({ user_id }) => user_id)).toEqual([users[3]]);
});
