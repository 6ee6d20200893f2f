import { type Static, Type } from 'typebox';
import { Time } from '../common.js';

/**
 * The kind of a metric. `counter`: the number of events in a bucket. `average`: a gauge, averaged over the bucket; the
 * averages of instances add up. `maximum`: the highest value of a gauge. `mean`: the mean over the events of a bucket.
 */
export type MetricKind = 'counter' | 'average' | 'maximum' | 'mean';

interface MetricDefinition {
  readonly kind: MetricKind;
  /** What is counted, and the meaning of the labels. */
  readonly about: string;
  readonly labels?: string;
  /** Whether only sums by day are stored, because it has many labels. */
  readonly isDaily?: true;
}

/** A metric of deliveries by category. */
const byCategory = (about: string) =>
  ({
    kind: 'counter',
    about: `${about}; by day`,
    labels: 'the category of the notification; (none): the notification was deleted; (other): beyond the first 256',
    isDaily: true,
  }) as const;

/** Everything that Postern counts. */
export const metrics = {
  'logins.approved': { kind: 'counter', about: 'Approved logins', labels: 'the authenticator' },
  'logins.failed': {
    kind: 'counter',
    about: 'Refused logins',
    labels:
      'the cause: wrong_secret (also for identities that nobody has), wrong_second_factor, not_open (step 2 of a login that is decided, expired or unknown), locked_by_guesses, locked_by_operator, too_many_requests, not_linked (an account at a provider that no user has)',
  },
  locks: { kind: 'counter', about: 'Locks of accounts', labels: 'guesses or operator' },
  'devices.new': { kind: 'counter', about: 'Approved logins on a device that the user has not used before' },
  'sessions.created': { kind: 'counter', about: 'Session tokens' },
  'sessions.verified': { kind: 'counter', about: 'Valid session tokens that your services have checked' },
  'messages.sent': { kind: 'counter', about: 'Codes and notices that a provider has accepted', labels: 'the channel' },
  'messages.failed': { kind: 'counter', about: 'Codes and notices that could not be sent', labels: 'the channel' },
  'messages.expired': {
    kind: 'counter',
    about: 'Codes and notices that expired before the first attempt',
    labels: 'the channel',
  },
  'messages.delivered': {
    kind: 'counter',
    about: 'Codes and notices that have arrived, as the provider reports',
    labels: 'the channel',
  },
  'messages.undelivered': {
    kind: 'counter',
    about: 'Codes and notices that were sent but did not arrive, as the provider reports',
    labels: 'the channel',
  },
  'mail.events': {
    kind: 'counter',
    about: 'Reports of providers about mails',
    labels:
      'delivered, soft_bounce, hard_bounce, complaint, or ignored (repeated, or about no mail of the last 30 days)',
  },
  'pushes.sent': { kind: 'counter', about: 'Pushes that a push service has accepted', labels: 'the channel' },
  'pushes.failed': { kind: 'counter', about: 'Pushes that a push service has refused', labels: 'the channel' },
  'pushes.gone': { kind: 'counter', about: 'Pushes to devices whose token is no longer valid', labels: 'the channel' },
  'pushes.expired': { kind: 'counter', about: 'Pushes that could not be sent in time', labels: 'the channel' },
  'pushes.dropped': {
    kind: 'counter',
    about: 'Pushes that were not sent, because the notification or the device is gone, or because of a mute',
    labels: 'the channel',
  },
  'pushes.held': { kind: 'counter', about: 'Pushes that quiet hours hold', labels: 'the channel' },
  'steps.held': {
    kind: 'counter',
    about: 'Mails and SMS of notifications that quiet hours hold',
    labels: 'the channel',
  },
  'steps.digesting': {
    kind: 'counter',
    about: 'Notifications that join a digest instead of a mail of their own',
    labels: 'the channel',
  },
  'steps.sent': {
    kind: 'counter',
    about: 'Mails and SMS of notifications that a provider has accepted',
    labels: 'the channel',
  },
  'steps.delivered': {
    kind: 'counter',
    about: 'Mails and SMS of notifications that have arrived, as the provider reports',
    labels: 'the channel',
  },
  'steps.bounced': { kind: 'counter', about: 'Mails and SMS of notifications that came back', labels: 'the channel' },
  'steps.complained': {
    kind: 'counter',
    about: 'Mails of notifications that their recipients have reported as spam',
    labels: 'the channel',
  },
  'steps.failed': {
    kind: 'counter',
    about: 'Mails and SMS of notifications that no provider took',
    labels: 'the channel',
  },
  'steps.skipped': {
    kind: 'counter',
    about:
      'Steps of notifications (mails, SMS and later pushes) that were not carried out, such as a mail about what the user has read',
    labels: 'the channel',
  },
  'steps.expired': {
    kind: 'counter',
    about: 'Steps of notifications (mails, SMS and later pushes) that could not be carried out in time',
    labels: 'the channel',
  },
  'steps.dropped': {
    kind: 'counter',
    about:
      'Steps of notifications (mails, SMS and later pushes) that ended, because the notification or its category is gone, or it was read meanwhile',
    labels: 'the channel',
  },
  'deliveries.sent': byCategory('Pushes, mails and SMS of notifications that a provider has accepted'),
  'deliveries.delivered': byCategory('Mails and SMS of notifications that have arrived, as the provider reports'),
  'deliveries.bounced': byCategory('Mails and SMS of notifications that came back'),
  'deliveries.complained': byCategory('Mails of notifications that their recipients have reported as spam'),
  'deliveries.failed': byCategory('Pushes, mails and SMS of notifications that no provider took'),
  'deliveries.skipped': byCategory('Pushes, mails and SMS of notifications that were not sent'),
  'deliveries.expired': byCategory('Pushes, mails and SMS of notifications that could not be sent in time'),
  'deliveries.dropped': byCategory(
    'Pushes, mails and SMS of notifications that were cancelled, because they were no longer wanted',
  ),
  'deliveries.held': byCategory('Pushes, mails and SMS of notifications that quiet hours hold'),
  'deliveries.digesting': byCategory('Notifications that join a digest instead of a mail of their own'),
  'webhooks.delivered': { kind: 'counter', about: 'Attempts to deliver an event to a webhook that succeeded' },
  'webhooks.failed': { kind: 'counter', about: 'Attempts to deliver an event to a webhook that failed' },
  'notifications.published': { kind: 'counter', about: 'Notifications, counted for each user' },
  'notifications.pushed': { kind: 'counter', about: 'Notifications that are pushed to at least one device' },
  'streams.open': { kind: 'average', about: 'Open notification streams' },
  'queue.jobs': { kind: 'counter', about: 'Jobs of the queue that were started', labels: 'the task' },
  'queue.latency': {
    kind: 'mean',
    about: 'Seconds from the time when a job was due to its start',
    labels: 'the task',
  },
  'database.size': {
    kind: 'maximum',
    about: 'Bytes of the database, measured once an hour; only with a `step` of 1h or longer',
  },
  'queue.age': { kind: 'maximum', about: 'Seconds for which the oldest job has been due' },
} as const satisfies Record<string, MetricDefinition>;
export type Metric = keyof typeof metrics;
export const metricNames = Object.keys(metrics) as Metric[];
/** Whether only sums by day are stored. */
export const isDaily = (metric: Metric): boolean => 'isDaily' in metrics[metric];

