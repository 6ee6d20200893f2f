import { isStorageFailure } from '../database.js';
import { createBatchLoader } from './batch-loader.js';

/** Two implementations of the same write. */
export interface Writes<Asked, Done> {
  /** Performs one write alone. It may wait for locks. */
  alone(asked: Asked): Promise<Done>;
  /**
   * Performs several writes with one statement, and returns their results in the same order. It must not wait for a
   * lock, or one user would delay the others. Undefined: the statement left out this write, so `alone` performs it.
   */
  many(asked: readonly Asked[]): Promise<readonly (Done | undefined)[]>;
}

/**
 * A write that arrives while no other is running is performed alone. Writes that arrive while another one runs share
 * one statement, and so one round trip and one commit. No write is answered before its commit.
 */
export function createWriteCoalescer<Asked, Done>({
  alone,
  many,
}: Writes<Asked, Done>): (asked: Asked) => Promise<Done> {
  const inBatch = createBatchLoader(many);
  let running = 0;
  return async (asked) => {
    running += 1;
    try {
      return (running > 1 ? await inBatch(asked).catch(unlessStorageFailed) : undefined) ?? (await alone(asked));
    } finally {
      running -= 1;
    }
  };
}

/**
 * Any other error may come from one write of the batch. The statement had no effect, so each write is performed alone.
 */
function unlessStorageFailed(error: unknown): undefined {
  if (isStorageFailure(error)) throw error;
}
