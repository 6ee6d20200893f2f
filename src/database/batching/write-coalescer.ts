import { isStorageFailure } from '../database.js';
import { createBatchLoader } from './batch-loader.js';

/** Two implementations of the same write. */
export interface Writes<Request, Result> {
  /** Performs one write alone. It may wait for locks. */
  alone(request: Request): Promise<Result>;
  /**
   * Performs several writes with one statement, and returns their results in the same order. It must not wait for a
   * lock, or one user would delay the others. Undefined: the statement left out this write, so `alone` performs it.
   */
  many(requests: readonly Request[]): Promise<readonly (Result | undefined)[]>;
}

/**
 * A write that arrives while no other is running is performed alone. Writes that arrive while another one runs share
 * one statement, and so one round trip and one commit. No write is answered before its commit.
 */
export function createWriteCoalescer<Request, Result>({
  alone,
  many,
}: Writes<Request, Result>): (request: Request) => Promise<Result> {
  const inBatch = createBatchLoader(many);
  let running = 0;

  /**
   * Undefined: the write must be performed alone. The batch left it out, or failed and had no effect: then the error may
   * come from another write of the batch.
   * @throws the error of the batch, if the database failed
   */
  async function tryInBatch(request: Request): Promise<Result | undefined> {
    try {
      return await inBatch(request);
    } catch (error) {
      if (isStorageFailure(error)) throw error;
      return undefined;
    }
  }

  return async (request) => {
    running += 1;
    try {
      const result = running > 1 ? await tryInBatch(request) : undefined;
      return result ?? (await alone(request));
    } finally {
      running -= 1;
    }
  };
}
