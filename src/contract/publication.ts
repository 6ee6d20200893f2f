import { type Static, Type } from 'typebox';
import { AnyObject, Id, NullableString, NullableTime, Recipient, Time } from './common.js';
import { publishedMembers } from './notification-fields.js';

export const publicationStatuses = ['scheduled', 'running', 'paused', 'done', 'cancelled', 'failed'] as const;
export type PublicationStatus = (typeof publicationStatuses)[number];

/** The most users of a list of users. */
export const maxListedUsers = 10_000;
/** The most recipients a second. */
const maxRate = 10_000;

/** A notification without its users. */
export const PublishedNotification = Type.Object(publishedMembers, {
  title: 'PublishedNotification',
  examples: [{ notification_type: 'request', description: 'The tournament begins on Friday' }],
});
export type PublishedNotification = Static<typeof PublishedNotification>;

export const PublicationTarget = Type.Object(
  {
    topic: Type.Optional(Type.String({ maxLength: 64, description: 'The subscribers of this topic.' })),
    user_ids: Type.Optional(
      Type.Array(Recipient, {
        minItems: 1,
        maxItems: maxListedUsers,
        description: 'These users. Who is named twice gets one notification.',
      }),
    ),
    users: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'The users that match this filter, as in lists of users.',
      }),
    ),
    everyone: Type.Optional(Type.Boolean({ description: 'true: all users who are not deactivated.' })),
  },
  {
    title: 'PublicationTarget',
    description:
      'Exactly one of the members. users and everyone need the scope notifications:broadcast. To count the users of a filter in a dry run also needs users:read.',
    examples: [{ topic: 'club.chess' }],
  },
);
export type PublicationTarget = Static<typeof PublicationTarget>;

const sendAt = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'When it starts: RFC 3339 with Z or an offset, at most 366 days ahead. Absent: now.',
  examples: ['2030-01-31T09:00:00+01:00'],
});
const rate = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  minimum: 1,
  maximum: maxRate,
  description: 'Recipients a second. Absent: as fast as other requests allow.',
});

export const NewPublication = Type.Object(
  {
    to: PublicationTarget,
    notification: PublishedNotification,
    send_at: Type.Optional(sendAt),
    rate: Type.Optional(rate),
  },
  {
    title: 'NewPublication',
    examples: [
      {
        to: { topic: 'club.chess' },
        notification: { notification_type: 'request', description: 'The tournament begins on Friday' },
      },
    ],
  },
);
export type NewPublication = Static<typeof NewPublication>;

export const PublicationChange = Type.Partial(Type.Object(NewPublication.properties), {
  title: 'PublicationChange',
  examples: [{ send_at: '2030-01-31T09:00:00+01:00' }],
});
export type PublicationChange = Static<typeof PublicationChange>;

const Recall = Type.Object(
  {
    removed: Type.Integer({ description: 'Notifications that are deleted so far.' }),
    finished_at: NullableTime,
  },
  { title: 'PublicationRecall', examples: [{ removed: 120, finished_at: '2017-10-19T17:02:03.181879Z' }] },
);

const count = (description: string) => Type.Integer({ minimum: 0, description });

const example = {
  id: '7d9a2f1e-58a4-4f39-9c6b-0d1f6c1f3a10',
  status: 'running' as const,
  to: { topic: 'club.chess' },
  notification: { notification_type: 'request', description: 'The tournament begins on Friday' },
  send_at: null,
  rate: null,
  recipients: 1200,
  created: 400,
  skipped: 2,
  error_code: null,
  recall: null,
  started_at: '2017-10-19T17:02:03.181879Z',
  ended_at: null,
  created_at: '2017-10-19T17:02:03.181879Z',
  updated_at: '2017-10-19T17:02:03.181879Z',
};

export const Publication = Type.Object(
  {
    id: Id,
    status: Type.Enum(publicationStatuses, { title: 'PublicationStatus' }),
    to: AnyObject(
      'topic, users or everyone as the request had it. For a list of users: count, the number of different users. users is null for a key without the scopes notifications:broadcast and users:read.',
      'StoredPublicationTarget',
    ),
    notification: AnyObject('The notification as the request had it.', 'StoredPublishedNotification'),
    send_at: NullableTime,
    rate: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    recipients: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'Null before the start, then an estimate. At the end: created and skipped together.',
    }),
    created: count('Notifications that were created.'),
    skipped: count('Users who were deleted or deactivated meanwhile.'),
    error_code: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'Why it failed. Before its end: why its last step failed, which is repeated.',
    }),
    recall: Type.Unsafe<Static<typeof Recall> | null>({ ...Recall, type: ['object', 'null'] }),
    started_at: NullableTime,
    ended_at: NullableTime,
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Publication', examples: [example] },
);
export type Publication = Static<typeof Publication>;

/** In a problem: the state that does not allow a request. */
export const PublicationState = Type.Object(
  { id: Id, status: Type.Enum(publicationStatuses, { title: 'PublicationStatus' }) },
  { title: 'PublicationState', examples: [{ id: example.id, status: 'cancelled' as const }] },
);

export const PublicationEstimate = Type.Object(
  {
    recipients: Type.Integer({
      minimum: 0,
      description: 'Exact up to 100,000 if the count is quick, otherwise an estimate.',
    }),
  },
  { title: 'PublicationEstimate', examples: [{ recipients: 1200 }] },
);
