import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Notification } from '../../../src/contract/notification.js';
import { type QuietHours, weekdays } from '../../../src/contract/preferences.js';
import type { Database } from '../../../src/database/database.js';
import { createQuietRelease } from '../../../src/notifications/deliveries/quiet-hours.js';
import { traceSteps } from '../../../src/notifications/deliveries/trace.js';
import { createReadPositions } from '../../../src/notifications/inbox/read-position.js';
import { createPreferences } from '../../../src/notifications/preferences/preferences.js';
import { createTimeZones } from '../../../src/notifications/preferences/time-zones.js';
import { stepClock } from '../../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { runs } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';
import { createStepParts } from '../../support/steps.js';

let fresh: TestDatabase;
let database: Database;
beforeAll(async () => {
  // A job waits for a lock of a test, on a busy machine for a long time.
  fresh = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  database = fresh.database;
});
afterAll(() => fresh.drop());

/** When the quiet hours end, for each of several times in one zone; null: there are none then. */
async function endsAt(hours: QuietHours, zone: string, times: readonly string[]): Promise<(string | null)[]> {
  const rows = await database.query<{ ends: string | null }>(
    testSql(
      `select quiet_until($1::jsonb, $2, moment::timestamptz) as ends
       from unnest($3::text[]) with ordinality as each (moment, place) order by place`,
      [JSON.stringify(hours), zone, times],
    ),
  );
  return rows.map(({ ends }) => ends && `${ends.slice(0, 16)}Z`);
}

