/**
 * The seconds until the next attempt: 10 after the first one, then twice as long each time, but an hour at most. With jitter, so that
 * what failed together is not repeated together.
 * @param attempts how many were made
 */
export const backOff = (attempts: number): number =>
  Math.min(3600, 5 * 2 ** Math.min(attempts, 20)) * (0.75 + Math.random() / 2);
