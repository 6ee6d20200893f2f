import { type StepChannel, stepChannels } from '../../contract/category.js';
import { arrayText } from '../../database/array-text.js';
import type { Database, Queryable, Transaction } from '../../database/database.js';
import { literal, type Sql, type StatementWith, sql, statement, unprepared } from '../../database/sql.js';
import { newId } from '../../lib/ids.js';
import type { Counters } from '../../statistics/counters.js';
import type { KnownCategories } from '../categories/categories.js';
import { heldSince } from '../channels/held.js';
import { countSteps, recordDeliveries } from './announce.js';
import { type Decision, decide, type Refusal, type StepFacts } from './decide.js';
import { joinDigests } from './digests.js';
import {
  type AddressFacts,
  type FactColumns,
  factColumns,
  factJoins,
  factNames,
  factsOf,
  plainAddress,
  type ReadAddresses,
} from './facts.js';
import { insertDeliveries } from './queue.js';
import { insertDuePushes } from './steps.js';

/** The maximum number of steps that one run reads, and the number of notifications after which it stops. */
const limits = { steps: 200, notifications: 5000 };

interface StepRow {
  id: string;
  channel: StepChannel;
  condition: StepFacts['condition'];
  published_at: string;
  due_at: string;
  /** Seconds since it was due, without the pauses of its channel. */
  age: number;
  traceparent: string | null;
}

/**
 * Selects due steps whose channel is not paused, the oldest first, up to the limits. The first one is selected even if it alone exceeds a
 * limit. Skips steps that another instance has locked.
 */
const takeDue = statement<{ paused: readonly StepChannel[] }, StepRow>(
  'pending_steps_take',
  (p) => sql`
    with due as (
      select id, size, sum(size) over (order by due_at, id) as total
      from (
        select id, size, due_at from pending_steps where due_at <= (select db_now()) and channel <> all (${p.paused}::text[])
        order by due_at, id limit ${literal(limits.steps)}
      ) oldest
    )
    select s.id, s.channel, s.condition, s.published_at, s.due_at,
           extract(epoch from db_now() - s.due_at)::float8 - ${heldSince(sql`s.channel`, sql`s.due_at`)} as age, s.traceparent
    from pending_steps s
    where s.id = any (array(select id from due where total - size < ${literal(limits.notifications)}))
    order by s.due_at, s.id
    for update skip locked`,
);

const deleteSteps = statement<{ ids: readonly string[] }>(
  'pending_steps_delete',
  (p) => sql`delete from pending_steps where id = any (${p.ids}::uuid[])`,
);

interface Steps {
  readonly steps: string;
  readonly channel: string;
  readonly condition: string;
}

/** Notifications of one step that share all facts of the decision. */
interface FactGroup extends FactColumns {
  /** The index of the step in `steps`. */
  place: number;
  user_ids: string[];
  ids: string[];
}

/**
 * Returns one row for each group of notifications with the same facts, in no order. Most notifications of a step share them, so the
 * result is small. The members of a group are in the order of the step. They are sorted after the grouping, so that
 * PostgreSQL may group by a hash.
 */
const factGroups = (lockHolds: Sql): StatementWith<Steps, FactGroup> =>
  unprepared(
    statement<Steps, FactGroup>('pending_steps_facts', (p) => {
      const parts = {
        userId: sql`item.user_id`,
        notificationId: sql`item.id`,
        channel: sql`${p.channel}::text`,
        condition: sql`${p.condition}::text`,
        lockHolds,
      };
      return sql`
    select place, ${factNames}, sorted.user_ids, sorted.ids
    from (
      select place, ${factNames}, array_agg(nth) as nths, array_agg(user_id) as user_ids, array_agg(id) as ids
      from (
      select item.place, item.nth, item.user_id, item.id, ${factColumns(parts)}
      from (
        select (step.nth - 1)::integer as place, listed.nth, listed.user_id, listed.id
        from unnest(${p.steps}::uuid[]) with ordinality step (id, nth) join pending_steps s using (id)
          cross join lateral unnest(s.user_ids, s.notification_ids) with ordinality listed (user_id, id, nth)
      ) item${factJoins(parts)}
      ) facts
      group by place, ${factNames}
    ) grouped,
      lateral (select array_agg(user_id order by nth) as user_ids, array_agg(id order by nth) as ids
               from unnest(nths, user_ids, ids) as member (nth, user_id, id)) sorted`;
    }),
  );

const selectAddresses = unprepared(
  statement<{ userIds: string; channel: string }, { user_id: string; address: string }>(
    'pending_steps_addresses',
    (p) => sql`
    select id as user_id, case ${p.channel}::text when 'email' then email else phone end as address
    from users where id = any (${p.userIds}::uuid[])`,
  ),
);

/** Why a step was not carried out for some notifications. */
interface NewRefusal {
  readonly channel: StepChannel;
  readonly state: (Refusal | NoProvider)['state'];
  readonly reason: string;
  readonly publishedAt: string;
}

