/** Finds one thing by a key. */
export type LookUp<Key, Found> = (key: Key) => Promise<Found>;

/** Finds many by one query, in the order of their keys. */
export type LookUpMany<Key, Found> = (keys: readonly Key[]) => Promise<readonly Found[]>;

/**
 * Queries that are under way at a time: with a single one the process, the database and those who ask would take turns,
 * for while its answers are written nothing is looked up.
 */
const width = 2;
/** Keys that are worth a query beside one that is under way; fewer wait for it, since each query has its own costs. */
const enough = 16;
/** Milliseconds that a batch waits for those before it at most. Then they are slow, and keep nobody waiting any more. */
const patience = 20;

interface Asked<Key, Found> {
  readonly key: Key;
  resolve(found: Found): void;
  reject(reason: unknown): void;
}

/**
 * Answers what is asked in one turn of the event loop by few queries. What they answer was read after it was asked: a
 * question joins only a batch that was not sent yet, and nothing is kept.
 *
 * A batch that fails fails its own members, and one that is slow delays its own members: others go on further
 * connections of the pool, whose limits hold for batches too.
 * @param largest keys of one query at most; with more of them one query would keep the others waiting
 */
export function batched<Key, Found>(find: LookUpMany<Key, Found>, largest = 64): LookUp<Key, Found> {
  const waiting: Asked<Key, Found>[] = [];
  /**
   * The batches under way that the next ones wait for: what is asked meanwhile makes those larger. No Set: one that is
   * added to and deleted from all the time gets new tables, each of which its predecessor leads to, and once one of them
   * has grown old, every batch does that comes after it, with all its requests, until a full collection: every third process
   * answered half as many a second.
   */
  let ahead: readonly (readonly Asked<Key, Found>[])[] = [];
  let overdue: NodeJS.Timeout | undefined;

  function sendWhatMay(): void {
    while (waiting.length >= (ahead.length === 0 ? 1 : enough) && ahead.length < width)
      void send(waiting.splice(0, largest));
    if (waiting.length === 0) {
      clearTimeout(overdue);
      overdue = undefined;
    } else overdue ??= setTimeout(passSlowOnes, patience);
  }

  function passSlowOnes(): void {
    overdue = undefined;
    ahead = [];
    sendWhatMay();
  }

  async function send(batch: readonly Asked<Key, Found>[]): Promise<void> {
    ahead = [...ahead, batch];
    try {
      const found = await find(batch.map(({ key }) => key));
      for (const [index, { resolve }] of batch.entries()) resolve(found[index] as Found);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      const isWaitedFor = ahead.includes(batch);
      ahead = ahead.filter((other) => other !== batch);
      if (isWaitedFor) sendWhatMay();
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      // After everything that arrived in this turn was read.
      if (waiting.length === 0) setImmediate(sendWhatMay);
      waiting.push({ key, resolve, reject });
    });
}
