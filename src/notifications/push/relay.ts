import type { Database } from '../../database/database.js';
import { derivePushes } from './derive.js';
import type { PushOptions } from './plan.js';

/** Milliseconds between two looks for what nobody has told of: of other instances, or of a process that has died. */
const pause = 1000;

/** Turns publications into pushes. */
export interface PushRelay {
  /** Something was published and committed: it need not wait for the next look. */
  poke(): void;
  stop(): Promise<void>;
}

/** Looks now, whenever it is poked, and every second. What fails is told to `onError` and done at the next look. */
export function startPushRelay(database: Database, options: PushOptions, onError: (error: unknown) => void): PushRelay {
  let running: Promise<void> | undefined;
  let again = false;
  let stopping = false;

  async function work(): Promise<void> {
    do {
      again = false;
      let more = true;
      while (more && !stopping) more = await derivePushes(database, options);
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
