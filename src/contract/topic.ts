import { type Static, Type } from 'typebox';
import { NullableTime, Recipient, Text, Time } from './common.js';
import { ProblemBody } from './problem.js';

/** The most topics of an installation. */
export const maxTopics = 10_000;
/** The pattern of the keys of topics. */
export const topicKeyPattern = '^[a-z][a-z0-9_.-]{0,63}$';

export const Topic = Type.Object(
  {
    key: Type.String({ examples: ['club.chess'] }),
    title: Type.String({ examples: ['Chess club'] }),
    is_open: Type.Boolean({ description: 'Whether users may join by themselves.' }),
    created_at: Time,
    updated_at: Time,
  },
  {
    title: 'Topic',
    examples: [
      {
        key: 'club.chess',
        title: 'Chess club',
        is_open: true,
        created_at: '2017-10-19T17:02:03.181879Z',
        updated_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type Topic = Static<typeof Topic>;

export const TopicInput = Type.Object(
  {
    title: Text(255, 1),
    is_open: Type.Optional(Type.Boolean({ default: false, description: 'Whether users may join by themselves.' })),
  },
  { title: 'TopicInput', examples: [{ title: 'Chess club', is_open: true }] },
);
export type TopicInput = Static<typeof TopicInput>;

/** A topic as a user sees it. */
export const OwnTopic = Type.Object(
  {
    key: Type.String(),
    title: Type.String(),
    is_open: Type.Boolean({ description: 'Whether the user may join again after leaving.' }),
    is_subscribed: Type.Boolean(),
    subscribed_at: NullableTime,
    created_at: Time,
  },
  {
    title: 'OwnTopic',
    examples: [
      {
        key: 'club.chess',
        title: 'Chess club',
        is_open: true,
        is_subscribed: true,
        subscribed_at: '2017-10-19T17:02:03.181879Z',
        created_at: '2017-10-19T17:02:03.181879Z',
      },
    ],
  },
);
export type OwnTopic = Static<typeof OwnTopic>;

/** One line of a request that changes the subscriptions of a topic. */
export const SubscriptionLine = Type.Object(
  {
    user_id: Recipient,
    remove: Type.Optional(Type.Boolean({ default: false, description: 'true: the user is subscribed no longer.' })),
  },
  { title: 'SubscriptionLine', examples: [{ user_id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11' }] },
);
export type SubscriptionLine = Static<typeof SubscriptionLine>;

/** A line of the answer. `line` is its number in the request; the last line may have none. */
export const SubscriptionResult = Type.Object(
  {
    line: Type.Optional(Type.Integer({ minimum: 1 })),
    status: Type.Integer({
      description: '200: it is as the line says, also if it was before. Otherwise as for one request.',
    }),
    errors: Type.Optional(ProblemBody.properties.errors),
    code: Type.Optional(Type.String({ description: 'The code of the error that ended the response early.' })),
    committed_lines: Type.Optional(
      Type.Integer({ description: 'With code: lines up to this number are committed, later lines are not.' }),
    ),
  },
  { title: 'SubscriptionResult', examples: [{ line: 1, status: 200 }] },
);
