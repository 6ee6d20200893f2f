/** Milliseconds between two looks for what nobody announced: work of other instances, or of a process that died. */
const pause = 1000;

/** Does what committed rows ask for, soon after their commit. */
export interface Relay {
  /** Such a row was committed: it need not wait for the next look. */
  poke(): void;
  stop(): Promise<void>;
}

/**
 * Looks now, whenever it is poked, and every second.
 * @param step does a part of what is to be done, and returns whether there may be more
 * @param onError hears of a step that failed. The next look repeats it
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
  const poke = () => {
    again = true;
    if (stopping) return;
    running ??= work()
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  };
  poke();
  const timer = setInterval(poke, pause).unref();
  return {
    poke,
    async stop() {
      stopping = true;
      clearInterval(timer);
      await running;
    },
  };
}
