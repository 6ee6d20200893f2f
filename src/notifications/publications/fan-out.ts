import type { PublishedNotification } from '../../contract/publication.js';
import type { Database, Transaction } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { nilId } from '../../lib/ids.js';
import { Problem } from '../../lib/problem.js';
import type { PublishedTopic } from '../publishing/content.js';
import { insertChunk } from './chunks.js';
import { chunkSize, maxChunk, nextDue } from './pace.js';
import { deleteRecipients } from './publications.js';
import { type RemoveNotifications, recallChunk } from './recall.js';
import { countRecipients, plannedRecipients, readRecipients, type UserCondition } from './recipients.js';
import { createRetries } from './retries.js';
import { type PublicationRow, publicationColumns } from './rows.js';

export interface FanOutOptions {
  readonly database: Database;
  readonly userCondition: UserCondition;
  /** Publishes a notification to users, in the order of the users. @throws Problem `validation_failed` */
  readonly publish: (
    tx: Transaction,
    notification: PublishedNotification,
    to: { readonly userIds: readonly string[]; readonly topic: PublishedTopic | undefined },
  ) => Promise<readonly { readonly id: string }[]>;
  readonly remove: RemoveNotifications;
  /** Announces a change that no operator makes, in the transaction that makes it. */
  readonly announce: (tx: Transaction, event: { readonly type: PublicationNews; readonly id: string }) => Promise<void>;
  /** Called when a step has failed. It is retried later. */
  readonly onFailure: (error: unknown, publicationId: string) => void;
  /** Whether so many requests have arrived since the last call that the fan-out must leave time to them. */
  readonly isBusy: () => boolean;
}

export type PublicationNews =
  | 'publication.started'
  | 'publication.done'
  | 'publication.failed'
  | 'publication.recalled';

/** The result of a step. */
export interface FanOutStep {
  /** Whether the step found something to do. */
  readonly isDone: boolean;
  /** Milliseconds until the next step is due; undefined: none is. */
  readonly nextIn: number | undefined;
  /** Milliseconds to leave to other requests before the next step. */
  readonly rest: number;
}

/** The longest time of a chunk, in milliseconds. The contract allows half a second. */
const mostTime = 300;
/** The smallest size of a chunk when the database is slow. */
const leastSize = 50;
/** The most notifications of a chunk while other requests wait. */
const busyChunk = 500;
type DueRow = PublicationRow & { readonly now_ms: number; readonly due_ms: number };

/** The publication with the earliest `due_at`. Skips publications that another instance or a request has locked. */
const takeDue = statement<object, DueRow>(
  'publication_take',
  () => sql`
    select ${publicationColumns}, extract(epoch from db_now())::float8 * 1000 as now_ms,
           extract(epoch from due_at)::float8 * 1000 as due_ms
    from notification_publications
    where due_at <= (select db_now()) order by due_at, id limit 1
    for no key update skip locked`,
);
interface NextRow {
  readonly next_in: number | null;
  readonly now_ms: number;
}

const selectNext = statement<object, NextRow>(
  'publication_next',
  () => sql`
    select extract(epoch from min(due_at) - db_now())::float8 * 1000 as next_in,
           extract(epoch from db_now())::float8 * 1000 as now_ms
    from notification_publications where due_at is not null`,
);
/**
 * After the clock was set back, a running publication can be due far in the future. This makes it due now. Scheduled ones keep `send_at`.
 */
const resumeAfterStep = statement<object, { id: string }>(
  'publication_resume_after_step',
  () => sql`
    update notification_publications set due_at = db_now(), updated_at = db_now()
    where due_at > db_now() and status <> 'scheduled' and updated_at > db_now() + interval '1 second'
    returning id`,
);

