import { setTimeout as wait } from 'node:timers/promises';

/** A copy of stored settings in the memory of this process, which follows the changes of all instances. */
export interface WatchedCopy {
  /** Reads changes now. A read that runs already may have begun before the change, so another one follows it. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

/** A change takes effect on every instance within two seconds, so each process looks for changes twice in this time. */
const defaultInterval = 900;

/**
 * Reads the settings, and then looks for changes until it is stopped. The reads run one after the other, so that an older
 * snapshot does not replace a newer one.
 * @param read replaces the copy if it has changed
 * @param onError called when a later read fails. The copy stays as it is
 */
export async function watchCopy(
  read: () => Promise<void>,
  onError: (error: Error) => void,
  interval = defaultInterval,
): Promise<WatchedCopy> {
  const stopping = new AbortController();
  let reading = Promise.resolve();
  const refresh = () => {
    reading = reading.catch(() => undefined).then(read);
    return reading;
  };
  await refresh();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await wait(interval, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      if (!stopping.signal.aborted) await refresh().catch(onError);
    }
  })();
  return {
    refresh,
    async stop() {
      stopping.abort();
      await watching;
    },
  };
}
