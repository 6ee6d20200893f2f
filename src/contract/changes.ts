import { type Static, Type } from 'typebox';
import { AnyObject, Id, IdInput, NullableTime } from './common.js';
import { Notification } from './notification.js';

const NullableNotification = Type.Unsafe<Notification | null>({ ...Notification, type: ['object', 'null'] });

/** The last change of a notification in an inbox. */
export const Change = Type.Object(
  {
    operation: Type.Unsafe<'create' | 'update' | 'delete'>({ type: 'string', enum: ['create', 'update', 'delete'] }),
    change_sequence: Type.Integer({
      description: 'The number of the change. On a stream, it is the id of the event.',
    }),
    id: Id,
    sequence: Type.Integer({ description: "The notification's position in the inbox." }),
    notification: NullableNotification,
  },
  { title: 'Change' },
);
export type Change = Static<typeof Change>;

export const Changes = Type.Object(
  {
    changes: Type.Array(Change),
    after: Type.String({ description: 'The `after` of the next request. Opaque.', examples: ['42'] }),
    has_more: Type.Boolean({ description: 'Whether there are more changes: send the next request at once.' }),
    reset: Type.Boolean({
      description:
        'Postern no longer knows which notifications were deleted since `after`: delete your copy and start without `after`.',
    }),
    retained_from: AnyObject('A time for each notification type: older notifications are no longer stored.'),
  },
  { title: 'Changes' },
);
export type Changes = Static<typeof Changes>;

export const Marker = Type.Object(
  {
    last_read_sequence: Type.Integer({ description: 'Notifications up to this sequence are read. 0: none.' }),
    unread_count: Type.Integer({ description: 'The number of later notifications, counted up to 100.' }),
    unread_count_capped: Type.Boolean({ description: 'Whether there are more than `unread_count`.' }),
    updated_at: NullableTime,
  },
  {
    title: 'Marker',
    examples: [
      {
        last_read_sequence: 42,
        unread_count: 3,
        unread_count_capped: false,
        updated_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type Marker = Static<typeof Marker>;

/** Has exactly one of the two members. */
export const MarkerInput = Type.Object(
  {
    last_read_sequence: Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999_999_999_999 })),
    last_read_id: Type.Optional(IdInput),
  },
  { title: 'MarkerInput', examples: [{ last_read_sequence: 42 }] },
);
export type MarkerInput = Static<typeof MarkerInput>;
