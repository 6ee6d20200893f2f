import { createConcurrencyLimiter, createKeyedLimiter } from '../../lib/concurrency-limiter.js';
import { Problem } from '../../lib/problem.js';
import { createDecoder, DecoderTimeout } from './decoder.js';
import { formatOf } from './formats.js';
import type { Renditions } from './storage.js';

/**
 * Makes the renditions of a file.
 * @param options.userId the user who uploads it; undefined for an operator or a backend
 * @param options.remainingMs returns the milliseconds that are left when the decoder starts on the file. If it throws an
 *   error, the work ends
 * @throws Problem `invalid_image`, `overloaded`
 */
export type Render = (
  file: Buffer,
  options: { readonly userId: string | undefined; readonly remainingMs: () => number },
) => Promise<Renditions>;

/** A running decoder needs up to 150 MB, and a waiting file up to 5 MiB. */
const concurrency = { concurrency: 1, maxWaiting: 8 };
/**
 * A user's files wait for each other, so one user takes only one place in the queue of all. While more of them wait, the decoder
 * rests, so that a user with many files takes a quarter of one processor.
 */
const ofOneUser = { concurrency: 1, maxWaiting: 4, rest: 3 };

/**
 * Makes the renditions with one decoder.
 * @param options.waitMs how long a file may wait in each queue, in milliseconds
 */
export function createRender({ waitMs = 5000 }: { readonly waitMs?: number } = {}): Render {
  const decoder = createDecoder();
  const limited = createConcurrencyLimiter({ ...concurrency, timeoutMs: waitMs });
  const limitedByUser = createKeyedLimiter({ ...ofOneUser, timeoutMs: waitMs });
  return (file, { userId, remainingMs }) => {
    const render = () =>
      limited(async () => {
        // Throws an error if the time limit has passed while the file waited.
        const timeoutMs = remainingMs();
        const format = formatOf(file);
        if (format === undefined) throw new Problem('invalid_image');
        try {
          return await decoder.decode(file, format, timeoutMs);
        } catch (error) {
          if (error instanceof DecoderTimeout) remainingMs();
          throw error instanceof Problem ? error : new Problem('overloaded', { retryAfter: 1, cause: error });
        }
      });
    return userId === undefined ? render() : limitedByUser(userId, render);
  };
}
