import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CategoryInput } from '../../../src/contract/category.js';
import type { Notification } from '../../../src/contract/notification.js';
import type { Database } from '../../../src/database/database.js';
import { completeCategory } from '../../../src/notifications/categories/category.js';
import { createDigestClosing } from '../../../src/notifications/deliveries/digests.js';
import { createQuietRelease } from '../../../src/notifications/deliveries/quiet-hours.js';
import { type SimulatedOutcome, simulate } from '../../../src/notifications/deliveries/timeline.js';
import { createTimeZones } from '../../../src/notifications/preferences/time-zones.js';
import { createSimulator } from '../../../src/notifications/simulator.js';
import { holdClock, stepClock } from '../../support/clock.js';
import { leastCpuTime } from '../../support/cpu-time.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { runs } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';
import { createStepParts } from '../../support/steps.js';
import { eventsOf, markRead, momentsOf, quietHoursOf, simulationOf, timelineParts } from '../../support/timelines.js';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const ttl = { push: 72 * hour, email: 72 * hour, sms: 72 * hour };
const simulations = runs(2000, 10_000);
/** Of the real service. As many as simulations would take an hour. */
const timelines = process.env.CI_FULL === '1' ? 10_000 : runs(24, 60);

/** Categories with mails, and what happens in three days. */
const scenario = fc.record({
  ...timelineParts,
  after: fc.constantFrom('0s', '5m', '2h', '1d'),
  condition: fc.constantFrom('always', 'unread'),
  byDefault: fc.constantFrom('on', 'digest'),
  digest: fc.constantFrom(null, '15m', '3h', 'daily 09:00', 'weekly mon 09:00'),
  cap: fc.constantFrom(null, 1, 2, 3),
  overflow: fc.constantFrom('drop', 'digest'),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;

function categoryOf({
  after,
  condition,
  ttl: own,
  isCritical,
  byDefault,
  digest,
  cap,
  per,
  overflow,
}: Scenario): CategoryInput {
  const hasDigest = digest !== null;
  return {
    steps: [{ channel: 'email', after, if: condition as 'always' }],
    ...{ ttl: own, is_critical: isCritical },
    defaults: { email: (hasDigest ? byDefault : 'on') as 'on' },
    digest: hasDigest ? { every: digest, max_items: 100 } : null,
    cap: cap === null ? null : { count: cap, per, overflow: (hasDigest ? overflow : 'drop') as 'drop' },
  };
}

describe('a simulation', () => {
  test(`of any category, ${simulations} times: a notification ends once, a digest has none that was sent or read, and a cap holds`, () => {
    const begin = Date.UTC(2026, 5, 1);
    fc.assert(
      fc.property(scenario, (each) => {
        const category = completeCategory('club', categoryOf(each));
        const events = eventsOf(each, begin);
        const [from = '', until = ''] = each.quiet ?? [];
        const minuteOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
        const length = (minuteOf(until) - minuteOf(from) + 1440) % 1440;
        const timeline = simulate({
          ...{ category, events, person: {}, ttl },
          calendar: {
            quietUntil: (at) => {
              const since = (((at / minute - minuteOf(from)) % 1440) + 1440) % 1440;
              return each.quiet !== null && since < length ? at + (length - since) * minute : null;
            },
            digestDue: (at) =>
              each.digest?.includes(' ') ? (Math.floor((at - 9 * hour) / day) + 1) * day + 9 * hour : at + 15 * minute,
          },
        });
        const ends = new Map<number, number>();
        const seen: number[] = [];
        for (const { at, event, outcome, events: several = [event] } of timeline) {
          expect(at).toBeGreaterThanOrEqual(seen.at(-1) ?? 0);
          seen.push(at);
          if (outcome === 'held' || outcome === 'digesting') continue;
          if (outcome !== 'sent') continue;
          for (const place of several) {
            ends.set(place, (ends.get(place) ?? 0) + 1);
            expect(at).toBeGreaterThanOrEqual(events[place]?.at ?? 0);
          }
          if (several.length > 1)
            for (const place of several) expect(events[place]?.readAt ?? Number.POSITIVE_INFINITY).toBeGreaterThan(at);
        }
        for (const count of ends.values()) expect(count).toBe(1);
        if (category.is_critical)
          expect(timeline.every(({ outcome }) => ['sent', 'skipped', 'dropped', 'expired'].includes(outcome))).toBe(
            true,
          );
        const { cap } = category;
        if (cap === null || category.is_critical) return;
        const alone = timeline.filter(({ outcome, at, event }) => outcome === 'sent' && !isDigest(timeline, event, at));
        const period = cap.per === '1h' ? hour : day;
        for (const { at } of alone) {
          expect(alone.filter((other) => other.at <= at && other.at > at - period).length).toBeLessThanOrEqual(
            cap.count,
          );
        }
      }),
      { numRuns: simulations },
    );
  });

  test('names in a digest that quiet hours held only what is unread when it is sent', () => {
    const begin = Date.UTC(2026, 5, 1);
    const category = completeCategory('club', {
      ...{ steps: [{ channel: 'email' }], defaults: { email: 'digest' }, digest: { every: '15m', max_items: 100 } },
    });
    const events = [{ at: begin, readAt: begin + 2 * hour }, { at: begin + minute }, { at: begin + 2 * minute }];
    const calendar = {
      quietUntil: (at: number) => (at < begin + 3 * hour ? begin + 3 * hour : null),
      digestDue: (at: number) => at + 15 * minute,
    };
    const timeline = simulate({ category, events, person: {}, ttl, calendar });
    expect(timeline.slice(3)).toMatchObject([
      { outcome: 'held', events: [0, 1, 2] },
      { outcome: 'sent', events: [1, 2] },
    ]);
  });

  test('tells that a notification was read before its digest closed', () => {
    const category = completeCategory('club', {
      ...{ steps: [{ channel: 'email' }], defaults: { email: 'digest' }, digest: { every: '15m', max_items: 100 } },
    });
    const events = [{ at: 0, readAt: 2 * minute }, { at: minute }];
    const calendar = { quietUntil: () => null, digestDue: (at: number) => at + 15 * minute };
    const timeline = simulate({ category, events, person: {}, ttl, calendar });
    expect(timeline.slice(2)).toEqual([
      { at: 15 * minute, event: 0, channel: 'email', outcome: 'skipped', reason: 'read' },
      { at: 15 * minute, event: 1, channel: 'email', outcome: 'sent', reason: 'accepted' },
    ]);
  });

  test('counts a digest as the mail of each of its notifications', () => {
    const category = completeCategory('club', {
      steps: [{ channel: 'email' }, { channel: 'sms', after: '2h', if: 'undelivered' }],
      ...{ defaults: { email: 'digest' }, digest: { every: '15m', max_items: 100 } },
    });
    const events = [{ at: 0 }, { at: minute }, { at: 2 * minute }];
    const calendar = { quietUntil: () => null, digestDue: (at: number) => at + 15 * minute };
    const timeline = simulate({ category, events, person: {}, ttl, calendar });
    expect(timeline.filter(({ channel }) => channel === 'sms')).toMatchObject(
      events.map(() => ({ outcome: 'skipped', reason: 'already_delivered' })),
    );
  });

  test('of ten times as many events takes about ten times as long', () => {
    const category = completeCategory('club', {
      steps: [{ channel: 'push' }, { channel: 'email', after: '1h' }, { channel: 'sms', after: '30d' }],
      ...{ cap: { count: 100, per: '30d', overflow: 'digest' }, digest: { every: '15m', max_items: 100 } },
    });
    const timeOf = (count: number) => {
      const events = Array.from({ length: count }, (_, place) => ({ at: place * minute }));
      const calendar = { quietUntil: () => null, digestDue: (at: number) => at + 15 * minute };
      return leastCpuTime(() => void simulate({ category, events, person: {}, ttl, calendar }));
    };
    timeOf(500);
    // Work that grows with the square takes a hundred times as long.
    expect(timeOf(5000) / timeOf(500)).toBeLessThan(40);
  });
});

/** Whether a mail is a digest: it is sent when the digest of one of its members closes, or held since. */
const isDigest = (timeline: readonly SimulatedOutcome[], event: number, at: number): boolean =>
  timeline.some(
    ({ outcome, heldUntil = 0, at: joined }) => outcome === 'digesting' && joined <= at && heldUntil <= at,
  ) && timeline.some(({ outcome, event: other }) => outcome === 'digesting' && other <= event);

describe('the service does what the simulator says', () => {
  let fresh: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    fresh = await createTestDatabase();
    database = fresh.database;
  });
  afterAll(() => fresh.drop());
  afterEach(() => stepClock(database, '0'));

  async function compare(each: Scenario): Promise<void> {
    // What a timeline that failed has left would be sent in the next ones.
    await database.query(testSql('truncate pending_steps, step_deliveries, quiet_holds, digests, push_fan_outs'));
    await database.query(testSql('delete from graphile_worker._private_jobs'));
    const parts = createStepParts(database);
    parts.putCategory('club', categoryOf(each));
    const release = createQuietRelease(database);
    const close = createDigestClosing({ database, categories: parts.categories, counters: parts.counters });
    const [userId = ''] = await parts.createPeople(1);
    const quietHours = quietHoursOf(each);
    await database.query(
      testSql('insert into preferences (user_id, time_zone, quiet_hours) values ($1, $2, $3::jsonb)', [
        ...[userId, each.zone, quietHours && JSON.stringify(quietHours)],
      ]),
    );
    const begin = Date.UTC(2026, 9, 23, 10);
    const events = eventsOf(each, begin);
    const simulator = createSimulator({
      ...{ categories: parts.categories, timeZones: createTimeZones(), timeZone: 'UTC', ttl },
    });
    const simulation = await simulator.simulate(database, 'club', simulationOf(each, events, begin));
    // The real service at every minute at which something can happen.
    const published: Notification[] = [];
    for (const time of momentsOf(simulation, events)) {
      await holdClock(database, time);
      for (const event of events) {
        if (event.at !== time) continue;
        const content = {
          user_id: userId,
          notification_type: 'payment',
          category: 'club',
          description: `n${published.length}`,
        };
        published.push(await parts.notifications.publishOne(content as never));
      }
      for (const [place, { readAt }] of events.entries()) {
        if (readAt === time) await markRead(database, published[place] as Notification);
      }
      for (let round = 0; round < 4; round += 1) {
        await parts.runDue();
        await parts.runJobs();
        await release();
        await parts.runJobs();
        while (await close());
        await parts.runJobs();
      }
    }
    const sent = (place: number) => `n${place}`;
    const real = parts.handedOver.map(({ content }) => content.text.split('\n\n').sort());
    const said = simulation.timeline
      .filter(({ outcome }) => outcome === 'sent')
      .map(({ event, events: several = [event] }) => several.map(sent).sort());
    expect({ each, real: real.sort() }).toEqual({ each, real: said.sort() });
  }

  test('and asks the database a few times, however many digests there are', async () => {
    const parts = createStepParts(database);
    parts.putCategory('club', {
      steps: [{ channel: 'email' }],
      digest: { every: 'daily 09:00', max_items: 100 },
      cap: { count: 1, per: '1d', overflow: 'digest' },
    });
    let statements = 0;
    const counted = {
      query: (statement: never) => {
        statements += 1;
        return database.query(statement);
      },
    };
    const timeZones = { names: async () => new Set(['Europe/Madrid']) };
    const simulator = createSimulator({ categories: parts.categories, timeZones, timeZone: 'UTC', ttl });
    const begin = Date.UTC(2030, 5, 3);
    const { timeline } = await simulator.simulate(counted as never, 'club', {
      now: new Date(begin).toISOString(),
      preferences: { time_zone: 'Europe/Madrid', quiet_hours: { from: '22:00', until: '07:00' } },
      events: Array.from({ length: 1000 }, (_, place) => ({ at: new Date(begin + place * 29 * minute).toISOString() })),
    });
    expect(timeline.filter(({ events }) => events !== undefined).length).toBeGreaterThan(18);
    expect(statements).toBeLessThanOrEqual(6);
  });

  test(`in ${timelines} timelines`, { timeout: 120_000 + 720 * timelines }, async () => {
    await fc.assert(fc.asyncProperty(scenario, compare), { numRuns: timelines });
  });
});
