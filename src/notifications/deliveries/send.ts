import type { Category, RenderedMessage } from '../../contract/category.js';
import type { Database, Queryable } from '../../database/database.js';
import { literal, type Sql, type StatementWith, sql, statement } from '../../database/sql.js';
import { backOff } from '../../lib/back-off.js';
import type { Counters } from '../../statistics/counters.js';
import type { KnownCategories } from '../categories/categories.js';
import { heldSince } from '../channels/held.js';
import { TemplateTooLarge } from '../templates/render.js';
import { renderMessage } from '../templates/templates.js';
import { limitsOf, takeCap } from './caps.js';
import { decide, type Hold, type Join, type StepFacts } from './decide.js';
import { type DigestContent, joinDigests, readDigest, renderDigest } from './digests.js';
import {
  type AddressFacts,
  type FactColumns,
  factColumns,
  factJoins,
  factsOf,
  lifetime,
  plainAddress,
  type ReadAddresses,
} from './facts.js';
import { type MessageChannel, type StepJob, stepPriority, stepTask } from './queue.js';
import { holdStep, quietUntil } from './quiet-hours.js';
import type { StepMessage, StepOutcome, StepSender } from './sender.js';

/** Why a delivery ends. */
interface End {
  readonly state: 'failed' | 'skipped' | 'expired' | 'dropped';
  readonly reason: string;
  readonly error?: string;
  readonly provider?: string | undefined;
  /** The id that the provider gave the message. */
  readonly reference?: string | null;
  /** Whether this attempt has called a provider. */
  readonly attempted?: boolean;
}

interface DeliveryRow extends FactColumns {
  notification_id: string;
  condition: StepFacts['condition'];
  attempts: number;
  was_handed_over: boolean;
  created_at: string;
  /** Seconds since the step was due, and the seconds of these in which a pause or quiet hours held it. */
  age: number;
  held: number;
  quiet_until: string | null;
  /** A digest: its category, its members, and how many there were. Null: a single notification. */
  digest_category: string | null;
  digest_count: number | null;
  member_ids: string[] | null;
  /** The number of deliveries that must be handed over before this one. */
  ahead: number;
  address: string | null;
  locale: string | null;
  name: string | null;
  time_zone: string | null;
  actor: string | null;
  description: string | null;
  extra: { data?: Record<string, unknown>; url?: string } | null;
}

interface AttemptKey {
  readonly userId: string;
  readonly id: string;
  readonly attempt: number;
}
const keyOf = (job: StepJob): AttemptKey => ({ userId: job.user_id, id: job.id, attempt: job.attempt });

/**
 * The count of earlier deliveries stops here. It only decides how long to wait: with many messages for one user, each of them checks
 * rarely, and other users are not slowed down.
 */
const maxAhead = 1000;

/**
 * SQL: the number of earlier deliveries to the same user by the same channel that were not handed over. A delivery that is retried delays
 * the next one for at most 60 s.
 */
const ahead: Sql = sql`(
             select count(*)::integer from (
               select from step_deliveries b
               where b.user_id = d.user_id and b.channel = d.channel and b.state = 'queued'
                 and (b.created_at, b.id) < (d.created_at, d.id)
                 and coalesce(b.first_attempt_at > db_now() - interval '60 seconds', true)
               limit ${literal(maxAhead)}) earlier)`;

