import type { Category, StepChannel } from '../contract/category.js';
import type { PreferenceChanges, QuietHours } from '../contract/preferences.js';
import { maxSimulatedEvents, type Simulation, type SimulationRequest } from '../contract/simulation.js';
import type { Queryable } from '../database/database.js';
import { sql, statement, unprepared } from '../database/sql.js';
import { isJsonObject } from '../lib/json-object.js';
import { type FieldError, Problem, throwIfErrors } from '../lib/problem.js';
import { parseDuration, parseTime } from '../lib/times.js';
import type { KnownCategories } from './categories/categories.js';
import { type Calendar, type SimulatedEvent, type SimulatedPerson, simulate } from './deliveries/timeline.js';
import { applyChanges, type Choices, changeErrors, noChoices } from './preferences/choices.js';
import { existingTopics } from './preferences/preferences.js';
import { noZones, type TimeZones } from './preferences/time-zones.js';

/** Shows what the service would do with notifications of a category. It writes nothing. */
export interface Simulator {
  /** @throws Problem `not_found`, `validation_failed` */
  simulate(handle: Queryable, name: string, request: SimulationRequest): Promise<Simulation>;
  /** The faults of a request, except those of its form. The body may have any form. */
  errorsOf(handle: Queryable, name: string, body: unknown): Promise<FieldError[]>;
}

/** A part of a request whose form is not checked yet. */
type Loose<Part> = { readonly [Member in keyof Part]?: unknown };

interface Clock {
  readonly hours: string | null;
  readonly every: string | null;
  readonly zone: string;
  readonly quietAt: readonly string[];
  readonly dueAt: readonly string[];
}

/** The database computes the times that depend on a time zone, as for real deliveries. */
const readCalendar = unprepared(
  statement<Clock, { kind: 'quiet' | 'due'; at: string; time: string | null }>(
    'simulation_calendar',
    (p) => sql`
    select 'quiet' as kind, at, quiet_until(${p.hours}::jsonb, ${p.zone}, at::timestamptz) as time from unnest(${p.quietAt}::text[]) at
    union all
    select 'due', at, digest_due(${p.every}, ${p.zone}, at::timestamptz) from unnest(${p.dueAt}::text[]) at`,
  ),
);

export function createSimulator({
  categories,
  timeZones,
  timeZone,
  ttl,
}: {
  readonly categories: Pick<KnownCategories, 'get' | 'names' | 'dataErrors' | 'refreshFor'>;
  readonly timeZones: TimeZones;
  /** The time zone of users who have chosen none: DEFAULT_TIME_ZONE. */
  readonly timeZone: string;
  /** How late a step may be if its category has no `ttl`, in milliseconds. */
  readonly ttl: Readonly<Record<StepChannel, number>>;
}): Simulator {
  async function read(handle: Queryable, name: string, request: Loose<SimulationRequest>) {
    const preferences: Loose<PreferenceChanges> = isJsonObject(request.preferences) ? request.preferences : {};
    const named = isJsonObject(preferences.categories) ? Object.keys(preferences.categories) : [];
    await categories.refreshFor(handle, [name, ...named]);
    const zones = typeof preferences.time_zone === 'string' ? await timeZones.names(handle) : noZones;
    const topics = await existingTopics(
      handle,
      isJsonObject(preferences.topics) ? Object.keys(preferences.topics) : [],
    );
    const { events, errors } = eventsOf(request, (data, field) => categories.dataErrors(name, data, field));
    const wrong = changeErrors(preferences, { categories, zones, topics });
    return {
      category: categories.get(name),
      events,
      errors: [...wrong.map((error) => ({ ...error, field: `preferences.${error.field}` })), ...errors],
    };
  }

  return {
    errorsOf: async (handle, name, body) => (isJsonObject(body) ? (await read(handle, name, body)).errors : []),
    async simulate(handle, name, request) {
      const { category, events, errors } = await read(handle, name, request);
      if (category === undefined) throw new Problem('not_found');
      throwIfErrors(errors);
      const { preferences = {} } = request;
      const choices = applyChanges(noChoices, preferences, { now: request.now, known: categories });
      const clock = {
        hours: choices.quiet_hours,
        zone: choices.time_zone ?? timeZone,
        every: category.digest?.every ?? null,
      };
      const sorted = [...events.entries()].sort(([, a], [, b]) => a.at - b.at);
      const simulation = {
        category,
        person: personOf(request, choices, category),
        events: sorted.map(([, event]) => event),
        ttl,
      };
      const outcomes = await withCalendar(handle, clock, (calendar) => simulate({ ...simulation, calendar }));
      const placeOf = (event: number) => sorted[event]?.[0] ?? event;
      return {
        timeline: outcomes.map(({ at, event, heldUntil, events: several, ...rest }) => ({
          at: timeOf(at),
          event: placeOf(event),
          ...rest,
          ...(heldUntil !== undefined && { held_until: timeOf(heldUntil) }),
          ...(several !== undefined && { events: several.map(placeOf) }),
        })),
      };
    },
  };
}

