import fc from 'fast-check';
import type { Notification } from '../../src/contract/notification.js';
import type { Simulation, SimulationRequest } from '../../src/contract/simulation.js';
import type { Database } from '../../src/database/database.js';
import { testSql } from './sql.js';

const minute = 60_000;

/** What timelines of all channels have in common: the user, and what happens in three days. */
export const timelineParts = {
  ttl: fc.constantFrom(null, '30m', '6h'),
  isCritical: fc.boolean(),
  per: fc.constantFrom('1h', '1d'),
  quiet: fc.constantFrom(null, ['22:00', '07:00'], ['12:00', '13:30'], ['00:00', '23:59']),
  zone: fc.constantFrom('UTC', 'Europe/Madrid', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Auckland'),
  // Minutes after the beginning, and minutes until it is read.
  events: fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 2 * 1440 }),
      read: fc.option(fc.integer({ min: 0, max: 1440 }), { nil: null }),
    }),
    { minLength: 1, maxLength: 8 },
  ),
};

interface Timeline {
  readonly quiet: readonly string[] | null;
  readonly zone: string;
  readonly events: readonly { readonly at: number; readonly read: number | null }[];
}

/** An event at times of Unix time, in milliseconds. */
export interface TimedEvent {
  readonly at: number;
  readonly readAt: number | undefined;
}

/** Each event has its place in the order of time. Two events never share a minute, and reads come between the minutes of steps. */
export function eventsOf({ events }: Pick<Timeline, 'events'>, begin: number): TimedEvent[] {
  return [...new Map(events.map((event) => [event.at, event])).values()]
    .sort((a, b) => a.at - b.at)
    .map(({ at, read }) => ({
      at: begin + at * minute,
      readAt: read === null ? undefined : begin + (at + read) * minute + 30_000,
    }));
}

export const quietHoursOf = ({ quiet }: Pick<Timeline, 'quiet'>) =>
  quiet && { from: quiet[0] ?? '', until: quiet[1] ?? '' };

/** The request that simulates a timeline. */
export function simulationOf(each: Timeline, events: readonly TimedEvent[], begin: number): SimulationRequest {
  const text = (time: number) => new Date(time).toISOString();
  return {
    now: text(begin),
    preferences: { time_zone: each.zone, quiet_hours: quietHoursOf(each) },
    events: events.map(({ at, readAt }) => ({
      at: text(at),
      ...(readAt !== undefined && { read_at: text(readAt) }),
    })),
  };
}

/** Every time at which something can happen, ascending. */
export function momentsOf({ timeline }: Simulation, events: readonly TimedEvent[]): number[] {
  const said = timeline.flatMap(({ at, held_until: until }) => [at, ...(until === undefined ? [] : [until])]);
  const happened = events.flatMap(({ at, readAt }) => [at, ...(readAt === undefined ? [] : [readAt])]);
  return [...new Set([...said.map((time) => Date.parse(time)), ...happened])].sort((a, b) => a - b);
}

/** The user reads a notification now. */
export async function markRead(database: Database, { user_id: userId, sequence }: Notification): Promise<void> {
  await database.query(
    testSql(
      `insert into notification_states (user_id, sequence, is_read, version, updated_at) values ($1, $2, true, 1, db_now())
       on conflict (user_id, sequence) do update set is_read = true`,
      [userId, sequence],
    ),
  );
}
