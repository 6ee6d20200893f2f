import { type Static, Type } from 'typebox';
import { AnyObject, Id, IdInput, NullableTime } from './common.js';
import { Notification } from './notification.js';

const NullableNotification = Type.Unsafe<Notification | null>({ ...Notification, type: ['object', 'null'] });

/** One thing that happened to an inbox: the last one that happened to its notification. */
export const Change = Type.Object(
  {
    operation: Type.Unsafe<'create' | 'update' | 'delete'>({ type: 'string', enum: ['create', 'update', 'delete'] }),
    change_sequence: Type.Integer({
      description: 'Its place among the changes; the id of the same event on a stream.',
    }),
    id: Id,
    sequence: Type.Integer({ description: "The notification's place in the inbox." }),
    notification: NullableNotification,
  },
  { title: 'Change' },
);
export type Change = Static<typeof Change>;

export const Changes = Type.Object(
  {
    changes: Type.Array(Change),
    after: Type.String({ description: 'Where to go on: the `after` of the next request. Opaque.', examples: ['42'] }),
    has_more: Type.Boolean({ description: 'There is more already: ask again at once.' }),
    reset: Type.Boolean({
      description: 'What was deleted since `after` is no longer known: forget everything and begin without `after`.',
    }),
    retained_from: AnyObject('By notification type: the time before which notifications are no longer kept.'),
  },
  { title: 'Changes' },
);
export type Changes = Static<typeof Changes>;

export const Marker = Type.Object(
  {
    last_read_sequence: Type.Integer({ description: 'Everything up to this sequence has been read. 0: nothing yet.' }),
    unread_count: Type.Integer({ description: 'Notifications behind it; counted up to 100.' }),
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

/** Exactly one of the two. */
export const MarkerInput = Type.Object(
  {
    last_read_sequence: Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999_999_999_999 })),
    last_read_id: Type.Optional(IdInput),
  },
  { title: 'MarkerInput', examples: [{ last_read_sequence: 42 }] },
);
export type MarkerInput = Static<typeof MarkerInput>;
