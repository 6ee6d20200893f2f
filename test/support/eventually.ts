import { setTimeout as wait } from 'node:timers/promises';

/** Polls until `look` returns a value. After the deadline it fails with the description. */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>, deadline = 60_000): Promise<T> {
  const end = performance.now() + deadline;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`waited ${deadline} ms without success for ${what}`);
    await wait(15);
  }
}
