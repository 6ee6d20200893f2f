import {
  type NewPublication,
  type Publication,
  type PublicationChange,
  type PublicationTarget,
  publicationStatuses,
} from '../../contract/publication.js';
import type { Database, Handle, Queryable, Transaction } from '../../database/database.js';
import { type ListRequest, type Page, readPage } from '../../database/listing.js';
import { sql, statement } from '../../database/sql.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { type FieldError, Problem, throwIfErrors } from '../../lib/problem.js';
import { parseTime } from '../../lib/times.js';
import { listedUsers, type PublicationLookups, publicationErrors } from './check.js';
import { estimateRecipients, type Target, type UserCondition } from './recipients.js';
import { type PublicationRow, publicationColumns, toPublication } from './rows.js';

/** A publication with its tag for If-Match. */
export interface Tagged {
  readonly publication: Publication;
  readonly tag: string;
}

export type PublicationMove = 'pause' | 'resume' | 'cancel' | 'recall';

/** A publication after a move. */
export interface Moved extends Tagged {
  /** Whether the move had been made before, so that nothing has changed. */
  readonly isRepeat: boolean;
}

/** Publications as operators see and change them. If a method with the parameter `tx` throws, the caller must roll back. */
export interface Publications {
  /**
   * Finds the errors of a request body that the check against its schema does not find.
   * @param body may have any form
   * @param faults the errors that the schema has found
   */
  errorsOf(body: unknown, faults: readonly FieldError[]): Promise<FieldError[]>;
  /** @throws Problem `validation_failed` */
  create(tx: Transaction, input: NewPublication, origin: Origin): Promise<Tagged>;
  /** The number of recipients, if it started now. */
  estimate(to: PublicationTarget): Promise<number>;
  list(request: ListRequest): Promise<Page<Publication>>;
  /** @throws Problem `not_found` */
  find(handle: Handle, id: string): Promise<Tagged>;
  /** @throws Problem `not_found`, `publication_started`, `precondition_failed`, `validation_failed` */
  change(tx: Transaction, id: string, input: PublicationChange, options: ChangeOptions): Promise<Tagged>;
  /**
   * Pauses, resumes, cancels or recalls. After the commit of a pause or a cancellation, nothing more is created.
   * @throws Problem `not_found`, `publication_state`
   */
  move(tx: Transaction, id: string, move: PublicationMove, options: MoveOptions): Promise<Moved>;
}

export interface MoveOptions {
  readonly origin: Origin;
  /** Throws a Problem if the caller may not publish to this target. */
  readonly checkTarget: (target: object) => void;
}

export interface ChangeOptions extends MoveOptions {
  /** Whether `If-Match` of the request matches this tag. */
  readonly isExpected: (tag: string) => boolean;
}

export interface PublicationsOptions extends PublicationLookups {
  readonly database: Database;
  readonly userCondition: UserCondition;
  /** Records a change by an operator, in the transaction that makes it. */
  readonly record: (tx: Queryable, event: PublicationEvent) => Promise<void>;
  /** Called after the commit of a change that may make a step due. */
  readonly onDue: () => void;
}

export interface PublicationEvent {
  readonly type:
    | 'publication.created'
    | 'publication.changed'
    | 'publication.paused'
    | 'publication.resumed'
    | 'publication.cancelled'
    | 'publication.recalled';
  readonly origin: Origin;
  readonly data: { readonly publication_id: string };
}

export const publicationFilterFields: FilterFields = {
  id: { kind: 'id' },
  status: { kind: 'enum', values: publicationStatuses },
  created_at: { kind: 'time' },
  updated_at: { kind: 'time' },
};

interface StoredPublication {
  readonly id: string;
  readonly target: string;
  readonly topicId: string | null;
  readonly notification: string;
  readonly sendAt: string | null;
  readonly rate: number | null;
}

const insertPublication = statement<StoredPublication, PublicationRow>(
  'publication_insert',
  (p) => sql`
    insert into notification_publications
      (id, status, target, topic_id, notification, send_at, rate, due_at, created_at, updated_at)
    values (${p.id}, 'scheduled', ${p.target}::jsonb, ${p.topicId}, ${p.notification}::jsonb, ${p.sendAt}, ${p.rate},
            coalesce(${p.sendAt}, db_now()), db_now(), db_now())
    returning ${publicationColumns}`,
);
const updatePublication = statement<StoredPublication, PublicationRow>(
  'publication_update',
  (p) => sql`
    update notification_publications
    set target = ${p.target}::jsonb, topic_id = ${p.topicId}, notification = ${p.notification}::jsonb,
        send_at = ${p.sendAt}, rate = ${p.rate}, due_at = coalesce(${p.sendAt}, db_now()),
        version = version + 1, updated_at = db_now()
    where id = ${p.id}
    returning ${publicationColumns}`,
);

