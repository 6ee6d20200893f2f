import { maxTopics, type OwnTopic, type Topic, type TopicInput, topicKeyPattern } from '../../contract/topic.js';
import type { Database, Handle, Queryable, Transaction } from '../../database/database.js';
import { type ListRequest, type Page, readPage } from '../../database/listing.js';
import { bound, type Sql, type SqlPart, sql, statement } from '../../database/sql.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { Problem, throwIfErrors } from '../../lib/problem.js';
import { recordInboxEvents } from '../inbox/webhook-events.js';

/** Topics and who is subscribed to them. If a method that has the parameter `tx` throws, let the transaction fail. */
export interface Topics {
  /** Creates a topic or changes it. @throws Problem `validation_failed`, `too_many_topics` */
  put(tx: Transaction, key: string, input: TopicInput, origin: Origin): Promise<{ topic: Topic; isNew: boolean }>;
  /** @throws Problem `unknown_topic` */
  find(handle: Queryable, key: string): Promise<Topic>;
  list(request: ListRequest): Promise<Page<Topic>>;
  /** Deletes a topic with its subscriptions. @throws Problem `unknown_topic`, `topic_in_use` */
  remove(tx: Transaction, key: string, origin: Origin): Promise<void>;
  /**
   * Subscribes users and ends subscriptions. Of several changes for one user, the last one holds. To repeat a change does nothing.
   * @returns the users that do not exist
   * @throws Problem `unknown_topic`
   */
  changeSubscriptions(
    tx: Transaction,
    key: string,
    changes: readonly SubscriptionChange[],
    origin: Origin,
  ): Promise<ReadonlySet<string>>;
  /** The open topics, and those to which the user is subscribed. */
  listOwn(userId: string, request: ListRequest): Promise<Page<OwnTopic>>;
  /** Subscribes the user to an open topic. @throws Problem `unknown_topic`, also for a topic that is not open; `too_many_requests` */
  join(userId: string, key: string): Promise<void>;
  /** Ends a subscription of the user. @throws Problem `unknown_topic`, also for a topic that the user does not see */
  leave(userId: string, key: string): Promise<void>;
}

export interface SubscriptionChange {
  readonly userId: string;
  readonly isRemoved: boolean;
}

export interface TopicsOptions {
  readonly database: Database;
  /** Counts a change by the user. @throws Problem `too_many_requests` */
  readonly countChange: (userId: string) => Promise<void>;
  /** Records a change of a topic, or of its subscriptions by an operator, in the transaction that makes it. */
  readonly record: (tx: Queryable, event: TopicEvent) => Promise<void>;
}

export interface TopicEvent {
  readonly type: 'topic.created' | 'topic.changed' | 'topic.deleted' | 'topic.subscriptions_changed';
  readonly origin: Origin;
  readonly data: Readonly<Record<string, unknown>>;
}

export const topicFilterFields: FilterFields = {
  key: { kind: 'key' },
  title: { kind: 'string', like: true },
  is_open: { kind: 'enum', values: ['true', 'false'] },
  created_at: { kind: 'time' },
  updated_at: { kind: 'time' },
};
/** SQL: filters compare texts. */
const filterExpressions = { is_open: sql`is_open::text` };

const topicColumns = sql`key, title, is_open, created_at, updated_at`;

const selectTopic = statement<{ key: string }, Topic>(
  'topic_get',
  (p) => sql`select ${topicColumns} from topics where key = ${p.key}`,
);

/** The number of topics is checked by one transaction at a time. */
const lockNumber = statement<object>('topics_lock', () => sql`select pg_advisory_xact_lock(7203415047)`);
const countTopics = statement<object, { topics: number }>(
  'topics_count',
  () => sql`select count(*)::int as topics from topics where key is not null`,
);

interface StoredTopic {
  readonly id: string;
  readonly key: string;
  readonly title: string;
  readonly isOpen: boolean;
}
const updateTopic = statement<Omit<StoredTopic, 'id'>, Topic & { is_changed: boolean }>(
  'topic_update',
  (p) => sql`
    with former as materialized (select id, title, is_open from topics where key = ${p.key} for no key update)
    update topics t
    set title = ${p.title}, is_open = ${p.isOpen}, updated_at = case when is_changed then db_now() else t.updated_at end
    from (select *, title <> ${p.title} or is_open <> ${p.isOpen} as is_changed from former) former
    where t.id = former.id
    returning t.key, t.title, t.is_open, t.created_at, t.updated_at, is_changed`,
);
const insertTopic = statement<StoredTopic, Topic>(
  'topic_insert',
  (p) => sql`
    insert into topics (id, key, title, is_open, created_at, updated_at)
    values (${p.id}, ${p.key}, ${p.title}, ${p.isOpen}, db_now(), db_now())
    returning ${topicColumns}`,
);
/** A maintenance task removes the subscriptions: see `retention/topics.ts`. */
const deleteTopic = statement<{ key: string }, { id: string }>(
  'topic_delete',
  (p) => sql`update topics set key = null where key = ${p.key} returning id`,
);

