import type { TakenAction } from '../../contract/notification.js';
import type { ChangedStates, InboxCounts, InboxStates, StatesChange } from '../../contract/notification-states.js';
import { arrayText } from '../../database/array-text.js';
import type { Database, Queryable } from '../../database/database.js';
import { bound, compose, literal, type Sql, type SqlPart, sql, statement } from '../../database/sql.js';
import type { FilterClause, FilterFields } from '../../lib/filter/fields.js';
import { type FieldError, Problem } from '../../lib/problem.js';
import { takeAction } from './actions.js';
import { type CountGroup, readCounts } from './counts.js';
import type { ExpensiveReadLimit } from './expensive-reads.js';
import { notificationCondition } from './filter-fields.js';
import { listStates, type StatesQuery } from './list-states.js';
import { moveReadPosition, type OnRead } from './read-position.js';
import { readStatesChange, type StatesRequest, type StateValues, statesErrors } from './states-request.js';
import { recordInboxEvents } from './webhook-events.js';

/**
 * The states of single notifications: read, archived and snoozed. A row is an exception to the positions of its user (the read position and
 * `archived_through`). So most notifications need no row, and reading a whole inbox writes only one.
 */
export interface ItemStates {
  /**
   * Counts unread and unseen notifications.
   * @param by also counts each category or each notification type
   * @throws Problem `invalid_session_token` when there is no such user
   */
  counts(userId: string, by?: CountGroup): Promise<InboxCounts>;
  /**
   * Changes the states of the notifications that the request names, or of those that its filter matches.
   * @throws Problem `validation_failed`; `too_many_marks`, and then nothing is changed; `invalid_session_token` when there is no such user;
   * `too_many_requests`, `overloaded`
   */
  change(userId: string, input: StatesChange): Promise<ChangedStates>;
  /** The faults of the body of a change, except those of its form. The body may have any form. */
  errorsOf(body: unknown): FieldError[];
  /**
   * The user has seen all notifications up to a sequence. Never moves back.
   * @throws Problem `invalid_session_token` when there is no such user
   */
  moveSeen(userId: string, through: number): Promise<InboxCounts>;
  /**
   * The states that changed after a position, and the positions of the user.
   * @throws Problem `invalid_session_token` when there is no such user
   */
  list(userId: string, query: StatesQuery): Promise<InboxStates>;
  /**
   * Stores which action of a notification the user has chosen, and marks it as read. A repeat changes nothing; another choice is refused.
   * @throws Problem `not_found` if there is no such notification or action; `action_taken`, `notification_expired`; `invalid_session_token`
   * when there is no such user
   */
  takeAction(userId: string, id: string, key: string): Promise<TakenAction>;
}

/** The maximum number of states that one request changes. */
const maxMarks = 10_000;

interface Positions {
  lastRead: number;
  head: number;
  version: number;
}

/**
 * Counts a new version and locks the positions of the user until commit, so that changes of one user run one after the
 * other. The key-share lock keeps the inbox row and the notifications from being removed meanwhile, and lets others publish.
 */
const lockPositions = statement<{ userId: string }, Positions>(
  'states_lock',
  (p) => sql`
    with inbox as materialized (
      select user_id, last_change_sequence from inboxes where user_id = ${p.userId} for key share
    )
    insert into markers (user_id, last_read_sequence, state_version)
    select user_id, 0, 1 from inbox
    on conflict (user_id) do update set state_version = markers.state_version + 1
    returning last_read_sequence as "lastRead", state_version as version,
      (select last_change_sequence from inbox) as head`,
);

const moveArchived = statement<{ userId: string; through: number }>(
  'states_archive_through',
  (p) => sql`
    update markers set archived_through = ${p.through}
    where user_id = ${p.userId} and archived_through < ${p.through}
    returning 1 as moved`,
);

const moveSeen = statement<{ userId: string; through: number }>(
  'states_seen',
  (p) => sql`
    update markers set seen_sequence = ${p.through} where user_id = ${p.userId} and seen_sequence < ${p.through}
    returning 1 as moved`,
);

const findNamed = statement<{ userId: string; ids: string }, { id: string; sequence: number }>(
  'states_find',
  (p) => sql`
    select notification.id, notification.sequence
    from unnest((select ${p.ids}::uuid[])) named (id)
      cross join lateral (
        select id, sequence from notifications where user_id = ${p.userId} and id = named.id limit 1
      ) notification`,
);

