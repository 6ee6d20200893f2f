import { setTimeout as wait } from 'node:timers/promises';

/**
 * Polls until `look` returns a value. After the deadline it fails with the description. The deadline is a little shorter than the
 * time limit of a test, and only ends what hangs: on a busy machine, a backup has taken more than a minute. The longer it waits, the longer are its
 * pauses, since most looks are requests, which take the processor from what the test waits for.
 */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>, deadline = 120_000): Promise<T> {
  const begin = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    const waited = performance.now() - begin;
    if (waited > deadline) throw new Error(`waited ${deadline} ms without success for ${what}`);
    await wait(Math.min(50, Math.max(15, waited / 20)));
  }
}
