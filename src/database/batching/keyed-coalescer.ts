import { Problem } from '../../lib/problem.js';
import { isStorageFailure } from '../database.js';

/** Limits for one key: at most `batch` requests share a statement, and at most `waiting` requests wait. */
const limits = { batch: 128, waiting: 1000 };
/** A request that has waited for longer is refused: it would wait for the next statement too. */
const timeoutMs = 1000;

interface Waiting<Asked, Done> {
  readonly asked: Asked;
  readonly since: number;
  resolve(done: Done): void;
  reject(reason: unknown): void;
}

/**
 * Runs one statement of a key at a time. Requests for the same key that arrive while it runs share the next statement,
 * in their order. So a row that all of them need is locked once, and no request waits for the commit of another one.
 *
 * A storage failure fails all requests of the statement. Any other error may come from one request of the batch. The
 * statement then had no effect, so each request runs alone.
 * @param work performs several requests of one key with one statement, and returns their results in the same order
 * @throws Problem `overloaded` where too many wait, or one has waited for too long
 */
export function createKeyedCoalescer<Asked, Done>(
  keyOf: (asked: Asked) => string,
  work: (asked: readonly Asked[]) => Promise<readonly Done[]>,
): (asked: Asked) => Promise<Done> {
  /** For each key with a running statement, the requests that wait for it. */
  const keys = new Map<string, Waiting<Asked, Done>[]>();

  async function settle(batch: readonly Waiting<Asked, Done>[]): Promise<void> {
    try {
      const done = await work(batch.map(({ asked }) => asked));
      for (const [index, { resolve }] of batch.entries()) resolve(done[index] as Done);
    } catch (error) {
      if (batch.length === 1 || isStorageFailure(error)) for (const { reject } of batch) reject(error);
      else for (const each of batch) await settle([each]);
    }
  }

  async function run(key: string, first: Waiting<Asked, Done>): Promise<void> {
    const waiting: Waiting<Asked, Done>[] = [];
    keys.set(key, waiting);
    for (let batch = [first]; batch.length > 0; batch = waiting.splice(0, limits.batch)) {
      await settle(batch);
      // Waits for the input of this turn: clients that have just got a response may send the next request.
      if (batch.length > 1) await new Promise(setImmediate);
      refuseExpired(waiting);
    }
    keys.delete(key);
  }

  return (asked) =>
    new Promise((resolve, reject) => {
      const key = keyOf(asked);
      const entry = { asked, since: performance.now(), resolve, reject };
      const waiting = keys.get(key);
      if (waiting === undefined) void run(key, entry);
      else if (waiting.length < limits.waiting) waiting.push(entry);
      else reject(new Problem('overloaded', { retryAfter: 1 }));
    });
}

/** Refuses the requests that have waited for too long. The oldest come first. */
function refuseExpired<Asked, Done>(waiting: Waiting<Asked, Done>[]): void {
  const oldest = performance.now() - timeoutMs;
  const kept = waiting.findIndex(({ since }) => since >= oldest);
  const expired = waiting.splice(0, kept === -1 ? waiting.length : kept);
  for (const { reject } of expired) reject(new Problem('overloaded', { retryAfter: 1 }));
}
