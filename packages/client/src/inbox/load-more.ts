import { wait } from '../platform.js';
import { loadPart } from '../transport.js';

/** Loads what a page needs of the inbox only when it first uses it: the stream, filters, mutes. */
export const loadMore = () => loadPart(() => import('./more.js'));

/** The same, as soon as there is a network. Ends with the reason of the signal. */
export async function* whenLoaded(signal: AbortSignal | undefined) {
  for (;;) {
    try {
      return await loadMore();
    } catch {
      yield { type: 'connection', connection: 'offline' } as const;
      await wait(5000, signal);
      signal?.throwIfAborted();
    }
  }
}
