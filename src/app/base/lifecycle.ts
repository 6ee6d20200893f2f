import type { Logger } from './log.js';

/** The parts of the service that were started, and that have to be stopped. */
export interface Lifecycle {
  /** Registers a started part. `close()` calls `stop`. @returns the part */
  add<T>(part: T, stop: (part: T) => Promise<void>): T;
  /** Whether `close()` was called. */
  isClosing(): boolean;
  /** Stops all parts in reverse order. A second call waits for the first. */
  close(): Promise<void>;
}

/** Creates an empty list of parts. A part that fails to stop is logged. */
export function createLifecycle(log: Logger): Lifecycle {
  const stops: (() => Promise<void>)[] = [];
  let closing: Promise<void> | undefined;

  async function stopAll(): Promise<void> {
    for (const stop of stops.reverse()) {
      // If one part fails to stop, the others still stop.
      await stop().catch((error: unknown) => log.error({ err: error }, 'a part failed to stop'));
    }
  }
  return {
    add(part, stop) {
      stops.push(() => stop(part));
      return part;
    },
    isClosing: () => closing !== undefined,
    close() {
      closing ??= stopAll();
      return closing;
    },
  };
}