/** The lengths of buckets, with their seconds. */
export const steps = { '1m': 60, '5m': 300, '15m': 900, '1h': 3600, '6h': 21_600, '1d': 86_400 } as const;
export type Step = keyof typeof steps;
export const stepNames = Object.keys(steps) as Step[];

export const StatisticsStep = Type.Enum(stepNames, { title: 'StatisticsStep' });

/** The maximum number of buckets in one answer. */
export const maxBuckets = 1500;

const Values = (description: string) => Type.Array(Type.Number(), { description });

const LabelStatistics = Type.Object(
  {
    label: Type.String({ examples: ['wrong_secret'] }),
    total: Type.Number(),
    values: Values('In the order of `buckets`.'),
  },
  { title: 'LabelStatistics' },
);

const MetricStatistics = Type.Object(
  {
    metric: Type.Enum(metricNames),
    kind: Type.Enum(['counter', 'average', 'maximum', 'mean'] satisfies MetricKind[], {
      description:
        'counter: events in the bucket. average: the average over the bucket. maximum: the highest value in the bucket. mean: the mean of the events in the bucket.',
    }),
    total: Type.Number({ description: 'The value over the whole time.' }),
    values: Values('The values of all labels together, in the order of `buckets`. Empty buckets are 0.'),
    labels: Type.Array(LabelStatistics, {
      description: 'The values of each label that occurred. Empty for a metric without labels.',
    }),
  },
  { title: 'MetricStatistics' },
);
export type MetricStatistics = Static<typeof MetricStatistics>;

/** The answer of `GET /admin/v1/stats`. */
export const Statistics = Type.Object(
  {
    from: Type.Unsafe<string>({ ...Time, description: 'The start of the first bucket.' }),
    to: Type.Unsafe<string>({ ...Time, description: 'The end of the last bucket.' }),
    now: Type.Unsafe<string>({
      ...Time,
      description: 'The time of the answer. A bucket that ends later is incomplete.',
    }),
    step: StatisticsStep,
    buckets: Type.Array(Time, { description: 'The start of each bucket, in UTC.' }),
    metrics: Type.Array(MetricStatistics),
  },
  {
    title: 'Statistics',
    examples: [
      {
        from: '2017-10-19T16:00:00.000000Z',
        to: '2017-10-19T18:00:00.000000Z',
        now: '2017-10-19T17:02:03.181879Z',
        step: '1h',
        buckets: ['2017-10-19T16:00:00.000000Z', '2017-10-19T17:00:00.000000Z'],
        metrics: [
          {
            metric: 'logins.failed',
            kind: 'counter',
            total: 3,
            values: [1, 2],
            labels: [
              { label: 'locked_by_guesses', total: 1, values: [0, 1] },
              { label: 'wrong_secret', total: 2, values: [1, 1] },
            ],
          },
        ],
      },
    ],
  },
);
export type Statistics = Static<typeof Statistics>;