const insertRefusal = statement<NewRefusal & { id: string; notificationIds: string }>(
  'step_refusal_insert',
  (p) => sql`
    insert into step_refusals (id, notification_ids, channel, state, reason, published_at, created_at)
    values (${p.id}, ${p.notificationIds}::uuid[], ${p.channel}, ${p.state}, ${p.reason}, ${p.publishedAt}, db_now())`,
);

/** Records the events about refusals for webhooks. A refused notification has no delivery, so `delivery_id` is null. */
const recordRefusal = statement<
  Pick<NewRefusal, 'channel' | 'state' | 'reason'> & {
    category: string | null;
    userIds: string;
    notificationIds: string;
  }
>(
  'step_refusal_event',
  (p) => sql`
    with event as (${recordDeliveries(sql`(
      select user_id, null::uuid as delivery_id, notification_id, ${p.channel}::text as channel, null::uuid as device_id,
             ${p.category}::text as category, ${p.state}::text as state, ${p.reason}::text as reason
      from unnest(${p.userIds}::uuid[], ${p.notificationIds}::uuid[]) as refused (user_id, notification_id)) refused`)}
    )
    select 1 as recorded`,
);

export interface StepOptions {
  readonly database: Database;
  readonly categories: Pick<KnownCategories, 'get' | 'refreshFor'>;
  /** The channels that have a provider. */
  readonly channels: readonly StepChannel[];
  readonly isPaused: (channel: StepChannel) => boolean;
  /** How late a step may be if its category has no `ttl`, in milliseconds. */
  readonly ttl: Readonly<Record<StepChannel, number>>;
  readonly readAddresses: ReadAddresses;
  /** SQL: whether an operator's lock on the user `u` is in effect. */
  readonly lockHolds: Sql;
  /** The time zone of users who have chosen none: DEFAULT_TIME_ZONE. */
  readonly timeZone: string;
  readonly counters: Counters;
  /** Called after the commit of due pushes. */
  readonly onPushes: () => void;
}

/**
 * Creates the function that decides about due steps. One transaction deletes the steps, writes the deliveries with their jobs, and stores
 * the reasons for the others. So Postern decides about each step once.
 * @returns whether a step was due
 */
export function createDueSteps(options: StepOptions): () => Promise<boolean> {
  const selectGroups = factGroups(options.lockHolds);
  return () =>
    options.database.transaction(async (tx) => {
      const steps = await tx.query(takeDue({ paused: stepChannels.filter(options.isPaused) }));
      if (steps.length === 0) return false;
      const alike = new Map<string, StepRow[]>();
      for (const step of steps) {
        const key = `${step.channel} ${step.condition}`;
        alike.set(key, [...(alike.get(key) ?? []), step]);
      }
      for (const group of alike.values()) await carryOut(tx, group, selectGroups, options);
      await tx.query(deleteSteps({ ids: steps.map(({ id }) => id) }));
      return true;
    });
}

/** Carries out steps of one channel and condition. */
async function carryOut(
  tx: Transaction,
  steps: readonly StepRow[],
  selectGroups: StatementWith<Steps, FactGroup>,
  options: StepOptions,
): Promise<void> {
  const [{ channel, condition } = { channel: 'push', condition: 'always' } as const] = steps;
  const groups = await tx.query(selectGroups({ channel, condition, steps: arrayText(steps.map(({ id }) => id)) }));
  await options.categories.refreshFor(
    tx,
    groups.flatMap(({ category }) => category ?? []),
  );
  const decisions = new StepDecisions(steps);
  for (const group of groups.toSorted((one, other) => one.place - other.place)) {
    const step = steps[group.place];
    if (step === undefined) continue;
    const decideWith = (address: AddressFacts) => decision(group, address, step, options);
    for (const { address, ...part } of await byAddress(tx, group, channel, decideWith, options)) {
      decisions.add(group.place, decideWith(address), { ...part, category: group.category });
    }
  }
  await decisions.write(tx, options);
}

function decision(group: FactGroup, address: AddressFacts, step: StepRow, options: StepOptions): Decision | NoProvider {
  const { channel, condition, age } = step;
  const { ttl, categories, channels } = options;
  const answer = decide(
    factsOf(group, address, { channel, condition, wasHandedOver: false, age, ttl: ttl[channel], categories }),
  );
  if (answer.state === 'send' && !channels.includes(channel)) return { state: 'failed', reason: 'no_provider' };
  return answer;
}

interface NoProvider {
  readonly state: 'failed';
  readonly reason: 'no_provider';
}

interface Part {
  readonly category?: string | null;
  readonly userIds: readonly string[];
  readonly ids: readonly string[];
}

/**
 * Divides a group by the state of the addresses, if the decision depends on it. Most groups need no look-up, because their users have read
 * the notification or have no address.
 */
