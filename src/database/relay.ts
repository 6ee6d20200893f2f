/** Milliseconds between two polls. Polling finds the rows of other instances, and of a process that died. */
const pollInterval = 1000;

/** Processes rows of a table that serves as a queue (transactional outbox), soon after their commit. */
export interface Relay {
  /** Call it after the commit of a row: the row does not wait for the next poll then. */
  notify(): void;
  stop(): Promise<void>;
}

/**
 * Processes rows now, after each call of `notify`, and every second.
 * @param step processes some rows, and returns whether there may be more
 * @param onError called when a step failed. The next poll repeats the step
 */
export function startRelay(step: () => Promise<boolean>, onError: (error: unknown) => void): Relay {
  let running: Promise<void> | undefined;
  let again = false;
  let stopping = false;

  async function work(): Promise<void> {
    do {
      again = false;
      let more = true;
      while (more && !stopping) more = await step();
    } while (again && !stopping);
  }
  const runNow = () => {
    again = true;
    if (stopping) return;
    running ??= work()
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  };
  runNow();
  const timer = setInterval(runNow, pollInterval).unref();
  return {
    notify: runNow,
    async stop() {
      stopping = true;
      clearInterval(timer);
      await running;
    },
  };
}
