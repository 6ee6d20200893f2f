import { batched } from './batched.js';
import { isStorageFailure } from './database.js';

/** Two ways of doing the same. */
export interface Ways<Asked, Done> {
  /** One by itself, waiting for whatever it must. */
  alone(asked: Asked): Promise<Done>;
  /**
   * Several by one statement, which answers in their order and waits for no row, or one user would delay the others.
   * Undefined is one that it did not do: that is done alone.
   */
  many(asked: readonly Asked[]): Promise<readonly (Done | undefined)[]>;
}

/**
 * Does alone what is asked for alone, and by one statement what is asked for while something else is under way: then
 * many share a round trip and a commit. Nothing is answered before its commit.
 */
export function together<Asked, Done>({ alone, many }: Ways<Asked, Done>): (asked: Asked) => Promise<Done> {
  const inBatch = batched(many);
  let underWay = 0;
  return async (asked) => {
    underWay += 1;
    try {
      return (underWay > 1 ? await inBatch(asked).catch(unlessStorageFailed) : undefined) ?? (await alone(asked));
    } finally {
      underWay -= 1;
    }
  };
}

/** What the statement itself was refused for may be the fault of one: nothing was done, so each goes alone. */
function unlessStorageFailed(error: unknown): undefined {
  if (isStorageFailure(error)) throw error;
}
