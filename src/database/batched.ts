/** Finds one thing by a key. */
export type LookUp<Key, Found> = (key: Key) => Promise<Found>;

/** Finds many by one query, in the order of their keys. */
export type LookUpMany<Key, Found> = (keys: readonly Key[]) => Promise<readonly Found[]>;

/** Keys that one query is asked at most: a larger one would keep its first waiting for its last. */
const largest = 256;
/** Batches under way beside which no further one is sent at once: what waits meanwhile makes a larger one. */
const enough = 2;
/** Milliseconds that one waits for those under way at most. Then they are slow, and must not keep others waiting. */
const patience = 20;

interface Asked<Key, Found> {
  readonly key: Key;
  resolve(found: Found): void;
  reject(reason: unknown): void;
}

/**
 * Answers what is asked in one turn of the event loop by one query. What it answers was read after it was asked: a
 * question joins only a batch that was not sent yet, and nothing is kept.
 *
 * A batch that fails fails its own members, and one that is slow delays its own members: others go on further
 * connections of the pool, whose limits hold for batches too.
 */
export function batched<Key, Found>(find: LookUpMany<Key, Found>): LookUp<Key, Found> {
  let waiting: Asked<Key, Found>[] = [];
  let underWay = 0;
  let overdue: NodeJS.Timeout | undefined;

  function sendUnlessBusy(): void {
    if (underWay < enough) sendAll();
    else overdue ??= setTimeout(sendAll, patience);
  }

  function sendAll(): void {
    clearTimeout(overdue);
    overdue = undefined;
    const asked = waiting;
    waiting = [];
    for (let start = 0; start < asked.length; start += largest) void send(asked.slice(start, start + largest));
  }

  async function send(batch: readonly Asked<Key, Found>[]): Promise<void> {
    underWay += 1;
    try {
      const found = await find(batch.map(({ key }) => key));
      for (const [index, { resolve }] of batch.entries()) resolve(found[index] as Found);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      underWay -= 1;
      if (waiting.length > 0) sendUnlessBusy();
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      // After everything that arrived in this turn was read.
      if (waiting.length === 0) setImmediate(sendUnlessBusy);
      waiting.push({ key, resolve, reject });
    });
}
