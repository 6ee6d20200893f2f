import { wait } from '@postern/client/internal';
import { pauseBeforeRepeat } from '../connection.js';

/**
 * Postern was unavailable for too long, or refused to continue. All lines up to `committedLines` are committed. Send the same source
 * again later: nothing is done twice.
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

/** Counts attempts without progress, and waits longer after each one. */
export interface Retries {
  /** Waits before the next attempt. @throws InterruptedError after too many attempts; the error itself if a repeat would fail as well */
  pause(error: unknown, committedLines: number): Promise<void>;
  progress(): void;
}

export function createRetries(retries: number, signal: AbortSignal | undefined): Retries {
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
      // More attempts than for single calls, because a part of the source is already committed.
      if (attempts > 2 * retries) throw new InterruptedError(committedLines, error);
      await wait(pause, signal);
      signal?.throwIfAborted();
    },
  };
}