describe('when quiet hours end', () => {
  const night = { from: '22:00', until: '07:00' } as const;
  const cases: readonly (readonly [string, string, QuietHours, string, string | null])[] = [
    ['begin at from', 'UTC', night, '2026-06-01T22:00Z', '2026-06-02T07:00Z'],
    ['are not yet', 'UTC', night, '2026-06-01T21:59:59.999Z', null],
    ['end at until', 'UTC', night, '2026-06-02T07:00Z', null],
    ['last until it', 'UTC', night, '2026-06-02T06:59:59.999Z', '2026-06-02T07:00Z'],
    ['lie within a day', 'UTC', { from: '12:00', until: '13:30' }, '2026-06-01T13:00Z', '2026-06-01T13:30Z'],
    ['end at midnight', 'UTC', { from: '20:00', until: '00:00' }, '2026-06-01T23:30Z', '2026-06-02T00:00Z'],
    ['begin on a Friday', 'UTC', { ...night, days: ['fri'] }, '2026-06-06T06:00Z', '2026-06-06T07:00Z'],
    ['do not begin on a Saturday', 'UTC', { ...night, days: ['fri'] }, '2026-06-06T23:00Z', null],
    // In spring the night is an hour shorter, in autumn an hour longer.
    ['Madrid, spring', 'Europe/Madrid', night, '2026-03-28T21:00Z', '2026-03-29T05:00Z'],
    ['Madrid, autumn', 'Europe/Madrid', night, '2026-10-24T20:00Z', '2026-10-25T06:00Z'],
    ['New York, spring', 'America/New_York', night, '2026-03-08T03:00Z', '2026-03-08T11:00Z'],
    ['New York, autumn', 'America/New_York', night, '2026-11-01T02:00Z', '2026-11-01T12:00Z'],
    ['Santiago, spring', 'America/Santiago', night, '2026-09-06T02:00Z', '2026-09-06T10:00Z'],
    ['Santiago, autumn', 'America/Santiago', night, '2026-04-05T01:00Z', '2026-04-05T11:00Z'],
    // Half an hour.
    ['Lord Howe, spring', 'Australia/Lord_Howe', night, '2026-10-03T11:30Z', '2026-10-03T20:00Z'],
    ['Lord Howe, autumn', 'Australia/Lord_Howe', night, '2026-04-04T11:00Z', '2026-04-04T20:30Z'],
    ['Auckland, spring', 'Pacific/Auckland', night, '2026-09-26T10:00Z', '2026-09-26T18:00Z'],
    ['Auckland, autumn', 'Pacific/Auckland', night, '2026-04-04T09:00Z', '2026-04-04T19:00Z'],
    // Ends that do not exist, or twice.
    [
      'until 02:30 in the gap is 03:30',
      'Europe/Madrid',
      { from: '23:00', until: '02:30' },
      '2026-03-29T00:30Z',
      '2026-03-29T01:30Z',
    ],
    [
      'until 02:30 twice is the later one',
      'Europe/Madrid',
      { from: '23:00', until: '02:30' },
      '2026-10-25T00:45Z',
      '2026-10-25T01:30Z',
    ],
    [
      'from 02:30 in the gap is 03:00',
      'Europe/Madrid',
      { from: '02:30', until: '05:00' },
      '2026-03-29T01:00Z',
      '2026-03-29T03:00Z',
    ],
    [
      'until midnight in the gap is 01:00',
      'America/Santiago',
      { from: '20:00', until: '00:00' },
      '2026-09-06T02:00Z',
      '2026-09-06T04:00Z',
    ],
    // Volgograd changed from +04 to +03 at 02:00 on 2020-12-27.
    ['a zone whose rules change', 'Europe/Volgograd', night, '2020-12-26T18:00Z', '2020-12-27T04:00Z'],
    // Samoa left out 2011-12-30.
    ['a zone that leaves out a day', 'Pacific/Apia', night, '2011-12-30T08:00Z', '2011-12-30T17:00Z'],
    ['a zone that this server does not know', 'Mars/Olympus', night, '2026-06-01T22:00Z', '2026-06-02T07:00Z'],
  ];
  test.each(cases)('%s', async (_, zone, hours, time, ends) => {
    expect(await endsAt(hours, zone, [time])).toEqual([ends]);
  });

  /** The wall clock of a zone: the day as a number of days, the minute of the day, and the weekday. */
  function wallClock(zone: string) {
    const format = new Intl.DateTimeFormat('en-US', {
      ...{
        timeZone: zone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
      },
    });
    return (time: number) => {
      const part = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
      const day = Date.UTC(part.year ?? 0, (part.month ?? 0) - 1, part.day) / 86_400_000;
      return { day, minute: (part.hour ?? 0) * 60 + (part.minute ?? 0) };
    };
  }
  const minutesOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

  test('is what a clock on the wall shows, minute by minute, around every change of five zones', async () => {
    const zones = ['Europe/Madrid', 'America/New_York', 'America/Santiago', 'Australia/Lord_Howe', 'Pacific/Auckland'];
    const changes = [
      '2026-03-29T00:00Z',
      '2026-10-25T00:00Z',
      '2026-03-08T06:00Z',
      '2026-11-01T05:00Z',
      '2026-04-05T02:00Z',
      '2026-09-06T03:00Z',
      '2026-04-04T14:00Z',
      '2026-10-03T15:00Z',
      '2026-09-26T13:00Z',
      '2026-06-15T12:00Z',
    ];
    const time = fc
      .integer({ min: 0, max: 1439 })
      .map((minute) => `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`);
    const hours = fc
      .record({
        from: time,
        until: time,
        days: fc.option(fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 }), { nil: undefined }),
      })
      .filter(({ from, until }) => from !== until);
    await fc.assert(
      fc.asyncProperty(hours, fc.constantFrom(...zones), fc.constantFrom(...changes), async (each, zone, change) => {
        const wall = wallClock(zone);
        const middle = Date.parse(change);
        const times = Array.from({ length: 97 }, (_, place) => middle + (place - 48) * 30 * 60_000);
        const found = await endsAt(
          each as QuietHours,
          zone,
          times.map((at) => new Date(at).toISOString()),
        );
        const [from, until] = [minutesOf(each.from), minutesOf(each.until)];
        const beginsOn = (day: number) =>
          each.days === undefined || each.days.includes(weekdays[(day + 3) % 7] ?? 'mon');
        for (const [place, at] of times.entries()) {
          const { day, minute } = wall(at);
          const isInside =
            from < until
              ? minute >= from && minute < until && beginsOn(day)
              : (minute >= from && beginsOn(day)) || (minute < until && beginsOn(day - 1));
          const ends = found[place];
          // What the wall clock says is quiet is quiet. Beyond it, quiet hours last only for an end that is moved, which is within the hour.
          if (isInside)
            expect(ends, `${zone} ${JSON.stringify(each)} ${new Date(at).toISOString()}`).toBeTypeOf('string');
          if (ends === null || ends === undefined) continue;
          // Past midnight too: an end at 00:00 that does not exist is at 01:00.
          const late = (wall(Date.parse(ends)).minute - until + 1440) % 1440;
          expect(late, `${zone} ${JSON.stringify(each)} ${ends}`).toBeLessThanOrEqual(60);
          if (!isInside) expect(Date.parse(ends) - at).toBeLessThanOrEqual(2 * 3_600_000);
        }
      }),
      {
        numRuns: runs(25, 60),
        examples: [[{ from: '10:00', until: '00:00', days: undefined }, 'America/Santiago', '2026-09-06T03:00Z']],
      },
    );
  });
});

