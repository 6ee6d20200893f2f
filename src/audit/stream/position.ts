/**
 * The place of a client in the stream of events. Transactions do not commit in the order of their numbers, so a number is
 * not enough: like a snapshot of PostgreSQL, a position has the numbers of the transactions that were still running.
 */
export interface Position {
  /** The id of the run. A run ends when feed rows are lost. Transaction numbers of different runs cannot be compared. */
  readonly run: string;
  /** The number of the first transaction without a sent event. Later transactions have no sent events either. */
  readonly xmax: number;
  /** Earlier transactions whose events were not sent either, ascending. */
  readonly running: readonly number[];
  /** A transaction in `running` with some sent events, and the last event that was sent. */
  readonly last?: { readonly transaction: number; readonly id: string };
}

/** The transactions that a query of PostgreSQL sees. */
export type Snapshot = Pick<Position, 'xmax' | 'running'>;

/** Reads the text of a `pg_snapshot`: `xmin:xmax:xip,xip`. */
export function parseSnapshot(text: string): Snapshot {
  const [, xmax = '', running = ''] = text.split(':');
  return { xmax: Number(xmax), running: running === '' ? [] : running.split(',').map(Number) };
}

/** The `pg_snapshot` that sees exactly the transactions whose events were sent in full. */
export function snapshotText({ xmax, running }: Snapshot): string {
  return `${running[0] ?? xmax}:${xmax}:${running.join(',')}`;
}

/**
 * The position after an event of a read. A read returns the events of the transaction `from.last` first. The other transactions
 * follow in ascending order.
 * @param from the position before the read
 * @param snapshot the snapshot of the read
 */
export function positionAfter(
  from: Position,
  snapshot: Snapshot,
  { transaction, id }: { readonly transaction: number; readonly id: string },
): Position {
  if (transaction === from.last?.transaction) return { ...from, last: { transaction, id } };
  // The transaction of `from.last` comes first. It has committed, so the read has seen all of it.
  const unsent = from.running.filter((each) => each > transaction && each !== from.last?.transaction);
  const running = [...snapshot.running.filter((number) => number < transaction), transaction, ...unsent];
  return { run: from.run, xmax: Math.max(from.xmax, transaction + 1), running, last: { transaction, id } };
}

const number = '[0-9a-z]{1,11}';
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const pattern = new RegExp(`^([0-9a-f]{16})-(${number}(?:\\.${number})*)(?:_(${number})\\.(${uuid}))?$`);
/** Maximum number of running transactions: more than any server has connections. */
const maxRunning = 10_000;

/** The text of a position, as the id of a server-sent event. */
export function positionText({ run, xmax, running, last }: Position): string {
  // Distances from xmax are short.
  const distanceOf = (transaction: number) => (xmax - transaction).toString(36);
  const numbers = [xmax.toString(36), ...running.map(distanceOf)].join('.');
  return `${run}-${numbers}${last === undefined ? '' : `_${distanceOf(last.transaction)}.${last.id}`}`;
}

/** Reads the text of a position. Undefined: `positionText` did not write it. */
export function parsePosition(text: string): Position | undefined {
  const [, run, numbers = '', lastDistance, id] = pattern.exec(text) ?? [];
  if (run === undefined) return undefined;
  const [xmax = 0, ...distances] = numbers.split('.').map((digits) => Number.parseInt(digits, 36));
  const running = distances.map((distance) => xmax - distance);
  const isAscending = running.every((each, index) => each > (running[index - 1] ?? 0) && each < xmax);
  if (!Number.isSafeInteger(xmax) || xmax < 1 || !isAscending || running.length > maxRunning) return undefined;
  if (lastDistance === undefined || id === undefined) return { run, xmax, running };
  const transaction = xmax - Number.parseInt(lastDistance, 36);
  return running.includes(transaction) ? { run, xmax, running, last: { transaction, id } } : undefined;
}
