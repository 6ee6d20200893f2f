import { type Static, Type } from 'typebox';
import { Marker } from './changes.js';
import { Id, IdInput, NullableTime, Text } from './common.js';
import { TakenAction } from './notification.js';

const maxSequence = 999_999_999_999_999;
const Sequence = Type.Integer({ minimum: 0, maximum: maxSequence });

/** How many notifications one change of states may name by their ids. */
const maxNamedStates = 100;

/**
 * A change of the states of some notifications. It names them by `ids`, or by `filter` and `through`; and it has at least
 * one of the members `read`, `archived` and `snoozed_until`.
 */
export const StatesChange = Type.Object(
  {
    ids: Type.Optional(Type.Array(IdInput, { minItems: 1, maxItems: maxNamedStates })),
    filter: Type.Optional(
      Type.Unsafe<string>({
        ...Text(2000),
        description: 'The grammar of lists, such as `notification_type:payment`. An empty text: all notifications.',
      }),
    ),
    through: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxSequence,
        description: 'The last `sequence` that the filter may match. Later notifications stay as they are.',
      }),
    ),
    read: Type.Optional(Type.Boolean()),
    archived: Type.Optional(Type.Boolean()),
    snoozed_until: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'Hidden until this time (RFC 3339). null or a time in the past ends the snooze.',
      }),
    ),
  },
  {
    title: 'StatesChange',
    examples: [
      { ids: ['7d9a2f1e-58a4-4f39-9c6b-0d1f6c1f3a10'], read: true },
      { filter: '', through: 42, read: true },
    ],
  },
);
export type StatesChange = Static<typeof StatesChange>;

const countMembers = {
  unseen: Type.Integer({ description: 'Unread notifications after the last one that the user has seen. At most 100.' }),
  unread: Type.Integer({
    description: 'Unread notifications, without archived, snoozed and expired ones. At most 100.',
  }),
  is_capped: Type.Boolean({ description: 'Whether there are more than `unread`.' }),
};

/** The counts of one category or notification type. */
const TypeCounts = Type.Object(countMembers, { title: 'NotificationTypeCounts' });

/** The numbers for the badge of an inbox. */
export const InboxCounts = Type.Object(
  {
    ...countMembers,
    by: Type.Record(Type.String(), TypeCounts, {
      description:
        'The same for each category or notification type that has unread notifications, if `by` asks for it.',
    }),
  },
  { title: 'InboxCounts', examples: [{ unseen: 2, unread: 3, is_capped: false, by: {} }] },
);
export type InboxCounts = Static<typeof InboxCounts>;

/** The counts after a change. */
export const ChangedStates = Type.Object(
  {
    ...InboxCounts.properties,
    not_found: Type.Array(Id, { description: 'Those `ids` that the user does not have. The others are changed.' }),
  },
  { title: 'ChangedStates', examples: [{ unseen: 2, unread: 3, is_capped: false, by: {}, not_found: [] }] },
);
export type ChangedStates = Static<typeof ChangedStates>;

export const SeenInput = Type.Object({ through: Sequence }, { title: 'SeenInput', examples: [{ through: 42 }] });
export type SeenInput = Static<typeof SeenInput>;

/** The state of one notification. */
const NotificationState = Type.Object(
  {
    id: Id,
    sequence: Type.Integer({ description: "The notification's position in the inbox." }),
    read: Type.Boolean(),
    archived: Type.Boolean(),
    snoozed_until: NullableTime,
    action: Type.Unsafe<TakenAction | null>({ ...TakenAction, type: ['object', 'null'] }),
  },
  { title: 'NotificationState' },
);
/** The states of an inbox, for clients that keep a copy of it. */
export const InboxStates = Type.Object(
  {
    states: Type.Array(NotificationState, {
      description:
        'The notifications whose state was changed on its own. Any other notification is read if its sequence is at most `marker.last_read_sequence`, and archived if it is at most `archived_through`.',
    }),
    marker: Marker,
    seen: Type.Integer({ description: 'The user has seen notifications up to this sequence.' }),
    archived_through: Type.Integer({ description: 'Notifications up to this sequence are archived.' }),
    after: Type.String({ description: 'The `after` of the next request. Opaque.', examples: ['42'] }),
    has_more: Type.Boolean({ description: 'Whether there are more states: send the next request at once.' }),
    reset: Type.Boolean({
      description: 'Postern no longer knows what changed since `after`: delete your states and start without `after`.',
    }),
  },
  { title: 'InboxStates' },
);
export type InboxStates = Static<typeof InboxStates>;
