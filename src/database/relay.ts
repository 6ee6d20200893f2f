import { waitAtMost } from '../lib/time-limit.js';

/** Milliseconds between two polls, unless a relay names others. Polling finds the rows of other instances, and of a process that died. */
const pollInterval = 1000;

/** Processes rows of a table that serves as a queue (transactional outbox), soon after their commit. */
export interface Relay {
  /** Call it after the commit of a row, so that the row does not wait for the next poll. */
  notify(): void;
  stop(): Promise<void>;
}

/**
 * The polls of the relays of a process run in turn, so that they use one connection and do not open one each. A start computes for longer
 * than timers can keep them apart.
 */
let turn = Promise.resolve();
/** Milliseconds after which the next poll begins, although the one before it still runs. */
const longestTurn = 100;
/** Milliseconds until the first poll, because the start itself needs the connection. */
const firstPoll = 25;

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
  let isWaiting = false;
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
  const poll = () => {
    if (isWaiting) return;
    isWaiting = true;
    turn = turn.then(async () => {
      isWaiting = false;
      runNow();
      if (running !== undefined) await waitAtMost(longestTurn, running);
    });
  };
  let timer = setTimeout(() => {
    timer = setInterval(poll, interval).unref();
    poll();
  }, firstPoll).unref();
  return {
    notify: runNow,
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await running;
    },
  };
}
