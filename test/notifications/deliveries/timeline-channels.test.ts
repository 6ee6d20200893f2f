import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CategoryInput } from '../../../src/contract/category.js';
import type { Notification } from '../../../src/contract/notification.js';
import type { Database } from '../../../src/database/database.js';
import {
  deletePushToken,
  findPushTarget,
  findReachableDevices,
  listDeviceStates,
} from '../../../src/devices/push-devices.js';
import type { AttemptJob } from '../../../src/notifications/deliveries/jobs.js';
import { createQuietRelease } from '../../../src/notifications/deliveries/quiet-hours.js';
import { notificationFilterFields } from '../../../src/notifications/inbox/filter-fields.js';
import { createTimeZones } from '../../../src/notifications/preferences/time-zones.js';
import { createCallLimits } from '../../../src/notifications/push/call-limits.js';
import { fanOutPushes } from '../../../src/notifications/push/fan-out.js';
import { createPushSending } from '../../../src/notifications/push/send.js';
import { createSimulator } from '../../../src/notifications/simulator.js';
import { createCounters } from '../../../src/statistics/counters.js';
import { holdClock, stepClock } from '../../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { types } from '../../support/inbox.js';
import { runs } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';
import { createStepParts } from '../../support/steps.js';
import { eventsOf, markRead, momentsOf, quietHoursOf, simulationOf, timelineParts } from '../../support/timelines.js';

/** Pushes and SMS. `timeline.test.ts` compares mails and digests. */

const hour = 3_600_000;
const ttl = { push: 72 * hour, email: 72 * hour, sms: 72 * hour };
const timelines = process.env.CI_FULL === '1' ? Number(process.env.SIMULATIONS ?? 1000) : runs(10, 20);

const scenario = fc.record({
  ...timelineParts,
  push: fc.constantFrom(null, ['0s', 'always'], ['0s', 'unread'], ['10m', 'always']),
  sms: fc.constantFrom(null, ['0s', 'always'], ['30m', 'unread'], ['2h', 'undelivered'], ['1d', 'always']),
  cap: fc.constantFrom(null, 1, 2, 5),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;
type Step = NonNullable<CategoryInput['steps']>[number];

const categoryOf = ({ push, sms, ttl: own, isCritical, cap, per }: Scenario): CategoryInput => ({
  steps: [
    ...(push === null ? [] : [{ channel: 'push', after: push[0], if: push[1] } as Step]),
    ...(sms === null ? [] : [{ channel: 'sms', after: sms[0], if: sms[1] } as Step]),
  ],
  ...{ ttl: own, is_critical: isCritical },
  cap: cap === null ? null : { count: cap, per, overflow: 'drop' },
});

let fresh: TestDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await createTestDatabase();
  database = fresh.database;
});
afterAll(() => fresh.drop());
afterEach(() => stepClock(database, '0'));

/** The engine of steps together with that of pushes. What is handed over is named by its channel and the text of its notification. */
function createService() {
  const parts = createStepParts(database);
  const handedOver: string[] = [];
  const counters = createCounters();
  const pushing = {
    devices: {
      reachable: (handle: Database, userIds: readonly string[], channels: readonly 'fcm'[]) =>
        findReachableDevices(handle, { userIds, channels, perUser: 100 }),
      ...{ target: findPushTarget, forget: deletePushToken, states: listDeviceStates },
    },
    ...{ channels: ['fcm'], categories: parts.categories, fields: notificationFilterFields(types), counters },
  } as unknown as Parameters<typeof fanOutPushes>[1];
  const push = createPushSending({
    ...{ ...pushing, database, ttl: ttl.push, urgency: 'high', app: 'Splitter', timeZone: 'UTC' },
    senders: [
      {
        channel: 'fcm',
        async send(_token, { content }) {
          handedOver.push(`push ${'id' in content ? content.id : ''}`);
          return { outcome: 'sent' };
        },
        close: async () => undefined,
      },
    ],
    isAllowedOut: () => true,
    heldFor: () => 0,
    onError: (error) => {
      throw error;
    },
    counters,
    calls: createCallLimits(),
  });
  const release = createQuietRelease(database);

  async function runJobs(): Promise<number> {
    const jobs = await database.query<{ payload: AttemptJob; identifier: string }>(
      testSql(`select payload, identifier from graphile_worker._private_jobs jobs
               join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id order by priority, run_at, jobs.id`),
    );
    if (jobs.length > 0) await database.query(testSql('delete from graphile_worker._private_jobs'));
    for (const { payload, identifier } of jobs) {
      if (identifier === 'push.send.fcm') await push('fcm', payload);
      else await parts.send(payload, 'sms');
    }
    return jobs.length;
  }
  return {
    ...{ parts, handedOver },
    /** Does all that is due now. */
    async run(): Promise<void> {
      let isBusy = true;
      while (isBusy) {
        await parts.runDue();
        while (await fanOutPushes(database, pushing));
        const jobs = await runJobs();
        isBusy = (await release()) || jobs > 0;
      }
    },
  };
}

