import { isStorageFailure } from '../database.js';
import { createBatchLoader } from './batch-loader.js';

/** Two implementations of the same write. */
export interface Writes<Asked, Done> {
  /** Does one write by itself. It may wait for locks. */
  alone(asked: Asked): Promise<Done>;
  /**
   * Does several writes by one statement, and returns their results in the same order. It must not wait for a lock, or one
   * user would delay the others. Undefined: the statement did not do this write, so `alone` does it.
   */
  many(asked: readonly Asked[]): Promise<readonly (Done | undefined)[]>;
}

/**
 * A write that comes in while no other is running is done alone. Writes that come in while another runs share one
 * statement, and so a round trip and a commit. No write is answered before its commit.
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

/** One write of the batch may have caused any other error. The statement did nothing, so each write is done alone. */
function unlessStorageFailed(error: unknown): undefined {
  if (isStorageFailure(error)) throw error;
}