/** A new publication locks its topic, so this statement sees all that will ever go to the deleted one. */
const selectUnfinished = statement<{ id: string }, { id: string }>(
  'topic_unfinished_publications',
  (p) => sql`select id from notification_publications where topic_id = ${p.id} and ended_at is null limit 1`,
);

/** Changes by operators run one after the other for each topic, so that two of them cannot wait for each other. */
const lockTopic = statement<{ key: string }, { id: string }>(
  'topic_lock',
  (p) => sql`select id from topics where key = ${p.key} for no key update`,
);

interface BulkChange {
  readonly topicId: string;
  readonly userIds: readonly string[];
  readonly data: string;
}

/** SQL: records the events of subscriptions for webhooks. @param changed a CTE with `user_id` and `time` */
const subscriptionEvents = (type: Sql, changed: Sql, data: SqlPart): Sql =>
  recordInboxEvents(
    type,
    sql`(select user_id, null::uuid as id, null::bigint as sequence, time from ${changed}) event`,
    sql`${data}::jsonb`,
  );

/** A user whose inbox row exists cannot be erased before this transaction ends. */
const insertSubscriptions = statement<BulkChange, { known: string[]; changed: number }>(
  'subscriptions_insert',
  (p) => sql`
    with known as materialized (
      select user_id from inboxes where user_id = any (${p.userIds}::uuid[]) order by user_id for key share
    ),
    inserted as (
      insert into subscriptions (topic_id, user_id, created_at)
      select ${p.topicId}, user_id, db_now() from known order by user_id
      on conflict do nothing
      returning user_id, created_at as time
    ),
    webhook as (${subscriptionEvents(sql`'topic.subscribed'`, sql`inserted`, p.data)})
    select array(select user_id from known) as known, (select count(*)::int from inserted) as changed`,
);

const deleteSubscriptions = statement<BulkChange, { known: string[]; changed: number }>(
  'subscriptions_delete',
  (p) => sql`
    with deleted as (
      delete from subscriptions where topic_id = ${p.topicId} and user_id = any (${p.userIds}::uuid[]) returning user_id, db_now() as time
    ),
    webhook as (${subscriptionEvents(sql`'topic.unsubscribed'`, sql`deleted`, p.data)})
    select array(select user_id from inboxes where user_id = any (${p.userIds}::uuid[])) as known,
           (select count(*)::int from deleted) as changed`,
);

interface OwnChange {
  readonly userId: string;
  readonly key: string;
  readonly data: string;
}

const join = statement<OwnChange, { is_known: boolean; has_inbox: boolean }>(
  'topic_join',
  (p) => sql`
    with topic as materialized (
      select id from topics
      where key = ${p.key} and (is_open or exists (
        select from subscriptions s where s.topic_id = topics.id and s.user_id = ${p.userId}))
      for key share
    ),
    inbox as materialized (select user_id from inboxes where user_id = ${p.userId} for key share),
    inserted as (
      insert into subscriptions (topic_id, user_id, created_at) select topic.id, user_id, db_now() from topic, inbox
      on conflict do nothing
      returning user_id, created_at as time
    ),
    webhook as (${subscriptionEvents(sql`'topic.subscribed'`, sql`inserted`, p.data)})
    select exists (select from topic) as is_known, exists (select from inbox) as has_inbox`,
);

const leave = statement<OwnChange, { is_known: boolean }>(
  'topic_leave',
  (p) => sql`
    with topic as materialized (select id, is_open from topics where key = ${p.key}),
    deleted as (
      delete from subscriptions s using topic where s.topic_id = topic.id and s.user_id = ${p.userId} returning s.user_id, db_now() as time
    ),
    webhook as (${subscriptionEvents(sql`'topic.unsubscribed'`, sql`deleted`, p.data)})
    select exists (select from deleted) or exists (select from topic where is_open) as is_known`,
);

