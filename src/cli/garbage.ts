import { setFlagsFromString } from 'node:v8';

/**
 * Has the main thread collect young garbage by itself. V8 shares such a collection among threads and waits for all of
 * them: a millisecond's work, which took up to 40 while the cores were busy hashing. To be called before there is any.
 */
export function collectAlone(): void {
  setFlagsFromString('--no-parallel-scavenge');
}
