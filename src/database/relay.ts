/** Milliseconds between two polls, unless a relay names others. Polling finds the rows of other instances, and of a process that died. */
const pollInterval = 1000;

/** Processes rows of a table that serves as a queue (transactional outbox), soon after their commit. */
export interface Relay {
  /** Call it after the commit of a row, so that the row does not wait for the next poll. */
  notify(): void;
  stop(): Promise<void>;
}

/**
 * Milliseconds between the first runs of the relays that are started together, so that the relays of a process use one connection in
 * turn and do not open one each.
 */
const stagger = { step: 25, relays: 8 };
let started = 0;

/**
 * Processes rows soon, after each call of `notify`, and at each interval.
 * @param step processes some rows, and returns whether there may be more
 * @param onError called when a step failed. The next poll repeats the step
 */
export function startRelay(
  step: () => Promise<boolean>,
  onError: (error: unknown) => void,
  interval = pollInterval,
): Relay {
  let running: Promise<void> | undefined;
  let isRequested = false;
  let isStopping = false;

  async function work(): Promise<void> {
    do {
      isRequested = false;
      let hasMore = true;
      while (hasMore && !isStopping) hasMore = await step();
    } while (isRequested && !isStopping);
  }
  const runNow = () => {
    isRequested = true;
    if (isStopping) return;
    running ??= work()
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  };
  let timer = setTimeout(
    () => {
      timer = setInterval(runNow, interval).unref();
      runNow();
    },
    stagger.step * (started++ % stagger.relays),
  ).unref();
  return {
    notify: runNow,
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await running;
    },
  };
}
