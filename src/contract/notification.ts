import { type Static, Type } from 'typebox';
import { Id, NullableTime, PageOf, Recipient, Time } from './common.js';
import { answerMembers, extraMembers, inputMembers, publishedMembers } from './notification-fields.js';
import { ProblemBody } from './problem.js';

/** The action that a user has chosen. */
export const TakenAction = Type.Object(
  { key: Type.String(), acted_at: Time },
  { title: 'TakenAction', examples: [{ key: 'accept', acted_at: '2017-10-19T17:02:03.181879Z' }] },
);
export type TakenAction = Static<typeof TakenAction>;

/** What requests with `include=extra` get in addition. */
const NotificationExtra = Type.Object(
  {
    category: Type.String({ description: 'The notification type, unless the app has named a category.' }),
    ...extraMembers,
    state: Type.Object(
      {
        read: Type.Boolean(),
        archived: Type.Boolean(),
        snoozed_until: Type.Unsafe<string | null>({ ...NullableTime, description: 'null: not snoozed now.' }),
        action: Type.Unsafe<TakenAction | null>({ ...TakenAction, type: ['object', 'null'] }),
      },
      { title: 'NotificationItemState' },
    ),
  },
  { title: 'NotificationExtra' },
);
export type NotificationExtra = Static<typeof NotificationExtra>;

const members = { ...answerMembers, extra: Type.Optional(NotificationExtra) };

export const Notification = Type.Object(members, {
  title: 'Notification',
  examples: [
    {
      id: '7d9a2f1e-58a4-4f39-9c6b-0d1f6c1f3a10',
      user_id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
      sequence: 42,
      actor_id: '4b3ba41c-5a2f-4c53-a1b8-2f5f0a9c1b77',
      actor: 'Grace Hopper',
      notification_type: 'payment',
      notification_key: 'received',
      object_id: '9e107d9d-372b-4b68-8f1d-1a0d3542419d',
      object_data_number: 12.5,
      object_data_string: 'Lunch',
      description: 'Grace Hopper paid you 12.50',
      image: null,
      created_at: '2017-10-19T17:02:03.181879Z',
      updated_at: '2017-10-19T17:02:03.181879Z',
    },
  ],
});
export type Notification = Static<typeof Notification>;

/** A page of an inbox in an envelope. */
export const NotificationPage = PageOf(Notification, 'NotificationPage');
export type NotificationPage = Static<typeof NotificationPage>;

const exampleInput = {
  user_id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
  notification_type: 'payment',
  notification_key: 'received',
  actor: 'Grace Hopper',
  object_data_number: 12.5,
  description: 'Grace Hopper paid you 12.50',
};

export const NotificationInput = Type.Object(
  {
    user_id: Type.Optional(Recipient),
    user_ids: Type.Optional(
      Type.Array(Recipient, { minItems: 1, maxItems: 10_000, description: 'Instead of user_id.' }),
    ),
    ...publishedMembers,
  },
  {
    title: 'NotificationInput',
    examples: [exampleInput],
  },
);
export type NotificationInput = Static<typeof NotificationInput>;

/** A notification for exactly one user. */
export const NewNotification = Type.Object(
  {
    user_id: Recipient,
    ...publishedMembers,
  },
  { title: 'NewNotification', examples: [exampleInput] },
);

/** Changes only the members that are present. */
export const NotificationChange = Type.Partial(Type.Object(inputMembers), {
  title: 'NotificationChange',
  examples: [{ description: 'Grace Hopper paid you 12.50 (corrected)' }],
});
export type NotificationChange = Static<typeof NotificationChange>;

/** A line of the response to a request in NDJSON. `line` is its number in the request; the last line may have none. */
export const PublishedItem = Type.Object(
  {
    line: Type.Optional(Type.Integer({ minimum: 1 })),
    status: Type.Integer({
      description:
        '201: published. 200: would be published (dry_run). Otherwise the status of a single request with this item.',
    }),
    id: Type.Optional(Id),
    ids: Type.Optional(Type.Array(Id, { description: 'Instead of id, in the order of user_ids.' })),
    errors: Type.Optional(ProblemBody.properties.errors),
    code: Type.Optional(Type.String({ description: 'The code of the error that ended the response early.' })),
    committed_lines: Type.Optional(
      Type.Integer({ description: 'With code: lines up to this number are committed, later lines are not.' }),
    ),
  },
  {
    title: 'PublishResult',
    examples: [
      { line: 1, status: 201, id: '7d9a2f1e-58a4-4f39-9c6b-0d1f6c1f3a10' },
      {
        line: 2,
        status: 422,
        errors: [{ field: 'user_id', code: 'unknown_user', message: 'This user does not exist.' }],
      },
      { status: 503, code: 'storage_unavailable', committed_lines: 2 },
    ],
  },
);
export type PublishedItem = Static<typeof PublishedItem>;