/** SQL: the sequences of the notifications that a change may concern. */
function candidates(userId: SqlPart, { filter, through, values }: FilteredChange, lastRead: number): Sql {
  const isWithin = sql`user_id = ${userId} and sequence <= ${bound(through)}::bigint`;
  const exceptions = (condition: Sql) => sql`
      select sequence from notification_states where ${isWithin} and ${condition}`;
  const onlyReads = values.read === true && values.archived === undefined && values.snoozedUntil === undefined;
  if (filter.length === 0 && values.read !== false && values.archived !== false && values.snoozedUntil === undefined) {
    // The positions were moved, so only the exceptions to them are left.
    return sql`${exceptions(sql`(is_read = false or is_archived = false)`)}`;
  }
  const matching = (condition: Sql) => sql`
      select sequence from notifications where ${isWithin} and ${condition} and ${notificationCondition(filter)}`;
  // Below the read position, everything is read except notifications that were marked as unread.
  if (!onlyReads) return matching(sql`true`);
  return sql`${matching(sql`sequence > ${bound(lastRead)}::bigint`)}
      union all ${matching(sql`sequence in (${exceptions(sql`is_read = false and sequence <= ${bound(lastRead)}::bigint`)})`)}`;
}

/** A change of all notifications that match a filter, up to a sequence. */
interface FilteredChange {
  readonly filter: readonly FilterClause[];
  readonly through: number;
  readonly values: StateValues;
}

/**
 * Writes changed states. A value that follows from the positions of the user is stored as null. It stops after one more than `maxMarks`;
 * then the caller rolls back.
 */
function applyStatement(userId: string, from: Sql, { read, archived, snoozedUntil }: StateValues) {
  const user = bound(userId);
  const exception = (value: boolean | undefined, old: Sql, position: Sql) =>
    value === undefined ? old : sql`nullif(${bound(value)}::boolean, candidate.sequence <= ${position})`;
  const snooze =
    snoozedUntil === undefined
      ? sql`state.snoozed_until`
      : sql`case when ${bound(snoozedUntil)}::timestamptz > db_now() then ${bound(snoozedUntil)}::timestamptz end`;
  return compose<{ changed: number }>(sql`
    with
    position as materialized (
      select last_read_sequence as last_read, archived_through, state_version as version
      from markers where user_id = ${user}::uuid
    ),
    candidate as (${from}
    ),
    changed as (
      insert into notification_states
        (user_id, sequence, is_read, is_archived, snoozed_until, version, updated_at)
      select ${user}::uuid, sequence, is_read, is_archived, snoozed_until, version, db_now()
      from (
        select candidate.sequence, position.version,
               ${exception(read, sql`state.is_read`, sql`position.last_read`)} as is_read,
               ${exception(archived, sql`state.is_archived`, sql`position.archived_through`)} as is_archived,
               ${snooze} as snoozed_until,
               state.is_read as old_read, state.is_archived as old_archived, state.snoozed_until as old_snoozed
        from candidate cross join position
          left join notification_states state
            on state.user_id = ${user}::uuid and state.sequence = candidate.sequence
      ) wanted
      where (is_read, is_archived, snoozed_until) is distinct from (old_read, old_archived, old_snoozed)
      limit ${literal(maxMarks + 1)}
      on conflict (user_id, sequence) do update
      set is_read = excluded.is_read, is_archived = excluded.is_archived, snoozed_until = excluded.snoozed_until,
          version = excluded.version, updated_at = excluded.updated_at
      returning 1
    )
    select count(*) as changed from changed`);
}

/** One event for each request, however many states it changed. */
const recordChange = statement<{ userId: string; version: number; data: string }>(
  'states_event',
  (p) => sql`
    with event as (${recordInboxEvents(
      sql`'notification.state_changed'`,
      sql`(select ${p.userId}::uuid as user_id, null::uuid as id, ${p.version}::bigint as sequence, db_now() as time) changed`,
      sql`${p.data}::jsonb`,
    )}
    )
    select 1 as recorded`,
);

/** After the event of the state, as the user has read what has an action. */
const recordAction = statement<{ userId: string; id: string; sequence: number; key: string }>(
  'action_event',
  (p) => sql`
    with event as (${recordInboxEvents(
      sql`'notification.action'`,
      sql`(select ${p.userId}::uuid as user_id, ${p.id}::uuid as id, ${p.sequence}::bigint as sequence, db_now() as time) taken`,
      sql`jsonb_build_object('action', ${p.key}::text)`,
    )}
    )
    select 1 as recorded`,
);

