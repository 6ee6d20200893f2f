/**
 * Sequences in a block of `inbox_blocks`, which counts the rows of each block and type. A block is counted when it is
 * full; whatever changes rows afterwards keeps the count, under the lock of the head.
 */
export const blockSize = 1024;

/** SQL of a head's first block that is not counted yet. */
export const countedBlocks = `coalesce(counted_blocks, last_change_sequence / ${blockSize})`;

/** SQL: whether a head that was published to has blocks that are full and not counted. */
export const hasFullBlocks = `last_change_sequence / ${blockSize} > counted_blocks`;

/** Parts of a statement whose `$1` is the user, and whose `head` has `counted_blocks`; each is SQL, never a client's text. */
export interface PlaceInBlocks {
  readonly direction: 'asc' | 'desc';
  /** The walk starts here: at this sequence downwards, or right above it upwards. */
  readonly from: string;
  /** Counts rows of this type alone. */
  readonly type: string | undefined;
  /** Rows to leave behind. */
  readonly skip: string;
}

const counted = '(select counted_blocks from head)';

/**
 * SQL that gives the sequence of the row that comes after `skip` others, null beyond the last. The blocks' counts lead
 * to the row's block, so at most three blocks are walked through, however far it is.
 */
export function placeInBlocks({ direction, from, type, skip }: PlaceInBlocks): string {
  const ofType = type === undefined ? '' : ` and notification_type = ${type}`;
  const isDown = direction === 'desc';
  const own = `(${from}) / ${blockSize}`;
  const rows = `from notifications where user_id = $1${ofType}`;
  const inFirst = isDown
    ? `sequence <= (${from}) and sequence >= ${own} * ${blockSize}`
    : `sequence > (${from}) and sequence < (${own} + 1) * ${blockSize}`;
  const beyond = isDown ? `sequence < ${own} * ${blockSize}` : `sequence >= (${own} + 1) * ${blockSize}`;
  // The first block, counted row by row as the walk may start in its midst; whole ones; and what is not counted yet.
  const blocks = `select ${own} as block, count(*) as rows ${rows} and ${inFirst}
      union all
      select block, sum(rows)::bigint from inbox_blocks
      where user_id = $1${ofType} and block ${isDown ? '<' : '>'} ${own} and block < ${counted} group by block
      union all
      select sequence / ${blockSize}, count(*) ${rows} and ${beyond} and sequence >= ${counted} * ${blockSize} group by 1`;
  const target = `select block, ${skip} - passed + rows as within
      from (select block, rows, (sum(rows) over (order by block ${direction}))::bigint as passed from (${blocks}) blocks) walk
      where passed > ${skip} order by block ${direction} limit 1`;
  const reach = isDown
    ? `sequence <= least((${from}), block * ${blockSize} + ${blockSize - 1})`
    : `sequence >= greatest((${from}) + 1, block * ${blockSize})`;
  return `select place from (${target}) target cross join lateral (
      select sequence as place ${rows} and ${reach} order by sequence ${direction} offset within limit 1
    ) found`;
}

/** SQL that counts the rows with a sequence above this one. It needs a `head`, as `placeInBlocks` does. */
export function rowsBeyond(sequence: string): string {
  const nextBlock = `(${sequence} / ${blockSize} + 1)`;
  const rows = 'select count(*) from notifications where user_id = $1';
  return `((select coalesce(sum(rows), 0)::bigint from inbox_blocks
        where user_id = $1 and block >= ${nextBlock} and block < ${counted})
      + (${rows} and sequence > ${sequence} and sequence < ${nextBlock} * ${blockSize})
      + (${rows} and sequence >= greatest(${nextBlock}, ${counted}) * ${blockSize}))`;
}
