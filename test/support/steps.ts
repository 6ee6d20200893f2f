import type { CategoryInput, StepChannel } from '../../src/contract/category.js';
import type { StepAttempt } from '../../src/contract/push.js';
import type { Database } from '../../src/database/database.js';
import { lockHolds } from '../../src/identities/accounts.js';
import { createPacer } from '../../src/lib/pacing.js';
import type { KnownCategories } from '../../src/notifications/categories/categories.js';
import { allCategories, completeCategory } from '../../src/notifications/categories/category.js';
import { createDueSteps } from '../../src/notifications/deliveries/due.js';
import type { AttemptJob } from '../../src/notifications/deliveries/jobs.js';
import { createStepSending } from '../../src/notifications/deliveries/send.js';
import type { StepMessage, StepOutcome, StepSender } from '../../src/notifications/deliveries/sender.js';
import { traceSteps } from '../../src/notifications/deliveries/trace.js';
import { createNotifications } from '../../src/notifications/notifications.js';
import { createCounters } from '../../src/statistics/counters.js';
import { createInboxes, imageUrlsOf, types } from './inbox.js';
import { testSql } from './sql.js';

const hour = 3_600_000;
const limits = { email: 72 * hour, sms: 72 * hour, push: 72 * hour };

/**
 * The engine of steps without a queue: a test carries out due steps and jobs one by one, and plays the provider of mails.
 * @param channels those that have a provider
 */
export function createStepParts(database: Database, channels: readonly StepChannel[] = ['push', 'email', 'sms']) {
  let all = allCategories([], types);
  const categories: KnownCategories = {
    get: (name) => all.get(name),
    names: () => [...all.keys()],
    dataErrors: () => [],
    isHidden: () => null,
    noteInboxChoices: async () => undefined,
    refreshFor: async () => undefined,
  };
  const suppressed = new Set<string>();
  /** The channels that are paused. */
  const paused = new Set<string>();
  const handedOver: StepMessage[] = [];
  const provider: { answer: (message: StepMessage) => Promise<StepOutcome>; pause: number } = {
    answer: async ({ id }) => ({ outcome: 'sent', provider: 'test', reference: id }),
    pause: 0,
  };
  const senderOf = (channel: StepSender['channel']): StepSender => ({
    channel,
    heldFor: () => (paused.has(channel) ? 5 : 0),
    pauseBefore: async () => provider.pause,
    async send(message) {
      handedOver.push(message);
      return provider.answer(message);
    },
    recordAccepted: async (_tx, _message, _accepted, store) => void (await store()),
    recordUnknownMailbox: async (_tx, { to }, _provider, store) => {
      if (await store()) suppressed.add(to);
    },
  });
  const counters = createCounters({ withTotals: true });
  /** Seconds from when each accepted message was due. */
  const lags: number[] = [];
  const shared = {
    ...{ database, categories, lockHolds, timeZone: 'UTC', ttl: limits, counters },
    readAddresses: async (_handle: unknown, _channel: string, addresses: readonly string[]) =>
      new Map(addresses.map((each) => [each, { isSuppressed: suppressed.has(each), isAllowedOut: true }])),
  };
  const due = createDueSteps({
    ...{ ...shared, channels },
    isPaused: (channel) => paused.has(channel),
    onPushes: () => undefined,
  });
  /** The errors of messages that could not be made. */
  const errors: unknown[] = [];
  const send = createStepSending({
    ...{ ...shared, senders: [senderOf('email'), senderOf('sms')], app: 'Splitter' },
    onSent: (lag) => lags.push(lag),
    onError: (error) => errors.push(error),
  });
  const notifications = createNotifications({
    ...{ database, types, categories, imageUrlsOf, batching: true, counters: shared.counters, pacer: createPacer() },
    checkUrl: () => undefined,
    onChanged: () => undefined,
    onPublished: () => undefined,
    limitExpensive: (_userId, read) => read(),
  });
  return {
    ...{ due, categories, notifications, handedOver, provider, suppressed, paused, errors, counters, lags },
    putCategory(name: string, input: CategoryInput) {
      all = allCategories(
        [...[...all.values()].filter((each) => each.name !== name), completeCategory(name, input)],
        types,
      );
    },
    deleteCategory(name: string) {
      all = allCategories(
        [...all.values()].filter((each) => each.name !== name),
        types,
      );
    },
    /** Users with a proven address `<id>@example.org`. */
    async createPeople(count: number): Promise<string[]> {
      const ids = await createInboxes(database, count);
      await database.query(
        testSql(`update users set email = id || '@example.org', email_verified = true where id = any ($1::uuid[])`, [
          ids,
        ]),
      );
      return ids;
    },
    /** Carries out all steps that are due. */
    async runDue(): Promise<void> {
      while (await due());
    },
    /** The jobs that wait, in their order, with the seconds from their statement until they are due. */
    async jobs(): Promise<(AttemptJob & { readonly seconds: number; readonly priority: number })[]> {
      const rows = await database.query<{ payload: AttemptJob; seconds: number; priority: number }>(
        testSql(`select payload, jobs.priority, extract(epoch from run_at - jobs.updated_at)::float8 as seconds
                 from graphile_worker._private_jobs jobs join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id
                 where identifier = 'step.send.email' order by jobs.id`),
      );
      return rows.map(({ payload, ...rest }) => ({ ...payload, ...rest }));
    },
    /** Takes all jobs out of the queue and runs them one after the other. In one statement: what is added meanwhile stays. */
    async runJobs(): Promise<void> {
      const taken = await database.query<{ payload: AttemptJob; id: string; task: string }>(
        testSql(`delete from graphile_worker._private_jobs jobs
                 returning payload, id, (select identifier from graphile_worker._private_tasks tasks where tasks.id = jobs.task_id) as task`),
      );
      const mails = taken.filter(({ task }) => task === 'step.send.email').sort((a, b) => Number(a.id) - Number(b.id));
      for (const { payload } of mails) await send('email', payload);
    },
    send: (job: AttemptJob, channel: StepSender['channel'] = 'email') => send(channel, job),
    /** The mail of a notification, as `state/reason`; undefined: it has none. */
    async mailOf({
      user_id: userId,
      id: notificationId,
      created_at: publishedAt,
    }: Published): Promise<string | undefined> {
      const { email } = await traceSteps(database, { userId, notificationId, publishedAt });
      return email.map(({ state, reason }: StepAttempt) => `${state}/${reason}`)[0];
    },
  };
}

interface Published {
  readonly user_id: string;
  readonly id: string;
  readonly created_at: string;
}