describe('a delivery', () => {
  let parts: ReturnType<typeof createStepParts>;
  let release: () => Promise<boolean>;
  /** The real time as `HH:MM` in UTC, some hours from now. */
  const clock = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  beforeEach(() => {
    parts = createStepParts(database);
    parts.putCategory('billing', { steps: [{ channel: 'email' }] });
    parts.putCategory('alarm', { is_critical: true, steps: [{ channel: 'email' }] });
    release = createQuietRelease(database);
  });
  afterEach(async () => {
    await stepClock(database, '0');
    await database.query(testSql('delete from graphile_worker._private_jobs'));
  });

  const choose = (userId: string, changes: object) => {
    const preferences = createPreferences({
      timeZones: createTimeZones(),
      categories: {
        get: () => undefined,
        names: () => [],
        refreshFor: async () => undefined,
        noteInboxChoices: async () => undefined,
      } as never,
      isSuppressed: async () => false,
      record: async () => undefined,
      timeZone: 'UTC',
    });
    const options = { isOwn: true, origin: { actor: 'user' } } as const;
    return database.transaction((tx) => preferences.change(tx, userId, changes, options));
  };
  const publish = (userId: string, more: object = {}): Promise<Notification> =>
    parts.notifications.publishOne({
      ...{ user_id: userId, notification_type: 'payment', category: 'billing', description: 'Ada paid you' },
      ...more,
    });
  /** A user with quiet hours from an hour ago until in two hours, and a mail that they hold. */
  async function held(more: object = {}): Promise<Notification> {
    const [userId = ''] = await parts.createPeople(1);
    await choose(userId, { quiet_hours: { from: clock(-1), until: clock(2) }, ...more });
    const notification = await publish(userId);
    await run();
    expect(await parts.mailOf(notification)).toBe('held/quiet_hours');
    expect(await parts.jobs()).toEqual([]);
    return notification;
  }
  async function run(): Promise<void> {
    await parts.runDue();
    await release();
    await parts.runJobs();
  }
  const read = ({ user_id: userId, sequence }: Notification) =>
    createReadPositions(database, () => undefined).move(userId, { last_read_sequence: sequence });

  test('is held until the quiet hours end, and its status says until when', async () => {
    const until = clock(2);
    const notification = await held({ quiet_hours: { from: clock(-1), until } });
    const { user_id: userId, id: notificationId, created_at: publishedAt } = notification;
    const { email } = await traceSteps(database, { userId, notificationId, publishedAt });
    expect(email[0]?.held_until?.slice(11, 16)).toBe(until);
    await stepClock(database, '118 minutes');
    await run();
    expect(await parts.mailOf(notification)).toBe('held/quiet_hours');
    await stepClock(database, '121 minutes');
    await run();
    expect(await parts.mailOf(notification)).toBe('sent/accepted');
    expect(parts.handedOver).toHaveLength(1);
  });

  // The queue promises an order only for jobs of different times.
  test('is released after earlier ones of the user', async () => {
    const first = await held();
    for (let nth = 0; nth < 4; nth += 1) await publish(first.user_id);
    await run();
    await stepClock(database, '121 minutes');
    expect(await release()).toBe(true);
    const [{ ids = [], times = 0 } = {}] = await database.query<{ ids: string[]; times: number }>(
      testSql(`select array_agg(payload ->> 'id' order by priority, run_at) as ids, count(distinct run_at)::int as times
               from graphile_worker._private_jobs`),
    );
    const created = await database.query<{ id: string }>(
      testSql('select id from step_deliveries where user_id = $1 order by created_at, id', [first.user_id]),
    );
    expect([ids, times]).toEqual([created.map(({ id }) => id), 5]);
  });

  test('is decided about again then', async () => {
    const notification = await held();
    await parts.putCategory('billing', { steps: [{ channel: 'email', if: 'unread' }], defaults: { email: 'off' } });
    await stepClock(database, '121 minutes');
    await run();
    expect(await parts.mailOf(notification)).toBe('skipped/preference_off');
    expect(parts.handedOver).toEqual([]);
  });

  test('that is critical goes through, also if others are held before it', async () => {
    const { user_id: userId } = await held();
    const alarm = await publish(userId, { category: 'alarm' });
    await run();
    expect(await parts.mailOf(alarm)).toBe('sent/accepted');
    expect(parts.handedOver.map(({ category }) => category)).toEqual(['alarm']);
  });

  test.each([
    ['ends them', { quiet_hours: null }, 'sent/accepted'],
    ['makes them shorter', { quiet_hours: { from: clock(3), until: clock(4) } }, 'sent/accepted'],
    ['makes them longer', { quiet_hours: { from: clock(-1), until: clock(8) } }, 'held/quiet_hours'],
    // In Kiritimati it is 14 hours later.
    ['travels', { time_zone: 'Pacific/Kiritimati' }, 'sent/accepted'],
  ])('is decided about again when the user %s', async (_, changes, expected) => {
    const notification = await held();
    await choose(notification.user_id, changes);
    await run();
    await run();
    expect(await parts.mailOf(notification)).toBe(expected);
  });

  test('waits for the new end after the quiet hours became longer', async () => {
    const notification = await held();
    await choose(notification.user_id, { quiet_hours: { from: clock(-1), until: clock(8) } });
    await run();
    await stepClock(database, '3 hours');
    await run();
    expect(await parts.mailOf(notification)).toBe('held/quiet_hours');
    await stepClock(database, '481 minutes');
    await run();
    expect(await parts.mailOf(notification)).toBe('sent/accepted');
  });

  test('stays held without any work when the user changes its end, also many times', async () => {
    const notification = await held();
    const [from, early, late] = [clock(-1), clock(3), clock(8)];
    for (const until of [late, early, late, early]) {
      await choose(notification.user_id, { quiet_hours: { from, until } });
      expect(await release()).toBe(false);
    }
    const [row] = await database.query<{ holds: unknown; held_until: string }>(
      testSql(`select holds, held_until from step_deliveries join quiet_holds using (user_id) where user_id = $1`, [
        notification.user_id,
      ]),
    );
    expect(row?.holds).toBeNull();
    expect(row?.held_until.slice(11, 16)).toBe(early);
  });

  test('does not age while it is held: its ttl stops', async () => {
    parts.putCategory('billing', { steps: [{ channel: 'email' }], ttl: '5m' });
    const notification = await held();
    await stepClock(database, '121 minutes');
    await run();
    expect(await parts.mailOf(notification)).toBe('sent/accepted');
    await stepClock(database, '0');
    const late = await held();
    await stepClock(database, '130 minutes');
    await release();
    await stepClock(database, '140 minutes');
    await parts.runJobs();
    expect(await parts.mailOf(late)).toBe('expired/ttl');
  });

  test('is decided about by the quiet hours of the moment at which it is held', async () => {
    const [userId = ''] = await parts.createPeople(1);
    await choose(userId, { quiet_hours: { from: clock(-1), until: clock(2) } });
    const notification = await publish(userId);
    await parts.runDue();
    // The job has read the quiet hours; then the user removes them, before the delivery is held.
    const [job] = await parts.jobs();
    if (job === undefined) throw new Error('there is no job');
    let sent: Promise<void> | undefined;
    await database.transaction(async (tx) => {
      await tx.query(testSql('select from preferences where user_id = $1 for update', [userId]));
      sent = parts.send(job);
      await eventuallyBlocked();
      await tx.query(testSql('update preferences set quiet_hours = null where user_id = $1', [userId]));
    });
    await sent;
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('sent/accepted');
  });

  test('is released once by two instances', async () => {
    const notifications: Notification[] = [];
    for (let count = 0; count < 5; count += 1) notifications.push(await held());
    await stepClock(database, '121 minutes');
    await Promise.all([release(), release(), release()]);
    await parts.runJobs();
    expect(parts.handedOver).toHaveLength(5);
    for (const each of notifications) expect(await parts.mailOf(each)).toBe('sent/accepted');
  });

  test('is released in the order in which the closing of digests locks: neither waits for the other', async () => {
    const first = await held();
    const { user_id: userId } = first;
    await publish(userId);
    await run();
    const rows = () =>
      database.query<{ id: string }>(
        testSql("select id from step_deliveries where user_id = $1 and state = 'held' order by id", [userId]),
      );
    const [low, high] = await rows();
    // The first row comes last in the table.
    for (let count = 0; count < 2; count += 1)
      await database.query(
        testSql('update step_deliveries set updated_at = db_now() where user_id = $1 and id = $2', [userId, low?.id]),
      );
    await stepClock(database, '121 minutes');
    let releasing: Promise<boolean> | undefined;
    await database.transaction(async (tx) => {
      const lock = (id: string | undefined) =>
        tx.query(testSql('select from step_deliveries where user_id = $1 and id = $2 for update nowait', [userId, id]));
      await lock(low?.id);
      releasing = release();
      await eventuallyBlocked();
      await lock(high?.id);
    });
    expect(await releasing).toBe(true);
    await parts.runJobs();
    expect(parts.handedOver).toHaveLength(2);
  });

  test('of a notification that was read is not sent', async () => {
    parts.putCategory('billing', { steps: [{ channel: 'email', if: 'unread' }] });
    const notification = await held();
    await read(notification);
    await stepClock(database, '121 minutes');
    await run();
    expect(await parts.mailOf(notification)).toBe('skipped/read');
  });
});

/** Waits until a statement waits for a lock. */
async function eventuallyBlocked(): Promise<void> {
  await eventually('a statement to wait for a lock', async () => {
    const [row] = await database.query<{ blocked: boolean }>(
      testSql(
        `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') as blocked`,
      ),
    );
    return row?.blocked || undefined;
  });
}