export function createTopics({ database, countChange, record }: TopicsOptions): Topics {
  return {
    put: (tx, key, input, origin) => putTopic(tx, record, { key, input, origin }),
    async find(handle, key) {
      const [topic] = await handle.query(selectTopic({ key }));
      if (topic === undefined) throw new Problem('unknown_topic');
      return topic;
    },
    list: (request) => readPage<Topic & { id: string }>(database, listSource, request),
    async remove(tx, key, origin) {
      const [deleted] = await tx.query(deleteTopic({ key }));
      if (deleted === undefined) throw new Problem('unknown_topic');
      const used = await tx.query(selectUnfinished({ id: deleted.id }));
      if (used.length > 0) throw new Problem('topic_in_use');
      await record(tx, { type: 'topic.deleted', origin, data: { topic: key } });
    },
    changeSubscriptions: (tx, key, changes, origin) => changeAll(tx, record, { key, changes, origin }),
    listOwn: (userId, request) => listOwn(database.user(userId), userId, request),
    async join(userId, key) {
      await countChange(userId);
      const [row] = await database.user(userId).query(join({ userId, key, data: JSON.stringify({ topic: key }) }));
      if (row?.has_inbox === false) throw new Problem('invalid_session_token');
      if (row?.is_known !== true) throw new Problem('unknown_topic');
    },
    async leave(userId, key) {
      await countChange(userId);
      const [row] = await database.user(userId).query(leave({ userId, key, data: JSON.stringify({ topic: key }) }));
      if (row?.is_known !== true) throw new Problem('unknown_topic');
    },
  };
}

async function putTopic(
  tx: Transaction,
  record: TopicsOptions['record'],
  { key, input, origin }: { key: string; input: TopicInput; origin: Origin },
): Promise<{ topic: Topic; isNew: boolean }> {
  if (!new RegExp(topicKeyPattern).test(key)) throwIfErrors([{ field: 'key', code: 'invalid_format' }]);
  const values = { key, title: input.title, isOpen: input.is_open ?? false };
  const data = { topic: key, title: values.title, is_open: values.isOpen };
  const update = async () => {
    const [row] = await tx.query(updateTopic(values));
    if (row === undefined) return undefined;
    const { is_changed: isChanged, ...topic } = row;
    if (isChanged) await record(tx, { type: 'topic.changed', origin, data });
    return { topic, isNew: false };
  };
  const updated = await update();
  if (updated !== undefined) return updated;
  await tx.query(lockNumber({}));
  // Another request may have created it while this one waited.
  const created = await update();
  if (created !== undefined) return created;
  const [count] = await tx.query(countTopics({}));
  if ((count?.topics ?? 0) >= maxTopics) throw new Problem('too_many_topics', { params: { max: maxTopics } });
  const [topic] = await tx.query(insertTopic({ id: newId(), ...values }));
  if (topic === undefined) throw new Error('an insert returned no row');
  await record(tx, { type: 'topic.created', origin, data });
  return { topic, isNew: true };
}

async function changeAll(
  tx: Transaction,
  record: TopicsOptions['record'],
  { key, changes, origin }: { key: string; changes: readonly SubscriptionChange[]; origin: Origin },
): Promise<ReadonlySet<string>> {
  const [topic] = await tx.query(lockTopic({ key }));
  if (topic === undefined) throw new Problem('unknown_topic');
  const last = new Map(changes.map(({ userId, isRemoved }) => [userId, isRemoved]));
  const data = JSON.stringify({ topic: key });
  const idsOf = (removed: boolean) => [...last].flatMap(([userId, isRemoved]) => (isRemoved === removed ? userId : []));
  const [toInsert, toDelete] = [idsOf(false), idsOf(true)];
  const none = { known: [] as string[], changed: 0 };
  const change = { topicId: topic.id, data };
  const [added = none] =
    toInsert.length > 0 ? await tx.query(insertSubscriptions({ ...change, userIds: toInsert })) : [];
  const [removed = none] =
    toDelete.length > 0 ? await tx.query(deleteSubscriptions({ ...change, userIds: toDelete })) : [];
  if (added.changed + removed.changed > 0) {
    const numbers = { subscribed: added.changed, unsubscribed: removed.changed };
    await record(tx, { type: 'topic.subscriptions_changed', origin, data: { topic: key, ...numbers } });
  }
  const known = new Set([...added.known, ...removed.known]);
  return new Set([...last.keys()].filter((userId) => !known.has(userId)));
}

/** The topics, as one table: each has a `created_at`, which a join would make ambiguous. */
const listSource = {
  columns: sql`id, ${topicColumns}`,
  from: sql`topics`,
  where: sql`key is not null`,
  filterExpressions,
};

async function listOwn(handle: Handle, userId: string, request: ListRequest): Promise<Page<OwnTopic>> {
  const seen = sql`(
    select t.id, t.key, t.title, t.is_open, s.user_id is not null as is_subscribed, s.created_at as subscribed_at,
           t.created_at, t.updated_at
    from topics t left join subscriptions s on s.topic_id = t.id and s.user_id = ${bound(userId)}::uuid
    where t.key is not null and (t.is_open or s.user_id is not null)) seen`;
  const columns = sql`id, key, title, is_open, is_subscribed, subscribed_at, created_at, updated_at`;
  return readPage<OwnTopic & { id: string }>(handle, { columns, from: seen, filterExpressions }, request);
}
