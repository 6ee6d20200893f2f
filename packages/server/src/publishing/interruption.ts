import { wait } from '@postern/client/internal';
import { pauseBeforeRepeat } from '../connection.js';

/**
 * Postern could not be reached for long, or refused to go on. Everything up to `committedLines` is done. Send the same source again
 * when Postern is back: nothing is done twice.
 *
 * @example
 * ```ts
 * import { InterruptedError, type PosternServer, type Publication } from '@postern/server';
 *
 * export async function send(postern: PosternServer, all: AsyncIterable<Publication>): Promise<boolean> {
 *   try {
 *     for await (const result of postern.publishAll(all, { idempotencyKey: 'news-2030-01' })) {
 *       if (!result.ok) console.error(result.line, result.errors);
 *     }
 *     return true;
 *   } catch (error) {
 *     if (error instanceof InterruptedError) return false;
 *     throw error;
 *   }
 * }
 * ```
 */
export class InterruptedError extends Error {
  readonly kind = 'interrupted';

  constructor(
    readonly committedLines: number,
    cause: unknown,
  ) {
    super(`Interrupted after line ${committedLines}. Send the same source again: nothing is done twice.`, { cause });
    this.name = 'InterruptedError';
  }
}

/** Repeats attempts that make no progress, with growing pauses. */
export interface Persistence {
  /** Waits before the next attempt. @throws InterruptedError after too many, or for an error that would come again */
  pause(error: unknown, committedLines: number): Promise<void>;
  progress(): void;
}

export function createPersistence(retries: number, signal: AbortSignal | undefined): Persistence {
  let attempts = 0;
  return {
    progress() {
      attempts = 0;
    },
    async pause(error, committedLines) {
      signal?.throwIfAborted();
      attempts += 1;
      const pause = pauseBeforeRepeat(error, attempts);
      if (pause === undefined) throw error;
      // A longer outage than for single calls, because the source is in the middle.
      if (attempts > 2 * retries) throw new InterruptedError(committedLines, error);
      await wait(pause, signal);
      signal?.throwIfAborted();
    },
  };
}
