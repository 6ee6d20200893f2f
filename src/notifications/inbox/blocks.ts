import { literal, type Sql, type SqlPart, sql } from '../../database/sql.js';

/**
 * The number of sequences in a block. For each block of an inbox, the table `inbox_blocks` stores how many rows of each
 * type exist. A block is counted when it is full. Later changes of its rows update the count, under the lock of the
 * inbox row.
 */
export const blockSize = 1024;

/** SQL: `blockSize`. */
export const blockRows = literal(blockSize);

/** SQL: the first block of an inbox that is not counted yet, from the inbox row. */
export const countedBlocks = sql`coalesce(counted_blocks, last_change_sequence / ${blockRows})`;

/** SQL: whether an inbox has blocks that are full and not counted, from the inbox row. */
export const hasFullBlocks = sql`last_change_sequence / ${blockRows} > counted_blocks`;

/** SQL: the first block that is not counted, in a statement whose `inbox` has `counted_blocks`. */
const firstUncounted = sql`(select counted_blocks from inbox)`;

/**
 * The parts of a look-up by the counts of blocks. The statement needs a CTE `inbox` with the column `counted_blocks`.
 */
export interface PlaceInBlocks {
  readonly userId: SqlPart;
  readonly direction: 'asc' | 'desc';
  /**
   * The sequence at which counting starts. Counting downwards includes it, and counting upwards starts right above it.
   */
  readonly from: SqlPart;
  /** Counts rows of this type only. */
  readonly type: SqlPart | undefined;
  /** The number of rows to skip. */
  readonly skip: SqlPart;
}

/**
 * SQL: the sequence of the row after `skip` other rows; null beyond the last row. The counts show in which block the
 * row is, so the statement reads the rows of at most three blocks, however far away the row is.
 */
export function placeInBlocks(parts: PlaceInBlocks): Sql {
  const { userId, direction, type } = parts;
  const matchingRows =
    type === undefined ? sql`user_id = ${userId}` : sql`user_id = ${userId} and notification_type = ${type}`;
  return direction === 'desc' ? placeDownwards(parts, matchingRows) : placeUpwards(parts, matchingRows);
}

/**
 * Counts rows from the newest block down. The first block is read row by row, because counting may start in its middle.
 * Then come the blocks that have a stored count, and then the rows that have none. `passed` counts the rows from the
 * start down to the end of a block. `within` is how many rows of the last block to skip.
 */
function placeDownwards({ from, skip }: PlaceInBlocks, matchingRows: Sql): Sql {
  const first = sql`(${from}) / ${blockRows}`;
  return sql`select place from (
      select block, ${skip} - passed + rows as within from (
        select block, rows, (sum(rows) over (order by block desc))::bigint as passed from (
          select ${first} as block, count(*) as rows
          from notifications where ${matchingRows} and sequence <= (${from}) and sequence >= ${first} * ${blockRows}
          union all
          select block, sum(rows)::bigint
          from inbox_blocks where ${matchingRows} and block < ${first} and block < ${firstUncounted} group by block
          union all
          select sequence / ${blockRows}, count(*)
          from notifications
          where ${matchingRows} and sequence < ${first} * ${blockRows} and sequence >= ${firstUncounted} * ${blockRows}
          group by 1
        ) blocks
      ) passing
      where passed > ${skip} order by block desc limit 1
    ) target cross join lateral (
      select sequence as place
      from notifications where ${matchingRows} and sequence <= least((${from}), block * ${blockRows} + ${literal(blockSize - 1)})
      order by sequence desc offset within limit 1
    ) found`;
}

/** Like `placeDownwards`, but from the oldest block up. */
function placeUpwards({ from, skip }: PlaceInBlocks, matchingRows: Sql): Sql {
  const first = sql`(${from}) / ${blockRows}`;
  return sql`select place from (
      select block, ${skip} - passed + rows as within from (
        select block, rows, (sum(rows) over (order by block asc))::bigint as passed from (
          select ${first} as block, count(*) as rows
          from notifications where ${matchingRows} and sequence > (${from}) and sequence < (${first} + 1) * ${blockRows}
          union all
          select block, sum(rows)::bigint
          from inbox_blocks where ${matchingRows} and block > ${first} and block < ${firstUncounted} group by block
          union all
          select sequence / ${blockRows}, count(*)
          from notifications
          where ${matchingRows} and sequence >= (${first} + 1) * ${blockRows} and sequence >= ${firstUncounted} * ${blockRows}
          group by 1
        ) blocks
      ) passing
      where passed > ${skip} order by block asc limit 1
    ) target cross join lateral (
      select sequence as place
      from notifications where ${matchingRows} and sequence >= greatest((${from}) + 1, block * ${blockRows})
      order by sequence asc offset within limit 1
    ) found`;
}

/**
 * SQL that counts the rows with a higher sequence: those in counted blocks, those later in the block of the row, and
 * those in blocks that are not counted. Like `placeInBlocks`, it needs a CTE `inbox`.
 */
export function rowsBeyond(userId: SqlPart, sequence: SqlPart): Sql {
  const nextBlock = sql`(${sequence} / ${blockRows} + 1)`;
  return sql`(
      (select coalesce(sum(rows), 0)::bigint
       from inbox_blocks where user_id = ${userId} and block >= ${nextBlock} and block < ${firstUncounted})
      + (select count(*)
         from notifications where user_id = ${userId} and sequence > ${sequence} and sequence < ${nextBlock} * ${blockRows})
      + (select count(*)
         from notifications where user_id = ${userId} and sequence >= greatest(${nextBlock}, ${firstUncounted}) * ${blockRows})
    )`;
}
