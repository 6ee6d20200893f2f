import { throwIfAborted, wait } from '../platform.js';
import { loadPart } from '../transport.js';

/** Loads the parts of the inbox that a page needs only when it first uses them: the stream, lists, mutes. */
export const loadInboxParts = () => loadPart(() => import('./more.js'));

/** Loads the same parts, and tries again until there is a network. Rejects with the reason of the signal. */
export async function* whenLoaded(signal: AbortSignal | undefined) {
  for (;;) {
    try {
      return await loadInboxParts();
    } catch {
      yield { type: 'connection', connection: 'offline' } as const;
      await wait(5000, signal);
      throwIfAborted(signal);
    }
  }
}
