import type { CellChoice, QuietHours, SimulatedStep, SimulationRequest, StepChannel } from '../../api/schema.js';
import { dataOfJson } from '../notifications/data-fields.js';
import { momentOf, type WallTime } from '../publications/zoned-time.js';

/** A notification of a simulation, as it is typed. Times are those of the user's zone. */
export interface TypedEvent {
  readonly at: WallTime;
  /** Empty: never. */
  readonly readAt: WallTime | '';
  /** JSON, or empty. */
  readonly json: string;
}

/** A simulation as the form has it. */
export interface Scenario {
  readonly zone: string;
  readonly quietHours: QuietHours | null;
  /** What the user has chosen for the category. Absent: the default. */
  readonly choices: Readonly<Partial<Record<StepChannel, CellChoice>>>;
  readonly events: readonly TypedEvent[];
}

/** An evening and a night: one notification before the quiet hours, two in them. */
export const usualScenario = (zone: string, day: string, json: string): Scenario => ({
  zone,
  quietHours: { from: '22:00', until: '07:00' },
  choices: {},
  events: ['18:00', '22:30', '23:15'].map((time) => ({ at: `${day}T${time}`, readAt: '', json })),
});

/** A copy of the last notification, an hour later and unread. */
export function nextEvent(events: readonly TypedEvent[], fallback: TypedEvent): TypedEvent {
  const last = events.at(-1);
  const time = Date.parse(`${last?.at}Z`);
  if (last === undefined || Number.isNaN(time)) return fallback;
  return { ...last, at: new Date(time + 3_600_000).toISOString().slice(0, 16), readAt: '' };
}

/** A fault of the form: the place of the notification, and its field. */
export type ScenarioFault = `${number}.${'at' | 'readAt' | 'json'}`;

export function scenarioFaults({ zone, events }: Scenario): readonly ScenarioFault[] {
  return events.flatMap(({ at, readAt, json }, place): ScenarioFault[] => [
    ...(momentOf(zone, at) === undefined ? ([`${place}.at`] as const) : []),
    ...(readAt !== '' && momentOf(zone, readAt) === undefined ? ([`${place}.readAt`] as const) : []),
    ...(json.trim() !== '' && dataOfJson(json) === undefined ? ([`${place}.json`] as const) : []),
  ]);
}

/** The body of the request. It begins with the first notification. @param category its name; undefined: it takes no choices */
export function simulationRequest(scenario: Scenario, category: string | undefined): SimulationRequest {
  const { zone, quietHours, choices } = scenario;
  const timeIn = (wallTime: WallTime) => momentOf(zone, wallTime)?.toISOString() ?? '';
  const events = scenario.events.map(({ at, readAt, json }) => {
    const data = dataOfJson(json);
    return {
      at: timeIn(at),
      ...(readAt !== '' && { read_at: timeIn(readAt) }),
      data,
    };
  });
  return {
    now: events.map(({ at }) => at).sort()[0] ?? '',
    preferences: {
      time_zone: zone,
      ...(quietHours !== null && { quiet_hours: quietHours }),
      ...(category !== undefined && Object.keys(choices).length > 0 && { categories: { [category]: choices } }),
    },
    events,
  };
}

/** A line of the timeline. `event` is a place in the request, from 0. */
export type TimelineLine =
  | { readonly kind: 'published' | 'read'; readonly at: string; readonly event: number }
  | ({ readonly kind: 'step' } & SimulatedStep);

const order = { published: 0, read: 1, step: 2 };

/** The notifications, the reads and the actions of the service, in the order of time. */
export function timelineOf({ events }: SimulationRequest, steps: readonly SimulatedStep[]): readonly TimelineLine[] {
  const lines: TimelineLine[] = [
    ...events.flatMap(({ at, read_at: readAt }, event): TimelineLine[] => [
      { kind: 'published', at, event },
      ...(typeof readAt === 'string' ? ([{ kind: 'read', at: readAt, event }] as const) : []),
    ]),
    ...steps.map((step) => ({ kind: 'step' as const, ...step })),
  ];
  return lines.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || order[a.kind] - order[b.kind]);
}
