import { type Static, Type } from 'typebox';
import { CellChoice, ChannelChoice, stepChannels } from './category.js';
import { AnyObject, NullableTime } from './common.js';

const Cell = Type.Object(
  {
    value: CellChoice,
    default: CellChoice,
    is_chosen: Type.Boolean({ description: 'Whether the user has chosen the value. Else it is the default.' }),
    chosen_at: Type.Optional(
      Type.Unsafe<string | null>({ ...NullableTime, description: 'When it was chosen. Only for operators.' }),
    ),
  },
  { title: 'PreferenceCell', examples: [{ value: 'off', default: 'on', is_chosen: true }] },
);

const Channels = Type.Object(
  { push: ChannelChoice, email: ChannelChoice, sms: ChannelChoice },
  { title: 'PreferenceChannels', description: 'A channel that is off beats the categories, except critical ones.' },
);

const ChosenAt = Type.Object(
  { push: NullableTime, email: NullableTime, sms: NullableTime },
  { title: 'PreferenceChannelTimes', description: 'When each channel was chosen. Only for operators.' },
);

const AddressState = Type.Enum(['ok', 'not_proven', 'suppressed'] as const, { title: 'PreferenceAddressState' });

const PreferenceCategory = Type.Object(
  {
    title: Type.String(),
    description: Type.String(),
    is_locked: Type.Boolean({ description: 'Whether the category is critical, so that nobody can turn it off.' }),
    has_digest: Type.Boolean({ description: 'Whether its mails can come as a digest: `digest` for email.' }),
    cells: Type.Object({ inbox: Cell, push: Cell, email: Cell, sms: Cell }, { title: 'PreferenceCells' }),
  },
  {
    title: 'PreferenceCategory',
    examples: [
      {
        title: 'Bills',
        description: 'New bills and reminders',
        is_locked: false,
        has_digest: false,
        cells: {
          inbox: { value: 'on' as const, default: 'on' as const, is_chosen: false },
          push: { value: 'off' as const, default: 'on' as const, is_chosen: true },
          email: { value: 'on' as const, default: 'on' as const, is_chosen: false },
          sms: { value: 'off' as const, default: 'off' as const, is_chosen: false },
        },
      },
    ],
  },
);

/** The days on which quiet hours can begin. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

/** When pushes, mails and SMS are held. */
export interface QuietHours {
  /** `HH:MM` on the wall clock of the user. It belongs to the quiet hours. */
  readonly from: string;
  /** The same; it does not belong to them. If it is before `from`, it is on the next day. */
  readonly until: string;
  /** The days on which they begin. Absent: every day. */
  readonly days?: readonly Weekday[];
}

const QuietHours = Type.Unsafe<QuietHours | null>({
  type: ['object', 'null'],
  title: 'QuietHours',
  properties: {
    from: Type.String(),
    until: Type.String(),
    days: Type.Array(Type.Enum(weekdays, { title: 'Weekday' })),
  },
  required: ['from', 'until'],
  description:
    'When pushes, mails and SMS are held, on the wall clock of time_zone. They are sent when the quiet hours end, unless they are needless by then. Critical categories ignore it.',
});

const TopicCell = Type.Optional(ChannelChoice);
const TopicChoices = Type.Object(
  { inbox: TopicCell, push: TopicCell, email: Type.Optional(CellChoice), sms: TopicCell },
  { title: 'PreferenceTopic', examples: [{ push: 'off' as const }] },
);

/** The answer of `GET /v1/preferences`. */
export const Preferences = Type.Object(
  {
    time_zone: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'A name of the IANA database.' }),
    quiet_hours: QuietHours,
    channels: Channels,
    channels_chosen_at: Type.Optional(ChosenAt),
    topics: Type.Unsafe<Record<string, Static<typeof TopicChoices>>>({
      type: 'object',
      additionalProperties: TopicChoices,
      description: 'What the user has chosen for topics, by key. It beats the category.',
    }),
    addresses: Type.Object(
      { email: Type.Optional(AddressState), sms: Type.Optional(AddressState) },
      { title: 'PreferenceAddresses', description: 'The addresses that the user has, and whether they get messages.' },
    ),
    categories: Type.Unsafe<Record<string, Static<typeof PreferenceCategory>>>({
      type: 'object',
      additionalProperties: PreferenceCategory,
      description: 'All categories, by name.',
    }),
  },
  {
    title: 'Preferences',
    examples: [
      {
        time_zone: 'Europe/Madrid',
        quiet_hours: { from: '22:00', until: '07:00' },
        channels: { push: 'on' as const, email: 'off' as const, sms: 'on' as const },
        topics: { 'club.chess': { push: 'off' as const } },
        addresses: { email: 'ok' as const },
        categories: {},
      },
    ],
  },
);
export type Preferences = Static<typeof Preferences>;

/** The body of `PATCH /v1/preferences`. Names and values are checked together with the categories. */
export const PreferenceChanges = Type.Object(
  {
    time_zone: Type.Optional(
      Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'Such as Europe/Madrid.' }),
    ),
    quiet_hours: Type.Optional(
      Type.Unsafe<QuietHours | null>({
        ...AnyObject(
          '{from, until, days?}: HH:MM on the wall clock of the time zone, until on the next day if it is before from, and the days (mon to sun) on which they begin. null removes them.',
          'QuietHoursChange',
        ),
        type: ['object', 'null'],
      }),
    ),
    channels: Type.Optional(
      AnyObject(`on, off or null for each of ${stepChannels.join(', ')}. null takes a choice back.`, 'ChannelChanges'),
    ),
    categories: Type.Optional(
      AnyObject(
        'For each category, on, off or null for channels and inbox, and digest for email if the category has one. null takes a choice back.',
        'CategoryChannelChoices',
      ),
    ),
    topics: Type.Optional(
      AnyObject(
        'For each topic that is open or that the user is subscribed to, the same. It beats the category, except a critical one.',
        'TopicChannelChoices',
      ),
    ),
  },
  {
    title: 'PreferenceChanges',
    examples: [{ channels: { email: 'off' }, categories: { billing: { push: 'off', sms: null } } }],
  },
);
export type PreferenceChanges = Static<typeof PreferenceChanges>;

/** The body of the same route for operators, which takes no unknown members. */
export const UserPreferenceChanges = Type.Object(PreferenceChanges.properties, {
  title: 'UserPreferenceChanges',
  examples: [{ channels: { email: 'off' } }],
});