async function byAddress(
  tx: Queryable,
  { user_ids: userIds, ids }: FactGroup,
  channel: StepChannel,
  decideWith: (address: AddressFacts) => { readonly state: string; readonly reason?: string },
  { readAddresses }: StepOptions,
): Promise<(Part & { readonly address: AddressFacts })[]> {
  const whole = { userIds, ids, address: plainAddress };
  if (channel === 'push') return [whole];
  const worst = decideWith({ isSuppressed: true, isAllowedOut: false });
  const best = decideWith(plainAddress);
  // If the worst and the best address lead to the same decision, the addresses need not be read.
  if (worst.state === best.state && worst.reason === best.reason) return [whole];
  const rows = await tx.query(selectAddresses({ userIds: arrayText(userIds), channel }));
  const addressOf = new Map(rows.map(({ user_id, address }) => [user_id, address]));
  const known = await readAddresses(tx, channel, [...new Set(addressOf.values())]);
  const parts = new Map<string, { userIds: string[]; ids: string[]; address: AddressFacts }>();
  for (const [index, userId] of userIds.entries()) {
    const address = known.get(addressOf.get(userId) ?? '') ?? plainAddress;
    const key = `${address.isSuppressed} ${address.isAllowedOut}`;
    const part = parts.get(key) ?? { userIds: [], ids: [], address };
    part.userIds.push(userId);
    part.ids.push(ids[index] ?? '');
    parts.set(key, part);
  }
  return [...parts.values()];
}

/** Collects the decisions about the notifications of several steps, and writes them. */
class StepDecisions {
  readonly #sends = new Map<number, { userIds: string[]; ids: string[] }>();
  readonly #joins = new Map<string, { place: number; category: string; userIds: string[]; ids: string[] }>();
  readonly #refusals = new Map<string, NewRefusal & { readonly parts: Required<Part>[] }>();

  constructor(readonly steps: readonly StepRow[]) {}

  /** A notification in quiet hours gets a delivery too. The job of the delivery holds it. */
  add(place: number, { state, ...rest }: Decision | NoProvider, { userIds, ids, category = null }: Part): void {
    const step = this.steps[place];
    if (step === undefined) return;
    if (state === 'send' || state === 'held') {
      this.#send(place, { userIds, ids });
      return;
    }
    if (state === 'digesting') {
      const key = `${place} ${category}`;
      const joined = this.#joins.get(key) ?? { place, category: category ?? '', userIds: [], ids: [] };
      for (const userId of userIds) joined.userIds.push(userId);
      for (const id of ids) joined.ids.push(id);
      this.#joins.set(key, joined);
      return;
    }
    const { reason } = rest as Refusal | NoProvider;
    const key = `${place} ${state} ${reason}`;
    const { channel, published_at: publishedAt } = step;
    const refused = this.#refusals.get(key) ?? { parts: [], channel, state, reason, publishedAt };
    refused.parts.push({ userIds, ids, category });
    this.#refusals.set(key, refused);
  }

  #send(place: number, { userIds, ids }: Part): void {
    const sent = this.#sends.get(place) ?? { userIds: [], ids: [] };
    for (const userId of userIds) sent.userIds.push(userId);
    for (const id of ids) sent.ids.push(id);
    this.#sends.set(place, sent);
  }

  async write(tx: Transaction, { counters, onPushes, categories, timeZone: zone }: StepOptions): Promise<void> {
    for (const { place, category: name, ...items } of this.#joins.values()) {
      const category = categories.get(name);
      // If the category was deleted, each notification gets its own mail job, which stores the deletion as the reason.
      const alone = category === undefined ? items : await joinDigests(tx, items, { category, zone });
      this.#send(place, alone);
      const joined = items.ids.length - alone.ids.length;
      if (joined > 0)
        tx.onCommit(() => countSteps(counters, { channel: 'email', category: name, outcome: 'digesting' }, joined));
    }
    for (const [place, { userIds, ids }] of this.#sends) {
      const step = this.steps[place];
      if (step === undefined || userIds.length === 0) continue;
      const { channel, condition, due_at: dueAt, traceparent: cause } = step;
      if (channel === 'push') {
        // The age of a push counts from here.
        const items = userIds.map((userId, index) => ({ userId, id: ids[index] ?? '', publishedAt: dueAt }));
        await insertDuePushes(tx, items);
        tx.onCommit(onPushes);
      } else await insertDeliveries(tx, { userIds, notificationIds: ids, channel, condition, dueAt, cause });
    }
    for (const { parts, ...refusal } of this.#refusals.values()) {
      const notificationIds = arrayText(parts.flatMap(({ ids }) => ids));
      await tx.query(insertRefusal({ ...refusal, id: newId(), notificationIds }));
      for (const part of parts) await recordRefused(tx, refusal, part, counters);
    }
  }
}

/** Counts a part of a refusal, and records its events. */
async function recordRefused(
  tx: Transaction,
  { channel, state, reason }: NewRefusal,
  { category, userIds, ids }: Required<Part>,
  counters: Counters,
): Promise<void> {
  tx.onCommit(() => countSteps(counters, { channel, category, outcome: state }, ids.length));
  // Most refusals are wishes of users, which webhooks do not get.
  if (state === 'skipped' || state === 'dropped') return;
  const lists = { userIds: arrayText(userIds), notificationIds: arrayText(ids) };
  await tx.query(recordRefusal({ channel, state, reason, category, ...lists }));
}