/**
 * Runs a simulation with times of the database. A run collects the times that it needs and continues with provisional ones. Then it runs
 * again with the right times, until none is missing. Each run makes at least one more time right, so this ends. While the end of a digest is
 * unknown, the run lets the digest close at once, so that more digests open and the run collects all their times.
 */
async function withCalendar<Result>(
  handle: Queryable,
  { hours, zone, every }: { hours: QuietHours | null; zone: string; every: string | null },
  run: (calendar: Calendar) => Result,
): Promise<Result> {
  const known = { quiet: new Map<number, number | null>(), due: new Map<number, number | null>() };
  /** Milliseconds, if `every` is a duration. Otherwise it is a time of the day. */
  const period = parseDuration(every ?? '');
  for (;;) {
    const missing = { quiet: new Set<number>(), due: new Set<number>() };
    const look = (kind: 'quiet' | 'due', at: number): number | null => {
      const found = known[kind].get(at);
      if (found === undefined) missing[kind].add(at);
      return found ?? null;
    };
    const result = run({
      quietUntil: (at) => (hours === null ? null : look('quiet', at)),
      digestDue: (at) => (period === undefined ? (look('due', at) ?? at) : at + period),
    });
    if (missing.quiet.size + missing.due.size === 0) return result;
    const rows = await handle.query(
      readCalendar({
        hours: hours && JSON.stringify(hours),
        every,
        zone,
        quietAt: [...missing.quiet].map(timeOf),
        dueAt: [...missing.due].map(timeOf),
      }),
    );
    for (const { kind, at, time } of rows) known[kind].set(Date.parse(at), time === null ? null : Date.parse(time));
  }
}

const timeOf = (time: number): string => `${new Date(time).toISOString().slice(0, -1)}000Z`;

/** The latest time of a request, so that the API can still show all times of the answer. */
const latest = Date.UTC(9990, 0);

/** The events of a request, and their faults. Parts of a wrong form are skipped. */
function eventsOf(
  { now, events }: Loose<SimulationRequest>,
  dataErrors: (data: Record<string, unknown> | null, field: string) => FieldError[],
): { events: SimulatedEvent[]; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const read = (text: unknown, field: string): number => {
    if (typeof text !== 'string') return Number.NaN;
    const found = /(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? parseTime(text) : undefined;
    const time = Date.parse(found ?? '');
    if (found === undefined) errors.push({ field, code: 'invalid_time' });
    else if (time > latest) errors.push({ field, code: 'too_far' });
    return time;
  };
  const begin = read(now, 'now');
  const listed: readonly unknown[] = Array.isArray(events) ? events.slice(0, maxSimulatedEvents) : [];
  const found = listed.flatMap((event, place): SimulatedEvent[] => {
    const field = `events.${place}`;
    if (!isJsonObject(event)) return [];
    const { at, data = null, read_at: readAt = null } = event;
    if (data === null || isJsonObject(data)) errors.push(...dataErrors(data, `${field}.data`));
    const time = read(at, `${field}.at`);
    if (time < begin) errors.push({ field: `${field}.at`, code: 'in_the_past' });
    return [{ at: time, readAt: readAt === null ? undefined : read(readAt, `${field}.read_at`) }];
  });
  return { events: found, errors };
}

const addressOf = { ok: 'proven', not_proven: 'not_proven', suppressed: 'suppressed', none: 'none' } as const;

function personOf({ person = {} }: SimulationRequest, choices: Choices, { name }: Category): SimulatedPerson {
  const valuesOf = (cells: Readonly<Record<string, { readonly value: unknown }>>) =>
    Object.fromEntries(Object.entries(cells).map(([cell, { value }]) => [cell, value]));
  const { is_active: isActive = true, is_locked: isLocked = false, push = 'ok', email = 'ok', sms = 'ok' } = person;
  return {
    isActive,
    isLocked,
    addresses: { push: addressOf[push], email: addressOf[email], sms: addressOf[sms] },
    channels: valuesOf(choices.channels),
    cells: valuesOf(choices.categories[name] ?? {}),
  };
}