/** Returns no row if this attempt was made before, or if the delivery has ended. */
const selectDelivery = (lockHolds: Sql): StatementWith<AttemptKey & { channel: string; zone: string }, DeliveryRow> =>
  statement<AttemptKey & { channel: string; zone: string }, DeliveryRow>('step_delivery_read', (p) => {
    const parts = {
      ...{ userId: sql`d.user_id`, notificationId: sql`d.notification_id` },
      ...{ channel: sql`${p.channel}::text`, condition: sql`d.condition`, lockHolds },
    };
    return sql`
    select d.notification_id, d.condition, d.attempts, d.first_attempt_at is not null as was_handed_over, d.created_at,
           extract(epoch from db_now() - d.created_at)::float8 as age, ${heldSince(sql`d.channel`, sql`d.created_at`, sql`d.holds`)} as held,
           ${quietUntil(p.zone)} as quiet_until, d.digest_category, d.digest_count, d.member_ids, ${ahead} as ahead,
           case d.channel when 'email' then u.email else u.phone end as address, u.locale, u.name, preferences.time_zone,
           n.actor, n.description, n.extra, ${factColumns(parts)}
    from step_deliveries d ${factJoins(parts)}
    where d.user_id = ${p.userId} and d.id = ${p.id} and d.channel = ${p.channel}::text and d.state = 'queued'
      and d.attempts = ${p.attempt}`;
  });

/** Called before the first call of a provider, so that a process that dies during the call leaves a trace. */
const markHandedOver = statement<AttemptKey, { id: string }>(
  'step_delivery_hand_over',
  (p) => sql`
    update step_deliveries set first_attempt_at = db_now(), updated_at = db_now()
    where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt} and first_attempt_at is null
    returning id`,
);

/** A notification that joins a digest has no mail of its own. */
const removeDelivery = statement<AttemptKey, { id: string }>(
  'step_delivery_remove',
  (p) => sql`
    delete from step_deliveries
    where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt} and first_attempt_at is null
    returning id`,
);

const settleDelivery = statement<
  AttemptKey & {
    state: string;
    reason: string;
    error: string | null;
    provider: string | null;
    reference: string | null;
    newAttempts: number;
  },
  { state: Sent['state'] }
>('step_delivery_settle', (p) => {
  // A report that came before the acceptance was stored: see `reports.ts`.
  const isUndelivered = sql`(${p.state}::text = 'sent' and reason = 'undelivered'
             and (provider, provider_reference) = (${p.provider}::text, ${p.reference}::text))`;
  return sql`
    update step_deliveries
    set state = case when ${isUndelivered} then 'bounced' else ${p.state} end,
        reason = case when ${isUndelivered} then reason else ${p.reason} end, last_error = coalesce(${p.error}, last_error),
        provider = coalesce(${p.provider}, provider), provider_reference = coalesce(${p.reference}, provider_reference),
        attempts = attempts + ${p.newAttempts}, updated_at = db_now()
    where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt}
    returning state`;
});

/** Counts the attempt and adds the job of the next one. If the job of the counted attempt runs again, it finds no row. */
const postponeDelivery = statement<AttemptKey & { error: string; seconds: number; task: string; cause: string | null }>(
  'step_delivery_postpone',
  (p) => sql`
    with delivery as (
      update step_deliveries set reason = 'retrying', last_error = ${p.error}, attempts = attempts + 1, updated_at = db_now()
      where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt}
      returning user_id, id, attempts
    )
    select graphile_worker.add_job(${p.task}, json_build_object('user_id', user_id, 'id', id, 'attempt', attempts,
               'traceparent', ${p.cause}::text), run_at => now() + ${p.seconds} * interval '1 second', priority => ${stepPriority(sql`0`)})
    from delivery`,
);

/** Adds the job of the same attempt again, to run later. The attempt does not count: nothing was handed over. */
const repeatLater = statement<{ task: string; job: StepJob; seconds: number; ahead: number }>(
  'step_delivery_repeat_later',
  (p) => sql`
    select graphile_worker.add_job(${p.task}, ${p.job}::json, run_at => now() + ${p.seconds} * interval '1 second',
             priority => ${stepPriority(sql`${p.ahead}::integer`)})`,
);

export interface StepSendingOptions {
  readonly database: Database;
  readonly senders: readonly StepSender[];
  readonly categories: Pick<KnownCategories, 'get' | 'refreshFor'>;
  /** How late a step may be if its category has no `ttl`, in milliseconds. */
  readonly ttl: Readonly<Record<MessageChannel, number>>;
  readonly readAddresses: ReadAddresses;
  /** SQL: whether an operator's lock on the user `u` is in effect. */
  readonly lockHolds: Sql;
  /** The name of the app, for templates. */
  readonly app: string;
  /** The time zone of users who have chosen none: DEFAULT_TIME_ZONE. */
  readonly timeZone: string;
  readonly counters: Counters;
  /** Called when a message could not be made, because of a bug. */
  readonly onError: (error: unknown, channel: MessageChannel) => void;
}

