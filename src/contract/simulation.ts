import { type Static, Type } from 'typebox';
import { stepChannels } from './category.js';
import { AnyObject, Time } from './common.js';
import { UserPreferenceChanges } from './preferences.js';
import { stepReasons, stepStates } from './push.js';

/** The most notifications of a simulation. */
export const maxSimulatedEvents = 1000;

const SimulatedAddress = Type.Enum(['ok', 'not_proven', 'suppressed', 'none'] as const, { title: 'SimulatedAddress' });

/** The body of `POST /admin/v1/categories/{name}/simulate`. */
export const SimulationRequest = Type.Object(
  {
    now: Type.String({
      description: 'When it begins: RFC 3339 with Z or an offset.',
      examples: ['2030-06-03T18:00:00Z'],
    }),
    person: Type.Optional(
      Type.Object(
        {
          is_active: Type.Optional(Type.Boolean()),
          is_locked: Type.Optional(Type.Boolean()),
          push: Type.Optional(Type.Enum(['ok', 'none'] as const, { title: 'SimulatedDevice' })),
          email: Type.Optional(SimulatedAddress),
          sms: Type.Optional(SimulatedAddress),
        },
        {
          title: 'SimulatedPerson',
          description: 'The user. Absent members: active, not locked, with every proven address and one device.',
        },
      ),
    ),
    preferences: Type.Optional(
      Type.Object(UserPreferenceChanges.properties, {
        title: 'SimulatedPreferences',
        description: 'What the user has chosen, as for PATCH of preferences, without topics.',
      }),
    ),
    events: Type.Array(
      Type.Object(
        {
          at: Type.String({ description: 'When it is published, not before now.' }),
          data: Type.Optional(
            Type.Unsafe<Record<string, unknown> | null>({
              ...AnyObject('The `data` of the notification.', 'NotificationData'),
              type: ['object', 'null'],
            }),
          ),
          read_at: Type.Optional(
            Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'When the user reads it.' }),
          ),
        },
        { title: 'SimulatedEvent' },
      ),
      { maxItems: maxSimulatedEvents },
    ),
  },
  {
    title: 'SimulationRequest',
    examples: [
      {
        now: '2030-06-03T18:00:00Z',
        preferences: { time_zone: 'Europe/Madrid', quiet_hours: { from: '22:00', until: '07:00' } },
        events: [{ at: '2030-06-03T21:00:00Z', read_at: '2030-06-03T21:30:00Z' }, { at: '2030-06-03T22:00:00Z' }],
      },
    ],
  },
);
export type SimulationRequest = Static<typeof SimulationRequest>;

/** What the service would do. */
export const Simulation = Type.Object(
  {
    timeline: Type.Array(
      Type.Object(
        {
          at: Time,
          event: Type.Integer({
            description: 'The place of the event in the request, from 0. Of several: of the newest.',
          }),
          channel: Type.Enum(stepChannels, { title: 'StepChannel' }),
          outcome: Type.Enum(stepStates, {
            title: 'SimulatedOutcome',
            description: 'As in the delivery status, with the exact reason.',
          }),
          reason: Type.Optional(
            Type.Enum([...(Object.keys(stepReasons) as (keyof typeof stepReasons)[]), 'collapsed'] as const, {
              title: 'SimulatedReason',
            }),
          ),
          held_until: Type.Optional(
            Type.Unsafe<string>({ ...Time, description: 'When it is decided about again, or when its digest closes.' }),
          ),
          events: Type.Optional(
            Type.Array(Type.Integer(), {
              description: 'The places of all its events, if there are several.',
            }),
          ),
        },
        { title: 'SimulatedStep' },
      ),
      { description: 'In the order of time.' },
    ),
  },
  {
    title: 'Simulation',
    examples: [
      {
        timeline: [
          {
            at: '2030-06-03T21:00:00.000000Z',
            event: 0,
            channel: 'push' as const,
            outcome: 'held' as const,
            reason: 'quiet_hours' as const,
            held_until: '2030-06-04T05:00:00.000000Z',
          },
        ],
      },
    ],
  },
);
export type Simulation = Static<typeof Simulation>;
