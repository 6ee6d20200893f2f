import { type Static, Type } from 'typebox';
import { stepChannels } from './category.js';
import { NullableTime } from './common.js';

/** Why a channel is paused: by an operator, or by Postern because of the reports about its mails. */
export type PauseReason = 'operator' | 'complaints' | 'hard_bounces';

export const Channel = Type.Object(
  {
    name: Type.Enum(stepChannels, { title: 'StepChannel' }),
    paused: Type.Boolean(),
    paused_at: NullableTime,
    reason: Type.Unsafe<PauseReason | null>({
      type: ['string', 'null'],
      description:
        'operator; complaints: more than 0.3 % of the last 1,000 mails were reported as spam; hard_bounces: more than 10 % went to mailboxes that do not exist. null: the channel is not paused.',
    }),
  },
  {
    title: 'Channel',
    examples: [{ name: 'email', paused: true, paused_at: '2017-10-19T17:02:03.181879Z', reason: 'complaints' }],
  },
);
export type Channel = Static<typeof Channel>;

/** The body of `PUT /admin/v1/channels/{name}`. */
export const ChannelChange = Type.Object(
  { paused: Type.Boolean() },
  { title: 'ChannelChange', examples: [{ paused: true }] },
);
