/** Finds one value by its key. */
export type Load<Key, Found> = (key: Key) => Promise<Found>;

/** Finds many values by one query, in the order of their keys. */
export type LoadMany<Key, Found> = (keys: readonly Key[]) => Promise<readonly Found[]>;

/**
 * The number of batches that run at the same time. With only one, the process and the database would take turns: no
 * batch would run while the process writes the responses of the last batch.
 */
const concurrency = 2;
/**
 * The number of keys from which a second batch starts while one runs. Fewer keys wait, because each query has a fixed
 * cost.
 */
const minForSecond = 16;
/**
 * The maximum time in milliseconds that a batch waits for running batches. After this time, the running batches count
 * as slow, and other batches no longer wait for them.
 */
const timeoutMs = 20;

interface Waiting<Key, Found> {
  readonly key: Key;
  resolve(found: Found): void;
  reject(reason: unknown): void;
}

/**
 * Answers the look-ups of one turn of the event loop with few queries. Each result is read after its look-up began,
 * because a look-up joins only a batch that was not sent yet, and nothing is cached.
 *
 * A batch that fails or is slow affects only its own look-ups. Other batches use other connections of the pool.
 * @param maxKeys the maximum number of keys of one query; a larger query would delay other batches
 */
export function createBatchLoader<Key, Found>(find: LoadMany<Key, Found>, maxKeys = 64): Load<Key, Found> {
  const waiting: Waiting<Key, Found>[] = [];
  /**
   * The running batches that new look-ups wait for. An array, not a Set: a Set that changes often leaves old tables in
   * V8 that keep later batches alive until a full garbage collection. With a Set, every third process had half the
   * throughput.
   */
  let running: readonly (readonly Waiting<Key, Found>[])[] = [];
  let timeoutTimer: NodeJS.Timeout | undefined;

  function sendBatches(): void {
    while (waiting.length >= (running.length === 0 ? 1 : minForSecond) && running.length < concurrency)
      void send(waiting.splice(0, maxKeys));
    if (waiting.length === 0) {
      clearTimeout(timeoutTimer);
      timeoutTimer = undefined;
    } else timeoutTimer ??= setTimeout(ignoreSlowBatches, timeoutMs);
  }

  function ignoreSlowBatches(): void {
    timeoutTimer = undefined;
    running = [];
    sendBatches();
  }

  async function send(batch: readonly Waiting<Key, Found>[]): Promise<void> {
    running = [...running, batch];
    try {
      const results = await find(batch.map(({ key }) => key));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Found);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      const blocksOthers = running.includes(batch);
      running = running.filter((other) => other !== batch);
      if (blocksOthers) sendBatches();
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      // Runs after all input of this turn was read.
      if (waiting.length === 0) setImmediate(sendBatches);
      waiting.push({ key, resolve, reject });
    });
}
