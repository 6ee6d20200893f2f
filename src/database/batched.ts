/** Finds one thing by a key. */
export type LookUp<Key, Found> = (key: Key) => Promise<Found>;

/** Finds many by one query, in the order of their keys. */
export type LookUpMany<Key, Found> = (keys: readonly Key[]) => Promise<readonly Found[]>;

/** Keys that one query is asked at most: a larger one would keep its first waiting for its last. */
const largest = 256;
/** Milliseconds that a batch waits for the one before it at most. Then that is slow, and keeps nobody waiting any more. */
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
  /** The batch under way that the next one waits for: what is asked meanwhile makes it larger. */
  let ahead: readonly Asked<Key, Found>[] | undefined;
  let overdue: NodeJS.Timeout | undefined;

  function sendUnlessBusy(): void {
    if (ahead === undefined) sendAll();
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
    ahead = batch;
    try {
      const found = await find(batch.map(({ key }) => key));
      for (const [index, { resolve }] of batch.entries()) resolve(found[index] as Found);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      if (ahead === batch) {
        ahead = undefined;
        sendAll();
      }
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      // After everything that arrived in this turn was read.
      if (waiting.length === 0) setImmediate(sendUnlessBusy);
      waiting.push({ key, resolve, reject });
    });
}