const selectPublication = statement<{ id: string }, PublicationRow>(
  'publication_get',
  (p) => sql`select ${publicationColumns} from notification_publications where id = ${p.id}`,
);
/** Waits for the chunk that is being written. */
const lockPublication = statement<{ id: string }, PublicationRow>(
  'publication_lock',
  (p) => sql`select ${publicationColumns} from notification_publications where id = ${p.id} for no key update`,
);

const insertRecipients = statement<{ id: string; userIds: readonly string[] }>(
  'publication_recipients_insert',
  (p) => sql`
    insert into publication_recipients (publication_id, user_id)
    select ${p.id}, id from users where id = any (${p.userIds}::uuid[]) order by id for key share`,
);
export const deleteRecipients = statement<{ id: string }>(
  'publication_recipients_delete',
  (p) => sql`delete from publication_recipients where publication_id = ${p.id}`,
);

/** The lock keeps the topic until this transaction ends. A later deletion of the topic finds the publication. */
const lockTopic = statement<{ key: string }, { id: string }>(
  'publication_lock_topic',
  (p) => sql`select id from topics where key = ${p.key} for key share`,
);

const pause = statement<{ id: string }, PublicationRow>(
  'publication_pause',
  (p) => sql`
    update notification_publications
    set status = 'paused', due_at = null, version = version + 1, updated_at = db_now()
    where id = ${p.id} returning ${publicationColumns}`,
);
/** The publication continues after the time that one chunk takes. So repeated pauses do not exceed the rate. */
const resume = statement<{ id: string }, PublicationRow>(
  'publication_resume',
  (p) => sql`
    update notification_publications
    set status = 'running', due_at = db_now() + case when rate is null then 0 else greatest(0.5, 1.0 / rate) end * interval '1 second', version = version + 1, updated_at = db_now()
    where id = ${p.id} returning ${publicationColumns}`,
);
const cancel = statement<{ id: string }, PublicationRow>(
  'publication_cancel',
  (p) => sql`
    update notification_publications
    set status = 'cancelled', due_at = null, position = null, error_code = null, ended_at = db_now(), version = version + 1, updated_at = db_now()
    where id = ${p.id} returning ${publicationColumns}`,
);
/** The text is kept until 30 days after the recall. */
const recall = statement<{ id: string }, PublicationRow>(
  'publication_recall',
  (p) => sql`
    update notification_publications
    set status = case when status in ('scheduled', 'running', 'paused') then 'cancelled' else status end,
        error_code = case when status = 'failed' then error_code end,
        due_at = db_now(), position = null, ended_at = db_now(), recall_requested_at = db_now(), version = version + 1, updated_at = db_now()
    where id = ${p.id} returning ${publicationColumns}`,
);

/** For each move: the states in which it is allowed, and the states in which it has happened already. */
const moves = {
  pause: { from: ['running'], done: ['paused'], statement: pause, type: 'publication.paused' },
  resume: { from: ['paused'], done: ['running'], statement: resume, type: 'publication.resumed' },
  cancel: {
    from: ['scheduled', 'running', 'paused'],
    done: ['cancelled'],
    statement: cancel,
    type: 'publication.cancelled',
  },
  recall: { from: publicationStatuses, done: [], statement: recall, type: 'publication.recalled' },
} as const;

