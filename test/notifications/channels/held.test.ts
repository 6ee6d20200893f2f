import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Notification } from '../../../src/contract/notification.js';
import type { Database } from '../../../src/database/database.js';
import { type Channels, startChannels } from '../../../src/notifications/channels/channels.js';
import { selectDelivery } from '../../../src/notifications/push/attempt.js';
import { stepClock } from '../../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';
import { createStepParts } from '../../support/steps.js';

let fresh: TestDatabase;
let database: Database;
let channels: Channels;
let parts: ReturnType<typeof createStepParts>;
beforeAll(async () => {
  fresh = await createTestDatabase();
  database = fresh.database;
  const fail = (error: unknown) => {
    throw error;
  };
  channels = await startChannels({ database, record: async () => undefined, onError: fail, onPaused: () => undefined });
});
afterAll(async () => {
  await channels.stop();
  await fresh.drop();
});
let hours = 0;
beforeEach(() => {
  hours = 0;
  parts = createStepParts(database);
  parts.putCategory('billing', { steps: [{ channel: 'email' }, { channel: 'sms', after: '1h' }] });
});
afterEach(async () => {
  await set('email', false);
  await set('push', false);
  await stepClock(database, '0');
  await database.query(testSql(`update channels set pauses = '{}'`));
  await database.query(testSql('delete from graphile_worker._private_jobs'));
});

const set = (name: string, paused: boolean) =>
  database.transaction((tx) => channels.set(tx, name, paused, { actor: 'system' }));
const pass = (more: number) => {
  hours += more;
  return stepClock(database, `${hours} hours`);
};
/** A pause of `email` of so many hours. */
async function pauseFor(length: number): Promise<void> {
  await set('email', true);
  await pass(length);
  await set('email', false);
}
async function publish(): Promise<Notification> {
  const [userId = ''] = await parts.createPeople(1);
  return parts.notifications.publishOne({
    ...{ user_id: userId, notification_type: 'payment', category: 'billing', description: 'Ada paid you' },
  });
}
async function queued(): Promise<Notification> {
  const notification = await publish();
  await parts.runDue();
  expect(await parts.mailOf(notification)).toBe('queued/waiting');
  return notification;
}

describe('the ttl of 72 hours', () => {
  test('stops during a pause, and the provider gets the later end', async () => {
    const notification = await queued();
    await pauseFor(80);
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('sent/accepted');
    const [{ expiresAt = '' } = {}] = parts.handedOver;
    const left = (Date.parse(expiresAt) - Date.now()) / 3_600_000;
    expect(Math.round(left)).toBe(80 + 72);
  });

  test('goes on between two pauses', async () => {
    const [inTime, late] = [await queued(), await queued()];
    await pauseFor(40);
    await pass(40);
    await pauseFor(40);
    await pass(31);
    const jobs = await parts.jobs();
    await parts.send(jobs[0] ?? raise());
    expect(await parts.mailOf(inTime)).toBe('sent/accepted');
    await pass(2);
    await parts.send(jobs[1] ?? raise());
    expect(await parts.mailOf(late)).toBe('expired/ttl');
  });

  test('stops once for a pause that is asked for twice', async () => {
    const notification = await queued();
    await set('email', true);
    await pass(30);
    await pauseFor(30);
    await pass(73);
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('expired/ttl');
  });

  test('does not stop for the part of a pause before the step was due, or for another channel', async () => {
    await set('email', true);
    await set('push', true);
    await pass(50);
    const notification = await publish();
    await parts.runDue();
    await pass(10);
    await set('email', false);
    await pass(73);
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('expired/ttl');
  });

  test('stops for a step that becomes due during a pause', async () => {
    const notification = await publish();
    await pauseFor(100);
    await parts.runDue();
    expect(await parts.mailOf(notification)).toBe('queued/waiting');
  });

  test('stops between two attempts', async () => {
    const notification = await queued();
    parts.provider.answer = async () => ({ outcome: 'retry', error: 'busy' });
    await parts.runJobs();
    await pauseFor(100);
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('queued/retrying');
    await pass(72);
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('expired/ttl');
  });
});

test('the time of a push stops during a pause, and that of a notice about the account does not', async () => {
  const id = '00000000-0000-4000-8000-000000000001';
  const insert = (userId: string, notice: string | null) =>
    database.query(
      testSql(
        `insert into push_deliveries (user_id, id, notification_id, device_id, channel, state, reason, notice, created_at, updated_at)
         values ($1, $2, $2, $2, 'fcm', 'queued', 'waiting', $3, db_now(), db_now())`,
        [userId, id, notice],
      ),
    );
  const [pushed = '', noticed = ''] = await parts.createPeople(2);
  await insert(pushed, null);
  await insert(noticed, '{}');
  await set('push', true);
  await pass(10);
  await set('push', false);
  await pass(1);
  const hoursLeft = async (userId: string) => {
    const [row] = await database.query(selectDelivery({ userId, id, attempt: 0, ttl: 20 * 3_600_000, zone: 'UTC' }));
    return Math.round((row?.seconds_left ?? 0) / 3600);
  };
  expect([await hoursLeft(pushed), await hoursLeft(noticed)]).toEqual([19, 9]);
});

test('what waits for a paused channel is held', async () => {
  const [waiting, due] = [await queued(), await publish()];
  await set('email', true);
  expect([await parts.mailOf(waiting), await parts.mailOf(due)]).toEqual([
    'held/channel_paused',
    'held/channel_paused',
  ]);
  await set('email', false);
  expect([await parts.mailOf(waiting), await parts.mailOf(due)]).toEqual(['queued/waiting', 'none/not_due']);
});

test('what waits looks after 5 s, and ever more seldom, at least once a minute', async () => {
  expect(channels.waitOf('email')).toBe(0);
  await set('email', true);
  const waitAfter = async (seconds: number) => {
    const since = [new Date(Date.now() - seconds * 1000)];
    await database.query(testSql(`update channels set paused_at = $1 where name = 'email'`, since));
    await channels.refresh();
    return Math.round(channels.waitOf('email'));
  };
  expect([await waitAfter(0), await waitAfter(7200)]).toEqual([5, 60]);
  // A fourth of the time, which goes on.
  const wait = await waitAfter(100);
  expect(wait).toBeGreaterThanOrEqual(25);
  expect(wait).toBeLessThan(60);
});

test('only the newest 200 pauses are kept', async () => {
  await database.query(
    testSql(`update channels set pauses = (select range_agg(tstzrange(at, at + interval '1 second'))
               from (select now() - n * interval '1 minute' as at from generate_series(1, 300) n) ranges) where name = 'email'`),
  );
  await pauseFor(1);
  const [row] = await database.query<{ pauses: number; hours: number }>(
    testSql(`select count(*)::int as pauses, round(max(extract(epoch from upper(p) - lower(p))) / 3600)::int as hours
             from channels, unnest(pauses) p where name = 'email'`),
  );
  expect(row).toEqual({ pauses: 200, hours: 1 });
});

function raise(): never {
  throw new Error('there is no job');
}
