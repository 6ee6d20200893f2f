import { randomUUID } from 'node:crypto';
import type { Notification, NotificationInput } from '../../src/contract/notification.js';
import type { Database } from '../../src/database/database.js';
import { createPacer } from '../../src/lib/pacing.js';
import { type FieldError, Problem } from '../../src/lib/problem.js';
import type { KnownCategories } from '../../src/notifications/categories/categories.js';
import { builtInCategory } from '../../src/notifications/categories/category.js';
import { createImageUrls } from '../../src/notifications/images/url.js';
import type { NotificationQuery } from '../../src/notifications/inbox/list-queries.js';
import { createNotifications, type Notifications } from '../../src/notifications/notifications.js';
import { createCounters } from '../../src/statistics/counters.js';
import { testSql } from './sql.js';

export const types = ['payment', 'pool', 'request'];

export const imageUrlsOf = createImageUrls(() => 'https://postern.example');

/** The categories of the types, as they are until an operator changes one. */
export const builtInCategories: KnownCategories = {
  get: (name) => (types.includes(name) ? builtInCategory(name) : undefined),
  names: () => types,
  isHidden: () => null,
  noteInboxChoices: async () => undefined,
  dataErrors: () => [],
  refreshFor: async () => undefined,
};

/** The service with default rules, except that URLs of `bad.example` are refused. */
export function createTestNotifications(database: Database): Notifications {
  const checkUrl = (url: string) => {
    if (!URL.canParse(url)) return 'not a valid URL';
    return new URL(url).hostname === 'bad.example' ? 'a bad example' : undefined;
  };
  return createNotifications({
    database,
    types,
    categories: builtInCategories,
    checkUrl,
    imageUrlsOf,
    onChanged: () => undefined,
    batching: true,
    counters: createCounters(),
    pacer: createPacer(),
    limitExpensive: (_userId, read) => read(),
  });
}

/** Users with empty inboxes, as the creation of a user leaves them. */
export async function createInboxes(database: Database, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const insert = `insert into users (id, created_at, updated_at) select id, db_now(), db_now() from unnest($1::uuid[]) id`;
  await database.query(testSql(insert, [ids]));
  await database.query(testSql('insert into inboxes (user_id) select id from unnest($1::uuid[]) id', [ids]));
  return ids;
}

export async function createInbox(database: Database): Promise<string> {
  const [id = ''] = await createInboxes(database, 1);
  return id;
}

/** A minimal valid input for a user. */
export function input(userId: string, fields: Partial<NotificationInput> = {}): NotificationInput {
  return { user_id: userId, notification_type: 'payment', description: 'A payment', ...fields };
}

/** Publishes in a transaction of its own. */
export function publishAll(
  { database, notifications }: { database: Database; notifications: Notifications },
  inputs: readonly NotificationInput[],
): Promise<Notification[]> {
  return database.transaction((tx) => notifications.publish(tx, inputs));
}

/** The defaults of the list. */
export const newestFirst: NotificationQuery = {
  page: 1,
  limit: 20,
  sort: { field: 'created_at', direction: 'desc' },
  filter: [],
  countsExactly: false,
};

export interface Head {
  readonly last_change_sequence: number;
  readonly last_time: string;
  readonly total: number;
}

export async function inboxRowOf(database: Database, userId: string): Promise<Head> {
  const columns = "last_change_sequence, nullif(last_time, '-infinity') as last_time, total";
  const [head] = await database.query<Head>(testSql(`select ${columns} from inboxes where user_id = $1`, [userId]));
  if (head === undefined) throw new Error(`user ${userId} has no inbox`);
  return head;
}

/** The counted full blocks of an inbox, and those of them with a wrong count of a type. */
export async function countedBlocksOf(database: Database, userId: string): Promise<{ counted: number; wrong: number }> {
  const [found] = await database.query<{ counted: number; wrong: number }>(
    testSql(
      `with inbox as (
           select user_id, coalesce(counted_blocks, last_change_sequence / 1024) as counted_blocks from inboxes
           where user_id = $1)
         select counted_blocks as counted, (select count(*) from (
             select block, notification_type, b.rows::bigint from inbox_blocks b join inbox using (user_id)
             where block < counted_blocks and b.rows <> 0
           ) counted full join (
             select sequence / 1024 as block, notification_type, count(*) as rows from notifications join inbox using (user_id)
             where sequence / 1024 < counted_blocks group by 1, 2
           ) actual using (block, notification_type, rows) where counted.block is null or actual.block is null) as wrong
         from inbox`,
      [userId],
    ),
  );
  if (found === undefined) throw new Error(`user ${userId} has no inbox`);
  return found;
}

/** The field errors of work that must fail with `validation_failed`. */
export async function errorsOf(act: Promise<unknown>): Promise<readonly FieldError[]> {
  const problem = await problemOf(act);
  if (problem.code !== 'validation_failed') throw problem;
  return problem.options.errors ?? [];
}

/** The problem of work that must fail. */
export async function problemOf(act: Promise<unknown>): Promise<Problem> {
  const refused = await act.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (refused instanceof Problem) return refused;
  throw refused ?? new Error('nothing was refused');
}
