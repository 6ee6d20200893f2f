import { Problem } from '../../lib/problem.js';
import { isStorageFailure } from '../database.js';

/** Limits for one key: at most `batch` requests share a statement, and at most `waiting` requests wait. */
const limits = { batch: 128, waiting: 1000 };
/** A request that has waited for longer is refused, because it would also have to wait for the next statement. */
const timeoutMs = 1000;

interface Waiting<Request, Result> {
  readonly request: Request;
  readonly waitingSince: number;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Runs one statement of a key at a time. Requests for the same key that arrive while it runs share the next statement,
 * in their order. After a storage failure, all requests of the statement fail. After any other error, which may come
 * from one request, each request runs alone.
 * @param work performs several requests of one key with one statement, and returns their results in the same order
 * @throws Problem `overloaded` if too many requests wait, or if a request has waited for too long
 */
export function createKeyedCoalescer<Request, Result>(
  keyOf: (request: Request) => string,
  work: (requests: readonly Request[]) => Promise<readonly Result[]>,
): (request: Request) => Promise<Result> {
  /** For each key with a running statement, the requests that wait for it. */
  const waitingByKey = new Map<string, Waiting<Request, Result>[]>();

  async function settle(batch: readonly Waiting<Request, Result>[]): Promise<void> {
    try {
      const results = await work(batch.map(({ request }) => request));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1 || isStorageFailure(error)) for (const { reject } of batch) reject(error);
      else for (const entry of batch) await settle([entry]);
    }
  }

  async function run(key: string, first: Waiting<Request, Result>): Promise<void> {
    const waiting: Waiting<Request, Result>[] = [];
    waitingByKey.set(key, waiting);
    for (let batch = [first]; batch.length > 0; batch = waiting.splice(0, limits.batch)) {
      await settle(batch);
      // Waits for the input of this turn: clients that have just got a response may send the next request.
      if (batch.length > 1) await new Promise(setImmediate);
      refuseExpired(waiting);
    }
    waitingByKey.delete(key);
  }

  return (request) =>
    new Promise((resolve, reject) => {
      const key = keyOf(request);
      const entry = { request, waitingSince: performance.now(), resolve, reject };
      const waiting = waitingByKey.get(key);
      if (waiting === undefined) void run(key, entry);
      else if (waiting.length < limits.waiting) waiting.push(entry);
      else reject(new Problem('overloaded', { retryAfter: 1 }));
    });
}

/** Refuses the requests that have waited for too long. The oldest come first. */
function refuseExpired<Request, Result>(waiting: Waiting<Request, Result>[]): void {
  const earliestAllowed = performance.now() - timeoutMs;
  const firstUnexpired = waiting.findIndex(({ waitingSince }) => waitingSince >= earliestAllowed);
  const expired = waiting.splice(0, firstUnexpired === -1 ? waiting.length : firstUnexpired);
  for (const { reject } of expired) reject(new Problem('overloaded', { retryAfter: 1 }));
}