const start = statement<{ id: string; recipients: number }>(
  'publication_start',
  (p) => sql`
    update notification_publications
    set status = 'running', started_at = db_now(), due_at = db_now(), recipients = ${p.recipients}, error_code = null,
        updated_at = db_now()
    where id = ${p.id}`,
);
const setRecipients = statement<{ id: string; recipients: number }>(
  'publication_set_recipients',
  (p) => sql`
    update notification_publications set recipients = ${p.recipients}, updated_at = db_now()
    where id = ${p.id} and status in ('running', 'paused')`,
);
const advance = statement<{ id: string; position: string; created: number; skipped: number; dueMs: number }>(
  'publication_advance',
  (p) => sql`
    update notification_publications
    set position = ${p.position}, created = created + ${p.created}, skipped = skipped + ${p.skipped},
        due_at = to_timestamp(${p.dueMs}::float8 / 1000), error_code = null, updated_at = db_now()
    where id = ${p.id}`,
);
/** Listed users who did not get the notification count as skipped: they were deleted or deactivated. */
const finish = statement<{ id: string; created: number; skipped: number }>(
  'publication_finish',
  (p) => sql`
    update notification_publications
    set status = 'done', created = created + ${p.created},
        skipped = case when target ? 'count' then (target ->> 'count')::bigint - created - ${p.created} else skipped + ${p.skipped} end,
        recipients = case when target ? 'count' then (target ->> 'count')::bigint
                          else created + ${p.created} + skipped + ${p.skipped} end,
        due_at = null, position = null, error_code = null, ended_at = db_now(), updated_at = db_now()
    where id = ${p.id}`,
);
const fail = statement<{ id: string; code: string }, { id: string }>(
  'publication_fail',
  (p) => sql`
    update notification_publications
    set status = 'failed', error_code = ${p.code}, due_at = null, position = null, ended_at = db_now(), updated_at = db_now()
    where id = ${p.id} and status in ('scheduled', 'running')
    returning id`,
);

const selectTopic = statement<{ id: string }, { has_inbox_choices: boolean }>(
  'publication_topic_choices',
  (p) => sql`select has_inbox_choices from topics where id = ${p.id}`,
);

/**
 * Creates the function that takes the next step: it starts a publication, writes its next chunk, or removes a chunk of a recalled one. Each
 * step is one transaction that locks the row of the publication. So a killed process loses and repeats nothing. A request that changes the
 * state waits for the lock, so nothing is created after its answer.
 */
export function createFanOut(options: FanOutOptions): () => Promise<FanOutStep> {
  const { database, isBusy, onFailure } = options;
  const retries = createRetries(database);
  let size = maxChunk;
  let busy = false;
  /** The database's clock at the last look. At first unknown: it may have been set back before. */
  let clock = Number.POSITIVE_INFINITY;

  /** Adapts the size of chunks to the time that the last one took. */
  function learn(elapsed: number): void {
    if (elapsed > mostTime) size = Math.max(leastSize, Math.floor((size * mostTime) / elapsed / 1.5));
    else size = Math.min(maxChunk, Math.ceil(size * 1.5));
  }

  /**
   * Postpones this publication, so that it does not delay others. If that fails too, the database is the cause, and the error is thrown.
   */
  async function afterFailure(row: DueRow, error: unknown): Promise<void> {
    if (await endImpossible(options, row.id, error)) return;
    size = Math.max(leastSize, Math.floor(size / 2));
    await retries.failed(row, error).catch(() => {
      throw error;
    });
    onFailure(error, row.id);
  }

  /** Nothing is due, or another instance has it. */
  async function afterLook({ next_in: nextIn, now_ms: now }: NextRow): Promise<FanOutStep> {
    const isSetBack = now < clock - 1000;
    clock = now;
    const isDone = isSetBack && (await database.query(resumeAfterStep({}))).length > 0;
    // A step that is due but was not taken belongs to another instance. The next poll looks again.
    return { isDone, nextIn: nextIn !== null && nextIn > 0 ? nextIn : undefined, rest: 0 };
  }

  return async () => {
    // Usually nothing is due. This statement is cheaper than a transaction.
    const [next = { next_in: null, now_ms: 0 }] = await database.query(selectNext({}));
    if (next.next_in === null || next.next_in > 0) return afterLook(next);
    const began = performance.now();
    const limit = busy ? Math.min(size, busyChunk) : size;
    let taken: DueRow | undefined;
    try {
      await database.transaction(async (tx) => {
        [taken] = await tx.query(takeDue({}));
        if (taken !== undefined) await work(tx, options, taken, retries.sizeOf(taken.id, limit));
      });
    } catch (error) {
      if (taken === undefined) throw error;
      await afterFailure(taken, error);
      busy = isBusy();
      return { isDone: true, nextIn: 0, rest: 0 };
    }
    if (taken === undefined) return afterLook(next);
    const elapsed = performance.now() - began;
    learn(elapsed);
    retries.succeeded(taken.id);
    busy = isBusy();
    if (taken.status === 'scheduled') await countAfterStart(options, taken);
    return { isDone: true, nextIn: 0, rest: busy ? elapsed : 0 };
  };
}