let phones = 0;
/** A user with a proven number and a device, who has these quiet hours. */
async function createPerson(parts: ReturnType<typeof createStepParts>, zone: string, quietHours: object | null) {
  const [userId = ''] = await parts.createPeople(1);
  phones += 1;
  await database.query(
    testSql(`update users set phone = '+34600' || lpad($2::text, 6, '0'), phone_verified = true where id = $1`, [
      ...[userId, phones],
    ]),
  );
  await database.query(
    testSql(
      `insert into devices (user_id, id, gcm_device_token, created_at, updated_at)
       values ($1, $1, 'token of ' || $1::uuid, '2026-01-01', '2026-01-01')`,
      [userId],
    ),
  );
  await database.query(
    testSql(
      `insert into authentications (user_id, id, device_id, authenticator, status, epoch, expires_at, created_at, updated_at)
       values ($1, $1, $1, 'password', 'approved', 0, '2040-01-01', '2026-01-01', '2026-01-01')`,
      [userId],
    ),
  );
  await database.query(
    testSql('insert into preferences (user_id, time_zone, quiet_hours) values ($1, $2, $3::jsonb)', [
      ...[userId, zone, quietHours && JSON.stringify(quietHours)],
    ]),
  );
  return userId;
}

async function compare(each: Scenario): Promise<void> {
  const { parts, handedOver, run } = createService();
  parts.putCategory('club', categoryOf(each));
  const begin = Date.UTC(2026, 9, 23, 10);
  await holdClock(database, begin);
  const userId = await createPerson(parts, each.zone, quietHoursOf(each));
  const events = eventsOf(each, begin);
  const text = (time: number) => new Date(time).toISOString();
  const simulator = createSimulator({
    ...{ categories: parts.categories, timeZones: createTimeZones(), timeZone: 'UTC', ttl },
  });
  const simulation = await simulator.simulate(database, 'club', simulationOf(each, events, begin));
  // The real service at every minute at which something can happen.
  const published: Notification[] = [];
  const real: string[] = [];
  for (const time of momentsOf(simulation, events)) {
    await holdClock(database, time);
    for (const event of events) {
      if (event.at !== time) continue;
      const content = { notification_type: 'payment', category: 'club', description: `n${published.length}` };
      published.push(await parts.notifications.publishOne({ user_id: userId, ...content } as never));
    }
    for (const [place, { readAt }] of events.entries()) {
      if (readAt === time) await markRead(database, published[place] as Notification);
    }
    await run();
    for (const what of handedOver.splice(0)) {
      const place = published.findIndex(({ id }) => what === `push ${id}`);
      real.push(`${text(time)} push n${place}`);
    }
    for (const { content } of parts.handedOver.splice(0)) real.push(`${text(time)} sms ${content.text}`);
  }
  const said = simulation.timeline
    .filter(({ outcome }) => outcome === 'sent')
    .map(({ at, channel, event }) => `${text(Date.parse(at))} ${channel} n${event}`);
  expect({ each, real: real.sort() }).toEqual({ each, real: said.sort() });
}

describe('the service pushes and sends SMS as the simulator says, and when', () => {
  test(`in ${timelines} timelines`, { timeout: 60_000 + 1000 * timelines }, async () => {
    await fc.assert(fc.asyncProperty(scenario, compare), { numRuns: timelines });
  });
});