export function createPublications(options: PublicationsOptions): Publications {
  const { database, userCondition, record, onDue } = options;
  return {
    errorsOf: (body, faults) => publicationErrors(database, options, body, faults),
    async create(tx, input, origin) {
      const id = newId();
      const stored = await storedTarget(tx, options, input.to);
      const { to: _, notification, send_at: sendAt = null, rate = null } = input;
      const values = { ...stored, id, rate, notification: JSON.stringify(notification), sendAt: timeOf(sendAt) };
      const row = only(await tx.query(insertPublication(values)));
      if (stored.userIds !== undefined) await tx.query(insertRecipients({ id, userIds: stored.userIds }));
      await record(tx, { type: 'publication.created', origin, data: { publication_id: id } });
      tx.onCommit(onDue);
      return tagged(row);
    },
    estimate: async (to) => {
      const { target, topicId } = await storedTarget(database, options, to);
      return estimateRecipients(database, userCondition, { target: JSON.parse(target), topicId });
    },
    async list(request) {
      const page = await readPage<PublicationRow>(database, { columns: publicationColumns, from: table }, request);
      return { ...page, items: page.items.map(toPublication) };
    },
    async find(handle, id) {
      const [row] = await handle.query(selectPublication({ id }));
      if (row === undefined) throw new Problem('not_found');
      return tagged(row);
    },
    change: (tx, id, input, change) => changePublication(tx, options, { id, input, change }),
    async move(tx, id, name, { origin, checkTarget }) {
      const [before] = await tx.query(lockPublication({ id }));
      if (before === undefined) throw new Problem('not_found');
      checkTarget(before.target);
      const { from, done, statement: apply, type } = moves[name];
      const { status } = before;
      const isDone = name === 'recall' ? before.recall_requested_at !== null : isIn(done, status);
      if (isDone) return { ...tagged(before), isRepeat: true };
      if (!isIn(from, status)) throw new Problem('publication_state', { members: { publication: { id, status } } });
      const row = only(await tx.query(apply({ id })));
      if (row.ended_at !== null) await tx.query(deleteRecipients({ id }));
      await record(tx, { type, origin, data: { publication_id: id } });
      tx.onCommit(onDue);
      return { ...tagged(row), isRepeat: false };
    },
  };
}

const table = sql`notification_publications`;
const isIn = (statuses: readonly string[], status: string) => statuses.includes(status);
const timeOf = (text: string | null) => (text === null ? null : (parseTime(text) ?? null));

const tagged = (row: PublicationRow): Tagged => ({
  publication: toPublication(row),
  tag: `"${row.id}-${row.version}"`,
});

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('a write returned no row');
  return row;
}

interface StoredTarget {
  /** JSON of a `Target`. */
  readonly target: string;
  readonly topicId: string | null;
  /** The users of a list, each once. */
  readonly userIds?: readonly string[];
}

/** @throws Problem `validation_failed` if the topic or a user is gone */
async function storedTarget(
  tx: Queryable,
  options: PublicationsOptions,
  { topic, user_ids: userIds, users }: PublicationTarget,
): Promise<StoredTarget> {
  const of = (target: Target, more: Partial<StoredTarget> = {}): StoredTarget => ({
    target: JSON.stringify(target),
    topicId: null,
    ...more,
  });
  if (topic !== undefined) {
    const [row] = await tx.query(lockTopic({ key: topic }));
    if (row === undefined) throwIfErrors([{ field: 'to.topic', code: 'unknown_topic' }]);
    return of({ topic }, { topicId: row?.id ?? null });
  }
  if (userIds !== undefined) {
    const { ids, errors } = await listedUsers(tx, options, userIds);
    throwIfErrors(errors);
    return of({ count: ids.length }, { userIds: ids });
  }
  return users === undefined ? of({ everyone: true }) : of({ users });
}

async function changePublication(
  tx: Transaction,
  options: PublicationsOptions,
  { id, input, change }: { readonly id: string; readonly input: PublicationChange; readonly change: ChangeOptions },
): Promise<Tagged> {
  const [before] = await tx.query(lockPublication({ id }));
  if (before === undefined) throw new Problem('not_found');
  const { status } = before;
  if (status !== 'scheduled') throw new Problem('publication_started', { members: { publication: { id, status } } });
  if (!change.isExpected(tagged(before).tag)) throw new Problem('precondition_failed');
  change.checkTarget(before.target);
  const stored = input.to === undefined ? undefined : await storedTarget(tx, options, input.to);
  const row = only(
    await tx.query(
      updatePublication({
        id,
        target: stored?.target ?? JSON.stringify(before.target),
        topicId: stored === undefined ? before.topic_id : stored.topicId,
        notification: JSON.stringify(input.notification ?? before.notification),
        sendAt: input.send_at === undefined ? before.send_at : timeOf(input.send_at),
        rate: input.rate === undefined ? before.rate : input.rate,
      }),
    ),
  );
  if (stored !== undefined) {
    await tx.query(deleteRecipients({ id }));
    if (stored.userIds !== undefined) await tx.query(insertRecipients({ id, userIds: stored.userIds }));
  }
  await options.record(tx, { type: 'publication.changed', origin: change.origin, data: { publication_id: id } });
  tx.onCommit(options.onDue);
  return tagged(row);
}