async function work(tx: Transaction, options: FanOutOptions, row: DueRow, size: number): Promise<void> {
  if (row.recall_requested_at !== null) {
    const isRecalled = await recallChunk(tx, options.remove, row.id, size);
    if (isRecalled) await options.announce(tx, { type: 'publication.recalled', id: row.id });
    return;
  }
  if (row.status === 'scheduled') return startPublication(tx, options, row);
  if (row.status === 'running') return writeChunk(tx, options, row, size);
  throw new Error(`a publication is due and ${row.status}`);
}

async function startPublication(
  tx: Transaction,
  { userCondition, announce }: FanOutOptions,
  row: DueRow,
): Promise<void> {
  const recipients = await plannedRecipients(tx, userCondition, { target: row.target, topicId: row.topic_id });
  await tx.query(start({ id: row.id, recipients }));
  await announce(tx, { type: 'publication.started', id: row.id });
}

/** Counts the recipients. If that takes too long, the planner's estimate stays. */
async function countAfterStart({ database, userCondition }: FanOutOptions, row: DueRow): Promise<void> {
  const recipients = await countRecipients(database, userCondition, { target: row.target, topicId: row.topic_id });
  if (recipients !== undefined) await database.query(setRecipients({ id: row.id, recipients }));
}

async function writeChunk(tx: Transaction, options: FanOutOptions, row: DueRow, size: number): Promise<void> {
  const { id, target, topic_id: topicId, rate } = row;
  const { active, skipped, position } = await readRecipients(
    tx,
    options.userCondition,
    { id, target, topicId },
    {
      after: row.position ?? nilId,
      startedAt: row.started_at ?? '',
      limit: chunkSize(rate, size),
      size,
    },
  );
  const [firstUser, lastUser] = [active[0], active.at(-1)];
  if (firstUser !== undefined && lastUser !== undefined) {
    const topic = await topicOf(tx, row);
    const published = await options.publish(tx, row.notification, { userIds: active, topic });
    const ids = published.map((notification) => notification.id);
    await tx.query(insertChunk({ id, firstUser, lastUser, userIds: active, ids }));
  }
  const created = active.length;
  if (position !== null) {
    const dueMs = nextDue({ due: row.due_ms, now: row.now_ms, created, rate });
    await tx.query(advance({ id, position, created, skipped, dueMs }));
    return;
  }
  await tx.query(finish({ id, created, skipped }));
  await tx.query(deleteRecipients({ id }));
  await options.announce(tx, { type: 'publication.done', id });
}

async function topicOf(tx: Transaction, { target, topic_id: id }: DueRow): Promise<PublishedTopic | undefined> {
  if (!('topic' in target) || id === null) return undefined;
  const [row] = await tx.query(selectTopic({ id }));
  return { key: target.topic, hasInboxChoices: row?.has_inbox_choices ?? false };
}

/**
 * Ends a publication whose notification cannot be published any more, for example because its category was deleted. Does nothing if only
 * users are missing: they were deleted meanwhile, and the next step reads the chunk again.
 * @returns whether the publication has ended
 */
async function endImpossible({ database, announce }: FanOutOptions, id: string, error: unknown): Promise<boolean> {
  if (!(error instanceof Problem) || error.code !== 'validation_failed') return false;
  const code = error.options.errors?.find((each) => each.code !== 'unknown_user')?.code;
  if (code === undefined) return false;
  await database.transaction(async (tx) => {
    const ended = await tx.query(fail({ id, code }));
    if (ended.length === 0) return;
    await tx.query(deleteRecipients({ id }));
    await announce(tx, { type: 'publication.failed', id });
  });
  return true;
}