/** Creates the states of single notifications. @param onChanged called after a commit, with the user */
export function createItemStates(options: {
  readonly database: Database;
  readonly filterFields: FilterFields;
  readonly limitExpensive: ExpensiveReadLimit;
  /** Counts a change of a user. @throws Problem `too_many_requests` */
  readonly countChange: (userId: string) => Promise<void>;
  readonly onChanged: (userIds: readonly string[]) => void;
  readonly onRead?: OnRead | undefined;
}): ItemStates {
  const { database, filterFields, limitExpensive, countChange, onChanged, onRead } = options;

  async function lock(tx: Queryable, userId: string): Promise<Positions> {
    const [positions] = await tx.query(lockPositions({ userId }));
    if (positions === undefined) throw new Problem('invalid_session_token');
    return positions;
  }

  const change = (userId: string, request: StatesRequest): Promise<ChangedStates> =>
    database.user(userId).transaction(async (tx) => {
      const positions = await lock(tx, userId);
      const { changed, notFound } =
        request.ids === undefined
          ? await changeMatching(tx, userId, request, positions)
          : await changeNamed(tx, userId, request.ids, request.values);
      if (changed > 0) {
        await tx.query(recordChange({ userId, version: positions.version, data: eventData(request) }));
        tx.onCommit(() => onChanged([userId]));
        if (request.values.read === true) await onRead?.(tx, userId);
      }
      return { ...(await readCounts(tx, userId)), not_found: notFound };
    });

  return {
    counts: (userId, by) => readCounts(database.user(userId), userId, by),
    errorsOf: (body) => statesErrors(body, filterFields),
    async change(userId, input) {
      const request = readStatesChange(input, filterFields);
      await countChange(userId);
      const run = () => change(userId, request);
      // Even without a filter, it can read a whole inbox, for example to mark everything as unread.
      return request.ids === undefined ? limitExpensive(userId, run) : run();
    },
    moveSeen: (userId, through) =>
      database.user(userId).transaction(async (tx) => {
        const { head } = await lock(tx, userId);
        const moved = await tx.query(moveSeen({ userId, through: Math.min(through, head) }));
        if (moved.length > 0) tx.onCommit(() => onChanged([userId]));
        return readCounts(tx, userId);
      }),
    async list(userId, query) {
      const listed = await listStates(database.user(userId), userId, query);
      if (listed === undefined) throw new Problem('invalid_session_token');
      return listed.answer;
    },
    takeAction: (userId, id, key) =>
      database.user(userId).transaction(async (tx) => {
        const { version, lastRead } = await lock(tx, userId);
        const taken = await takeAction(tx, { userId, id: id.toLowerCase(), key, version, lastRead });
        if (taken.isNew) {
          const ids = [id.toLowerCase()];
          const data = { notification_ids: ids, through: null, read: true, archived: null, snoozed_until: null };
          await tx.query(recordChange({ userId, version, data: JSON.stringify(data) }));
          await tx.query(recordAction({ userId, id: id.toLowerCase(), sequence: taken.sequence, key }));
          tx.onCommit(() => onChanged([userId]));
          await onRead?.(tx, userId);
        }
        return taken.action;
      }),
  };
}

/** @returns how many states were changed, and the ids that the user does not have */
async function changeNamed(tx: Queryable, userId: string, ids: readonly string[], values: StateValues) {
  const named = [...new Set(ids.map((id) => id.toLowerCase()))];
  const found = await tx.query(findNamed({ userId, ids: arrayText(named) }));
  const sequences = arrayText(found.map(({ sequence }) => sequence));
  const from = sql`
      select sequence from unnest(${bound(sequences)}::bigint[]) sequence`;
  const known = new Set(found.map(({ id }) => id));
  return {
    changed: await apply(tx, userId, from, values),
    notFound: named.filter((id) => !known.has(id)),
  };
}

/**
 * Changes all notifications that match. Without a filter, it moves the positions and removes the exceptions to them.
 * @returns how many states and positions were changed
 */
async function changeMatching(
  tx: Queryable,
  userId: string,
  request: FilteredChange,
  { head, lastRead }: Positions,
): Promise<{ readonly changed: number; readonly notFound: string[] }> {
  const through = Math.min(request.through, head);
  const { read, archived } = request.values;
  const isAll = request.filter.length === 0;
  const moved = isAll && read === true ? await tx.query(moveReadPosition({ userId, sequence: through })) : [];
  const archivedAll = isAll && archived === true ? await tx.query(moveArchived({ userId, through })) : [];
  const from = candidates(bound(userId), { ...request, through }, lastRead);
  const changed = await apply(tx, userId, from, request.values);
  return { changed: changed + moved.length + archivedAll.length, notFound: [] };
}

/** @throws Problem `too_many_marks` */
async function apply(tx: Queryable, userId: string, from: Sql, values: StateValues): Promise<number> {
  const [row] = await tx.query(applyStatement(userId, from, values));
  const changed = row?.changed ?? 0;
  if (changed > maxMarks) throw new Problem('too_many_marks', { params: { max: maxMarks } });
  return changed;
}

/** The content of the webhook event of a request. */
function eventData({ ids, through, values }: StatesRequest): string {
  const { read = null, archived = null, snoozedUntil = null } = values;
  return JSON.stringify({
    notification_ids: ids ?? null,
    through: ids === undefined ? through : null,
    read,
    archived,
    snoozed_until: snoozedUntil,
    action: null,
  });
}