/** Makes one attempt of one delivery: the queue's jobs `step.send.…`. Rejects only when the database fails. */
export type SendStep = (channel: MessageChannel, job: StepJob) => Promise<void>;

/** Creates the job that makes one attempt of one mail or SMS of a notification. */
export function createStepSending(options: StepSendingOptions): SendStep {
  const { database, categories, counters, ttl } = options;
  const senders = new Map(options.senders.map((sender) => [sender.channel, sender]));
  const readDelivery = selectDelivery(options.lockHolds);

  async function settle(handle: Queryable, channel: MessageChannel, job: StepJob, end: End | Sent): Promise<boolean> {
    const { state, reason, error = null, provider = null, reference = null, attempted = false } = end;
    const values = { ...keyOf(job), state, reason, error, provider, reference, newAttempts: attempted ? 1 : 0 };
    const [settled] = await handle.query(settleDelivery(values));
    if (settled !== undefined) counters.add(`steps.${settled.state}`, channel);
    return settled !== undefined;
  }

  async function repeat(channel: MessageChannel, job: StepJob, seconds: number, ahead = 0): Promise<void> {
    await database.user(job.user_id).query(repeatLater({ task: stepTask(channel), job, seconds, ahead }));
  }

  /** Returns the address for the message, or why it is not sent. Reads all data again, because it may have changed. */
  async function decideNow(
    handle: Queryable,
    channel: MessageChannel,
    job: StepJob,
    stored: DeliveryRow,
  ): Promise<End | Hold | Join | Target> {
    const name = stored.digest_category ?? stored.category;
    if (name !== null) await categories.refreshFor(handle, [name]);
    const category = categories.get(name ?? '');
    const { member_ids: ids } = stored;
    const digest = ids && (await readDigest(handle, job.user_id, { ids, name: name ?? '', category }));
    const row = digest === null ? stored : digestRow(stored, digest);
    const { condition, age, held, was_handed_over: wasHandedOver, quiet_until: quietUntil } = row;
    const step = { userId: job.user_id, notificationId: row.notification_id, channel };
    const limits =
      digest !== null || wasHandedOver ? { isDigest: digest !== null } : await limitsOf(handle, step, category);
    const facts = {
      channel,
      condition,
      wasHandedOver,
      age: age - held,
      ttl: ttl[channel],
      categories,
      quietUntil,
      limits,
    };
    const decision = decide(factsOf(row, await addressFacts(handle, channel, row.address), facts));
    if (decision.state !== 'send') return decision;
    // `decide` has refused it.
    if (category === undefined || row.address === null) return ended('dropped', 'category_deleted');
    return { category, to: row.address, digest };
  }

  /** Adds the notification to the next digest, and removes its single mail. If the digest has just closed, the job runs again. */
  async function join(channel: MessageChannel, job: StepJob, row: DeliveryRow): Promise<void> {
    const category = categories.get(row.category ?? '');
    const hasJoined = await database.user(job.user_id).transaction(async (tx) => {
      if (category === undefined) return false;
      const items = { userIds: [job.user_id], ids: [row.notification_id] };
      const late = await joinDigests(tx, items, { category, zone: options.timeZone });
      if (late.ids.length > 0) return false;
      await tx.query(removeDelivery(keyOf(job)));
      return true;
    });
    if (!hasJoined) return repeat(channel, job, 1);
    counters.add('steps.digesting', channel);
  }

  /**
   * Marks the first hand-over, and counts it for the cap of the category.
   * @returns false if the delivery must not be handed over now: its digest has closed meanwhile, or another delivery has reached the cap
   */
  async function begin(
    channel: MessageChannel,
    job: StepJob,
    row: DeliveryRow,
    { category, digest }: Target,
  ): Promise<boolean> {
    const user = database.user(job.user_id);
    if (category.cap === null || digest !== null) return (await user.query(markHandedOver(keyOf(job)))).length > 0;
    const step = { userId: job.user_id, notificationId: row.notification_id, channel };
    try {
      return await user.transaction(async (tx) => {
        // First, because it waits for a digest that is closing. A delivery that the digest has removed must not count for the cap.
        if ((await tx.query(markHandedOver(keyOf(job)))).length === 0) return false;
        if (!(await takeCap(tx, step, category))) throw new NoPlace();
        return true;
      });
    } catch (error) {
      if (error instanceof NoPlace) return false;
      throw error;
    }
  }

  async function render(
    channel: MessageChannel,
    job: StepJob,
    row: DeliveryRow,
    target: Target,
  ): Promise<StepMessage | End> {
    const { category, to, digest } = target;
    const { actor, description, extra, locale, name } = row;
    const url = extra?.url ?? null;
    const values = {
      ...{ actor, description: description ?? '', url, data: extra?.data ?? null },
      ...{ user: { name: name ?? '' }, app: options.app },
    };
    let content: RenderedMessage;
    try {
      const timeZone = row.time_zone ?? options.timeZone;
      // Members without a stored id are only counted.
      const total = (row.digest_count ?? 0) - (row.member_ids?.length ?? 0) + (digest?.wanted ?? 0);
      content =
        digest !== null
          ? await renderDigest(
              category,
              { items: digest.items, total },
              { locale, timeZone, userName: name ?? '', app: options.app },
            )
          : renderMessage(category.templates, { channel, locale, timeZone }, values);
    } catch (error) {
      if (error instanceof TemplateTooLarge) return ended('failed', 'template_too_large');
      throw error;
    }
    const expiresAt = new Date(expiryOf(channel, row, target)).toISOString();
    return {
      ...{ userId: job.user_id, id: job.id, notificationId: row.notification_id, to, locale, content, url },
      ...{ category: category.name, isCritical: category.is_critical, expiresAt: `${expiresAt.slice(0, -1)}000Z` },
    };
  }

  /** Milliseconds of Unix time. */
  const expiryOf = (channel: MessageChannel, row: DeliveryRow, { category }: Target): number =>
    Date.parse(row.created_at) + row.held * 1000 + lifetime(category.ttl, ttl[channel]);

  async function addressFacts(
    handle: Queryable,
    channel: MessageChannel,
    address: string | null,
  ): Promise<AddressFacts> {
    if (address === null) return plainAddress;
    return (await options.readAddresses(handle, channel, [address])).get(address) ?? plainAddress;
  }

  /** Stores how an attempt ended, and adds the job of the next attempt if there is one. */
  async function record(
    sender: StepSender,
    job: StepJob,
    row: DeliveryRow,
    { target, message, outcome }: Attempt,
  ): Promise<void> {
    const { channel } = sender;
    const user = database.user(job.user_id);
    switch (outcome.outcome) {
      case 'sent':
        return user.transaction((tx) =>
          sender.recordAccepted(tx, message, outcome, () =>
            settle(tx, channel, job, {
              state: 'sent',
              reason: 'accepted',
              ...{ provider: outcome.provider, reference: outcome.reference },
              attempted: true,
            }),
          ),
        );
      case 'failed':
        return user.transaction(async (tx) => {
          const { reason, error, provider } = outcome;
          const state = outcome.isUnknownMailbox ? 'bounced' : 'failed';
          const store = () => settle(tx, channel, job, { state, reason, error, provider, attempted: true });
          await (outcome.isUnknownMailbox ? sender.recordUnknownMailbox(tx, message, provider ?? '', store) : store());
        });
      case 'retry':
        return tryAgain(channel, job, row, target, outcome);
    }
  }

  /** Adds the job of the next attempt, unless the delivery expires before it. */
  async function tryAgain(
    channel: MessageChannel,
    job: StepJob,
    row: DeliveryRow,
    target: Target,
    { error, afterSeconds = 0 }: { readonly error: string; readonly afterSeconds?: number | undefined },
  ): Promise<void> {
    const user = database.user(job.user_id);
    const seconds = Math.max(afterSeconds, backOff(row.attempts));
    if (expiryOf(channel, row, target) - Date.parse(row.created_at) <= (row.age + seconds) * 1000) {
      await settle(user, channel, job, { state: 'expired', reason: 'ttl', error, attempted: true });
      return;
    }
    const values = { ...keyOf(job), error, seconds, task: stepTask(channel), cause: job.traceparent ?? null };
    await user.query(postponeDelivery(values));
  }

  /** Counts an unexpected error as a failed attempt, so that later messages of the user do not wait until the bug is fixed. */
  async function renderOrLog(channel: MessageChannel, job: StepJob, row: DeliveryRow, target: Target) {
    try {
      return await render(channel, job, row, target);
    } catch (error) {
      options.onError(error, channel);
      return undefined;
    }
  }

  return async (channel, job) => {
    const sender = senders.get(channel);
    if (sender === undefined) throw new Error('a channel without a sender has no jobs here');
    const held = sender.heldFor();
    if (held > 0) return repeat(channel, job, held);
    const user = database.user(job.user_id);
    const [row] = await user.query(readDelivery({ ...keyOf(job), channel, zone: options.timeZone }));
    if (row === undefined) return;
    // Before the check for earlier deliveries: a delivery that is not sent must not wait for them.
    const target = await decideNow(user, channel, job, row);
    if ('heldUntil' in target) {
      const held = await user.query(holdStep({ ...keyOf(job), zone: options.timeZone }));
      // The user has just changed the quiet hours.
      if (held.length === 0) return repeat(channel, job, 1);
      return counters.add('steps.held', channel);
    }
    if ('state' in target && target.state === 'digesting') return join(channel, job, row);
    if ('state' in target) return void (await settle(user, channel, job, target));
    if (row.ahead > 0) return repeat(channel, job, row.ahead / 3, row.ahead);
    const pause = await sender.pauseBefore({ userId: job.user_id, to: target.to });
    if (pause > 0) return repeat(channel, job, pause / 1000);
    const message = await renderOrLog(channel, job, row, target);
    if (message !== undefined && 'state' in message) return void (await settle(user, channel, job, message));
    // If the delivery was removed meanwhile, the repeated job finds no row.
    if (!row.was_handed_over && !(await begin(channel, job, row, target))) return repeat(channel, job, 1);
    if (message === undefined) {
      return tryAgain(channel, job, row, target, { error: 'the message could not be made; see the log' });
    }
    await record(sender, job, row, { target, message, outcome: await sender.send(message) });
  };
}

/** Rolls back the mark of a hand-over, because another delivery has reached the cap. */
class NoPlace extends Error {}

/** What a delivery that is sent needs. */
interface Target {
  readonly category: Category;
  /** Null: the delivery is about one notification. */
  readonly digest: DigestContent | null;
  readonly to: string;
}

interface Attempt {
  readonly target: Target;
  readonly message: StepMessage;
  readonly outcome: StepOutcome;
}

/** The result of a delivery that a provider has accepted, or whose address does not exist. */
interface Sent extends Omit<End, 'state'> {
  readonly state: 'sent' | 'bounced' | End['state'];
}

/**
 * The facts about a digest. It is sent if the user has not read at least one of its notifications, and wants mails about at least one of
 * the unread ones.
 */
const digestRow = (row: DeliveryRow, { unread, wanted }: DigestContent): DeliveryRow => ({
  ...row,
  ...{ is_there: true, is_expired: false, is_hidden: false, is_read: unread === 0 },
  ...{ category: row.digest_category, chosen_category: wanted === 0 ? 'off' : 'digest', chosen_topic: null },
});

const ended = (state: End['state'], reason: string): End => ({ state, reason });
