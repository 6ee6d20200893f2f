import { textArrayText } from '../../database/array-text.js';
import { identifier, join, type Parameters, type Sql, type SqlPart, sql } from '../../database/sql.js';
import { blockRows, hasFullBlocks } from '../inbox/blocks.js';
import { type Content, contentColumns } from '../inbox/row.js';
import { recordInboxEvents } from '../inbox/webhook-events.js';

/** SQL: advances an inbox row by `rows` new notifications. */
export const advanceInboxRow = (now: Sql) => sql`last_change_sequence = last_change_sequence + rows,
          last_time = greatest(${now}, last_time + interval '1 microsecond') + (rows - 1) * interval '1 microsecond',
          total = total + rows,
          counted_blocks = coalesce(counted_blocks, last_change_sequence / ${blockRows})`;

/**
 * SQL: columns of an advanced inbox row: the sequence before the first new notification, the time of that notification,
 * and whether to count blocks.
 */
export const advancedColumns = sql`last_change_sequence - rows as before,
          last_time - (rows - 1) * interval '1 microsecond' as start,
          ${hasFullBlocks} as is_full`;

/** SQL: the names of these columns. */
export const contentNames = join(
  contentColumns.map(({ name }) => identifier(name)),
  ', ',
);

/**
 * SQL: whether the user of a new row has hidden its topic or its category. The choices are read only if the column of the row is not null.
 * The inner query names the columns of the row, which have different tables in each statement.
 */
const hiddenFor = sql`case when is_hidden is not null then nullif(coalesce((
          select coalesce(chosen.topics #>> array[row.topic, 'inbox', 'value'],
                          chosen.categories #>> array[row.category, 'inbox', 'value']) = 'off'
          from (select user_id, topic, coalesce(category, notification_type) as category) row
            join preferences chosen on chosen.user_id = row.user_id), is_hidden), false) end`;

/** SQL: the columns of a new row of `notifications`, and their values from rows that have a `sequence` and a `time`. */
export const newRowColumns = sql`user_id, id, sequence, change_sequence, ${contentNames}, created_at, updated_at`;
export const newRowValues = sql`user_id, id, sequence, sequence, ${join(
  contentColumns.map(({ name }) => (name === 'is_hidden' ? hiddenFor : identifier(name))),
  ', ',
)}, time, time`;

/**
 * SQL: an array parameter, through a scalar subquery, so that no plan depends on its length. Otherwise PostgreSQL plans
 * again for each length, which takes longer than a small statement, and scans all inbox rows if there are a thousand
 * users.
 */
export const array = (parameter: SqlPart, type: string) => sql`(select ${parameter}::${identifier(type)}[])`;

/** The contents of several notifications: an array for each column, as text. */
export type ContentArrays = Readonly<Record<keyof Content, string>>;

/** SQL: the arrays of contents, as arguments of `unnest`. */
export function contentParameters(p: Parameters<ContentArrays>): Sql {
  return join(
    contentColumns.map(({ name, type }) => array(p[name], type)),
    ', ',
  );
}

/** Whether a publishing statement also adds a row for the push relay. */
export interface PushChoice {
  readonly pushes: boolean;
}

/**
 * SQL: the CTEs of a publishing statement that record its notifications for webhooks and, if the parameter `pushes` is true, for the push
 * relay: one row, however many notifications the statement inserts. The relay computes the pushes later (decision 28).
 *
 * @param from the SQL after `from`: rows with `user_id`, `id`, `sequence` and `time` of the new notifications
 */
export const recordPublished = (from: Sql, { pushes }: Parameters<PushChoice>): Sql => sql`
    webhook as (${recordInboxEvents(sql`'notification.created'`, from)}
    ),
    push_fan_out as (
      insert into push_fan_outs (id, user_ids, notification_ids, size, created_at)
      select gen_random_uuid(), array_agg(user_id), array_agg(id), count(*), min(time)
      from (select user_id, id, time from ${from}) published
      where ${pushes}::boolean
      having count(*) > 0
    )`;

/** A column that is null in all contents is sent as an empty array: `unnest` fills up shorter arrays with nulls. */
export function contentArrays(contents: readonly Content[]): ContentArrays {
  const arrayOf = (name: keyof Content) => {
    const values = contents.map((content) => content[name]);
    return values.every((value) => value === null) ? '{}' : textArrayText(values);
  };
  return Object.fromEntries(contentColumns.map(({ name }) => [name, arrayOf(name)])) as ContentArrays;
}
